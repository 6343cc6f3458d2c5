"""Writing results so that a folder or file is there complete or not at all."""

from __future__ import annotations

import errno
import os
import shutil
import stat
import tempfile
from collections.abc import Iterable, Iterator
from contextlib import contextmanager, suppress
from pathlib import Path
from typing import TYPE_CHECKING

from outlast import interrupts, tables
from outlast.errors import OutputError

if TYPE_CHECKING:
    from outlast.result import Result


class OutputFolder:
    """A folder that is to hold a result. Making one checks that it can be written, and leaves nothing behind.

    `instead` says what else its caller can do where the folder is not empty.
    """

    def __init__(self, path: Path, *, force: bool = False, instead: str = "") -> None:
        self.path = Path(os.path.abspath(path))
        self._force, self._instead = force, instead
        self._check_vacant()
        check_writable(self.path)

    def _check_vacant(self) -> None:
        check_folder(self.path)
        try:
            occupied = self.path.is_dir() and any(self.path.iterdir())
        except OSError as error:
            raise OutputError(f"{self.path}: cannot be read: {error.strerror}") from error
        if not occupied:
            return
        if not self._force:
            raise OutputError(f"{self.path}: the folder is not empty; name another{self._instead}")
        if not (self.path / "result.json").is_file():
            raise OutputError(f"{self.path}: not empty and holds no result.json, so it is no result to be replaced")

    def write(self, result: Result) -> Path:
        """Writes what was measured, whole or not at all, and then the report that is drawn of it."""
        self.write_data(result)
        self.write_report(result)
        return self.path

    def write_data(self, result: Result) -> None:
        """Writes all files but the report beside the folder first, then puts them in its place."""
        with interrupts.Deferred():
            self._replace(result)

    def _replace(self, result: Result) -> None:
        try:
            self.path.parent.mkdir(parents=True, exist_ok=True)
            staging = Path(tempfile.mkdtemp(prefix=_prefix(self.path), dir=self.path.parent))
        except OSError as error:
            raise cannot_write(self.path, error) from error
        try:
            _write_data(result, staging)
            staging.chmod(0o777 & ~_umask())
            self._check_vacant()
            if self.path.is_dir():
                displaced = Path(tempfile.mkdtemp(prefix=f"{_prefix(self.path)}old.", dir=self.path.parent))
                self.path.rename(displaced)
                staging.rename(self.path)
                shutil.rmtree(displaced)
            else:
                staging.rename(self.path)
            interrupts.note_written(str(self.path))
        except OSError as error:
            raise cannot_write(self.path, error) from error
        finally:
            shutil.rmtree(staging, ignore_errors=True)

    def write_report(self, result: Result) -> None:
        """Draws report.html into the folder."""
        from outlast.report import render

        write_file(self.path / "report.html", render([result]))


def _write_data(result: Result, folder: Path) -> None:
    (folder / "result.json").write_text(result.to_json(), encoding="utf-8")
    (folder / "scenario.toml").write_text(result.scenario_toml, encoding="utf-8")
    for name in result.tables:
        # The bytes are ours to write, so that a full disk is told as of every other file.
        (folder / f"{name}.parquet").write_bytes(tables.packed(result.tables[name]))
    if result.log is not None and not result.log.is_absolute:
        file = folder / result.log.name
        file.parent.mkdir(parents=True, exist_ok=True)
        result.log.fill(file)


def check_folder(path: Path) -> None:
    """Checks that what is there, if anything, is a folder."""
    _check_name(path)
    if path.is_symlink():
        raise OutputError(f"{path}: is a symbolic link; name the folder itself")
    if path.exists() and not path.is_dir():
        raise OutputError(f"{path}: not a folder")


def check_file(path: Path) -> None:
    """Checks that a file could be written there, leaving nothing behind. Its folder must be there."""
    if str(path) == "-":
        raise OutputError("-: this is not written to standard output; name a file")
    _check_name(path)
    if path.is_dir():
        raise OutputError(f"{path}: is a folder, not a file")
    if not path.parent.exists():
        raise OutputError(f"{path}: cannot be written: there is no folder {path.parent}")
    if path.exists() and not os.access(path, os.W_OK):
        raise OutputError(f"{path}: cannot be written: Permission denied")
    if _takes_bytes(path):
        return
    if path.is_symlink():
        raise OutputError(f"{path}: is a symbolic link; name the file itself")
    check_writable(path)


def check_not_read(path: Path, inputs: Iterable[Path]) -> None:
    """Checks that a file to be written is none of those that the same command reads."""
    for each in inputs:
        if path.exists() and each.exists() and path.samefile(each):
            raise OutputError(f"{path}: is read by this command; name another file")


def check_not_inside(path: Path, folder: Path) -> None:
    """Checks that a file to be written is in no folder that the same command reads."""
    parent = Path(os.path.realpath(path.parent))
    if Path(os.path.realpath(folder)) in (parent, *parent.parents):
        raise OutputError(f"{path}: is in {folder}, which is read by this command; name a file outside of it")


