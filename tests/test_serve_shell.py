"""Does a command that is served for end with its server, with all that it has started?"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

import pytest

from conftest import call
from outlast.serving.shell import ServedCommand
from patience import eventually
from served import SMALL


def is_there(pid: str) -> bool:
    """True if a process lives and is no zombie."""
    return subprocess.getoutput(f"ps -o state= -p {pid}").strip() not in ("", "Z")


def wait_for(file: Path) -> str:
    """Waits for a command's file and returns its content."""
    assert eventually(lambda: file.exists() and file.read_text().endswith("\n"))
    return file.read_text().strip()


def test_all_that_a_command_has_started_ends_with_it(tmp_path: Path) -> None:
    captive = ServedCommand(
        'sleep 777 & echo $! > pid.new; mv pid.new "$place"; sleep 778; echo done', {"place": str(tmp_path / "pid")}
    )
    pid = wait_for(tmp_path / "pid")
    assert not captive.has_ended() and is_there(pid)
    assert captive.end() == 128 + signal.SIGTERM
    assert not is_there(pid)


def test_who_does_not_end_when_asked_is_killed(tmp_path: Path) -> None:
    deaf = 'trap \'\' TERM; sh -c \'echo $$ > "$place.new"; mv "$place.new" "$place"; while :; do sleep 1; done\''
    captive = ServedCommand(deaf, {"place": str(tmp_path / "pid")})
    pid = wait_for(tmp_path / "pid")
    # Patience that is over at once: no test waits for it.
    ticks = iter(range(0, 1000, 10))
    assert captive.end(5, lambda: float(next(ticks))) == 128 + signal.SIGKILL
    assert eventually(lambda: not is_there(pid))


def test_a_stopped_command_ends_as_well(tmp_path: Path) -> None:
    captive = ServedCommand(
        'echo $$ > pid.new; mv pid.new "$place"; kill -STOP $$; sleep 777', {"place": str(tmp_path / "pid")}
    )
    pid = wait_for(tmp_path / "pid")
    assert eventually(lambda: subprocess.getoutput(f"ps -o state= -p {pid}").strip() == "T")
    assert captive.end() == 128 + signal.SIGTERM


def test_a_command_that_ends_by_itself_gives_its_code() -> None:
    captive = ServedCommand("exit 7", {})
    assert eventually(captive.has_ended)
    assert captive.end() == 7


@pytest.mark.parametrize("how", ["SIGTERM", "ctl stop"])
def test_a_server_that_ends_first_leaves_nothing_of_its_command(tmp_path: Path, how: str) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    run = "sleep 777 & echo $! > pid.new; mv pid.new pid; sleep 778; echo done"
    command = [sys.executable, "-m", "outlast"]
    serve = [*command, "serve", "small.toml", "--listen", f"unix:{tmp_path / 'socket'}", "--clock", "virtual"]
    own = {"XDG_RUNTIME_DIR": str(tmp_path)}
    with subprocess.Popen(
        [*serve, "--name", "captive", "--run", run], cwd=tmp_path, env=os.environ | own, stdin=subprocess.DEVNULL
    ) as process:
        pid = wait_for(tmp_path / "pid")
        if how == "SIGTERM":
            process.send_signal(signal.SIGTERM)
        else:
            subprocess.run([*command, "ctl", "captive", "stop"], env=os.environ | own, check=True)
        assert process.wait(120) == 128 + signal.SIGTERM
    assert not is_there(pid)


@pytest.mark.parametrize("listen", ["tcp:0.0.0.0:0", "tcp:[::]:0", "tcp:127.0.0.1:0", "tcp:localhost:0", "unix:here"])
def test_a_server_that_is_open_to_others_says_so(tmp_path: Path, listen: str) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    serve = ("serve", "small.toml", "--clock", "virtual", "--listen", listen, "--insecure", "--run", "true")
    done = call(*serve, cwd=tmp_path, check=False)
    is_open = "0.0.0.0" in listen or "::" in listen
    assert ("warning: --insecure" in done.stderr) == is_open, done.stderr


@pytest.mark.parametrize(
    "wrong",
    [
        ("--name", "a/b"),
        ("--export", "two\nlines"),
        ("--set", "policies.gc=p.py:choose"),
        ("--set", "device.model=\x1bc"),
        ("--checkpoint-every", "1KiB"),
    ],
)
def test_what_is_refused_has_made_no_image(tmp_path: Path, wrong: tuple[str, str]) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    (tmp_path / "p.py").write_text("def choose(view): return None\n")
    before = sorted(tmp_path.iterdir())
    serve = ("serve", "small.toml", "--clock", "virtual", "--image", "img", *wrong, "--run", "true")
    done = call(*serve, cwd=tmp_path, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1), done.stderr
    assert sorted(tmp_path.iterdir()) == before
