"""Do files that others wrote end in a result or in one line, whatever is in them?"""

from __future__ import annotations

import copy
import json
import shutil
import sys
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import outlast
from conftest import TINY, call
from disturbed import EXAMPLES, MANY, disturb
from outlast import cli, foreign
from outlast.cli import failures
from outlast.fio import Measured
from outlast.points.job import Job, stored_record
from outlast.products.torture.results import verdict_of
from outlast.sweeps.reading import read as read_sweep


def said(capsys: pytest.CaptureFixture[str], *arguments: str | Path) -> tuple[int, str]:
    """The exit code and the messages of a command, called in this process: a fork for each would take minutes."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(sys, "argv", ["outlast", *map(str, arguments)])
        code = cli._called()
    return code, capsys.readouterr().err


def copied(result: Path, to: Path, text: str) -> Path:
    """The folder of a result of which result.json says something else."""
    shutil.rmtree(to, ignore_errors=True)
    shutil.copytree(result, to, ignore=shutil.ignore_patterns("*.html"))
    (to / "result.json").write_text(text, encoding="utf-8")
    return to


@pytest.mark.parametrize(
    ("change", "message"),
    [
        (lambda own: own["throughput"].update(iops="many"), 'throughput.iops = "many": must be a number or null'),
        (lambda own: own.pop("throughput"), "throughput is missing"),
        (lambda own: own["notes"].append({}), "notes[0] = {}: must be a text"),
        (lambda own: own.update(latency_us=[]), "latency_us = []: must be a table"),
        (lambda own: own.update(seed=[True]), "seed = [true]: must be a number or null"),
    ],
    ids=["text for a number", "missing", "table for a text", "list for a table", "list for a number"],
)
def test_a_changed_figure_is_named_with_its_file_and_its_limit(
    change: Any, message: str, tmp_path: Path, weak_result: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    summary = json.loads((weak_result / "result.json").read_text())
    summary["notes"] = []
    change(summary)
    folder = copied(weak_result, tmp_path / "changed", json.dumps(summary))
    for command in (
        ("report", folder, "-o", tmp_path / "r.html"),
        ("compare", weak_result, folder),
        ("explain", folder),
    ):
        code, told = said(capsys, *command)
        assert (code, told.count("\n")) == (2, 1) and message in told and "changed/result.json" in told, told


@pytest.mark.parametrize("text", ["[" * 60_000, '{"a":' * 60_000, '{"schema": NaN}', "1e999", "9" * 5000, '"\\ud800"'])
def test_json_without_sense_is_refused_by_all_that_reads_it(
    text: str, tmp_path: Path, weak_result: Path, capsys: pytest.CaptureFixture[str]
) -> None:
    folder = copied(weak_result, tmp_path / "changed", text)
    (folder / "sweep.json").write_text(text)
    (tmp_path / "spec.json").write_text(text)
    for command in (
        ("report", folder, "-o", tmp_path / "r.html"),
        ("report", folder / "sweep.json", "-o", tmp_path / "r.html"),
        ("compare", weak_result, folder),
        ("explain", folder),
        ("sweep", tmp_path / "spec.json"),
    ):
        code, told = said(capsys, *command)
        assert (code, told.count("\n")) == (2, 1), told
    assert not (tmp_path / "r.html").exists()


def test_toml_without_end_is_refused(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    for text in ("a = " + "[" * 60_000, "a = " + "{a=" * 20_000, "a." * 3_000 + "a = 1"):
        (tmp_path / "deep.toml").write_text(text)
        code, told = said(capsys, "sweep", tmp_path / "deep.toml")
        assert (code, told.count("\n")) == (2, 1), told[:300]


@pytest.mark.parametrize("kind", ["weak", "jobs", "array", "repair"])
def test_any_result_is_shown_or_refused(
    kind: str, tmp_path: Path, request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str]
) -> None:
    result: Path = request.getfixturevalue(f"{kind}_result")
    text = (result / "result.json").read_text()

    @settings(MANY, max_examples=max(EXAMPLES // 4, 1))
    @given(st.data())
    def shows(data: st.DataObject) -> None:
        summary = json.loads(text)
        disturb(data, summary)
        folder = copied(result, tmp_path / "changed", json.dumps(summary))
        of_each = {
            "report": ("report", folder, "-o", tmp_path / "r.html"),
            "compare": ("compare", result, folder),
            "explain": ("explain", folder),
        }
        command = of_each[data.draw(st.sampled_from(sorted(of_each)))]
        code, told = said(capsys, *command)
        assert code == 0 or (code == 2 and told.startswith("error: ") and told.count("\n") == 1), (command, told)

    shows()


SWEEP = """\
scenario = "tiny.toml"
figures = ["throughput.iops", "write_amplification.total"]
set = { "workload.synthetic.duration" = "100ms" }
[[vary]]
setting = "device.ftl.capacity"
values = ["20MiB", "24MiB"]
"""


@pytest.fixture(scope="module")
def sweep_result(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """The folder of a finished sweep of two points."""
    folder = tmp_path_factory.mktemp("sweep")
    (folder / "tiny.toml").write_text(TINY)
    (folder / "sweep.toml").write_text(SWEEP)
    call("sweep", "sweep.toml", "--out", "out", "--quiet", cwd=folder)
    return folder / "out"


def test_any_sweep_is_shown_or_refused(tmp_path: Path, sweep_result: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = (sweep_result / "sweep.json").read_text()

    @settings(MANY, max_examples=max(EXAMPLES // 4, 1))
    @given(st.data())
    def shows(data: st.DataObject) -> None:
        summary = json.loads(text)
        disturb(data, summary)
        folder = tmp_path / "changed"
        folder.mkdir(exist_ok=True)
        shutil.copy(sweep_result / "sweep.parquet", folder)
        (folder / "sweep.json").write_text(json.dumps(summary))
        code, told = said(capsys, "report", folder, "-o", tmp_path / "r.html")
        assert code == 0 or (code == 2 and told.startswith("error: ") and told.count("\n") == 1), told

    shows()


def test_any_record_of_a_point_is_taken_or_made_again(tmp_path: Path, sweep_result: Path) -> None:
    file = next((sweep_result / "points").glob("*.json"))
    whole = json.loads(file.read_text())
    assert len(whole.pop("checksum")) == 8
    own = Job(whole["scenario"], whole["key"])
    assert stored_record(own, sweep_result / "points") == whole

    @MANY
    @given(st.data())
    def reads(data: st.DataObject) -> None:
        record = copy.deepcopy(whole)
        disturb(data, record)
        (tmp_path / file.name).write_text(json.dumps(record))
        found = stored_record(own, tmp_path)
        assert found is None or found == record

    reads()


VERDICT = json.loads("""{
    "state": "contract@1", "model": "contract", "event": 1, "at_ns": 5, "mark": null, "spans_ns": [[1, 2]],
    "verdict": "bad", "stage": "check", "exit": 1, "seconds": 0.5, "output": "x", "bad": [[0, 512]],
    "timed_out": false, "lost": 1, "witness": [{"lba": 1}], "purpose": "plan"
}""")


@MANY
@given(st.data())
def test_any_line_of_verdicts_is_one_or_refused(data: st.DataObject) -> None:
    line = copy.deepcopy(VERDICT)
    disturb(data, line)
    try:
        read = verdict_of(json.dumps(line))
    except (ValueError, TypeError, outlast.OutlastError) as error:
        assert len(str(error).splitlines()) == 1
    else:
        assert verdict_of(read.line()) == read and isinstance(read.group, str)


@MANY
@given(st.data())
def test_any_sweep_file_is_read_or_refused(data: st.DataObject) -> None:
    spec = json.loads("""{
        "scenario": "demo", "set": {"seed": 3}, "method": "grid", "figures": ["throughput.iops"], "seed": 1,
        "pareto": ["throughput.iops", "write_amplification.total"], "vary": [{"setting": "seed", "values": [1, 2]}]
    }""")
    disturb(data, spec)
    try:
        read_sweep(spec)
    except outlast.OutlastError as error:
        assert len(str(error).splitlines()) == 1


@MANY
@given(data=st.data())
def test_any_measurement_of_fio_is_read_or_refused(
    data: st.DataObject, tmp_path_factory: pytest.TempPathFactory
) -> None:
    report = json.loads("""{"fio version": "fio-3.33", "global options": {}, "jobs": [{"jobname": "a", "read": {
        "io_bytes": 4096, "iops": 10.0, "bw": 40, "total_ios": 3, "runtime": 100, "clat_ns": {
            "min": 1, "max": 9, "mean": 4.5, "stddev": 1.0, "N": 3, "percentile": {"99.000000": 8},
            "bins": {"4": 2}}}}]}""")
    disturb(data, report)
    file = tmp_path_factory.getbasetemp() / "fio.json"
    file.write_text(json.dumps(report))
    try:
        Measured.load(file)
    except outlast.OutlastError as error:
        assert len(str(error).splitlines()) == 1


def test_a_machine_that_stumbles_is_a_defect_of_ours_whatever_it_was_read_from(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    """Only reading its state is a matter of the file: a panic afterwards is told as an internal error."""
    monkeypatch.setattr(foreign, "_RELIED_ON", [])
    monkeypatch.delenv("OUTLAST_DEBUG", raising=False)
    tiny, prepared = tmp_path / "tiny.toml", tmp_path / "prepared.outlast"
    tiny.write_text(TINY)
    outlast.snapshot(tiny, prepared)
    outlast.restore(prepared)
    outlast.run(tiny, {"precondition.from": str(prepared)})
    with outlast.serve(tiny, image=tmp_path / "image"):
        pass
    with outlast.serve(tiny, image=tmp_path / "image"):
        pass
    assert foreign.relied_on() == []
    assert failures.of_exception(outlast.InternalError("index out of bounds")) == 3
    assert capsys.readouterr().err.startswith("error: internal error: index out of bounds; please report")
