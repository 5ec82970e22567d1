"""Two Linux calls that Python's `os` doesn't have, and what stands for them elsewhere."""

import ctypes
import errno
import functools
import os
import sys
from collections.abc import Callable

_AT_FDCWD = -100
_RENAME_EXCHANGE = 2


def exchange(left: str, right: str) -> None:
    """Exchange two folders in one step (`renameat2(2)` with RENAME_EXCHANGE).

    Raises OSError, with ENOSYS where the system has no such call.
    """
    call = _function("renameat2")
    if call is None:
        raise OSError(errno.ENOSYS, os.strerror(errno.ENOSYS))
    names = (os.fsencode(left), os.fsencode(right))
    if call(_AT_FDCWD, names[0], _AT_FDCWD, names[1], ctypes.c_uint(_RENAME_EXCHANGE)) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code), left, None, right)


def sync_file_system(descriptor: int) -> None:
    """Write what is pending on the file system of an open file to its disk (`syncfs(2)`)."""
    call = _function("syncfs")
    if call is None:
        os.sync()
    elif call(descriptor) != 0:
        code = ctypes.get_errno()
        raise OSError(code, os.strerror(code))


@functools.cache
def _function(name: str) -> Callable[..., int] | None:
    if sys.platform != "linux":
        return None
    function: Callable[..., int] | None = getattr(ctypes.CDLL(None, use_errno=True), name, None)
    return function
