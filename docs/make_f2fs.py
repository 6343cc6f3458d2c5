"""Writes the table on F2FS in docs/guide/zones.md, measured in virtual machines. `make nvme-f2fs`.

The machines are those of `make test-guest`, and so are the files that they need.
"""

from __future__ import annotations

import sys
import tempfile
from collections.abc import Callable
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests" / "guest"))

from f2fs import Written, measure  # noqa: E402

PAGE = ROOT / "docs" / "guide" / "zones.md"
BEGIN, END = "<!-- f2fs: make nvme-f2fs -->\n", "<!-- end of f2fs -->\n"
KINDS = ("zoned", "conventional")


def table(found: dict[str, Written]) -> str:
    """The table, a column for each kind of drive."""
    rows: dict[str, Callable[[Written], str]] = {
        "written by the program, MiB": lambda own: f"{own.by_programs / 2**20:.0f}",
        "written by F2FS to both drives, MiB": lambda own: f"{own.to_drives / 2**20:.0f}",
        "of that, to the drive with the data, MiB": lambda own: f"{own.to_data / 2**20:.0f}",
        "programmed in the flash of both, MiB": lambda own: f"{own.programmed / 2**20:.0f}",
        "bytes of F2FS for each byte of the program": lambda own: f"{own.file_system:.2f}",
        "write amplification of the drive with the data": lambda own: f"{own.drive:.2f}",
        "bytes programmed for each byte of the program": lambda own: f"{own.together:.2f}",
    }
    lines = ["| | with zones | without |", "|---|---|---|"]
    lines += [f"| {name} | {' | '.join(show(found[kind]) for kind in KINDS)} |" for name, show in rows.items()]
    return "\n".join(lines)


if __name__ == "__main__":
    with tempfile.TemporaryDirectory() as name:
        found = {kind: measure(kind, Path(name) / kind) for kind in KINDS}
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    after = rest.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}{table(found)}\n{END}{after}", encoding="utf-8")
    print(table(found))
