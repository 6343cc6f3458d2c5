#!/usr/bin/env python3
"""Asks Linux's md itself what it does, and writes the answers down: tests/md/answers.txt.

A small virtual machine (tests/guest/machine.py) boots the kernel that Debian's package holds, with md, mdadm, busybox
and memory-backed disks (init.sh), and prints a row for each question. Where something is absent the script says so and
ends with code 77, which test programs take for "skipped".

Packages: qemu-system-x86, kmod, cpio; tests/guest/fetch.sh gets the files of others into one folder, the argument.
"""

from __future__ import annotations

import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
sys.path.insert(0, str(HERE.parent / "guest"))

from machine import command  # noqa: E402

from outlast.products.torture.guest_image import AbsentError, Contents, image  # noqa: E402

CONTENTS = Contents(
    init=(HERE / "init.sh").read_text(),
    applets=tuple("sh awk cat cmp dd echo ls mkdir modprobe mount poweroff sleep sync tr uname usleep".split()),
    modules=("null_blk", "raid1", "raid456"),
    programs=("sbin/mdadm",),
)
SKIPPED = 77

# Its clock counts instructions, four nanoseconds each, so that times do not depend on what else this machine does.
CLOCK = "-icount shift=2,sleep=off -smp 1".split()


def main() -> None:
    if len(sys.argv) != 2:
        print("skipped: give the folder into which tests/guest/fetch.sh has put the files")
        sys.exit(SKIPPED)
    files = Path(sys.argv[1]).resolve()
    with tempfile.TemporaryDirectory() as folder:
        try:
            boot = command(files, image(files, CONTENTS, Path(folder)), options=CLOCK)
        except AbsentError as absent:
            print(f"skipped: {absent}")
            sys.exit(SKIPPED)
        said = subprocess.run(boot, check=True, capture_output=True, timeout=600).stdout.decode(errors="replace")
    kinds = ("# ", "idle ", "resync ", "degraded ", "degraded-resync ", "clean-after ")
    rows = [line for line in said.replace("\r", "").splitlines() if line.startswith(kinds)]
    if "# end" not in rows:
        sys.exit(f"the machine did not come to its end:\n{said[-2000:]}")
    (HERE / "answers.txt").write_text("\n".join(rows[:-1]) + "\n")
    print(f"{len(rows) - 1} rows written to {HERE / 'answers.txt'}")


if __name__ == "__main__":
    main()
