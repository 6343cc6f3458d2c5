"""The first-use tasks by the clock: `make first-use`, or `python tests/first_use/run.py [TASK ...]`.

Each script runs in an empty folder with what its user has at hand, and says what it took. A command that fails, fails
the task; no time is judged.
"""

from __future__ import annotations

import os
import subprocess
import sys
import tempfile
import time
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent))
from foreign_configs import ssdconfig, workload  # noqa: E402 - of the tests beside this folder

TASKS = sorted(path.stem for path in HERE.glob("*.sh"))
SHEET = """\
name = "ACME 480"
capacity = "480GB"
[sheet]
read = 6800
write = 4000
random_read = 1000000
random_write = 180000
read_latency = 80
write_latency = 15
"""


def prepare(folder: Path) -> None:
    """Writes what the users have: a data sheet, and configurations of MQSim."""
    (folder / "sheet.toml").write_text(SHEET, encoding="utf-8")
    (folder / "ssdconfig.xml").write_text(ssdconfig(), encoding="utf-8")
    (folder / "workload.xml").write_text(
        workload({"Total_Requests_To_Generate": 250_000, "Stop_Time": 0}), encoding="utf-8"
    )


def run(task: str, program: Path) -> tuple[int, float, str]:
    """Runs one task; its exit code, its seconds, and the end of what it said."""
    environment = os.environ | {"PATH": f"{program.parent}{os.pathsep}{os.environ['PATH']}"}
    with tempfile.TemporaryDirectory(prefix="first-use.") as place:
        prepare(Path(place))
        began = time.monotonic()
        command = ["bash", "-euo", "pipefail", str(HERE / f"{task}.sh")]
        done = subprocess.run(command, cwd=place, env=environment, stdin=subprocess.DEVNULL, text=True,
                              stdout=subprocess.PIPE, stderr=subprocess.STDOUT)  # fmt: skip
        return done.returncode, time.monotonic() - began, "\n".join(done.stdout.splitlines()[-8:])


def main() -> int:
    """Runs the tasks that are named, or all; 1 if one of them failed."""
    failed = False
    for task in sys.argv[1:] or TASKS:
        code, seconds, said = run(task, Path(sys.executable).parent / "outlast")
        print(f"{task}: {seconds:.0f} s{'' if code == 0 else f', exit code {code}'}")
        if code != 0:
            failed = True
            print(said)
    return int(failed)


if __name__ == "__main__":
    sys.exit(main())
