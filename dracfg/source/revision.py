"""The day of the revision that is checked out: the only clock that dracfg looks at unasked."""

from __future__ import annotations

from datetime import date
from pathlib import Path

_SECONDS = 10


def head_date(root: Path) -> date | None:
    """The committer's day of HEAD where `root` lies in a git work tree, else None.

    Git is asked, as objects may be packed; without git, or without a commit, there is no day.
    """
    import subprocess  # few runs ask

    command = ["git", "-C", str(root), "log", "-1", "--format=%cs"]
    try:
        done = subprocess.run(command, capture_output=True, text=True, check=True, timeout=_SECONDS)
        return date.fromisoformat(done.stdout.strip())
    except (OSError, subprocess.SubprocessError, ValueError):
        return None
