"""Two states of a repository compared by what they mean: who gains, loses, restarts or breaks.

Knows judgements and recorded objects; nothing of how a diff is asked for or where it is shown.
"""
