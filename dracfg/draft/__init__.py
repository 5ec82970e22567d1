"""Draft repositories: what a cluster shows of its devices and of who uses them → catalog and tenants.

Everything written comes from what is recorded. What a record can't say is a decision for a person, with
its reason and place, and stands in the draft as the value that promises least.
"""
