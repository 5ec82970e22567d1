"""A compile in shards: several runs build some of the clusters each, and one makes a tree of all.

What a run leaves is its part, a file of JSON with the files of its clusters and what the others need
of them. A merge takes the parts in place of building, and is otherwise the compile that it always is.
"""
