"""Does a wheel for newer processors refuse an older one, in a line, before anything of it runs?"""

from __future__ import annotations

import subprocess
import sys
from pathlib import Path

from outlast.processor import LEVELS, refusal

NEW = f"processor : 0\nflags : fpu sse2 {' '.join(LEVELS['x86-64-v3'])}\n"


def test_only_an_older_processor_is_refused(tmp_path: Path) -> None:
    level, cpuinfo = tmp_path / "_level.txt", tmp_path / "cpuinfo"
    cpuinfo.write_text(NEW.replace(" avx2", "").replace(" bmi1", ""))
    assert refusal(level, cpuinfo) is None, "the plain wheel says nothing of levels"
    level.write_text("x86-64-v3\n")
    line = refusal(level, cpuinfo)
    assert line is not None
    assert "\n" not in line
    assert "x86-64-v3" in line
    assert "lacks avx2, bmi1" in line
    cpuinfo.write_text(NEW)
    assert refusal(level, cpuinfo) is None
    cpuinfo.write_text("processor : 0\n")
    assert refusal(level, cpuinfo) is None, "what is not said cannot be held against it"


def test_the_program_ends_with_that_line() -> None:
    code = (
        "import outlast.processor as processor; processor.refusal = lambda: 'too old'; "
        "import runpy; runpy.run_module('outlast', run_name='__main__')"
    )
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert (done.returncode, done.stderr, done.stdout) == (2, "outlast: too old\n", "")
    code = "import outlast.processor as processor; processor.refusal = lambda: 'too old'; import outlast; outlast.run"
    done = subprocess.run([sys.executable, "-c", code], capture_output=True, text=True)
    assert done.stderr.endswith("ImportError: too old\n")
