"""Files that are no scenarios, told by their beginnings: of other simulators, of other commands, traces.

Whoever gives one to `outlast run` gets the command that reads it.
"""

from __future__ import annotations

import re
from pathlib import Path

SAMPLE = 4096
"""Bytes of a file that are looked at."""
PACKED = (b"\x1f\x8b", b"\x28\xb5\x2f\xfd", b"BZh", b"\xfd7zXZ\x00", b"PK\x03\x04")
"""Beginnings of gzip, zstd, bzip2, xz and zip."""
_TABLE = re.compile(rb"^\s*(\[|[\w.\"-]+\s*=)", re.MULTILINE)
_SECTION = re.compile(rb"^\[(cpu|nvme|ufs|sata|pal|icl)\]", re.MULTILINE)
_OTHERS = {
    "sweep": re.compile(rb"^\[\[vary\]\]|^vary\s*=", re.MULTILINE),
    "plan": re.compile(rb"^\[drives\]|^\[\[layout\]\]", re.MULTILINE),
    "fleet": re.compile(rb"^\[(cluster|code|prices)\]|^\[\[(bursts|contagion|outages)\]\]", re.MULTILINE),
    "fit": re.compile(rb"^\[sheet\]|^\[\[row\]\]", re.MULTILINE),
}
"""Marks that only the files of other commands have, by command."""
_COMMENTS = re.compile(rb"\s*(#[^\n]*(\n\s*|$))*")


def how_to_read(file: str | Path) -> str | None:
    """The kind of a file and the command that reads it, as a clause; `None` of all that may be a scenario."""
    path = Path(file)
    try:
        if not path.is_file():
            return None
        with path.open("rb") as source:
            start = source.read(SAMPLE)
    except OSError:
        return None
    shown = str(file)
    if b"<Execution_Parameter_Set" in start:
        return f"MQSim's drive, not a scenario: outlast import mqsim {shown} workload.xml -o mine.toml"
    if b"<MQSim_IO_Scenarios" in start:
        return f"MQSim's workload, not a scenario: outlast import mqsim ssdconfig.xml {shown} -o mine.toml"
    if b"BASE_SSD" in start and b"#define" in start:
        return f"NVMeVirt's configuration, not a scenario: outlast import nvmevirt {shown} -o mine.toml"
    if _SECTION.search(start) is not None:
        return f"SimpleSSD's configuration, not a scenario: outlast import simplessd {shown} -o mine.toml"
    for command, mark in _OTHERS.items():
        if mark.search(start) is not None:
            return f"not a scenario, but a file for outlast {command}: outlast {command} {shown}"
    if start.startswith(PACKED) or (path.suffix != ".toml" and not _may_be_toml(start)):
        return f"not a scenario; if it is a trace, name a drive: outlast run --preset demo --trace {shown}"
    return None


def _may_be_toml(start: bytes) -> bool:
    """True if a file begins with a table or a key, or with nothing but comments."""
    return _TABLE.search(start) is not None or _COMMENTS.fullmatch(start) is not None
