"""Exit codes. Fixed: scripts and engines read them."""

DONE = 0
FINDINGS = 1
"""Findings at or above `--fail-on`, a stale tree, or a side that does not compile."""
CHANGES = 2
"""Only with `--detailed-exitcode`: there are changes."""
USAGE = 3
"""Wrong use, or a configuration that can't be read."""
FAULT = 4
"""A fault of dracfg itself."""
INTERRUPTED = 130

MEANINGS = {
    DONE: "Done; nothing was found at or above --fail-on.",
    FINDINGS: "Findings at or above --fail-on, a stale tree, or a side that does not compile.",
    CHANGES: "There are changes; only with --detailed-exitcode.",
    USAGE: "Wrong use, or a configuration that can't be read.",
    FAULT: "A fault of dracfg itself.",
    INTERRUPTED: "Interrupted.",
}
"""Every code in words, for people."""
COMPLETION_VARIABLE = "_DRACFG_COMPLETE"
"""Set by a shell that asks for completions; then nothing but those is said."""
