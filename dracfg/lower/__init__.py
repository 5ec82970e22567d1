"""The linked catalog → Kubernetes objects, one module a family. Total: every refusal is a rule in `check/`.

Knows nothing of YAML text or of the disk.
"""
