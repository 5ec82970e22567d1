"""Workload manifests between extended resources and claims, with everything else left byte for byte.

Edits the text of files it is given; writes none.
"""
