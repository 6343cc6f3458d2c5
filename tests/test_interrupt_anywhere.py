"""Is a run that is interrupted at any moment of its life either not begun, and said so, or kept and marked?"""

from __future__ import annotations

import os
import random
import re
import signal
import subprocess
import sys
import time
from collections import Counter
from concurrent.futures import ThreadPoolExecutor
from dataclasses import dataclass
from pathlib import Path

import pytest

from conftest import files_below
from outlast.result import load
from patience import PATIENCE_S

MOMENTS = 24
"""Interrupted runs, spread evenly over a second of a run's life, at other moments by another seed."""
BATCHES = 2
AT_ONCE = 2
SEED = int(os.environ.get("PROPTEST_RNG_SEED", "20261122"))
"""Seed of the moments: that of the property tests in Rust, if given."""

QUICK = (
    # A few tenths of a second in which something is.
    *("--set", "workload.synthetic.duration=90s"),
    # A few tens of milliseconds in which nothing is measured yet.
    *("--set", "precondition.min_drive_writes=50", "--set", "precondition.max_drive_writes=50"),
)
WAYS = ("SIGINT", "SIGTERM", "SIGINT twice")
ENDS = {"SIGINT": 130, "SIGTERM": 143, "SIGINT twice": 130}
FIRST_LINES = re.compile(r"outlast/(?!__init__\.py|__main__\.py|interrupts\.py)")
DATA = {"result.json", "scenario.toml", "timeseries.parquet", "latency.parquet", "precondition.parquet", "wear.parquet"}


@dataclass(frozen=True)
class End:
    """End of one interrupted run."""

    way: str
    code: int
    messages: str
    folder: Path

    @property
    def before_first_line(self) -> bool:
        """True if the signal came before the first lines of Outlast, where Python reacts by itself."""
        python_itself = self.code < 0 or self.messages.startswith(("Traceback", "Fatal Python", "Exception ignored"))
        python_itself |= "KeyboardInterrupt" in self.messages
        return python_itself and not self.folder.exists() and not FIRST_LINES.search(self.messages)


def start(folder: Path) -> subprocess.Popen[str]:
    command = [sys.executable, "-m", "outlast", "run", "tiny.toml", *QUICK, "--out", str(folder), "--quiet"]
    return subprocess.Popen(
        command, cwd=folder.parent, text=True, stdin=subprocess.DEVNULL, stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )


def interrupted(folder: Path, way: str, at: float, gap: float) -> End:
    program = start(folder)
    time.sleep(at)
    program.send_signal(signal.SIGTERM if way == "SIGTERM" else signal.SIGINT)
    if way == "SIGINT twice":
        time.sleep(gap)
        program.send_signal(signal.SIGINT)
    _, messages = program.communicate(timeout=PATIENCE_S)
    return End(way, program.returncode, messages, folder)


def life_s(folder: Path) -> float:
    began = time.monotonic()
    program = start(folder)
    program.communicate(timeout=PATIENCE_S)
    assert program.returncode == 0
    return time.monotonic() - began


def check(end: End) -> str:
    """Asserts what holds of every end, and says which kind it is."""
    if end.before_first_line:
        return "before the first line"
    assert "Traceback" not in end.messages, end
    assert "panicked" not in end.messages, end
    if not end.folder.exists():
        signal_name = "SIGTERM" if end.way == "SIGTERM" else "Ctrl-C"
        assert end.messages == f"error: stopped by {signal_name}; nothing was written\n", end
        assert end.code == ENDS[end.way], end
        return "nothing yet"
    names = {path.name for path in end.folder.iterdir()}
    drawn = "report.html" in names
    assert names == DATA | ({"report.html"} if drawn else set()), end
    result = load(end.folder)
    reads = result.summary["host"]["reads"]
    notes = " ".join(result.summary["notes"])
    assert "gave up" not in notes, end
    if end.code == 0:
        # It had written everything when the signal came.
        assert not result.partial, end
        assert drawn, end
        return "over"
    assert end.code == ENDS[end.way], end
    assert drawn or end.way == "SIGINT twice", end
    assert drawn != ("the report was not drawn" in end.messages), end
    if not result.partial:
        assert "the run was complete by then" in end.messages, end
        return "complete"
    assert "marked partial" in end.messages, end
    if reads == 0:
        assert "nothing was measured" in end.messages, end
        assert re.search("stopped while the drive was being prepared|within its warm-up", notes), (end, notes)
        return "prepared"
    assert "the figures cover the run up to then" in end.messages, end
    return "partial"


def draw(rng: random.Random, part: float, share: float) -> tuple[str, float, float]:
    """A way, a moment in the `share` seconds of a life from `part` on, and the time until a second signal."""
    return rng.choice(WAYS), part + rng.random() * share, rng.random() * 0.2


@pytest.fixture(scope="module")
def seen() -> Counter[str]:
    """Counts of the ends of all batches' runs."""
    return Counter()


