from __future__ import annotations

import errno
import os
import shutil
from pathlib import Path

import pytest

from relscape.errors import StorageError
from relscape.maps import files
from relscape.maps.files import (
    atomic_file,
    read_directory,
    replace_directory,
    restore_directory,
    storage_errors,
)


def _owned(path: Path) -> set[str] | None:
    return {"ours.txt"} if (path / "ours.txt").exists() else None


def _writer(content: str) -> files.Callable[[Path], None]:
    return lambda draft: (draft / "ours.txt").write_text(content) and None


def _tree(path: Path) -> dict[str, str]:
    return {str(p.relative_to(path)): p.read_text() for p in path.rglob("*") if p.is_file()}


@pytest.fixture(params=["exchange", "rename"])
def swap(request: pytest.FixtureRequest, monkeypatch: pytest.MonkeyPatch) -> str:
    """Both ways to swap directories: in one step, and by renaming where the system lacks it."""
    if request.param == "rename":
        monkeypatch.setattr(files, "_exchange", lambda first, second: False)
    return str(request.param)


def test_a_file_is_written_whole(tmp_path: Path) -> None:
    target = tmp_path / "new" / "a.txt"
    with atomic_file(target) as draft:
        draft.write_text("one")
        assert not target.exists()
        assert draft.suffix == ".txt"
    assert target.read_text() == "one"
    with atomic_file(target) as draft:
        draft.write_text("two")
        assert target.read_text() == "one"
    assert _tree(tmp_path) == {"new/a.txt": "two"}


def test_a_file_keeps_the_usual_permissions(tmp_path: Path) -> None:
    mask = os.umask(0o027)
    try:
        with atomic_file(tmp_path / "a.txt") as draft:
            draft.write_text("x")
        replace_directory(tmp_path / "d", _writer("x"), _owned)
    finally:
        os.umask(mask)
    assert (tmp_path / "a.txt").stat().st_mode & 0o777 == 0o640
    assert (tmp_path / "d").stat().st_mode & 0o777 == 0o750


@pytest.mark.parametrize("error", [RuntimeError("half"), KeyboardInterrupt()])
def test_a_broken_write_leaves_the_earlier_file_and_no_litter(tmp_path: Path, error: BaseException) -> None:
    target = tmp_path / "a.txt"
    target.write_text("old")
    with pytest.raises(type(error)), atomic_file(target) as draft:
        draft.write_text("ha")
        raise error
    assert _tree(tmp_path) == {"a.txt": "old"}


def test_a_directory_is_not_a_file(tmp_path: Path) -> None:
    with pytest.raises(StorageError, match="it is a directory"), atomic_file(tmp_path):
        pass


def test_a_device_or_a_pipe_is_never_replaced(tmp_path: Path) -> None:
    """A superuser's /dev/null would become a file."""
    os.mkfifo(tmp_path / "pipe")
    with pytest.raises(StorageError, match="a device or a pipe"), atomic_file(tmp_path / "pipe"):
        pass
    assert (tmp_path / "pipe").is_fifo()


def test_a_directory_is_replaced_in_one_step(tmp_path: Path, swap: str) -> None:
    target = tmp_path / "deep" / "map"
    replace_directory(target, _writer("one"), _owned)
    replace_directory(target, _writer("two"), _owned)
    assert _tree(tmp_path) == {"deep/map/ours.txt": "two"}
    assert [p.name for p in target.parent.iterdir()] == ["map"]


def test_what_a_person_put_there_stays(tmp_path: Path, swap: str) -> None:
    target = tmp_path / "map"
    replace_directory(target, _writer("one"), _owned)
    (target / "notes.txt").write_text("mine")
    (target / "pictures").mkdir()
    (target / "pictures" / "a.svg").write_text("<svg/>")
    (target / "link").symlink_to("notes.txt")
    replace_directory(target, _writer("two"), _owned)
    assert _tree(target) == {
        "ours.txt": "two", "notes.txt": "mine", "pictures/a.svg": "<svg/>", "link": "mine",
    }  # fmt: skip
    assert (target / "link").is_symlink()
    assert [p.name for p in tmp_path.iterdir()] == ["map"]


