"""Portions of some work, run by processes, threads or a Dask cluster, and their results in order.

Knows nothing of what the work is. `spec` reads what a person names, `executor` opens it.
"""
