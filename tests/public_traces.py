"""Traces from public places: the counts of an independent parse, which Outlast's reader must give, too.

python tests/public_traces.py FOLDER [FOLDER ...]   reads every trace of tests/public_traces.toml that is in the folders
python tests/public_traces.py --page                writes their table into docs/guide/traces.md

A trace that is in no folder is named and skipped. Nothing of a trace is kept in this repository but its counts.
"""

from __future__ import annotations

import bz2
import gzip
import hashlib
import lzma
import subprocess
import sys
import tempfile
import tomllib
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

from outlast import WorkloadError
from outlast.traces import trace_info
from trace_parsers import PARSERS, counts, told

TESTS = Path(__file__).parent
PAGE = TESTS.parent / "docs" / "guide" / "traces.md"
BEGIN, END = "<!-- public traces: made by tests/public_traces.py -->", "<!-- end of public traces -->"
UNPACK: dict[str, Callable[[bytes], bytes]] = {".gz": gzip.decompress, ".bz2": bz2.decompress, ".xz": lzma.decompress}
SPAN_ERROR_S = 1e-6
"""Times of Outlast are whole nanoseconds; the span is a double of seconds."""


def table() -> list[dict[str, Any]]:
    """The traces, in the order of the page."""
    traces: list[dict[str, Any]] = tomllib.loads((TESTS / "public_traces.toml").read_text(encoding="utf-8"))["trace"]
    return traces


def found(trace: dict[str, Any], folders: list[Path]) -> Path | None:
    """The file of a trace, as it is published or packed by zstd."""
    places = [folder / (trace["file"] + ending) for folder in folders for ending in ("", ".zst")]
    return next((place for place in places if place.is_file()), None)


def content_of(trace: dict[str, Any], path: Path) -> bytes:
    """The published file, which must be the one that was counted."""
    content = path.read_bytes()
    if path.name == trace["file"] + ".zst":
        content = subprocess.run(["zstd", "-dcq", path], capture_output=True, check=True).stdout
    got = (len(content), hashlib.sha256(content).hexdigest())
    if got != (trace["bytes"], trace["sha256"]):
        raise ValueError(f"{path} is another file: {got[0]} bytes, sha256 {got[1]}")
    return content


def differences(trace: dict[str, Any], path: Path) -> Iterator[str]:
    """Differences between the table, the independent parse and Outlast over the trace in `path`, a sentence each."""
    content = content_of(trace, path)
    content = UNPACK.get(Path(trace["file"]).suffix, bytes)(content)
    with tempfile.TemporaryDirectory() as folder:
        if "lines" in trace:
            first, last = trace["lines"]
            content = b"".join(content.splitlines(keepends=True)[first - 1 : last])
            path = Path(folder) / "lines"
            path.write_bytes(content)
        wanted = counts(list(PARSERS[trace["parser"]](content, **trace.get("parser_settings", {}))))
        try:
            info = trace_info(path, **trace.get("settings", {}))
        except WorkloadError as error:
            yield f"Outlast refuses it: {error}"
            return
    listed = {kind: tuple(trace[kind]) for kind in wanted}
    if listed != wanted:
        yield f"the table has {listed}, the parse {wanted}"
    first_time, last_time = wanted.pop("times")
    if told(info) != wanted:
        yield f"Outlast has {told(info)}, the parse {wanted}"
    if info["format"] != trace["format"]:
        yield f"Outlast takes it for {info['format']}, and not {trace['format']}"
    if abs(info["span_s"] - (last_time - first_time)) > SPAN_ERROR_S * max(1.0, abs(last_time) / 1e6):
        yield f"Outlast has a span of {info['span_s']} s, the parse {last_time - first_time} s"


def page() -> str:
    """The table of the guide, between its marks."""
    rows = ["| trace | from | format | requests | reads | writes | trims |", "|---|---|---|---:|---:|---:|---:|"]
    for trace in table():
        numbers = [trace[kind][0] for kind in ("reads", "writes", "trims")]
        figures = " | ".join(f"{number:,}" for number in (sum(numbers), *numbers))
        rows.append(f"| {trace['what']} | {trace['place']} | `{trace['format']}` | {figures} |")
    return "\n".join([BEGIN, "", *rows, "", END])


def with_page(text: str) -> str:
    """The guide with the table in its place."""
    before, _, rest = text.partition(BEGIN)
    return before + page() + rest.partition(END)[2]


def main(folders: list[Path]) -> int:
    """Reads what is there; 1 if anything differs."""
    failed = read = 0
    for trace in table():
        path = found(trace, folders)
        if path is None:
            print(f"{trace['file']}: skipped, in no folder")
            continue
        read += 1
        for difference in differences(trace, path):
            failed += 1
            print(f"{trace['file']}: {difference}")
    print(f"{read} traces read, {failed} differences")
    return int(failed > 0 or read == 0)


if __name__ == "__main__":
    if sys.argv[1:] == ["--page"]:
        PAGE.write_text(with_page(PAGE.read_text(encoding="utf-8")), encoding="utf-8")
    else:
        sys.exit(main([Path(each) for each in sys.argv[1:]]))
