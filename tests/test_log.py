"""Does the log of a long command say what it does, in lines that a program reads, and is nothing done without it?"""

from __future__ import annotations

import json
import os
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

from conftest import Outlast
from outlast import log
from outlast.cli.progress import RunProgress
from outlast.serving.event_log import EventLog

LONG = (
    ("run",), ("sweep",), ("fleet",), ("snapshot",), ("serve",), ("fit",), ("torture", "record"), ("torture", "check"),
    ("torture", "run"),
)  # fmt: skip


def records(text: str) -> list[dict[str, Any]]:
    """The records of a JSON log; each line must be one."""
    found = [json.loads(line) for line in text.splitlines()]
    assert all(list(each)[:4] == ["time", "level", "logger", "message"] for each in found), found
    assert all(re.fullmatch(r"\d{4}-\d\d-\d\dT\d\d:\d\d:\d\d\.\d{3}Z", each["time"]) for each in found)
    return found


@pytest.mark.parametrize("command", LONG)
def test_every_long_command_can_log(outlast: Outlast, command: tuple[str, ...]) -> None:
    text = outlast(*command, "--help").stdout
    assert "-v, --verbose" in text and "--log-format [text|json]" in text


def test_a_run_logs_its_files_and_its_end(outlast: Outlast, tmp_path: Path, tiny: Path) -> None:
    done = outlast("run", tiny, "-o", "out", "--quiet", "--log-format", "json")
    found = records(done.stderr)
    assert {each["logger"] for each in found} == {"outlast.run"}
    assert found[0]["message"] == "started" and found[0]["arguments"][:2] == ["run", str(tiny)]
    written = [each["files"] for each in found if each["message"] == "written"]
    assert written == [["out"]] and (tmp_path / "out" / "result.json").is_file()
    assert found[-1]["message"] == "ended" and found[-1]["exit_code"] == 0 and found[-1]["seconds"] > 0


def test_a_log_changes_no_result(outlast: Outlast, tiny: Path) -> None:
    plain, logged = outlast("run", tiny, "--json"), outlast("run", tiny, "--json", "-vv")
    kept = ("host", "latency_us", "wear", "write_amplification")
    results = [{name: json.loads(each.stdout)[name] for name in kept} for each in (plain, logged)]
    assert results[0] == results[1]
    assert plain.stderr == "" and "INFO    outlast.run: started version=" in logged.stderr


