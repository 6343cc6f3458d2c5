"""Is a packed or encoded trace the text inside it, whatever packed it? Python's own libraries do."""

from __future__ import annotations

import bz2
import gzip
import io
import json
import lzma
import zipfile
from collections.abc import Callable
from pathlib import Path
from typing import Any

import pytest

from conftest import Outlast

ROWS = [
    f"{128166372003061629 + 17000 * at},hm,0,{'Read' if at % 3 else 'Write'},{512 * (at * 7919 % 4096)},4096,0"
    for at in range(5000)
]
TEXT = ("\n".join(ROWS) + "\n").encode()


def zipped(members: dict[str, bytes], *, method: int = zipfile.ZIP_DEFLATED, is_streamed: bool = False) -> bytes:
    """An archive; a streamed one says its lengths behind the data and not before them."""

    class Stream(io.RawIOBase):
        """A place to write that cannot go back, as a pipe."""

        def __init__(self) -> None:
            self.whole = b""

        def writable(self) -> bool:
            return True

        def write(self, part: Any) -> int:
            self.whole += bytes(part)
            return len(part)

    stream = Stream()
    buffer = io.BytesIO()
    with zipfile.ZipFile(stream if is_streamed else buffer, "w", method) as archive:
        for name, content in members.items():
            with archive.open(name, "w", force_zip64=is_streamed) as member:
                member.write(content)
    return stream.whole if is_streamed else buffer.getvalue()


def xz(text: bytes, check: int = lzma.CHECK_CRC64, preset: int = 6) -> bytes:
    return lzma.compress(text, lzma.FORMAT_XZ, check, preset)


HALF = len(TEXT) // 2
PACKED: dict[str, tuple[str, bytes]] = {
    "gzip": ("gzip", gzip.compress(TEXT)),
    "bzip2": ("bzip2", bz2.compress(TEXT)),
    "bzip2, fast": ("bzip2", bz2.compress(TEXT, 1)),
    "bzip2, two streams": ("bzip2", bz2.compress(TEXT[:HALF]) + bz2.compress(TEXT[HALF:])),
    "xz": ("xz", xz(TEXT)),
    "xz -9e": ("xz", xz(TEXT, preset=9 | lzma.PRESET_EXTREME)),
    "xz, SHA-256": ("xz", xz(TEXT, lzma.CHECK_SHA256)),
    "xz, CRC32": ("xz", xz(TEXT, lzma.CHECK_CRC32)),
    "xz, no check": ("xz", xz(TEXT, lzma.CHECK_NONE)),
    "xz, two streams": ("xz", xz(TEXT[:HALF]) + xz(TEXT[HALF:])),
    "zip": ("zip", zipped({"web.csv": TEXT})),
    "zip, stored": ("zip", zipped({"web.csv": TEXT}, method=zipfile.ZIP_STORED)),
    "zip, streamed": ("zip", zipped({"web.csv": TEXT}, is_streamed=True)),
    "zip, of macOS": ("zip", zipped({"web/web.csv": TEXT, "__MACOSX/web/._web.csv": b"Mac OS X"})),
    "UTF-16 of PowerShell": (
        "none",
        "\ufeff".encode("utf-16-le") + TEXT.decode().replace("\n", "\r\n").encode("utf-16-le"),
    ),
    "UTF-16, big end first": ("none", "\ufeff".encode("utf-16-be") + TEXT.decode().encode("utf-16-be")),
    "UTF-16 in xz": ("xz", xz(TEXT.decode().encode("utf-16"))),
}


@pytest.mark.parametrize("name", PACKED)
def test_a_packed_trace_is_read(outlast: Outlast, tmp_path: Path, name: str) -> None:
    compression, content = PACKED[name]
    (tmp_path / "packed").write_bytes(content)
    found = json.loads(outlast("trace", "info", "packed", "--json").stdout)
    assert (found["format"], found["compression"]) == ("msr", compression)
    writes = sum("Write" in row for row in ROWS)
    assert (found["reads"]["count"], found["writes"]["count"]) == (len(ROWS) - writes, writes)
    assert found["reads"]["bytes"] + found["writes"]["bytes"] == 4096 * len(ROWS)
    assert found["span_s"] == pytest.approx(0.0017 * (len(ROWS) - 1))
    assert any("UTF-16" in note for note in found["notes"]) == ("UTF-16" in name)


@pytest.mark.parametrize(
    ("packer", "compression"), [(bz2.compress, "bzip2"), (xz, "xz"), (lambda text: zipped({"a": text}), "zip")]
)
def test_a_packed_trace_that_is_cut_is_refused(
    outlast: Outlast, tmp_path: Path, packer: Callable[[bytes], bytes], compression: str
) -> None:
    whole = packer(TEXT)
    (tmp_path / "cut").write_bytes(whole[: len(whole) // 2])
    done = outlast("trace", "info", "cut", check=False)
    assert done.returncode == 2
    said = done.stderr.strip()
    assert said.count("\n") == 0
    assert "cut" in said
    assert compression in said


def test_archives_of_several_files_say_how_many(outlast: Outlast, tmp_path: Path) -> None:
    (tmp_path / "two.zip").write_bytes(zipped({"a.csv": TEXT, "b.csv": TEXT}))
    done = outlast("trace", "info", "two.zip", check=False)
    assert done.returncode == 2
    assert "a zip archive of 2 files; unzip it and name one of them" in done.stderr


def test_a_packed_trace_runs(outlast: Outlast, tmp_path: Path, tiny: Path) -> None:
    (tmp_path / "web.csv.xz").write_bytes(xz(TEXT))
    (tmp_path / "web.csv").write_bytes(TEXT)
    results = [json.loads(outlast("run", tiny, "--trace", file, "--json").stdout) for file in ("web.csv.xz", "web.csv")]
    assert results[0]["host"] == results[1]["host"]
    assert results[0]["latency_us"] == results[1]["latency_us"]
