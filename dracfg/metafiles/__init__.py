"""Device-metadata files (KEP-5304) as they lie in a container or on a node, judged one by one or together.

Bytes come through `dracfg.metadata.reader`, the only code that opens them. No finding and no table
holds an attribute's value: its length and a digest at most.
"""