def test_files_stay_where_the_system_cannot_link(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    def no_link(*args: object, **options: object) -> None:
        raise OSError(errno.EPERM, "no links here")

    replace_directory(tmp_path / "map", _writer("one"), _owned)
    (tmp_path / "map" / "notes.txt").write_text("mine")
    monkeypatch.setattr(os, "link", no_link)
    replace_directory(tmp_path / "map", _writer("two"), _owned)
    assert _tree(tmp_path / "map") == {"ours.txt": "two", "notes.txt": "mine"}


def test_a_persons_file_is_never_overwritten(tmp_path: Path, swap: str) -> None:
    target = tmp_path / "map"
    replace_directory(target, _writer("one"), _owned)
    (target / "more.txt").write_text("mine")

    def write(draft: Path) -> None:
        (draft / "more.txt").write_text("ours")

    with pytest.raises(StorageError, match=r"more\.txt is not part of the earlier result"):
        replace_directory(target, write, _owned)
    assert _tree(tmp_path) == {"map/ours.txt": "one", "map/more.txt": "mine"}


@pytest.mark.parametrize("error", [RuntimeError("half"), KeyboardInterrupt()])
def test_a_broken_directory_leaves_the_earlier_one(tmp_path: Path, error: BaseException, swap: str) -> None:
    target = tmp_path / "map"
    replace_directory(target, _writer("one"), _owned)

    def write(draft: Path) -> None:
        (draft / "ours.txt").write_text("two")
        raise error

    with pytest.raises(type(error)):
        replace_directory(target, write, _owned)
    assert _tree(tmp_path) == {"map/ours.txt": "one"}
    assert [p.name for p in tmp_path.iterdir()] == ["map"]


def test_a_full_disk_is_noticed_before_the_swap(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, swap: str
) -> None:
    target = tmp_path / "map"
    replace_directory(target, _writer("one"), _owned)

    def full(descriptor: int) -> None:
        raise OSError(errno.ENOSPC, os.strerror(errno.ENOSPC))

    monkeypatch.setattr(os, "fsync", full)
    with pytest.raises(StorageError, match=r"cannot write .*map: No space left on device\. Free some space"):
        replace_directory(target, _writer("two"), _owned)
    with pytest.raises(StorageError, match="No space left"), atomic_file(tmp_path / "a.txt") as draft:
        draft.write_text("x")
    assert _tree(tmp_path) == {"map/ours.txt": "one"}


def test_a_rename_that_fails_puts_the_earlier_one_back(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    target = tmp_path / "map"
    replace_directory(target, _writer("one"), _owned)
    monkeypatch.setattr(files, "_exchange", lambda first, second: False)
    rename = Path.rename

    def fail_once(self: Path, goal: Path) -> Path:
        if self.name.startswith(".map-"):
            raise OSError(errno.EACCES, os.strerror(errno.EACCES))
        return rename(self, goal)

    monkeypatch.setattr(Path, "rename", fail_once)
    with pytest.raises(StorageError, match="no permission"):
        replace_directory(target, _writer("two"), _owned)
    assert _tree(tmp_path) == {"map/ours.txt": "one"}


def test_a_foreign_directory_is_not_replaced(tmp_path: Path) -> None:
    (tmp_path / "thesis").mkdir()
    (tmp_path / "thesis" / "chapter.tex").write_text("years of work")
    with pytest.raises(StorageError, match="that directory holds something else"):
        replace_directory(tmp_path / "thesis", _writer("one"), _owned)
    assert _tree(tmp_path) == {"thesis/chapter.tex": "years of work"}
    (tmp_path / "file").write_text("x")
    with pytest.raises(StorageError, match="a file of that name is there"):
        replace_directory(tmp_path / "file", _writer("one"), _owned)
    with pytest.raises(StorageError, match="A part of the path is a file"):
        replace_directory(tmp_path / "file" / "map", _writer("one"), _owned)


def test_an_empty_directory_is_taken(tmp_path: Path) -> None:
    (tmp_path / "empty").mkdir()
    replace_directory(tmp_path / "empty", _writer("one"), _owned)
    assert _tree(tmp_path) == {"empty/ours.txt": "one"}


def test_a_linked_directory_is_replaced_where_it_is(tmp_path: Path) -> None:
    replace_directory(tmp_path / "real", _writer("one"), _owned)
    (tmp_path / "link").symlink_to("real", target_is_directory=True)
    replace_directory(tmp_path / "link", _writer("two"), _owned)
    assert (tmp_path / "link").is_symlink()
    assert (tmp_path / "real" / "ours.txt").read_text() == "two"
    assert sorted(p.name for p in tmp_path.iterdir()) == ["link", "real"]


@pytest.mark.parametrize("code", [errno.EACCES, errno.EROFS, errno.EDQUOT, errno.ENOENT])
def test_every_reason_comes_with_the_path_and_a_remedy(code: int) -> None:
    with (
        pytest.raises(StorageError, match=rf"cannot read a/b: {os.strerror(code)}\. [A-Z]"),
        storage_errors("read", Path("a/b")),
    ):
        raise OSError(code, os.strerror(code))


def test_only_named_files_of_a_folder_are_replaced(tmp_path: Path, swap: str) -> None:
    def owned(path: Path) -> set[str] | None:
        return {"ours.txt", "deep/a.txt"}

    def write(draft: Path) -> None:
        (draft / "ours.txt").write_text("new")

    target = tmp_path / "map"
    (target / "deep" / "er").mkdir(parents=True)
    (target / "empty").mkdir()
    for name in ("ours.txt", "deep/a.txt", "deep/mine.txt", "deep/er/mine.txt"):
        (target / name).write_text("old")
    (target / "deep" / "er").chmod(0o700)
    replace_directory(target, write, owned)
    assert _tree(target) == {"ours.txt": "new", "deep/mine.txt": "old", "deep/er/mine.txt": "old"}
    assert (target / "empty").is_dir()
    assert (target / "deep" / "er").stat().st_mode & 0o777 == 0o700
    (target / "deep" / "er" / "mine.txt").unlink()
    (target / "deep" / "mine.txt").unlink()
    (target / "deep" / "er").rmdir()
    (target / "deep" / "a.txt").write_text("old")
    replace_directory(target, write, owned)
    assert sorted(p.name for p in target.iterdir()) == ["empty", "ours.txt"]


def test_what_was_set_aside_comes_back(tmp_path: Path) -> None:
    """A writer without exchange that is stopped between its two renames."""
    target = tmp_path / "map"
    replace_directory(target, _writer("one"), _owned)
    (target / "notes.txt").write_text("mine")
    target.rename(tmp_path / ".map.previous")
    restore_directory(target, _owned)
    assert _tree(tmp_path) == {"map/ours.txt": "one", "map/notes.txt": "mine"}
    target.rename(tmp_path / ".map.previous")
    replace_directory(target, _writer("two"), _owned)
    assert _tree(tmp_path) == {"map/ours.txt": "two", "map/notes.txt": "mine"}


def test_a_strange_directory_is_not_taken_for_what_was_set_aside(tmp_path: Path) -> None:
    (tmp_path / ".map.previous").mkdir()
    (tmp_path / ".map.previous" / "chapter.tex").write_text("x")
    restore_directory(tmp_path / "map", _owned)
    assert _tree(tmp_path) == {".map.previous/chapter.tex": "x"}


def test_a_folder_made_anew_is_another_one(tmp_path: Path) -> None:
    """File systems give the number of a removed folder to the next that is made."""
    path, seen = tmp_path / "result", []
    path.mkdir()
    (path / "x").write_text("old")

    def read(place: Path) -> str:
        seen.append((place / "x").read_text())
        if len(seen) == 1:
            shutil.rmtree(place)
            place.mkdir()
            (place / "x").write_text("new")
        return seen[-1]

    assert read_directory(path, read) == "new"
