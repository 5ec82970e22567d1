"""A compile after which only some tenants differ: what stands is amended rather than made again.

Where anything says that more may differ, nothing is amended, and the whole is compiled.
"""
