"""Findings as people and machines read them, one renderer a file."""
