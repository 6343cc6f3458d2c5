"""Does the demonstration of a served array end as it says?"""

from __future__ import annotations

import subprocess
import sys

from conftest import ROOT
from patience import PATIENCE_S
from served import needs


@needs("fio")
def test_no_byte_is_wrong_after_a_dead_die_and_a_loss_of_power() -> None:
    done = subprocess.run(
        [sys.executable, str(ROOT / "docs" / "serve_demo.py"), "--quick"],
        text=True,
        capture_output=True,
        timeout=PATIENCE_S,
    )
    assert done.returncode == 0, done.stdout + done.stderr
    said = done.stdout.splitlines()
    assert said[-1].startswith("0 bytes wrong")
    for words in ("is dead; fio goes on", "nothing wrong", "the power was cut"):
        assert any(words in line for line in said), words
