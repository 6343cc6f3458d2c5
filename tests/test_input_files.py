"""Is a kept run ever taken for one of other files than it was made of?"""

from __future__ import annotations

import os
import time
from collections.abc import Iterator
from pathlib import Path
from typing import Any

import pytest

import outlast
from outlast import api
from outlast.errors import OutputError, WorkloadError
from outlast.points import Job, job, key_of
from outlast.points.content import content_hash
from outlast.points.workers import Processes

KNOWN = {"workload.trace.file", "workload.fio.file", "precondition.from"}
"""The settings whose files `Scenario::input_files` lists."""


def trace(count: int, kind: str) -> str:
    return "".join(f"{128166372003061629 + i * 10000},h,0,{kind},{4096 * i},4096,0\n" for i in range(count))


def replayed(tiny: Path, file: Path) -> dict[str, Any]:
    quick = {"precondition": {"overwrite": "none", "fill": "none"}, "run": {"warm_up": "0s"}}
    return api.resolve([tiny, quick | {"workload": {"trace": {"file": str(file)}}}])


def fields(schema: Any, found: str) -> Iterator[str]:
    """The dotted names of the schema's settings whose own name says that they hold a file's path."""
    root = schema

    def walk(node: Any, path: str, seen: tuple[str, ...]) -> Iterator[str]:
        if not isinstance(node, dict):
            return
        if (link := node.get("$ref")) is not None and link not in seen:
            yield from walk(root["$defs"][link.rsplit("/", 1)[1]], path, (*seen, link))
        for key in ("anyOf", "oneOf", "allOf"):
            for each in node.get(key, []):
                yield from walk(each, path, seen)
        for name, each in node.get("properties", {}).items():
            full = f"{path}.{name}" if path else name
            if found in name:
                yield full
            yield from walk(each, full, seen)
        yield from walk(node.get("items"), path, seen)

    yield from walk(root, "", ())


def test_every_setting_that_names_a_file_is_part_of_the_key() -> None:
    schema = outlast.scenario_schema()
    named = {name for found in ("file", "path") for name in fields(schema, found)}
    # The beginnings of ranges of addresses, of ages and of temperatures are no files.
    ranges = (".ranges.", ".by_age.", ".heat.")
    origins = {
        name for name in fields(schema, "from") if name.endswith(".from") and not any(part in name for part in ranges)
    }
    assert named | origins == KNOWN


def test_a_snapshot_counts_by_its_bytes_and_not_by_its_name(tiny: Path, tmp_path: Path) -> None:
    keys = []
    for name, seed in (("a.outlast", 1), ("b.outlast", 1), ("c.outlast", 2)):
        file = tmp_path / name
        assert outlast.snapshot(tiny, file, {"seed": seed}) == file
        keys.append(key_of(api.resolve([tiny, {"precondition": {"from": str(file)}}])))
    assert keys[0] == keys[1] != keys[2]


def test_the_number_of_threads_is_no_part_of_the_key(tiny: Path) -> None:
    others = [{}, {"run": {"threads": 1}}, {"run": {"threads": 4}}]
    assert len({key_of(api.resolve([tiny, other])) for other in others}) == 1
    # Nor does it leave an empty table behind, where nothing else is set.
    bare = {name: value for name, value in api.resolve([tiny]).items() if name != "run"}
    assert len({key_of(bare | other) for other in others}) == 1
    assert key_of(bare | {"run": {"warm_up": "1s"}}) != key_of(bare)


def test_a_trace_counts_by_its_bytes_and_not_by_its_name(tiny: Path, tmp_path: Path) -> None:
    keys = []
    for name, kind in (("a.csv", "Read"), ("b.csv", "Read"), ("c.csv", "Write")):
        file = tmp_path / name
        file.write_text(trace(10, kind))
        keys.append(key_of(replayed(tiny, file)))
    assert keys[0] == keys[1] != keys[2]


@pytest.mark.parametrize("settled", [False, True], ids=["just written", "hashed long after"])
def test_a_file_rewritten_under_the_same_path_is_another(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, settled: bool
) -> None:
    """Also one of the same size whose time stamp was set back, in the same process."""
    monkeypatch.setattr("outlast.points.content.SETTLED_NS", -1 if settled else 2_000_000_000)
    file = tmp_path / "trace.csv"
    file.write_text("a" * 100)
    stamp = file.stat().st_mtime_ns
    hashes = [content_hash(str(file))]
    for letter in "bcd":
        if settled:
            time.sleep(0.02)  # several ticks of the file system's clock
        with file.open("r+") as open_file:
            open_file.write(letter * 100)
        os.utime(file, ns=(stamp, stamp))
        hashes.append(content_hash(str(file)))
    assert len(set(hashes)) == 4


