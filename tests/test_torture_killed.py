"""Is nothing left of a check when the process that runs it is killed?"""

from __future__ import annotations

import os
import signal
import subprocess
import sys
from pathlib import Path

from ledgers import record
from patience import eventually
from tortured import attached, image, needs_loop

KILLED = (
    """
import sys, threading
from pathlib import Path
from outlast.products.torture.mounts import choose
sys.path.insert(0, {tests!r})
from tortured import disk

SCRIPT = """
    + "'''"
    + """
{leave}
cd $(dirname $OUTLAST_DEVICE)
echo $OUTLAST_DEVICE $OUTLAST_MOUNT > {out}/place.new
mv {out}/place.new {out}/place
sleep 80
:
"""
    + "'''"
    + """

def work():
    with choose({fs!r}).worker() as worker:
        worker.run(disk(Path({state!r})), {fs!r}, ["sh", "-c", SCRIPT], {{}}, 60, False)

thread = threading.Thread(target=work)
thread.start()
thread.join()
"""
)


def killed(fs: str, folder: Path, leave: str = "") -> list[str]:
    """Kills a process in the middle of a check; device and mount of that check."""
    program = KILLED.format(
        tests=str(Path(__file__).parent), out=folder, state=str(folder / "state"), fs=fs, leave=leave
    )
    with subprocess.Popen([sys.executable, "-c", program]) as process:
        assert eventually((folder / "place").exists)
        process.kill()
    return (folder / "place").read_text().split()


@needs_loop
def test_nothing_is_left_when_the_process_is_killed(tmp_path: Path) -> None:
    image("ext4", tmp_path / "state")
    _, mount = killed("ext4", tmp_path, leave='cd $OUTLAST_MOUNT; (setsid sh -c "sleep 81; :" &)')
    assert eventually(lambda: not Path(mount).parent.exists())
    assert eventually(lambda: not attached(str(Path(mount).parent)))
    assert eventually(lambda: subprocess.run(["pgrep", "-f", "^sleep 8[01]$"]).returncode == 1)


def test_no_plain_file_is_left_when_the_process_is_killed(tmp_path: Path) -> None:
    (tmp_path / "state").write_bytes(bytes(4096))
    (device,) = killed("none", tmp_path)
    assert eventually(lambda: not Path(device).parent.exists())
    assert eventually(lambda: subprocess.run(["pgrep", "-f", "^sleep 80$"]).returncode == 1)


def test_a_check_that_had_just_begun_ends_with_the_process(tmp_path: Path) -> None:
    """Killed after the check has begun, and before its group is known to whoever is to end it."""
    program = (
        "import os, signal, subprocess; from outlast.products.torture import cleanup\n"
        "with cleanup.temporary_folder() as folder:\n"
        "    own = os.environ | {'OUTLAST_DEVICE': f'{folder}/drive'}\n"
        "    check = subprocess.Popen(['sleep', '84'], env=own, start_new_session=True)\n"
        f"    open({str(tmp_path / 'pid')!r}, 'w').write(str(check.pid))\n"
        "    os.kill(os.getpid(), signal.SIGKILL)\n"
    )
    assert subprocess.run([sys.executable, "-c", program]).returncode == -signal.SIGKILL
    check = (tmp_path / "pid").read_text()
    ended = ["", "Z"]
    assert eventually(lambda: subprocess.getoutput(f"ps -o state= -p {check}").strip() in ended)


def test_no_folder_is_left_when_a_check_is_killed(tmp_path: Path) -> None:
    """Both folders must go: the drive's, and that of the marks that the check reads."""
    record(tmp_path, 4, 1, "ledger.outlast")
    (tmp_path / "check.sh").write_text(f"#!/bin/sh\ntouch {tmp_path}/checks; sleep 80; :\n")
    (tmp_path / "check.sh").chmod(0o755)
    (tmp_path / "temporary").mkdir()
    command = [sys.executable, "-m", "outlast", "torture", "check", "ledger.outlast", "--", "./check.sh"]
    own = os.environ | {"TMPDIR": str(tmp_path / "temporary")}
    with subprocess.Popen(command, cwd=tmp_path, env=own, stdout=subprocess.DEVNULL) as process:
        assert eventually((tmp_path / "checks").exists)
        assert list((tmp_path / "temporary").glob("outlast-*/marks"))
        process.kill()
    assert eventually(lambda: not list((tmp_path / "temporary").glob("outlast-*")))