@pytest.mark.parametrize("batch", range(BATCHES))
def test_random_moments(tiny: Path, tmp_path: Path, seen: Counter[str], batch: int) -> None:
    rng = random.Random(f"{SEED} {batch}")
    with ThreadPoolExecutor(AT_ONCE) as pool:
        # Measured anew for each batch, and two at a time, since the machine of a test is busy.
        life = max(pool.map(life_s, [tmp_path / f"whole-{i}" for i in range(AT_ONCE)]))
        # A moment in each part of it, so that few are enough to meet every part of a run.
        share = life * BATCHES / MOMENTS
        plan = [draw(rng, part * share, share) for part in range(MOMENTS // BATCHES)]
        ends = list(pool.map(lambda i: interrupted(tmp_path / f"out-{i}", *plan[i]), range(len(plan))))
    seen.update(check(end) for end in ends)
    # Nothing half-done is left beside the results.
    assert not [path for path in files_below(tmp_path) if path.parts[0].startswith(".")]


def test_every_part_of_a_run_was_interrupted(tiny: Path, tmp_path: Path, seen: Counter[str]) -> None:
    if seen.total() < MOMENTS:
        pytest.skip("not all batches ran")
    # Python itself takes about a thirtieth of a run's life.
    assert seen["before the first line"] <= MOMENTS // 7, seen
    # A run writes in a short part of its life, whose place depends on what else the machine does: it is looked for.
    rng, parts = random.Random(f"{SEED} more"), {"nothing yet", "partial", "complete"}
    for number in range(3 * MOMENTS):
        if parts <= set(seen):
            break
        life = life_s(tmp_path / f"whole-{number}")
        seen[check(interrupted(tmp_path / f"out-{number}", *draw(rng, 0.0, life)))] += 1
    print(dict(seen))
    assert parts <= set(seen), seen


TRIAL = """
import os, signal, sys
from outlast import interrupts
interrupts.install()
from pathlib import Path
from outlast import output
made = output.tempfile.mkdtemp

def interrupted(**how):
    folder = made(**how)
    os.kill(os.getpid(), signal.SIGTERM)
    return folder

output.tempfile.mkdtemp = interrupted
output.check_writable(Path("there/out"))
print("went on")
"""


def test_a_signal_while_it_is_tried_whether_one_can_write_leaves_nothing(tmp_path: Path) -> None:
    done = subprocess.run([sys.executable, "-c", TRIAL], cwd=tmp_path, text=True, capture_output=True)
    assert (done.returncode, done.stdout) == (143, "")
    assert done.stderr == "error: stopped by SIGTERM; nothing was written\n"
    assert not list(tmp_path.iterdir())


def computed_s(pid: int) -> float:
    """Seconds of processors that a process has used."""
    fields = Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()
    return (int(fields[11]) + int(fields[12])) / os.sysconf("SC_CLK_TCK")


def test_a_stop_in_preparation_is_not_giving_up(tiny: Path, tmp_path: Path) -> None:
    long = ["--set", "precondition.min_drive_writes=1000000", "--set", "precondition.max_drive_writes=1000000"]
    command = [sys.executable, "-m", "outlast", "run", "tiny.toml", *long, "--out", "out", "--quiet"]
    program = subprocess.Popen(command, cwd=tmp_path, text=True, stderr=subprocess.PIPE)
    # By then it has long been preparing, on a machine that is busy as well.
    while program.poll() is None and computed_s(program.pid) < 1.5:
        time.sleep(0.02)
    program.terminate()
    _, messages = program.communicate(timeout=PATIENCE_S)
    assert program.returncode == 143
    assert "stopped by SIGTERM: nothing was measured yet; written to out, marked partial" in messages
    result = load(tmp_path / "out")
    assert "stopped while the drive was being prepared" in " ".join(result.summary["notes"])
    assert "gave up" not in " ".join(result.summary["notes"])
    assert result.summary["steady_state"]["precondition"]["reached"] is None
    assert "gave up" not in (tmp_path / "out" / "report.html").read_text()


LIBRARY = """
import outlast
try:
    result = outlast.run("tiny.toml", {"workload.synthetic.duration": "40s"})
    print("result", result.partial)
except KeyboardInterrupt:
    print("interrupted")
"""


def test_python_gets_a_result_or_a_keyboard_interrupt_and_never_a_panic(tiny: Path, tmp_path: Path) -> None:
    (tmp_path / "script.py").write_text(LIBRARY)

    def run(at: float | None) -> tuple[float, str, str]:
        began = time.monotonic()
        command = [sys.executable, "script.py"]
        program = subprocess.Popen(command, cwd=tmp_path, text=True, stdout=subprocess.PIPE, stderr=subprocess.PIPE)
        if at is not None:
            time.sleep(at)
            program.send_signal(signal.SIGINT)
        out, messages = program.communicate(timeout=PATIENCE_S)
        return time.monotonic() - began, out, messages

    life, out, messages = run(None)
    assert (out, messages) == ("result False\n", "")
    rng = random.Random(SEED)
    for _ in range(10):
        # From the middle on: before, it is the script's own imports that are interrupted.
        _, out, messages = run(life * (0.5 + 0.5 * rng.random()))
        assert "panicked" not in messages, messages
        assert "Failed to access NumPy" not in messages, messages
        if "Traceback" not in messages:
            assert out in ("result True\n", "result False\n", "interrupted\n"), out


def test_a_sweep_that_is_terminated_goes_on_later(tiny: Path, tmp_path: Path) -> None:
    (tmp_path / "s.toml").write_text(
        'scenario = "tiny.toml"\nrepeats = 40\nset = { "workload.synthetic.duration" = "20s" }\n'
        '[[vary]]\nsetting = "device.ftl.gc.policy"\nvalues = ["greedy", "fifo"]\n'
    )
    for jobs in ("1", "2"):
        command = [sys.executable, "-m", "outlast", "sweep", "s.toml", "--out", f"out{jobs}", "--jobs", jobs, "--quiet"]
        program = subprocess.Popen(command, cwd=tmp_path, text=True, stderr=subprocess.PIPE)
        points = tmp_path / f"out{jobs}" / "points"
        while program.poll() is None and not (points.is_dir() and any(points.iterdir())):
            time.sleep(0.02)
        program.terminate()
        _, messages = program.communicate(timeout=PATIENCE_S)
        assert program.returncode == 143, messages
        assert re.fullmatch(r"stopped by SIGTERM: at least \d+ of 80 runs are kept; .* continues\n", messages)