def test_a_hash_is_not_taken_twice_of_a_file_that_stays(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("outlast.points.content.SETTLED_NS", -1)
    file = tmp_path / "trace.csv"
    file.write_text("a")
    first = content_hash(str(file))
    monkeypatch.setattr("hashlib.file_digest", lambda *_: pytest.fail("read again"))
    assert content_hash(str(file)) == first


def reads_and_writes(sweep: Any) -> tuple[int, int]:
    row = sweep.table().to_dicts()[0]
    return row["host.reads"], row["host.writes"]


def test_a_sweep_over_a_rewritten_trace_runs_again(tiny: Path, tmp_path: Path) -> None:
    file = tmp_path / "trace.csv"
    file.write_text(trace(200, "Read "))
    spec = {"name": "s", "vary": [{"setting": "seed", "values": [1]}]}
    first = outlast.sweep(spec | {"scenario": replayed(tiny, file)}, tmp_path / "out", jobs=1)
    assert reads_and_writes(first) == (200, 0)
    file.write_text(trace(200, "Write"))
    second = outlast.sweep(spec | {"scenario": replayed(tiny, file)}, tmp_path / "out", jobs=1)
    assert reads_and_writes(second) == (0, 200)


def test_a_sweep_over_an_edited_fio_job_runs_again(tiny: Path, tmp_path: Path) -> None:
    file = tmp_path / "job.fio"
    quick = {"precondition": {"overwrite": "none", "fill": "none"}, "run": {"warm_up": "0s"}}
    spec = {"name": "s", "vary": [{"setting": "seed", "values": [1]}]}
    seen = []
    for rw in ("randread ", "randwrite"):
        file.write_text(f"[job]\nrw={rw}\nbs=4k\niodepth=1\nnumber_ios=300\nsize=50%\n")
        scenario = api.resolve([tiny, quick | {"workload": {"fio": {"file": str(file)}}}])
        seen.append(reads_and_writes(outlast.sweep(spec | {"scenario": scenario}, tmp_path / "out", jobs=1)))
    assert seen == [(300, 0), (0, 300)]


def test_a_worker_that_has_another_file_is_found_out(tiny: Path, tmp_path: Path) -> None:
    file = tmp_path / "trace.csv"
    file.write_text(trace(20, "Read "))
    scenario = replayed(tiny, file)
    asked = Job(scenario, key_of(scenario))
    file.write_text(trace(20, "Write"))
    with pytest.raises(OutputError, match=r"trace\.csv: is not the one that was asked for"):
        job.measure_elsewhere(asked.scenario, asked.key, job.simulator_hash())
    with Processes(1) as crew:
        crew.submit(asked)
        _, answer = crew.next()
    assert isinstance(answer, OutputError)
    assert "is not the one that was asked for" in str(answer)


def test_a_file_that_changes_under_a_run_keeps_nothing(
    tiny: Path, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    file = tmp_path / "trace.csv"
    file.write_text(trace(20, "Read"))
    scenario = replayed(tiny, file)
    real = api.run

    def run(*settings: Any) -> Any:
        result = real(*settings)
        file.write_text(trace(21, "Read"))
        return result

    monkeypatch.setattr(api, "run", run)
    with pytest.raises(OutputError, match=r"trace\.csv: changed while it was being read"):
        job.measure(Job(scenario, key_of(scenario)))


def test_a_file_that_is_gone_is_one_line(tmp_path: Path) -> None:
    with pytest.raises(WorkloadError, match=r"gone\.csv: cannot be opened: No such file"):
        content_hash(str(tmp_path / "gone.csv"))


def test_a_file_that_a_fio_job_includes_counts(tiny: Path, tmp_path: Path) -> None:
    (tmp_path / "job.fio").write_text("[job]\ninclude common.fio\nbs=4k\nnumber_ios=100\nsize=50%\n")
    keys = []
    for rw in ("randread ", "randwrite"):
        (tmp_path / "common.fio").write_text(f"rw={rw}\n")
        scenario = api.resolve([tiny, {"workload": {"fio": {"file": str(tmp_path / "job.fio")}}}])
        keys.append(key_of(scenario))
    assert keys[0] != keys[1]
