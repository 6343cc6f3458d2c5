"""Do fio jobs mean what fio means by them? Every job file in tests/fio is run by fio itself (null engine, which
honours depths, rates and times but moves nothing) and by Outlast on a device that answers in a microsecond, and
what they ask is compared request by request.

Jobs whose requests do not depend on the clock must agree exactly: direction, offset and length of every request of
every job, in order, random ones included, since Outlast draws from fio's generators. fio's clock is that of a busy
machine, so jobs that rates and times pace are held to what must be true of any machine: fio issues its n-th request
no earlier than Outlast, which has an infinitely fast host; and apart from what falls into fio's own worst delay,
measured in its log, it issues as many. A machine that pauses fio until the runtime is over leaves no trace in the log,
so "as many" is claimed of the best of several runs, "no earlier" of each. So it is with jobs that agree exactly and
have a `runtime`, within which a fast machine has long done all: no request differs in any run, and none is missing in
the best.
"""

from __future__ import annotations

import json
import os
import re
import shutil
import subprocess
from pathlib import Path
from typing import Any, NamedTuple

import pytest

from conftest import ROOT
from outlast import _core
from patience import PATIENCE_S

FOLDER = ROOT / "tests" / "fio"
JOBS = sorted(FOLDER.glob("*.fio"))
VARIABLES = {"OUTLAST_RW": "randwrite", "OUTLAST_BLOCK": "8"}
DEVICE = 1 << 40
LATENCY_NS = 1_000
RUNS_BY_TIME = 8

pytestmark = pytest.mark.skipif(shutil.which("fio") is None, reason="fio is not installed, so there is no oracle")


class Request(NamedTuple):
    op: str
    offset: int
    bytes: int


class Lane(NamedTuple):
    """Requests of one job, and their times in seconds since it began."""

    name: str
    requests: list[Request]
    times: list[float]
    begin: float
    end: float


OPS = {"read": "read", "write": "write", "trim": "trim", "sync": "flush", "datasync": "flush"}


def marks(text: str) -> dict[str, str]:
    return dict(re.findall(r"^; (compare|device): (\w+)$", text, re.M))


def size(text: str) -> int:
    return int(text[:-1]) << {"k": 10, "m": 20, "g": 30}[text[-1]]


