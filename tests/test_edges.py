"""Do full disks, pipes and odd values from Python end in one line, or work?"""

from __future__ import annotations

import json
import os
import re
import resource
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest

from conftest import Outlast, files_below, summary_of
from patience import PATIENCE_S

QUICK = ("--set", "precondition.overwrite=none", "--set", "workload.synthetic.duration=100ms")
TRACE = "".join(
    f"{128166372003061629 + i * 1000},h,0,{'Write' if i % 3 else 'Read'},{4096 * i},4096,0\n" for i in range(3000)
)


def limited(*arguments: str | Path, cwd: Path, most: int) -> subprocess.CompletedProcess[str]:
    """Runs Outlast where no file can become larger than so many bytes: a disk that is full there."""

    def limit() -> None:
        resource.setrlimit(resource.RLIMIT_FSIZE, (most, most))

    # Python would keep, cut off there, what it compiles, for all programs after this one.
    command = [sys.executable, "-B", "-m", "outlast", *map(str, arguments)]
    return subprocess.run(
        command, cwd=cwd, text=True, capture_output=True, stdin=subprocess.DEVNULL, timeout=PATIENCE_S, preexec_fn=limit
    )


def one_line(done: subprocess.CompletedProcess[str], pattern: str) -> None:
    assert done.returncode == 2, done
    assert re.fullmatch(f"error: {pattern}\n", done.stderr), done.stderr


FULL = "cannot be written: (File too large|No space left on device)"


@pytest.mark.parametrize(
    ("arguments", "what"),
    [
        (("run", "tiny.toml", *QUICK, "--out", "out", "--quiet"), "out"),
        (("run", "tiny.toml", *QUICK, "--report", "r.html", "--quiet"), "r.html"),
        (("sweep", "s.toml", "--out", "out", "--jobs", "1", "--quiet"), "out/points/[0-9a-f]+.json"),
        (("trace", "convert", "t.csv", "t.iolog", "--to", "fio-iolog"), "t.iolog"),
    ],
    ids=["result", "report", "kept runs of a sweep", "converted trace"],
)
def test_a_full_disk_is_one_line(tiny: Path, tmp_path: Path, arguments: tuple[str, ...], what: str) -> None:
    (tmp_path / "s.toml").write_text(
        'scenario = "tiny.toml"\n[[vary]]\nsetting = "device.ftl.gc.policy"\nvalues = ["greedy", "fifo"]\n'
    )
    (tmp_path / "t.csv").write_text(TRACE)
    before = files_below(tmp_path)
    one_line(limited(*arguments, cwd=tmp_path, most=1000), rf".*{what}: {FULL}")
    left = files_below(tmp_path) - before - {Path("out"), Path("out/points")}
    assert left == set()


def test_a_disk_too_full_for_the_report_keeps_the_result(tiny: Path, tmp_path: Path) -> None:
    done = limited("run", "tiny.toml", *QUICK, "--out", "out", cwd=tmp_path, most=400_000)
    one_line(done, rf".*out/report.html: {FULL}")
    assert summary_of(tmp_path / "out")["host"]["reads"] > 0
    assert not (tmp_path / "out" / "report.html").exists()
    # A run of hours leaves its figures at least on the terminal, wherever else they cannot be written.
    assert "IOPS" in done.stdout
    done = limited("run", "tiny.toml", *QUICK, "--out", "none", cwd=tmp_path, most=1000)
    assert "IOPS" in done.stdout
    assert not (tmp_path / "none").exists()


@pytest.mark.skipif(not Path("/dev/full").exists(), reason="needs /dev/full")
@pytest.mark.parametrize(
    "arguments",
    [("presets",), ("presets", "show", "demo"), ("run", "tiny.toml", *QUICK, "--json"), ("run", "tiny.toml", *QUICK)],
)
def test_full_standard_output_is_one_line(tiny: Path, tmp_path: Path, arguments: tuple[str, ...]) -> None:
    with Path("/dev/full").open("w") as full:
        command = [sys.executable, "-m", "outlast", *arguments]
        done = subprocess.run(command, cwd=tmp_path, text=True, stdout=full, stderr=subprocess.PIPE)
    assert done.stderr == "error: standard output: cannot be written: No space left on device\n"
    assert done.returncode == 2
    with Path("/dev/full").open("w") as full:
        assert subprocess.run([*command, "--nonsense"], cwd=tmp_path, stdout=full, stderr=full).returncode == 2


