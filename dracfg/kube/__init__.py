"""What Kubernetes is: versions, gates, limits, schemas, quantities and names, as data and readers.

Nothing here knows of catalogs, tenants or output; each module says what it answers.
"""
