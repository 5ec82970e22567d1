"""Typed documents → the linked catalog, after which no string names another document.

Reads driver presets from package data; knows nothing of Kubernetes objects or of `out/`.
"""
