"""Rollouts on their way: the next legal step, what must be measured before it, and how it is written.

Edits the text of a Rollout and asks a Prometheus server where one is named; writes no file.
"""
