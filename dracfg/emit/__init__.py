"""Objects to bytes to a tree on disk: the YAML emitter, the plan of a tree, its application.

Knows nothing of Kubernetes beyond the label by which a managed object is known. No package before
this one writes a file; the objects and their order come from `dracfg.lower`.
"""
