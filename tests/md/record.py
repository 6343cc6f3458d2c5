#!/usr/bin/env python3
"""Asks Linux's md itself what it does, and writes the answers down: tests/md/answers.txt.

A small virtual machine boots the kernel that Debian's package holds, with md, mdadm, busybox and memory-backed disks
(init.sh), and prints a row for each question. Nothing but the packages is needed: no root, no block devices. Where
something is absent the script says what, and ends with code 77, which test programs take for "skipped".

Packages: qemu-system-x86, kmod, cpio; from others only files are taken: linux-image-*-cloud-amd64, mdadm and
busybox-static (dpkg -x into one folder, given as the argument).
"""

from __future__ import annotations

import shutil
import subprocess
import sys
import tempfile
from pathlib import Path

HERE = Path(__file__).parent
APPLETS = "sh awk cat cmp dd echo ls mkdir modprobe mount poweroff sleep sync tr uname usleep".split()
MODULES = ("null_blk", "raid1", "raid456")
SKIPPED = 77


def skip(why: str) -> None:
    print(f"skipped: {why}")
    sys.exit(SKIPPED)


def image(files: Path, version: str, root: Path) -> None:
    """The first file system: programs, the libraries that they load, modules, and init.sh as the first process."""
    for folder in ("bin", "sbin", "lib", "proc", "sys", "dev"):
        (root / folder).mkdir(parents=True)
    shutil.copy2(next(files.glob("**/bin/busybox")), root / "bin/busybox")
    for applet in APPLETS:
        (root / "bin" / applet).symlink_to("busybox")
    mdadm = next(files.glob("**/sbin/mdadm"))
    shutil.copy2(mdadm, root / "sbin/mdadm")
    listed = subprocess.run(["ldd", mdadm], check=True, capture_output=True, text=True).stdout
    for word in listed.split():
        if word.startswith("/"):
            (root / word[1:]).parent.mkdir(parents=True, exist_ok=True)
            shutil.copy2(word, root / word[1:])
    modules = next(files.glob(f"**/lib/modules/{version}"))
    base = modules.parents[2]
    subprocess.run(["depmod", "-b", base, version], check=True)
    for name in MODULES:
        needs = ["modprobe", "-d", str(base), "-S", version, "--show-depends", name]
        for line in subprocess.run(needs, check=True, capture_output=True, text=True).stdout.splitlines():
            kind, file = line.split()[:2]
            if kind == "insmod":
                place = root / Path(file).relative_to(base)
                place.parent.mkdir(parents=True, exist_ok=True)
                shutil.copy2(file, place)
    for listed_file in modules.glob("modules.*"):
        if listed_file.name.startswith(("modules.builtin", "modules.order")):
            shutil.copy2(listed_file, root / "lib/modules" / version / listed_file.name)
    subprocess.run(["depmod", "-b", root, version], check=True)
    shutil.copy2(HERE / "init.sh", root / "init")
    (root / "init").chmod(0o755)


def main() -> None:
    if len(sys.argv) != 2:
        skip("give the folder that holds the files of linux-image-*-cloud-amd64, mdadm and busybox-static")
    files = Path(sys.argv[1])
    for program in ("qemu-system-x86_64", "depmod", "modprobe", "cpio", "ldd"):
        if shutil.which(program) is None:
            skip(f"{program} is not installed")
    kernel = next(files.glob("**/boot/vmlinuz-*"), None)
    for what, pattern in (("busybox", "**/bin/busybox"), ("mdadm", "**/sbin/mdadm")):
        if next(files.glob(pattern), None) is None:
            skip(f"there is no {what} in {files}")
    if kernel is None:
        skip(f"there is no kernel in {files}")
        return
    with tempfile.TemporaryDirectory() as folder:
        root, first = Path(folder) / "root", Path(folder) / "initrd"
        image(files, kernel.name.removeprefix("vmlinuz-"), root)
        names = "\n".join(str(path.relative_to(root)) for path in sorted(root.rglob("*")))
        with first.open("wb") as out:
            pack = ["cpio", "-o", "-H", "newc", "--quiet"]
            subprocess.run(pack, input=names.encode(), cwd=root, stdout=out, check=True)
        # Without hardware virtualisation: slower, and the same everywhere. Its clock counts instructions, four
        # nanoseconds each, so that times do not depend on what else this machine does.
        machine = "qemu-system-x86_64 -accel tcg -icount shift=2,sleep=off -cpu max -m 1024 -smp 1"
        machine += " -display none -serial stdio -nodefaults -no-reboot"
        command = [*machine.split(), "-kernel", str(kernel), "-initrd", str(first)]
        command += ["-append", "console=ttyS0 quiet panic=1 rdinit=/init"]
        said = subprocess.run(command, check=True, capture_output=True, timeout=600).stdout.decode(errors="replace")
    kinds = ("# ", "idle ", "resync ", "degraded ", "degraded-resync ", "clean-after ")
    rows = [line for line in said.replace("\r", "").splitlines() if line.startswith(kinds)]
    if "# end" not in rows:
        sys.exit(f"the machine did not come to its end:\n{said[-2000:]}")
    (HERE / "answers.txt").write_text("\n".join(rows[:-1]) + "\n")
    print(f"{len(rows) - 1} rows written to {HERE / 'answers.txt'}")


if __name__ == "__main__":
    main()
