"""What `dracfg show` tells, as documents: linked forms, gates, emitted objects and their origins.

Pure functions from the catalog and its units to plain JSON data. Nothing here prints, judges, or
knows how a document is laid out for people.
"""
