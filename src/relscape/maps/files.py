"""Writing files and directories whole or not at all, and saying plainly why it failed."""

from __future__ import annotations

import ctypes
import errno
import os
import shutil
import sys
import tempfile
from collections.abc import Callable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TypeVar

from relscape.errors import StorageError
from relscape.maps.locks import claim, locked_folder

__all__ = [
    "atomic_file",
    "claimed",
    "clear_drafts",
    "read_directory",
    "replace_directory",
    "restore_directory",
    "storage_errors",
]

_Read = TypeVar("_Read")

_AT_FDCWD = -100
_TRIES = 20
_RENAME_EXCHANGE = 2

_REMEDIES = {
    errno.ENOSPC: "Free some space or choose another place.",
    errno.EDQUOT: "Your quota is used up: free some space or choose another place.",
    errno.EACCES: "You have no permission there: choose another place or ask for access.",
    errno.EPERM: "You have no permission there: choose another place or ask for access.",
    errno.EROFS: "That place is read-only: choose another one.",
    errno.EEXIST: "A part of the path is a file, not a directory.",
    errno.ENOTDIR: "A part of the path is a file, not a directory.",
    errno.EISDIR: "That is a directory; a file was meant.",
    errno.ENOENT: "A directory on the way does not exist.",
}


@contextmanager
def storage_errors(action: str, path: Path) -> Iterator[None]:
    """Turn an operating system's error into one message with the path and the remedy."""
    try:
        yield
    except StorageError:
        raise
    except OSError as error:
        reason = error.strerror or str(error)
        remedy = _REMEDIES.get(error.errno or 0, "")
        raise StorageError(f"cannot {action} {path}: {reason}. {remedy}".rstrip()) from error


@contextmanager
def atomic_file(path: Path) -> Iterator[Path]:
    """Give a path to write to; when the block ends well, the file replaces ``path`` in one step."""
    with storage_errors("write", path):
        if path.is_dir():
            raise StorageError(f"cannot write {path}: it is a directory; give the name of a file in it.")
        if path.exists() and not path.is_file():
            raise StorageError(f"cannot write {path}: it is a device or a pipe; give the name of a file.")
        path.parent.mkdir(parents=True, exist_ok=True)
        with _draft(path) as folder:
            draft = folder / path.name
            yield draft
            _sync(draft)
            draft.chmod(0o666 & ~_umask())
            draft.replace(path)


@contextmanager
def claimed(path: Path, doing: str) -> Iterator[None]:
    """Keep ``path`` for one long job, such as a training; a second process that wants it is refused."""
    with storage_errors("write", path):
        path.parent.mkdir(parents=True, exist_ok=True)
        file = path.parent / f".{path.name}.lock"
        handle = claim(file)
    if handle is None:
        raise StorageError(
            f"cannot write {path}: another process is {doing} there; wait for it or choose another place."
        )
    try:
        yield
    finally:
        with suppress(OSError):
            file.unlink()
        os.close(handle)


def replaceable_files(path: Path, owned: Callable[[Path], set[str] | None]) -> set[str]:
    """Name the files of an earlier result at ``path``; what is not ours to replace is refused."""
    if path.exists() and not path.is_dir():
        raise StorageError(f"cannot write {path}: a file of that name is there; choose another name.")
    earlier = owned(path) if path.is_dir() and any(path.iterdir()) else set()
    if earlier is None:
        raise StorageError(
            f"cannot write {path}: that directory holds something else; "
            "choose a new name or an earlier result to replace."
        )
    return earlier


def replace_directory(
    path: Path, write: Callable[[Path], None], owned: Callable[[Path], set[str] | None]
) -> None:
    """Write a directory beside ``path``, then put it in place in one step.

    ``owned`` names the entries of an existing directory that belong to the earlier result, those in
    folders as ``folder/file``, or gives None when the directory is not one of ours: then only an empty
    one is replaced. Entries that are not owned, such as a picture a person put there, stay. Where another
    process is writing beside ``path``, it is waited for.
    """
    with storage_errors("write", path):
        path = path.resolve()
        path.parent.mkdir(parents=True, exist_ok=True)
    with storage_errors("write", path), _alone(path), _draft(path) as draft:
        restore_directory(path, owned)
        earlier = replaceable_files(path, owned)
        write(draft)
        for written in (draft, *draft.rglob("*")):
            written.chmod((0o777 if written.is_dir() else 0o666) & ~_umask())
            _sync(written)
        if path.is_dir():
            _carry_over(path, draft, earlier)
        _put_in_place(draft, path)
        _sync(path.parent)


def read_directory(path: Path, read: Callable[[Path], _Read]) -> _Read:
    """Read a result that another process may be replacing: all of the old one or all of the new one."""
    for _ in range(_TRIES):
        with _held(path) as before:
            try:
                found = read(path)
            except (OSError, ValueError):
                if _identity(path) == before:
                    raise
            else:
                if _identity(path) == before:
                    return found
    raise StorageError(f"cannot read {path}: it is being replaced all the time; try again later.")


