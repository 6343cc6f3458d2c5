"""axe-core, which looks for faults of accessibility in a page: fetched with npm, as the chart library is.

    python tests/axe.py

puts it into `target/axe.min.js`, as `make setup` does. A tool of tests (MPL-2.0), and part of nothing that is released.
"""

from __future__ import annotations

import hashlib
import shutil
import subprocess
import sys
import tarfile
import tempfile
from pathlib import Path
from typing import Any

PACKAGE, VERSION, MEMBER = "axe-core", "4.14.1", "package/axe.min.js"
SHA256 = "29348999450cdf2849a8e70b7912fc2da85a849da39c0d0d5394f51d4a9ed95c"
PLACE = Path(__file__).parent.parent / "target" / "axe.min.js"
GRAVE = ("serious", "critical")


def is_there() -> bool:
    """True if the library is in its place."""
    return PLACE.is_file() and hashlib.sha256(PLACE.read_bytes()).hexdigest() == SHA256


def fetch() -> str:
    """Puts the library into its place; the reason where it cannot, in a sentence."""
    if is_there():
        return ""
    npm = shutil.which("npm")
    if npm is None:
        return "npm is absent, which fetches axe-core"
    with tempfile.TemporaryDirectory() as folder:
        command = [npm, "pack", "--silent", f"{PACKAGE}@{VERSION}"]
        subprocess.run(command, cwd=folder, capture_output=True, check=False, timeout=120)
        archives = list(Path(folder).glob("*.tgz"))
        if not archives:
            return f"{PACKAGE} {VERSION} could not be fetched"
        with tarfile.open(archives[0]) as archive:
            member = archive.extractfile(MEMBER)
            content = member.read() if member is not None else b""
    if hashlib.sha256(content).hexdigest() != SHA256:
        return f"{PACKAGE} {VERSION} is not the file that is meant (SHA-256 {SHA256})"
    PLACE.parent.mkdir(exist_ok=True)
    PLACE.write_bytes(content)
    return ""


def faults(browser: Any) -> list[str]:
    """Serious and critical faults of the open page, a line for each rule with the first elements."""
    browser.execute_script(PLACE.read_text(encoding="utf-8"))
    found = browser.execute_async_script("const done = arguments[0]; axe.run().then(found => done(found.violations));")
    return [
        f"{each['id']} ({each['impact']}), {len(each['nodes'])} times: "
        + "; ".join(f"{node['target'][0]}: {node['html'][:120]}" for node in each["nodes"][:3])
        for each in found
        if each["impact"] in GRAVE
    ]


if __name__ == "__main__":
    if said := fetch():
        sys.exit(said)
