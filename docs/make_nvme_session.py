"""Writes the session in docs/guide/nvme.md: what a machine with Linux's own NVMe/TCP host prints. `make nvme-session`.

The machine is that of `make test-guest`, and so are the files that it needs.
"""

from __future__ import annotations

import sys
import tempfile
from pathlib import Path

ROOT = Path(__file__).parent.parent
sys.path.insert(0, str(ROOT / "tests" / "guest"))

from test_guest import NVME_DRIVE, NVME_MODULES, NVME_PROGRAMS, machine  # noqa: E402

import outlast  # noqa: E402

PAGE = ROOT / "docs" / "guide" / "nvme.md"
BEGIN, END = "<!-- session: make nvme-session -->\n", "<!-- end of session -->\n"


def session() -> str:
    """The lines of the session."""
    with (
        tempfile.TemporaryDirectory() as folder,
        outlast.serve(NVME_DRIVE, nvme=True, speed=1.0, export="my-drive") as served,
        machine("nvme_session.sh", Path(folder), [served], 8, NVME_MODULES, NVME_PROGRAMS) as guest,
    ):
        lines = []
        for question in guest.questions():
            assert question == "die"
            served.fault(die=3)
            guest.answer()
        for line in guest.said:
            if line == "== die":
                lines.append("$ outlast ctl my-drive fault die 3")
            elif line.startswith("|"):
                lines.append(line.removeprefix("|").removeprefix(" "))
    return "\n".join(lines)


if __name__ == "__main__":
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    after = rest.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}```text\n{session()}\n```\n{END}{after}", encoding="utf-8")
