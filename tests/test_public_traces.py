"""Do traces as their publishers write them, and real ones, give the counts that another parser gives?"""

from __future__ import annotations

import json
import random
import shutil
from decimal import Decimal
from pathlib import Path
from typing import Any

import pytest

from conftest import Outlast, traces_folder
from public_traces import PAGE, differences, found, table, with_page
from trace_parsers import PARSERS, Found, counts, told
from trace_writers import SECTOR, WRITERS, Access

FOLDER = traces_folder()


def accesses(count: int = 400) -> list[Access]:
    """Accesses drawn at random, in order of time."""
    chance = random.Random(count)
    at, drawn = 0, []
    for _ in range(count):
        at += chance.randrange(1, 40_000)
        drawn.append(Access(at, chance.random() < 0.6, 8 * chance.randrange(1 << 20), 8 * chance.randrange(1, 33)))
    return drawn


@pytest.mark.parametrize("name", WRITERS)
def test_a_trace_as_its_publisher_writes_it(outlast: Outlast, tmp_path: Path, name: str) -> None:
    writer, form = WRITERS[name]
    drawn = accesses()
    (tmp_path / "trace").write_bytes(writer(drawn))
    info = json.loads(outlast("trace", "info", "trace", "--json").stdout)
    assert info["format"] == form
    # A cache's trace has no writes.
    is_cache = form == "oracle-general"
    letter = {True: "R", False: "R" if is_cache else "W"}
    wanted = counts([Found(Decimal(a.at_us), letter[a.is_read], SECTOR * a.sector, SECTOR * a.sectors) for a in drawn])
    del wanted["times"]
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


@pytest.mark.skipif(FOLDER is None, reason="no real traces beside the checkout; set OUTLAST_TRACES to their folder")
@pytest.mark.skipif(shutil.which("zstd") is None, reason="no zstd, which unpacks traces for the other parser")
@pytest.mark.parametrize("trace", table(), ids=lambda trace: trace["file"].split(".")[0])
def test_a_real_trace_has_the_counts_of_another_parser(trace: dict[str, Any]) -> None:
    assert FOLDER is not None
    path = found(trace, [FOLDER])
    if path is None:
        pytest.skip(f"{trace['file']} is not in {FOLDER}")
    assert list(differences(trace, path)) == []


def test_the_guide_has_the_table_of_public_traces() -> None:
    text = PAGE.read_text(encoding="utf-8")
    assert with_page(text) == text
    assert len(table()) >= 20
    assert len({trace["format"] for trace in table()}) >= 9


@pytest.mark.parametrize(
    ("writer", "parser", "settings"),
    [
        ("disksim", "ascii_columns", {}),
        ("blkparse", "blkparse", {}),
        ("blkparse -h", "blkparse", {"event": "Q"}),
        ("vscsi 1", "vscsi", {}),
        ("msr", "msr", {}),
        ("spc", "spc", {}),
        ("fio 3", "fio_3", {}),
        ("cloudphysics", "cloudphysics", {}),
    ],
)
def test_the_other_parser_reads_what_the_writers_write(writer: str, parser: str, settings: dict[str, str]) -> None:
    drawn = accesses(50)
    wanted = [("R" if a.is_read else "W", SECTOR * a.sector, SECTOR * a.sectors) for a in drawn]
    read = list(PARSERS[parser](WRITERS[writer][0](drawn), **settings))
    assert [(each.op, each.first, each.size) for each in read] == wanted
    if parser != "cloudphysics":
        spans = [read[-1].seconds - read[0].seconds, Decimal(drawn[-1].at_us - drawn[0].at_us) / 10**6]
        assert spans[0] == spans[1]