@pytest.mark.parametrize(
    ("arguments", "code"),
    [
        (("run", "tiny.toml", *QUICK), 0),
        (("run", "tiny.toml", *QUICK, "--json"), 0),
        (("run", "tiny.toml", *QUICK, "--set", "expect.throughput.iops=< 1"), 1),
        (("policies",), 0),
        (("presets",), 0),
        (("--help",), 0),
        (("run", "--help"), 0),
        (("compare", "a", "a"), 0),
        (("table", "a"), 0),
    ],
    ids=["run", "json", "limit", "policies", "presets", "help", "help of a command", "compare", "table"],
)
def test_a_reader_that_has_enough_changes_no_exit_code(
    tiny: Path, tmp_path: Path, arguments: tuple[str, ...], code: int, outlast: Outlast
) -> None:
    if arguments[1:] and arguments[1] == "a":
        outlast("run", "tiny.toml", *QUICK, "--out", "a", "--quiet")
    # Nobody reads: the end is closed before anything is printed.
    reader, writer = os.pipe()
    os.close(reader)
    command = [sys.executable, "-m", "outlast", *arguments]
    with os.fdopen(writer, "w") as closed:
        done = subprocess.run(command, cwd=tmp_path, text=True, stdout=closed, stderr=subprocess.PIPE)
    assert done.returncode == code, done.stderr
    assert "error" not in done.stderr


def piped(text: str, *arguments: str, cwd: Path) -> subprocess.CompletedProcess[str]:
    command = [sys.executable, "-m", "outlast", *arguments]
    return subprocess.run(command, cwd=cwd, text=True, input=text, capture_output=True, timeout=PATIENCE_S)


@pytest.mark.parametrize("place", ["-", "/dev/stdin"])
def test_a_scenario_may_come_through_a_pipe(tiny: Path, tmp_path: Path, place: str) -> None:
    text = tiny.read_text()
    assert "ok" in piped(text, "validate", place, cwd=tmp_path).stdout
    done = piped(text, "run", place, *QUICK, "--json", cwd=tmp_path)
    assert json.loads(done.stdout)["name"] == "tiny"
    wrong = piped('extends = "demo"\n\nsed = 3\n', "run", place, cwd=tmp_path)
    name = "standard input" if place == "-" else place
    assert wrong.returncode == 2
    assert wrong.stderr.startswith(f"error: {name}:3: sed: unknown setting; did you mean `seed`?"), wrong.stderr
    sweep = 'scenario = "demo"\n[[vary]]\nsetting = "sed"\nvalues = [1]\n'
    refused = piped(sweep, "sweep", place, "--out", "out", cwd=tmp_path)
    assert f"{name}: point 0 of 1" in refused.stderr


@pytest.fixture
def fifo(tmp_path: Path) -> Iterator[Path]:
    """A named pipe to which nobody writes."""
    path = tmp_path / "pipe.toml"
    os.mkfifo(path)
    yield path


def test_a_pipe_to_which_nobody_writes_is_told_and_can_be_left(fifo: Path, tmp_path: Path) -> None:
    program = subprocess.Popen(
        [sys.executable, "-m", "outlast", "run", fifo.name], cwd=tmp_path, text=True, stderr=subprocess.PIPE
    )
    assert program.stderr is not None
    assert program.stderr.readline().startswith("waiting for pipe.toml, from which nothing has come yet")
    program.terminate()
    assert program.communicate()[1] == "error: stopped by SIGTERM; nothing was written\n"
    assert program.returncode == 143


def test_a_named_pipe_gives_a_scenario(fifo: Path, tiny: Path, tmp_path: Path) -> None:
    command = [sys.executable, "-m", "outlast", "run", fifo.name, *QUICK, "--json"]
    program = subprocess.Popen(command, cwd=tmp_path, text=True, stdout=subprocess.PIPE)
    fifo.write_text(tiny.read_text())
    assert json.loads(program.communicate(timeout=PATIENCE_S)[0])["name"] == "tiny"


