#!/usr/bin/env python3
"""Asks Linux's md how fast it rebuilds and checks beside a host, and writes the answers down: tests/md/pace.txt.

One virtual machine for each kind of array, as in record.py (pace.sh); its one argument is the same. The clock counts
instructions, so that the answers do not depend on what else this machine does.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "guest"))

from machine import command  # noqa: E402

from outlast.products.torture.guest_image import AbsentError, Contents, image  # noqa: E402

CONTENTS = Contents(
    init=(HERE / "pace.sh").read_text(),
    applets=tuple("sh awk cat dd dmesg echo killall mkdir modprobe mount poweroff rm sleep touch uname usleep".split()),
    modules=("null_blk", "raid1", "raid10", "raid456"),
    programs=("sbin/mdadm",),
)
SKIPPED = 77
ARRAYS = ("1:2", "5:4", "6:5", "10:4")
"""Level and members."""

# A nanosecond for each instruction: a processor that is no limit to a pass over disks of 20 ms.
CLOCK = "-icount shift=0,sleep=off -smp 1".split()


def answers(files: Path, initrd: Path, array: str) -> list[str]:
    """The rows of one array, after what the machine says of itself."""
    boot = command(files, initrd, words=f"array={array}", options=CLOCK)
    said = subprocess.run(boot, check=True, capture_output=True).stdout.decode(errors="replace")
    rows = [line for line in said.replace("\r", "").splitlines() if line.startswith(("# ", "pace "))]
    if "# end" not in rows:
        sys.exit(f"the machine of {array} did not come to its end:\n{said[-2000:]}")
    return rows[:-1]


def main() -> None:
    if len(sys.argv) != 2:
        print("skipped: give the folder into which tests/guest/fetch.sh has put the files")
        sys.exit(SKIPPED)
    files = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        try:
            initrd = image(files, CONTENTS, Path(folder))
        except AbsentError as absent:
            print(f"skipped: {absent}")
            sys.exit(SKIPPED)
        with ThreadPoolExecutor() as pool:
            each = list(pool.map(lambda array: answers(files, initrd, array), ARRAYS))
    # What the machines say of themselves, and the headings, once.
    rows = list(dict.fromkeys(row for rows in each for row in rows if row.startswith("# ")))
    rows += [row for rows in each for row in rows if not row.startswith("# ")]
    (HERE / "pace.txt").write_text("\n".join(rows) + "\n")
    print(f"{len(rows)} rows written to {HERE / 'pace.txt'}")


if __name__ == "__main__":
    main()