def write_file(path: Path, content: str | bytes) -> Path:
    """Writes a file whole or not at all."""
    with staged_file(path) as staging:
        try:
            staging.write_bytes(content.encode() if isinstance(content, str) else content)
        except OSError as error:
            raise cannot_write(path, error) from error
    return path


@contextmanager
def staged_file(path: Path) -> Iterator[Path]:
    """A file beside `path` that takes its place if the block ends well, and goes away otherwise.

    A device or pipe stays where it is, and is written to once the block has ended.
    """
    if _takes_bytes(path):
        with tempfile.TemporaryDirectory() as folder:
            whole = Path(folder) / path.name
            yield whole
            _pour(whole, path)
        return
    with interrupts.Deferred(raising=False):
        staging: Path | None = None
        try:
            # A signal between the making of the file and the noting of its name would leave the file behind.
            with interrupts.Deferred():
                staging = _made_beside(path)
            yield staging
            with interrupts.Deferred():
                _put_in_place(staging, path)
        finally:
            if staging is not None:
                staging.unlink(missing_ok=True)


def _takes_bytes(path: Path) -> bool:
    """True if what lies there is a device, pipe or socket, which no file may replace."""
    with suppress(OSError, ValueError):
        # Links below /dev are the system's own, such as /dev/stdout; others may have come with somebody's folder.
        mode = path.stat(follow_symlinks=Path(os.path.abspath(path)).is_relative_to("/dev")).st_mode
        return not (stat.S_ISREG(mode) or stat.S_ISDIR(mode) or stat.S_ISLNK(mode))
    return False


def _pour(whole: Path, into: Path) -> None:
    try:
        with whole.open("rb") as source, into.open("wb") as end:
            shutil.copyfileobj(source, end)
    except OSError as error:
        raise cannot_write(into, error) from error


def _made_beside(path: Path) -> Path:
    try:
        path.parent.mkdir(parents=True, exist_ok=True)
        handle, name = tempfile.mkstemp(prefix=_prefix(path), dir=path.parent)
    except OSError as error:
        raise cannot_write(path, error) from error
    os.close(handle)
    return Path(name)


def _put_in_place(staging: Path, path: Path) -> None:
    try:
        staging.chmod(0o666 & ~_umask())
        staging.replace(path)
    except OSError as error:
        raise cannot_write(path, error) from error
    interrupts.note_written(str(path))


def check_not_kept(path: Path, folder: Path) -> None:
    """Checks that a file to be written is none of those that a result in `folder` keeps."""
    inner = Path(os.path.abspath(path))
    of_result = inner.name in ("result.json", "scenario.toml") or inner.suffix == ".parquet"
    if inner.parent == Path(os.path.abspath(folder)) and of_result:
        raise OutputError(f"{path}: is a file of the result in {folder}; name another")


def _check_name(path: Path) -> None:
    """Refuses a path that no file system takes."""
    try:
        os.lstat(path)
    except (FileNotFoundError, NotADirectoryError):
        return
    except OSError as error:
        raise cannot_write(path, error) from error
    except ValueError as error:  # a zero byte, or half of a surrogate pair
        raise OutputError(f"{path!a}: cannot be written: {error}") from error


def _prefix(path: Path) -> str:
    """Beginning of the names of what is made beside `path` first; short enough for a name that is as long as can be."""
    return f".{path.name[:50]}."


def check_writable(path: Path) -> None:
    """Checks that a file or folder could be made there, with the folders above it, leaving nothing behind."""
    _check_name(path)
    # A trial is the only certain answer: permissions say nothing of read-only mounts, nor to root.
    ancestor = Path(os.path.abspath(path)).parent
    while not os.path.lexists(ancestor):
        ancestor = ancestor.parent
    if not ancestor.is_dir():
        raise OutputError(f"{path}: cannot be written: {ancestor} is not a folder")
    try:
        # A signal between the two would leave the trial behind.
        with interrupts.Deferred():
            Path(tempfile.mkdtemp(prefix=".outlast.", dir=ancestor)).rmdir()
        # Below a folder that is not there yet, the system does not look at names.
        longest = os.pathconf(ancestor, "PC_NAME_MAX")
        if any(len(os.fsencode(part)) > longest for part in path.parts):
            raise OSError(errno.ENAMETOOLONG, os.strerror(errno.ENAMETOOLONG))
    except OSError as error:
        raise cannot_write(path, error) from error


def cannot_write(path: Path, error: OSError) -> OutputError:
    """Error for a place that cannot be written."""
    # What comes from the core has no strerror, and its number at the end of its text.
    why = error.strerror or str(error).partition(" (os error ")[0]
    return OutputError(f"{path}: cannot be written: {why}")


def _umask() -> int:
    mask = os.umask(0)
    os.umask(mask)
    return mask
