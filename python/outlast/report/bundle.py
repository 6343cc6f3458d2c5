"""The chart library of reports: plotly.js with the charts that reports have, a third of the whole.

    python python/outlast/report/bundle.py [--required]

fetches it with npm into the package and checks its hash. Without npm it says so, and ends with an error where it is
`--required`, as for a wheel; reports then hold the whole library, which comes with the Python package plotly. Nothing
but the standard library is needed.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path

PACKAGE, VERSION = "plotly.js-cartesian-dist-min", "4.1.1"
SHA256 = "79542150855a52c567260e3137095dbe2b744e6d702a5cabe67da246942fba7a"
"""Hash of the library in the package; guards against any other file in its place."""
PLACE = Path(__file__).with_name("assets") / "plotly-cartesian.min.js"
MEMBER = "package/plotly-cartesian.min.js"


def matches(content: bytes) -> bool:
    """True if `content` is the library of the expected version."""
    return hashlib.sha256(content).hexdigest() == SHA256


def fetch() -> str:
    """Puts the library into its place; what became of it, in a sentence."""
    if PLACE.is_file() and matches(PLACE.read_bytes()):
        return ""
    npm = shutil.which("npm")
    if npm is None:
        return "npm is absent: reports hold the whole of plotly.js, and are three times as large"
    with tempfile.TemporaryDirectory() as folder:
        command = [npm, "pack", "--silent", f"{PACKAGE}@{VERSION}"]
        done = subprocess.run(command, cwd=folder, capture_output=True, text=True, check=False)
        archives = list(Path(folder).glob("*.tgz"))
        if done.returncode != 0 or not archives:
            why = (done.stderr.strip().splitlines() or ["no reason given"])[-1]
            return f"{PACKAGE} {VERSION} could not be fetched, so reports hold the whole of plotly.js: {why}"
        with tarfile.open(archives[0]) as archive:
            member = archive.extractfile(MEMBER)
            content = member.read() if member is not None else b""
    if not matches(content):
        return f"{PACKAGE} {VERSION} is not the file that is meant (SHA-256 {SHA256}): it is not used"
    PLACE.write_bytes(content)
    return ""


if __name__ == "__main__":
    if said := fetch():
        print(said, file=sys.stderr)
        # A wheel without the library would have no reports.
        sys.exit("--required" in sys.argv)
