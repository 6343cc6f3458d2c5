"""Do traces as their publishers write them, and real ones, give the counts that another parser gives?"""

from __future__ import annotations

import json
import random
import shutil
import subprocess
from pathlib import Path
from typing import Any

import pytest

from conftest import Outlast, traces_folder
from trace_writers import SECTOR, WRITERS, Access, parsed

FOLDER = traces_folder()
REAL = sorted(FOLDER.glob("*.zst")) if FOLDER else []


def accesses(count: int = 400) -> list[Access]:
    """Accesses drawn at random, in order of time."""
    chance = random.Random(count)
    at, drawn = 0, []
    for _ in range(count):
        at += chance.randrange(1, 40_000)
        drawn.append(Access(at, chance.random() < 0.6, 8 * chance.randrange(1 << 20), 8 * chance.randrange(1, 33)))
    return drawn


def counts(all_: list[tuple[bool, int, int]]) -> dict[str, Any]:
    """Figures that `trace info` must give of accesses, a partial sector counted as a whole one."""
    found: dict[str, Any] = {}
    rounded = [(is_read, at // SECTOR, -(-(at + size) // SECTOR)) for is_read, at, size in all_]
    for kind, wanted in (("reads", True), ("writes", False)):
        own = [(first, end) for is_read, first, end in rounded if is_read == wanted]
        found[kind] = (len(own), SECTOR * sum(end - first for first, end in own))
    found["range"] = (min(first for _, first, _ in rounded), max(end for _, _, end in rounded))
    return found


def told(info: dict[str, Any]) -> dict[str, Any]:
    """The same figures as `trace info` gives them."""
    found: dict[str, Any] = {kind: (info[kind]["count"], info[kind]["bytes"]) for kind in ("reads", "writes")}
    return found | {"range": (info["start_lba"], info["end_lba"])}


@pytest.mark.parametrize("name", WRITERS)
def test_a_trace_as_its_publisher_writes_it(outlast: Outlast, tmp_path: Path, name: str) -> None:
    writer, form = WRITERS[name]
    drawn = accesses()
    (tmp_path / "trace").write_bytes(writer(drawn))
    info = json.loads(outlast("trace", "info", "trace", "--json").stdout)
    assert info["format"] == form
    # A cache's trace has no writes.
    is_cache = form == "oracle-general"
    wanted = counts([(each.is_read or is_cache, SECTOR * each.sector, SECTOR * each.sectors) for each in drawn])
    assert told(info) == wanted
    whole_seconds = form in ("tencent", "cloudphysics-csv", "oracle-general")
    span = (drawn[-1].at_us - drawn[0].at_us) / 1e6
    assert info["span_s"] == pytest.approx(span, abs=1.0 if whole_seconds else 2e-6)


@pytest.mark.parametrize(
    ("content", "form", "requests"),
    [
        (b"version, time, op, size, lbn\n1, 5, 2A, 4096, 8\n1, 6, 28, 4096, 16\n", "cloudphysics-csv", 2),
        (b"Timestamp, Response, IOType, LUN, Offset, Size\n0.5, 0.1, R, 3, 4096, 4096\n", "systor-17", 1),
    ],
)
def test_blanks_and_capitals_do_not_matter(
    outlast: Outlast, tmp_path: Path, content: bytes, form: str, requests: int
) -> None:
    (tmp_path / "trace").write_bytes(content)
    info = json.loads(outlast("trace", "info", "trace", "--json").stdout)
    assert (info["format"], info["records"]) == (form, requests)


@pytest.mark.parametrize(
    ("content", "says"),
    [
        (b"<!DOCTYPE html>\n<html><body>404</body></html>\n", "is a web page"),
        (b"version https://git-lfs.github.com/spec/v1\noid sha256:0\nsize 1\n", "git lfs pull"),
        (b"PK\x05\x06" + bytes(18), "a zip archive without a file"),
        (bytes(4096), 'format not recognised from "binary data"'),
    ],
)
def test_what_is_no_trace_is_refused_by_name(outlast: Outlast, tmp_path: Path, content: bytes, says: str) -> None:
    (tmp_path / "trace").write_bytes(content)
    done = outlast("trace", "info", "trace", check=False)
    assert done.returncode == 2 and done.stderr.count("\n") == 1 and says in done.stderr, done.stderr


@pytest.mark.skipif(not REAL, reason="no real traces beside the checkout; set OUTLAST_TRACES to their folder")
@pytest.mark.skipif(shutil.which("zstd") is None, reason="no zstd, which unpacks traces for the other parser")
@pytest.mark.parametrize("trace", REAL, ids=lambda path: path.name.split(".")[0])
def test_a_real_trace_has_the_counts_of_another_parser(outlast: Outlast, trace: Path) -> None:
    content = subprocess.run(["zstd", "-dcq", trace], capture_output=True, check=True).stdout
    info = json.loads(outlast("trace", "info", trace, "--json").stdout)
    assert told(info) == counts(list(parsed(trace.name.removesuffix(".zst"), content)))


def test_the_other_parser_reads_what_the_writers_write() -> None:
    drawn = accesses(50)
    plain = [(each.is_read, SECTOR * each.sector, SECTOR * each.sectors) for each in drawn]
    for name, writer in (("a.vscsi", "vscsi 1"), ("blkparse", "blkparse"), ("a.ascii", "disksim"), ("msr-hm_0", "msr")):
        assert list(parsed(name, WRITERS[writer][0](drawn))) == plain, name
