"""Are the states of a recording checked, all of them once, and is what came of them told and kept?"""

from __future__ import annotations

import json
import os
import shlex
import shutil
import signal
import subprocess
import sys
import time
from pathlib import Path
from typing import Any

import pytest

from conftest import call
from ledgers import CHECK, FUNCTION, record
from outlast import _core
from outlast.products.torture.crash import State
from patience import PATIENCE_S

ENTRIES = 10


@pytest.fixture(scope="module")
def ledgers(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a ledger that flushes before it promises, one that forgets to, and their check."""
    folder = tmp_path_factory.mktemp("ledgers")
    record(folder, ENTRIES, 1, "careful.outlast")
    record(folder, ENTRIES, 4, "careless.outlast")
    (folder / "check.py").write_text(CHECK)
    (folder / "in_process.py").write_text(FUNCTION)
    return folder


@pytest.fixture
def folder(ledgers: Path, tmp_path: Path) -> Path:
    """A copy of it, for one test."""
    return Path(shutil.copytree(ledgers, tmp_path / "work"))


COMMAND = [sys.executable, "check.py"]


def torture(folder: Path, *words: str, command: list[str] | None = None) -> subprocess.CompletedProcess[str]:
    """`outlast torture check` in a folder."""
    return call("torture", "check", *words, "--", *(COMMAND if command is None else command), cwd=folder, check=False)


def lines_of(folder: Path) -> list[dict[str, Any]]:
    """The states of the plan that were checked."""
    lines = [json.loads(line) for line in (folder / "results.jsonl").read_text().splitlines()]
    return [line for line in lines if line["purpose"] == "plan"]


def is_owed(state: State) -> bool:
    """True if a state of a ledger lacks an entry that was promised: write i is entry i + 1."""
    return any(int(piece.partition(":")[0]) < int(state.mark or 0) for piece in state.lost)


def test_a_ledger_that_flushes_loses_nothing(folder: Path) -> None:
    done = torture(folder, "careful.outlast", "--model", "contract")
    assert done.returncode == 0, done.stderr
    assert "none bad of" in done.stdout
    result = json.loads((folder / "careful.outlast.torture" / "result.json").read_text())
    assert result["states"]["checked"] == result["states"]["planned"] > ENTRIES
    assert result["failures"] == []
    assert result["backend"] == "none"


def test_just_the_states_that_lack_something_promised_are_bad(folder: Path) -> None:
    done = torture(folder, "careless.outlast", "--model", "contract", "--jobs", "4")
    assert done.returncode == 1, done.stderr
    recording = _core.Recording(str(folder / "careless.outlast"))
    lines = lines_of(folder / "careless.outlast.torture")
    plan = recording.plan(json.dumps({"models": ["contract"], "seed": 1}))
    assert len(lines) == len(plan)
    for line in lines:
        assert (line["verdict"] == "bad") == is_owed(recording.state(line["state"])), line
        assert (line["exit"], line["stage"]) == ((3, "check") if line["verdict"] == "bad" else (0, "done"))
    # The same from a function that reads the bytes.
    words = ("careless.outlast", "--model", "contract", "--out", "again", "--check-in-process", "in_process.py:check")
    assert torture(folder, *words, command=[]).returncode == 1
    assert {line["state"]: line["verdict"] for line in lines_of(folder / "again")} == {
        line["state"]: line["verdict"] for line in lines
    }


def test_a_bad_state_is_shrunk_and_one_command_shows_it_again(folder: Path) -> None:
    done = torture(folder, "careless.outlast", "--model", "contract")
    result = json.loads((folder / "careless.outlast.torture" / "result.json").read_text())
    [failure] = result["failures"]
    smallest = failure["smallest"]
    assert (smallest["lost"], smallest["minimal"]) == (1, True)
    [witness] = smallest["witness"]
    assert "not covered by a flush" in witness["text"]
    assert witness["text"] in done.stdout
    assert smallest["reproduce"] in done.stdout
    words = shlex.split(smallest["reproduce"])
    again = call(*words[1:], cwd=folder, check=False)
    assert again.returncode == 1
    assert "was promised, and holds 0" in again.stdout
    assert witness["text"] in again.stdout


def test_a_log_of_another_program_is_checked_by_its_events(folder: Path) -> None:
    log = folder / "run.log"
    with log.open("wb") as file:
        _core.Recording(str(folder / "careless.outlast")).export(file.fileno(), None)
    done = torture(folder, "run.log")
    assert done.returncode == 1, done.stderr
    lines = {line["state"]: line["verdict"] for line in lines_of(folder / "run.log.torture")}
    assert torture(folder, "careless.outlast", "--model", "contract").returncode == 1
    assert lines == {line["state"]: line["verdict"] for line in lines_of(folder / "careless.outlast.torture")}
    [failure] = json.loads((folder / "run.log.torture" / "result.json").read_text())["failures"]
    again = call(*shlex.split(failure["smallest"]["reproduce"])[1:], cwd=folder, check=False)
    assert again.returncode == 1
    assert "(event 4): bad" in again.stdout


def test_what_is_known_is_not_checked_again(folder: Path) -> None:
    counting = ["sh", "-c", f"echo x >> calls; exec {shlex.join(COMMAND)}"]
    calls = folder / "calls"
    words = ("careless.outlast", "--model", "contract")
    assert torture(folder, *words, "--states", "20", command=counting).returncode == 1
    out = folder / "careless.outlast.torture"
    before = {line["state"] for line in lines_of(out)}
    some = len(calls.read_text().split())
    # Killed while it wrote a line.
    with (out / "results.jsonl").open("a") as file:
        file.write('{"state": "contract@')
    assert torture(folder, *words, command=counting).returncode == 1
    after = lines_of(out)
    states = [line["state"] for line in after]
    assert before < set(states)
    assert len(states) == len(set(states))
    plan = _core.Recording(str(folder / "careless.outlast")).plan(json.dumps({"models": ["contract"], "seed": 1}))
    every = [json.loads(line) for line in (out / "results.jsonl").read_text().splitlines()]
    assert len(calls.read_text().split()) == len(every) >= len(plan)
    done = torture(folder, *words, command=counting)
    assert "all checked earlier" in done.stdout
    assert len(calls.read_text().split()) == len(every) > some


def test_results_of_another_check_are_not_gone_on_with(folder: Path) -> None:
    words = ("careful.outlast", "--model", "contract", "--states", "3")
    assert torture(folder, *words).returncode == 0
    for changed, name in ((("--seed", "2"), "seed"), (("--tear", "512"), "tear"), (("--timeout", "3s"), "timeout_s")):
        done = torture(folder, *words, *changed)
        assert done.returncode == 2
        assert f"{name} was" in done.stderr
        assert "--fresh" in done.stderr
        assert done.stderr.count("\n") == 1
    with (folder / "check.py").open("a") as file:
        file.write("# changed\n")
    done = torture(folder, *words)
    assert (done.returncode, "files was" in done.stderr) == (2, True)
    assert torture(folder, *words, "--fresh").returncode == 0


def test_a_check_that_fails_with_nothing_lost_is_doubted(folder: Path) -> None:
    done = torture(folder, "careful.outlast", "--model", "contract", command=["sh", "-c", "echo oh no; exit 7"])
    assert done.returncode == 2
    assert "error: the check fails even without a loss of power: is it correct?" in done.stderr
    assert "  | oh no\n" in done.stderr
    words = ("careful.outlast", "--model", "contract", "--force", "--states", "4", "--fresh")
    assert torture(folder, *words, command=["sh", "-c", "exit 7"]).returncode == 1


@pytest.mark.parametrize(
    ("words", "command", "said"),
    [
        (["none.outlast"], COMMAND, "none.outlast: there is no such recording"),
        (["careful.outlast"], ["./absent"], "./absent: the check cannot be run: not found"),
        (["careful.outlast"], ["./check.py"], "./check.py: the check cannot be run: not executable (chmod +x)"),
        (["careful.outlast"], ["."], ".: the check cannot be run: "),
        (["careful.outlast"], [], "name a COMMAND after --, or a function by --check-in-process"),
        (["careful.outlast", "--check-in-process", "a.py:f"], COMMAND, "name a COMMAND after --, or a function"),
        (["careful.outlast", "--check-in-process", "check.py"], [], "must be FILE:FUNCTION"),
        (["careful.outlast", "--check-in-process", "in_process.py:absent"], [], "has no function absent"),
        (["careful.outlast", "--check-in-process", "absent.py:check"], [], "there is no file absent.py"),
        (["careful.outlast", "--model", "twice", "--check-in-process", "in_process.py:check"], [], "need a mount"),
        (["careful.outlast", "--budget", "soon"], COMMAND, '"soon" is not a time such as 120s'),
        (["careful.outlast", "--states", "0"], COMMAND, "0 is not at least 1"),
        (["careful.outlast", "--tear", "100"], COMMAND, "100 is not within 512 to 4096"),
        (["careful.outlast", "--tear", "1000"], COMMAND, "1000"),
        (["careful.outlast", "--fault", "die 3"], COMMAND, "--fault belongs to --model fault"),
        (["careful.outlast", "--backend", "magic"], COMMAND, "magic"),
        (["careful.outlast", "--state", "contract@99999"], COMMAND, "contract@99999"),
        (["careful.outlast", "--state", "twice/3@7"], COMMAND, "twice/3@7: there is no recording of that recovery"),
        (["careful.outlast", "--out", "check.py"], COMMAND, "check.py: not a folder"),
        (["careful.outlast", "--out", "."], COMMAND, "which is not part of a check"),
    ],
)
def test_what_cannot_be_is_said_in_one_line(folder: Path, words: list[str], command: list[str], said: str) -> None:
    before = sorted(folder.iterdir())
    done = torture(folder, *words, command=command)
    assert done.returncode == 2, done.stdout
    assert said in done.stderr
    assert done.stderr.count("\n") == 1
    assert sorted(folder.iterdir()) == before


def test_a_budget_ends_it_and_the_same_command_goes_on(folder: Path) -> None:
    slow = ["sh", "-c", f"sleep 0.1; exec {shlex.join(COMMAND)}"]
    done = torture(folder, "careful.outlast", "--model", "contract", "--budget", "1s", "--jobs", "1", command=slow)
    assert done.returncode == 0, done.stderr
    assert "not checked; stopped by the budget" in done.stdout
    result = json.loads((folder / "careful.outlast.torture" / "result.json").read_text())
    assert result["states"]["stopped"] == "budget"
    assert 0 < result["states"]["checked"] < result["states"]["planned"]
    assert torture(folder, "careful.outlast", "--model", "contract", command=slow).returncode == 0
    result = json.loads((folder / "careful.outlast.torture" / "result.json").read_text())
    assert (result["states"]["stopped"], result["states"]["checked"]) == (None, result["states"]["planned"])


@pytest.mark.parametrize(("number", "code"), [(signal.SIGINT, 130), (signal.SIGTERM, 143)])
def test_a_signal_keeps_what_is_known_and_blames_no_state(folder: Path, number: int, code: int) -> None:
    slow = ["sh", "-c", f"sleep 0.1; exec {shlex.join(COMMAND)}"]
    words = [sys.executable, "-m", "outlast", "torture", "check", "careful.outlast", "--model", "contract", "--", *slow]
    process = subprocess.Popen(words, cwd=folder, text=True, stderr=subprocess.PIPE, start_new_session=True)
    lines = folder / "careful.outlast.torture" / "results.jsonl"
    while not lines.is_file() or lines.read_text().count("\n") < 4:
        assert process.poll() is None
        time.sleep(0.02)
    # As a terminal does it: everybody in the group is told.
    os.killpg(process.pid, number)
    _, said = process.communicate(timeout=PATIENCE_S)
    assert process.returncode == code
    assert "the same command continues" in said
    result = json.loads((lines.parent / "result.json").read_text())
    assert result["states"]["stopped"] == {130: "Ctrl-C", 143: "SIGTERM"}[code]
    assert result["states"]["bad"] == 0
    assert 0 < result["states"]["checked"] < result["states"]["planned"]


def test_a_check_that_dies_of_the_same_signal_blames_no_state(folder: Path) -> None:
    dies = ["sh", "-c", f"test $OUTLAST_MARK != 5 || {{ kill -TERM $PPID; exit 143; }}; exec {shlex.join(COMMAND)}"]
    done = torture(folder, "careful.outlast", "--model", "contract", "--jobs", "1", command=dies)
    assert done.returncode == 143, done.stderr
    states = json.loads((folder / "careful.outlast.torture" / "result.json").read_text())["states"]
    assert (states["stopped"], states["bad"]) == ("SIGTERM", 0)
    assert 0 < states["checked"] < states["planned"]
    assert all(line["mark"] != "5" for line in lines_of(folder / "careful.outlast.torture"))


def test_a_check_that_takes_too_long_is_bad(folder: Path) -> None:
    hangs = ["sh", "-c", "test $OUTLAST_MARK = 10 || sleep 60"]
    words = ("careful.outlast", "--model", "contract", "--timeout", "300ms", "--states", "6", "--jobs", "4")
    done = torture(folder, *words, command=hangs)
    assert done.returncode == 1
    assert "the check took too long" in done.stdout
    bad = [line for line in lines_of(folder / "careful.outlast.torture") if line["verdict"] == "bad"]
    assert bad
    assert all(line["timed_out"] and line["mark"] != "10" for line in bad)


@pytest.mark.parametrize(
    "entry", ["run.json", "results.jsonl", "result.json", "report.html", "junit.xml", "logs", "twice"]
)
@pytest.mark.parametrize("kind", ["link", "fifo"])
def test_the_folder_of_a_check_leads_nowhere(folder: Path, entry: str, kind: str) -> None:
    """Folders of checks are passed on in archives, which keep links."""
    victim = folder / "victim"
    victim.mkdir()
    (victim / "kept").write_text("kept")
    out = folder / "out"
    out.mkdir()
    if kind == "fifo":
        os.mkfifo(out / entry)
    else:
        (out / entry).symlink_to(victim if entry in ("logs", "twice") else victim / "kept")
    done = torture(folder, "careless.outlast", "--out", "out", "--states", "3")
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert f"out/{entry}: is " in done.stderr and "must be a" in done.stderr, done.stderr
    assert [path.name for path in victim.iterdir()] == ["kept"] and (victim / "kept").read_text() == "kept"


def test_an_entry_below_the_folder_of_a_check_leads_nowhere(folder: Path) -> None:
    (folder / "victim").write_text("kept")
    (folder / "out" / "logs").mkdir(parents=True)
    (folder / "out" / "logs" / "state.txt").symlink_to(folder / "victim")
    done = torture(folder, "careless.outlast", "--out", "out", "--states", "3")
    assert done.returncode == 2 and "logs/state.txt: is a symbolic link" in done.stderr, done.stderr
    assert (folder / "victim").read_text() == "kept"
