"""Are pipes, devices, state of another version and full disks told as what they are, with what to do about them?"""

from __future__ import annotations

import os
import shutil
import struct
import subprocess
import sys
import zlib
from pathlib import Path

import pytest

import outlast
from conftest import TINY
from patience import PATIENCE_S
from served import SMALL

BLOCK = 1 << 18


def called(*arguments: str | Path, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "outlast", *map(str, arguments)]
    return subprocess.run(
        command, cwd=cwd, text=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=PATIENCE_S
    )


def one_line(done: subprocess.CompletedProcess[str]) -> str:
    """Message of a command that refuses its input: one line, exit code 2."""
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done
    return done.stderr


@pytest.mark.parametrize("place", ["pipe", "/dev/zero"])
@pytest.mark.parametrize(
    "arguments",
    [
        ("report", "*", "-o", "out.html"),
        ("compare", "*", "*"),
        ("fit", "named.toml", "-o", "out.toml"),
        ("run", "demo", "--trace", "*"),
        ("run", "demo", "--set", "precondition.from=*"),
        ("torture", "check", "*", "--", "true"),
        ("trace", "info", "*"),
        ("serve", "--image", "*"),
    ],
    ids=lambda arguments: " ".join(arguments[:2]),
)
def test_what_is_no_file_is_refused_where_a_file_is_wanted(
    arguments: tuple[str, ...], place: str, tmp_path: Path
) -> None:
    """A pipe to which nobody writes would be waited for, and a device without end fills memory."""
    os.mkfifo(tmp_path / "pipe")
    (tmp_path / "named.toml").write_text(f'capacity = "16GiB"\ncsv = "{place}"\n')
    before = set(tmp_path.iterdir())
    told = one_line(called(*(own.replace("*", place) for own in arguments), cwd=tmp_path))
    assert place in told
    assert set(tmp_path.iterdir()) == before


def content_of(snapshot: bytes) -> bytes:
    """Content of the blocks of a snapshot."""
    content, at = b"", 12
    while at < len(snapshot):
        (length,) = struct.unpack_from("<I", snapshot, at)
        content += snapshot[at + 8 : at + 8 + length]
        at += 8 + length
    return content


def blocks_of(content: bytes) -> bytes:
    """The blocks that hold it, with checksums that are right; the last is empty."""
    parts = [content[at : at + BLOCK] for at in range(0, len(content), BLOCK)] + [b""]
    sums = (zlib.crc32(part, zlib.crc32(struct.pack("<Q", at))) for at, part in enumerate(parts))
    return b"".join(struct.pack("<II", len(part), own) + part for part, own in zip(parts, sums, strict=True))


def test_a_snapshot_of_other_types_says_to_be_made_again(tmp_path: Path) -> None:
    """A snapshot whose hash of types differs is refused, although its version has the same name."""
    (tmp_path / "tiny.toml").write_text(TINY)
    file = tmp_path / "prepared.outlast"
    outlast.snapshot(tmp_path / "tiny.toml", file)
    whole = file.read_bytes()
    content = content_of(whole)
    assert whole == whole[:12] + blocks_of(content)
    version = struct.unpack_from("<Q", content)[0]
    scenario = struct.unpack_from("<Q", content, 8 + version)[0]
    place = 16 + version + scenario
    (shape,) = struct.unpack_from("<Q", content, place)
    other = content[:place] + struct.pack("<Q", shape ^ 1) + content[place + 8 :]
    file.write_bytes(whole[:12] + blocks_of(other))
    told = one_line(called("run", "tiny.toml", "--set", f"precondition.from={file}", cwd=tmp_path))
    assert str(file) in told and "make the snapshot again" in told and outlast.__version__ in told


def has_small_disks() -> bool:
    """True if one command alone can mount a file system of a few MiB here, and write over NBD."""
    if shutil.which("unshare") is None or shutil.which("nbdcopy") is None:
        return False
    mount = ["unshare", "-rm", "mount", "-t", "tmpfs", "none", "/mnt"]
    return subprocess.run(mount, capture_output=True, check=False).returncode == 0


FULL = """
mount -t tmpfs -o size=24m none disk
serve() { python=$1; shift; "$python" -m outlast serve "$@" --listen "unix:$PWD/socket" --clock virtual --quiet; }
serve "$1" small.toml --image disk/image --run 'nbdcopy --flush data "$uri"'; echo "ended $?" >&2
find disk -type f | sort
serve "$1" --image disk/image --run true; echo "full $?" >&2
mount -o remount,size=400m disk
serve "$1" --image disk/image --run 'nbdcopy --flush data "$uri" && nbdcopy "$uri" back'; echo "room $?" >&2
cmp -n 67108864 data back; echo "same $?" >&2
"""


@pytest.mark.skipif(not has_small_disks(), reason="needs a mount of its own and nbdcopy")
def test_a_disk_that_is_full_is_named_with_what_to_do_and_nothing_half_written_stays(tmp_path: Path) -> None:
    """The server of an image ends and says which file has no room; it serves it again, as if nothing had been."""
    (tmp_path / "small.toml").write_text(SMALL)
    (tmp_path / "disk").mkdir()
    (tmp_path / "data").write_bytes(bytes(range(1, 129)) * (1 << 19))
    done = subprocess.run(
        ["unshare", "-rm", "sh", "-c", FULL, "sh", sys.executable],
        cwd=tmp_path,
        text=True,
        capture_output=True,
        timeout=PATIENCE_S,
    )
    said = done.stderr
    advice = "No space left on device (os error 28); make room on that disk and serve the image again"
    assert advice in said and "disk/image/log/" in said, said
    for end in ("ended 2", "full 0", "room 0", "same 0"):
        assert f"{end}\n" in said, said
    known = {"clean", "clock", "image", "lock", "scenario.toml"}
    files = [Path(line).relative_to("disk/image") for line in done.stdout.splitlines() if line.startswith("disk/")]
    assert files and all(file.name in known or file.name.isdigit() for file in files), done.stdout
