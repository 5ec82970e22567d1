"""What can be promised, what it rests on, and what a change would make of it.

Reads the linked catalog and recorded inventories; makes numbers and verdicts, no findings.
"""