@pytest.mark.parametrize(
    "arguments",
    [
        ("run", "--preset", "demo", "--trace", "pipe.toml"),
        ("run", "--preset", "demo", "--trace", "-"),
        ("run", "--preset", "demo", "--trace", "/dev/stdin"),
        ("run", "demo", "--set", "workload.fio.file=pipe.toml"),
        ("run", "extends.toml"),
        ("trace", "info", "pipe.toml"),
        ("trace", "info", "-"),
        ("trace", "convert", "/dev/stdin", "out.iolog", "--to", "fio-iolog"),
    ],
)
def test_what_is_read_more_than_once_is_refused_from_a_pipe(
    fifo: Path, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    (tmp_path / "extends.toml").write_text('extends = "./pipe.toml"\n')
    done = piped(TRACE, *arguments, cwd=tmp_path)
    one_line(done, ".*(regular file|write it to a file first).*")
    assert not (tmp_path / "out.iolog").exists()


def test_a_file_goes_into_a_folder_that_is_there(outlast: Outlast, tiny_result: Path, tmp_path: Path) -> None:
    done = outlast("report", tiny_result, "-o", "none/x.html", check=False)
    one_line(done, "none/x.html: cannot be written: there is no folder none")
    assert not (tmp_path / "none").exists()


def test_whole_numbers_may_be_written_as_people_do(outlast: Outlast, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(TRACE)
    assert json.loads(outlast("trace", "info", "t.csv", "--head", "1e3", "--json").stdout)["records"] == 1000
    assert json.loads(outlast("validate", "demo", "--seed", "1_000", "--json").stdout)["seed"] == 1000
    for wrong in ("1.5", "1e400", "-1", "nan", "x"):
        assert "--head" in outlast("trace", "info", "t.csv", "--head", wrong, check=False).stderr


def test_how_far_a_trace_reaches_is_told_before_it_is_run(outlast: Outlast, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text(TRACE)
    info = json.loads(outlast("trace", "info", "t.csv", "--json").stdout)
    assert (info["start_lba"], info["end_lba"]) == (0, 3000 * 8)
    # 3 000 requests 100 µs apart.
    assert info["rate_iops"] == pytest.approx(10_000)
    assert "addresses from 0 B up to 11.7 MiB" in outlast("trace", "info", "t.csv").stdout


def test_a_trace_beyond_the_drive_is_told_with_its_share(outlast: Outlast, tiny: Path, tmp_path: Path) -> None:
    lines = [f"{128166372003061629 + i * 10000},h,0,Write,{(i % 4) * (40 << 20)},4096,0\n" for i in range(400)]
    (tmp_path / "t.csv").write_text("".join(lines))
    quick = ("--set", "precondition.overwrite=none", "--set", "run.warm_up=0s", "--json")
    for addresses, word in (("fit", "packed side by side"), ("wrap", "wrapped onto other data")):
        done = outlast("run", "tiny.toml", "--trace", "t.csv", "--set", f"workload.trace.addresses={addresses}", *quick)
        notes = " ".join(json.loads(done.stdout)["notes"])
        assert "75.0 % of the trace's requests (300 of 400) lie beyond the 26 MiB that the host has" in notes
        assert word in notes
    refused = outlast(
        "run", "tiny.toml", "--trace", "t.csv", "--set", "workload.trace.addresses=refuse", *quick, check=False
    )
    one_line(refused, r"t\.csv, line 2: LBA 81920 .* lies beyond the capacity .*")


def test_the_first_example_of_the_readme_says_what_its_warm_up_took(outlast: Outlast, tmp_path: Path) -> None:
    lines = [
        f"{128166372003061629 + i * 4_000_000},h,0,{kind},{8192 * i},4096,0\n"
        for i, kind in enumerate(["Read", "Write", "Read", "Write"])
    ]
    (tmp_path / "web.csv").write_text("".join(lines))
    done = outlast("run", "--preset", "demo", "--trace", "web.csv", "--out", "out")
    assert "Little's law holds" in done.stdout
    summary = summary_of(tmp_path / "out")
    assert summary["queue"]["littles_law"]["relative_error"] < 1e-9
    assert "The warm-up of 500ms took 2 of the 4 requests" in " ".join(summary["notes"])
    page = (tmp_path / "out" / "report.html").read_text()
    assert "law is off" not in page
    assert "in a thousand takes longer" not in page
    assert "measured: too few for a tail" in page
    assert "Nothing reached the flash during the measurement" in page
    assert "uniform random 70/30" not in page
