"""A diff for people: terminal, comment, page, and the forms of hosts.

Everything is made from the JSON document (`diff/document.py`): nothing is said in one form that isn't
in the others.
"""