def run_fio(job: Path, folder: Path) -> tuple[list[Lane], dict[str, Any]]:
    """Runs fio; returns the logs of every job and clone, in fio's order, and its JSON."""
    text = job.read_text()
    shutil.copytree(FOLDER / "include", folder / "include")
    # Every section its own log: a log that jobs share is written by all of them at once.
    count = iter(range(1000))
    text = re.sub(
        r"^(\[(?!global).*\].*)$", lambda found: f"{found[1]}\nwrite_iolog=log.{next(count)}", text, flags=re.M
    )
    engine = "ioengine=null"
    if device := marks(text).get("device"):
        (folder / "device").touch()
        os.truncate(folder / "device", size(device))
        engine = "ioengine=psync\nfilename=device"
    (folder / "job.fio").write_text(f"[global]\n{engine}\n{text}")
    done = subprocess.run(
        ["fio", "--output-format=json+", "--output=out.json", "job.fio"],
        cwd=folder,
        env=os.environ | VARIABLES,
        text=True,
        capture_output=True,
        timeout=PATIENCE_S,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    report = json.loads((folder / "out.json").read_text()[(folder / "out.json").read_text().index("{") :])
    lanes: list[Lane] = []
    sections = re.findall(r"^\[(?!global)(.*)\]", text, re.M)
    for number in range(next(count)):
        by_file: dict[str, list[tuple[float, str, list[str]]]] = {}
        for line in (folder / f"log.{number}").read_text().splitlines():
            if line.startswith("fio version"):
                continue
            at, name, what, *rest = line.split()
            by_file.setdefault(name, []).append((int(at) * 1e-6, what, rest))
        for file, lines in by_file.items():
            name = f"{sections[number]}.{file}"
            begin = lines[0][0]
            asked = [(at - begin, OPS[what], rest) for at, what, rest in lines if what in OPS]
            if "iodepth" in text or "include" in text:
                asked = without_repeats(asked)
            requests = [
                Request(op, 0, 0) if op == "flush" else Request(op, int(rest[0]), int(rest[1])) for _, op, rest in asked
            ]
            opened = next((at - begin for at, what, _ in lines if what == "open"), 0.0)
            lanes.append(Lane(name, requests, [at for at, _, _ in asked], opened, asked[-1][0] if asked else 0.0))
    return lanes, report


def without_repeats(asked: list[tuple[float, str, list[str]]]) -> list[tuple[float, str, list[str]]]:
    """fio logs a request before it hands it to its engine, and once more if the null engine was busy; the totals of its
    JSON, compared below, know it once."""
    return [
        line for index, line in enumerate(asked) if index == 0 or line[1] == "flush" or line[1:] != asked[index - 1][1:]
    ]


def run_outlast(job: Path) -> list[Lane]:
    device = marks(job.read_text()).get("device")
    settings = json.dumps({"file": str(job), "vars": VARIABLES})
    rows, found = _core.fio_log(settings, size(device) if device else DEVICE, None, LATENCY_NS, 200_000)
    lanes = []
    for number, (name, begin, end) in enumerate(found):
        assert begin is not None and end is not None, f"{name} did not end"
        own = [row for row in rows if row[1] == number]
        requests = [Request(op, offset, length) for _, _, op, offset, length in own]
        times = [(at - begin) * 1e-9 for at, *_ in own]
        lanes.append(Lane(name, requests, times, begin * 1e-9, (end - begin) * 1e-9))
    return lanes


def by_section(lanes: list[Lane]) -> list[Lane]:
    """Clones of a job share its log, and perhaps a file: all that they ask, sorted, since nothing tells them apart."""
    sections: dict[str, list[Lane]] = {}
    for lane in lanes:
        sections.setdefault(lane.name.split(".")[0], []).append(lane)
    return [
        Lane(name, sorted(request for lane in clones for request in lane.requests), [], 0.0, 0.0)
        for name, clones in sections.items()
    ]


def compare_exactly(theirs: Lane, ours: Lane) -> str:
    differences = [
        f"request {index}: fio {a}, Outlast {b}"
        for index, (a, b) in enumerate(zip(theirs.requests, ours.requests, strict=False))
        if a != b
    ]
    assert not differences, f"{theirs.name}: {differences[:3]} of {len(differences)}"
    assert len(theirs.requests) <= len(ours.requests), theirs.name
    return f"{len(theirs.requests)} requests of {len(ours.requests)}, all equal"


def latest_start(theirs: Lane, ours: Lane) -> float:
    """Largest delay of fio behind its rate, in seconds, by its own log."""
    return max((a - b for a, b in zip(theirs.times, ours.times, strict=False)), default=0.0)


def issues_as_many(theirs: Lane, ours: Lane, *, by_time: bool) -> bool:
    """All of Outlast's requests; of jobs compared by time, without those that fio's worst delay may have cost."""
    if not ours.times or not by_time:
        return len(theirs.requests) == len(ours.requests)
    due = max(ours.times) - latest_start(theirs, ours)
    return sum(at <= due for at in ours.times) <= len(theirs.times)


def compare_times(theirs: Lane, ours: Lane) -> str:
    # fio's log counts microseconds, and both round down.
    grain = 2e-6 + LATENCY_NS * 1e-9 * len(ours.requests)
    early = [(index, a, b) for index, (a, b) in enumerate(zip(theirs.times, ours.times, strict=False)) if a < b - grain]
    assert not early, f"{theirs.name}: fio is earlier than is possible: {early[:3]}"
    assert len(theirs.requests) <= len(ours.requests) + 1, theirs.name
    delay = latest_start(theirs, ours)
    return f"{len(theirs.requests)} against {len(ours.requests)} requests, fio at most {delay * 1e3:.1f} ms behind"


def totals(lanes: list[Lane]) -> str:
    parts = []
    for op in ("read", "write", "trim", "flush"):
        found = [request for lane in lanes for request in lane.requests if request.op == op]
        if found:
            parts.append(f"{len(found)} {op}s, {sum(request.bytes for request in found) >> 10} KiB")
    return "; ".join(parts)


@pytest.mark.parametrize("job", JOBS, ids=lambda job: job.stem)
def test_a_job_means_what_fio_means(job: Path, tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    text = job.read_text()
    ours = run_outlast(job)
    by_time = marks(text).get("compare") == "time"
    clones = "numjobs" in text
    compare = compare_times if by_time else compare_exactly
    for number in range(RUNS_BY_TIME if "runtime" in text else 1):
        (folder := tmp_path / str(number)).mkdir()
        theirs, report = run_fio(job, folder)
        assert clones or len(theirs) == len(ours)
        together = clones and not by_time
        pairs = list(zip(*(by_section(lanes) if together else lanes for lanes in (theirs, ours)), strict=True))
        same = [compare(a, b) for a, b in pairs]
        short = [a.name for a, b in pairs if not issues_as_many(a, b, by_time=by_time)]
        if not short:
            break
    assert not short, f"in {number + 1} runs fio always issued fewer requests than Outlast: {short}, {same}"
    if by_time:
        for entry, lane in zip(report["jobs"], ours, strict=True):
            # fio ends when it next looks at the clock: never earlier than Outlast, except for the grain of its clock.
            # What `exitall` ends began as late as the other did, which no log tells.
            runtime = entry["job_runtime"] * 1e-3
            ramp = float((re.search(r"ramp_time=(\d+)ms", text) or [0, 0])[1]) * 1e-3
            assert "exitall" in text or runtime >= lane.end - ramp - 2e-3, (runtime, lane.end)
    else:
        for entry, lane in zip(report["jobs"], ours, strict=True):
            for op in ("read", "write", "trim"):
                asked = [request for request in lane.requests if request.op == op]
                figures = entry[op]
                assert (figures["total_ios"], figures["io_bytes"]) == (len(asked), sum(r.bytes for r in asked)), op
    with capsys.disabled():
        print(
            f"\n{job.stem:28} {'times' if by_time else 'exact':6} fio: {totals(theirs):44} Outlast: {totals(ours)}",
            end=" ",
        )
    assert same


def test_there_are_at_least_thirty_jobs() -> None:
    assert len(JOBS) >= 30
