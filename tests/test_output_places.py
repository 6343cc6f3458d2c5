"""Places of output files that are no files: devices and pipes are written to, and links are not followed."""

from __future__ import annotations

import os
import stat
import threading
from pathlib import Path

import pytest

from outlast import output
from outlast.errors import OutputError

TEXT = "bytes of a result\n" * 10_000


def test_a_pipe_gets_what_was_to_be_written_and_stays_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    got: list[str] = []
    reader = threading.Thread(target=lambda: got.append(pipe.read_text()))
    reader.start()
    output.check_file(pipe)
    output.write_file(pipe, TEXT)
    reader.join()
    assert got == [TEXT]
    assert stat.S_ISFIFO(pipe.stat().st_mode)
    assert list(tmp_path.iterdir()) == [pipe]


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
def test_a_device_that_is_full_says_so_and_stays_a_device() -> None:
    full = Path("/dev/full")
    output.check_file(full)
    with pytest.raises(OutputError, match="/dev/full: cannot be written: No space left on device"):
        output.write_file(full, TEXT)
    assert stat.S_ISCHR(full.stat().st_mode)


def test_the_null_device_takes_everything_and_stays_a_device() -> None:
    null = Path("/dev/null")
    with output.staged_file(null) as staging:
        staging.write_text(TEXT)
    assert stat.S_ISCHR(null.stat().st_mode)


def test_a_block_that_fails_writes_nothing_to_a_pipe(tmp_path: Path) -> None:
    pipe = tmp_path / "pipe"
    os.mkfifo(pipe)
    with pytest.raises(ZeroDivisionError), output.staged_file(pipe) as staging:
        staging.write_text(TEXT)
        raise ZeroDivisionError
    assert stat.S_ISFIFO(pipe.stat().st_mode)


def test_a_link_in_the_place_of_an_output_file_is_called_one(tmp_path: Path) -> None:
    kept = tmp_path / "kept"
    kept.write_text("kept")
    link = tmp_path / "link"
    link.symlink_to(kept)
    with pytest.raises(OutputError, match="link: is a symbolic link; name the file itself"):
        output.check_file(link)
    assert link.is_symlink() and kept.read_text() == "kept"


def test_links_in_folders_of_others_are_replaced_and_not_followed(tmp_path: Path) -> None:
    kept, pipe = tmp_path / "kept", tmp_path / "pipe"
    kept.write_text("kept")
    os.mkfifo(pipe)
    for end in (kept, pipe):
        link = tmp_path / "link"
        link.unlink(missing_ok=True)
        link.symlink_to(end)
        output.write_file(link, TEXT)
        assert not link.is_symlink() and link.read_text() == TEXT
    assert kept.read_text() == "kept" and stat.S_ISFIFO(pipe.stat().st_mode)