@contextmanager
def _held(path: Path) -> Iterator[tuple[int, int] | None]:
    """Tell which folder is at a path, and keep it open: the number of a removed one is given to new ones."""
    handle = None
    with suppress(OSError, AttributeError):  # systems without open folders
        handle = os.open(path, os.O_RDONLY | os.O_DIRECTORY)
    try:
        yield _identity(path) if handle is None else _number(os.fstat(handle))
    finally:
        if handle is not None:
            os.close(handle)


def _identity(path: Path) -> tuple[int, int] | None:
    try:
        return _number(path.stat())
    except OSError:
        return None


def _number(found: os.stat_result) -> tuple[int, int]:
    return found.st_dev, found.st_ino


@contextmanager
def _alone(path: Path) -> Iterator[None]:
    """Wait until no other process writes a directory beside ``path``, where the system has locks."""
    handle = locked_folder(path.parent, wait=True)
    try:
        yield
    finally:
        if handle is not None:
            os.close(handle)


@contextmanager
def _draft(path: Path) -> Iterator[Path]:
    """Give a hidden folder beside ``path`` to write in, which is gone at the end.

    A writer that is alive holds a lock on its folder: those of killed ones are known by that, and removed.
    """
    clear_drafts(path)
    handle, folder = None, None
    while folder is None or not folder.is_dir():  # another may take it for left behind until it is locked
        folder = Path(tempfile.mkdtemp(prefix=_draft_start(path), dir=path.parent))
        handle = locked_folder(folder, wait=True)
    try:
        yield folder
    finally:
        shutil.rmtree(folder, ignore_errors=True)
        if handle is not None:
            os.close(handle)


def clear_drafts(path: Path) -> None:
    """Remove what writers of ``path`` left that were killed; those that are alive keep theirs."""
    with suppress(OSError):
        for left in path.parent.iterdir():
            if left.name.startswith(_draft_start(path)) and left.is_dir() and not left.is_symlink():
                _sweep(left)


def _draft_start(path: Path) -> str:
    return f".{path.name}-draft-"


def _sweep(draft: Path) -> None:
    """Remove the draft of a writer that was killed."""
    handle = locked_folder(draft, wait=False)
    if handle is not None:
        shutil.rmtree(draft, ignore_errors=True)
        os.close(handle)


def restore_directory(path: Path, owned: Callable[[Path], set[str] | None]) -> None:
    """Bring a result back that a writer set aside and, being interrupted, did not replace."""
    with storage_errors("restore", path):
        path = path.resolve()
        aside = _aside(path)
        if not path.exists() and aside.is_dir() and owned(aside) is not None:
            aside.rename(path)


def _aside(path: Path) -> Path:
    return path.with_name(f".{path.name}.previous")


def _carry_over(old: Path, draft: Path, owned: set[str], folder: str = "") -> None:
    """Link what did not belong to the earlier result into the new one, before the two are swapped."""
    for entry in old.iterdir():
        name, target = f"{folder}{entry.name}", draft / entry.name
        if name in owned:
            continue
        walked = entry.is_dir() and not entry.is_symlink()
        if target.exists() and not (walked and target.is_dir()):
            raise StorageError(
                f"cannot write {old}: {entry} is not part of the earlier result; move it away first."
            )
        if not walked:
            draft.mkdir(parents=True, exist_ok=True)
            _link(entry, target)
            continue
        if not any(other.startswith(f"{name}/") for other in owned):
            target.mkdir(parents=True, exist_ok=True)
        _carry_over(entry, target, owned, f"{name}/")
        if target.is_dir():
            shutil.copystat(entry, target)


def _link(source: Path, target: Path) -> None:
    """Give a file a second name where the system can, or copy it."""
    try:
        os.link(source, target, follow_symlinks=False)
    except OSError:
        shutil.copy2(source, target, follow_symlinks=False)


def _put_in_place(draft: Path, path: Path) -> None:
    """Swap ``draft`` and ``path``; what was at ``path`` is left at ``draft`` for removal."""
    if not path.exists():
        draft.rename(path)
        return
    if _exchange(draft, path):
        return
    aside = _aside(path)
    shutil.rmtree(aside, ignore_errors=True)
    path.rename(aside)
    try:
        draft.rename(path)
    except OSError:
        aside.rename(path)
        raise
    aside.rename(draft)


def _exchange(first: Path, second: Path) -> bool:
    """Exchange two directories in one step where the system can (Linux); say whether it did."""
    if not sys.platform.startswith("linux"):
        return False
    try:
        renameat2 = ctypes.CDLL(None, use_errno=True).renameat2
    except (OSError, AttributeError):
        return False
    done = renameat2(_AT_FDCWD, os.fsencode(first), _AT_FDCWD, os.fsencode(second), _RENAME_EXCHANGE)
    return bool(done == 0)


def _sync(path: Path) -> None:
    """Bring a file or directory to the disk, so that a full one is noticed before the swap."""
    descriptor = os.open(path, os.O_RDONLY)
    try:
        os.fsync(descriptor)
    finally:
        os.close(descriptor)


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
