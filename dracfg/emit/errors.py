"""The one exception of writing a tree, in words for the person who ran the compiler."""

import errno

_WORDS = {
    errno.ENOSPC: "no space is left on the disk",
    errno.EDQUOT: "the disk quota is used up",
    errno.EROFS: "the file system is read-only",
    errno.EACCES: "permission denied",
    errno.EPERM: "the operating system does not permit it",
    errno.ENAMETOOLONG: "the name is too long for the file system",
    errno.ENOTDIR: "a file stands where a folder is needed",
    errno.EISDIR: "a folder stands where a file is needed",
    errno.EIO: "the disk reports an input/output error",
}


class TreeError(Exception):
    """The tree under `path` can't be read or written; `reason` is a clause without a full stop."""

    def __init__(self, path: str, reason: str) -> None:
        super().__init__(f"{path}: {reason}")
        self.path = path
        self.reason = reason


def reason_of(error: OSError) -> str:
    """Return plain words for an operating system's refusal."""
    words = _WORDS.get(error.errno) if error.errno is not None else None
    return words or error.strerror or type(error).__name__