def test_phases_are_logged_with_their_time_and_how_far_they_are(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    now = 1000.0
    monkeypatch.setattr("outlast.cli.progress.time.monotonic", lambda: now)
    monkeypatch.setattr(log, "_log", log._Log())
    log.turn_on("outlast.run", form="json")
    with RunProgress(shown=False) as tell:
        assert tell is not None, "the log goes on where the bar is not wanted"
        for phase in ("precondition", "measure"):
            for step in range(40):
                now += 1.0
                tell(phase, step / 40, 1000 * step, 0.5 * step)
    found = [each for each in records(capsys.readouterr().err) if each["message"] != "started"]
    messages = ["phase begins", "progress", "phase ends", "phase begins", "progress", "phase ends"]
    assert [each["message"] for each in found] == messages
    assert found[1]["phase"] == "precondition" and found[1]["requests"] == 1000 * 40 * found[1]["fraction"] > 0
    assert [each["seconds"] for each in found if each["message"] == "phase ends"] == [40.0, 39.0]


def test_an_error_is_a_record_too(outlast: Outlast, tiny: Path) -> None:
    for wrong in (("--set", "seed=x"), ("--seed", "x")):
        done = outlast("run", tiny, "--log-format", "json", *wrong, check=False)
        found = records(done.stderr)
        assert done.returncode == 2 == found[-1]["exit_code"]
        assert [each["level"] for each in found] == ["info", "error", "info"] and "seed" in found[1]["message"]


def test_a_warning_is_a_record_too(outlast: Outlast, tiny: Path) -> None:
    done = outlast("run", tiny, "--log-format", "json", "--quiet", "--set", "workload.synthetic.read_percent=0.7")
    warned = [each["message"] for each in records(done.stderr) if each["level"] == "warning"]
    assert len(warned) == 1 and "for 70 %, write 70" in warned[0]


def test_each_step_is_logged_by_vv(outlast: Outlast, tmp_path: Path, tiny: Path) -> None:
    (tmp_path / "s.toml").write_text(
        f'scenario = "{tiny}"\n[[vary]]\nsetting = "workload.synthetic.duration"\nvalues = ["50ms", "60ms"]\n'
    )
    found = records(outlast("sweep", "s.toml", "--jobs", "1", "-vv", "--log-format=json").stderr)
    done = [each["done"] for each in found if each["message"] == "progress" and each["level"] == "debug"]
    assert done == sorted(done) and done[-1] == 2
    assert [Path(each).name for each in found[-2]["files"]] == ["sweep.parquet", "sweep.json", "report.html"]


def test_a_signal_ends_a_json_log_with_a_record(tiny: Path) -> None:
    """Before anything can be lost, a signal ends the program at once; its last line is an object as well."""
    code = (
        "import os, signal, sys; from outlast import interrupts, log; interrupts.install();"
        "log.turn_on('outlast.run', form='json'); os.kill(os.getpid(), signal.SIGTERM)"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    (last,) = records(done.stderr)
    assert done.returncode == 143 and last["level"] == "error" and "stopped by SIGTERM" in last["message"]


def test_names_of_others_command_no_terminal(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.setattr(log, "_log", log._Log())
    log.turn_on("outlast.test")
    log.record("written", files=["a\x1b[2J\n.toml", "\u202egnp"], empty="", words="two words")
    _, line = capsys.readouterr().err.splitlines(keepends=True)
    assert line.count("\n") == 1 and "\x1b" not in line and "\u202e" not in line
    assert 'empty="" words="two words"' in line


def test_what_is_off_imports_no_logging(tiny: Path) -> None:
    call = "try: main()\nexcept SystemExit: print('outlast.log_records' in sys.modules)"
    begin = f"import sys; sys.argv = ['outlast', 'run', {str(tiny)!r}, '--quiet']"
    code = f"{begin}\nfrom outlast.__main__ import main\n{call}"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True, check=True)
    assert done.stdout == "False\n"


class _Server:
    """A server whose state is what the test says; it counts how often it was asked."""

    def __init__(self) -> None:
        self.events: list[dict[str, Any]] = []
        self.asked = 0

    def request(self, text: str) -> str:
        self.asked += 1
        return json.dumps({"ok": {"events": self.events[-64:], "clients": 0}})


def test_each_event_of_a_served_machine_is_logged_once(
    capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch
) -> None:
    server = _Server()
    watch = EventLog(server)
    watch.look(at_once=True)
    assert server.asked == 0, "nothing is asked where there is no log"
    monkeypatch.setattr(log, "_log", log._Log())
    log.turn_on("outlast.serve", form="json")
    numbers = []
    for count in (0, 3, 3, 40, 200):
        server.events = [{"number": number, "at_ns": number, "kind": "mark", "text": "x"} for number in range(count)]
        watch.look(at_once=True)
        numbers += [each for each in records(capsys.readouterr().err) if each["message"] != "started"]
    assert [each["number"] for each in numbers if each["message"] == "event"] == [*range(40), *range(136, 200)]
    assert [each["count"] for each in numbers if each["message"] == "events not shown"] == [96]


def test_a_server_logs_address_events_and_end(tmp_path: Path) -> None:
    environment = os.environ | {"XDG_RUNTIME_DIR": str(tmp_path)}
    program = [sys.executable, "-m", "outlast"]
    captive = "sleep 1.5; outlast_ctl mark hello; sleep 1.5"
    captive = captive.replace("outlast_ctl", f"{sys.executable} -m outlast ctl")
    asked = [*program, "serve", "serve-drive", "--run", captive, "--quiet", "--log-format", "json"]
    done = subprocess.run(asked, capture_output=True, text=True, env=environment, timeout=300)
    assert done.returncode == 0, done.stderr
    found = records(done.stderr)
    by_message = {each["message"]: each for each in found}
    assert by_message["serving"]["uris"][0].startswith("nbd+unix:///")
    assert [each["text"] for each in found if each["message"] == "event"] == ["hello"]
    assert by_message["stops"]["reason"] == "command" and found[-1]["exit_code"] == 0
