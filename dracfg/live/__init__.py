"""What an API server says: its record, the dry run of a tree, drift of what stands on a cluster.

Talks through the official `kubernetes` client, which is the optional extra `live` and is imported
when a connection is opened. A server is asked only where an option of the command line names it.
Nothing here changes anything on a cluster.
"""
