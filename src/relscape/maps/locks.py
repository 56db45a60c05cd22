"""Locks on files and folders that end with the process that holds them, where the system has any (flock)."""

from __future__ import annotations

import os
from contextlib import suppress
from pathlib import Path

__all__ = ["claim", "locked_folder"]


def claim(file: Path) -> int | None:
    """Open a file and lock it until it is closed; None where another has done so. Without locks all may."""
    while True:
        handle = os.open(file, os.O_RDWR | os.O_CREAT, 0o666)
        if _locked(handle, wait=False) is False:
            os.close(handle)
            return None
        with suppress(FileNotFoundError):  # its last holder may have removed it between the two steps
            if os.path.samestat(os.fstat(handle), file.stat()):
                return handle
        os.close(handle)


def locked_folder(folder: Path, wait: bool) -> int | None:
    """Lock a folder until its handle is closed; None where that cannot be done, or another has it."""
    try:
        handle = os.open(folder, os.O_RDONLY)
    except OSError:
        return None
    if _locked(handle, wait):
        return handle
    os.close(handle)
    return None


def _locked(handle: int, wait: bool) -> bool | None:
    """Lock an open file: True if it is ours now, False if another has it, None where there are no locks."""
    try:
        import fcntl

        fcntl.flock(handle, fcntl.LOCK_EX | (0 if wait else fcntl.LOCK_NB))
    except BlockingIOError:
        return False
    except (ImportError, OSError):
        return None
    return True
