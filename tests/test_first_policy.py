"""Does the way that `make first-policy` times end in a plot of the user's own policy?"""

from __future__ import annotations

import re
import subprocess
import sys
from pathlib import Path

import first_policy
import outlast
from conftest import ROOT
from patience import PATIENCE_S


def test_what_a_new_user_writes_gives_a_plot_of_all_three(tmp_path: Path) -> None:
    first_policy.write_files(tmp_path)
    for step in ("run.py", "plot.py"):
        subprocess.run([sys.executable, step], cwd=tmp_path, check=True, timeout=PATIENCE_S)
    page = (tmp_path / "latency.html").read_text()
    assert all(f'"name":"{name}"' in page for name in ("greedy", "cost-benefit", "keen"))
    assert re.search(r"<script[^>]* src=", page) is None
    keen, greedy = (outlast.load(tmp_path / "out" / name) for name in ("keen", "greedy"))
    assert keen.write_amplification.total < greedy.write_amplification.total
    assert first_policy.POLICY in keen.summary["policies"]["gc"]["source"]


def test_a_wheel_that_is_not_there_is_refused(tmp_path: Path) -> None:
    command = [sys.executable, str(ROOT / "tests" / "first_policy.py"), str(tmp_path / "none.whl")]
    done = subprocess.run(command, capture_output=True, text=True)
    assert done.returncode == 2 and "none.whl" in done.stderr and "Traceback" not in done.stderr
