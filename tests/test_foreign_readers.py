"""Is everything that reads what others wrote known, and tried with what nobody would write?"""

from __future__ import annotations

import ast
import re
from pathlib import Path

from conftest import ROOT

PARSERS = {"json.load", "json.loads", "tomllib.load", "tomllib.loads", "pickle.loads", "cloudpickle.loads"}
OWN = {
    "foreign.py": "the parser itself",
    "api.py": "of the simulator",
    "repeats.py": "of the simulator",
    "schemas.py": "comes with the package",
    "costs.py": "of the simulator",
    "drive.py": "of the simulator",
    "models/chips.py": "of the simulator",
    "study/__init__.py": "of the simulator",
    "fleet/lives.py": "of the simulator",
    "fleet/rare.py": "of the simulator",
    "notebook/theme.py": "comes with the package",
    "points/worker.py": "of the process that started it",
    "points/workers.py": "of a process that it started",
    "policies/loading.py": "code, which is run: policies are programs",
    "points/cluster.py": "code, which is run: a cluster is trusted",
    "products/reproduce/drives/common.py": "comes with the package",
    "sweeps/plan.py": "of the simulator",
    "serving/__init__.py": "of the simulator",
    "serving/event_log.py": "of the simulator",
    "serving/live.py": "of the simulator",
    "serving/web.py": "of the simulator",
    "cli/serve.py": "of the simulator",
    "serving/built_in_load.py": "of the simulator",
    "products/torture/cleanup.py": "of the process that started it",
    "products/torture/check.py": "of the simulator",
    "products/torture/guest_machine.py": "of the agent that it started in the guest, and of QEMU",
    "products/torture/open.py": "of the simulator",
    "products/torture/record.py": "of the simulator",
    "products/torture/results.py": "what it wrote the line before",
    "products/torture/trial.py": "of the simulator",
    "products/torture/cli/check.py": "of the simulator",
    "traces.py": "of the simulator",
}
"""Modules that parse what nobody else wrote, and why that is so. All others ask `outlast.foreign`."""


def calls(file: Path) -> set[str]:
    """The functions of modules that a file calls, by dotted name."""
    found = set()
    for node in ast.walk(ast.parse(file.read_text(encoding="utf-8"))):
        if (
            isinstance(node, ast.Call)
            and isinstance(node.func, ast.Attribute)
            and isinstance(node.func.value, ast.Name)
        ):
            found.add(f"{node.func.value.id}.{node.func.attr}")
    return found


def test_nothing_parses_foreign_text_but_the_strict_parser() -> None:
    package = ROOT / "python" / "outlast"
    parsing = {str(file.relative_to(package)) for file in package.rglob("*.py") if calls(file) & PARSERS}
    assert parsing <= OWN.keys(), "ask outlast.foreign, or say in OWN whose text it is"


def test_every_reader_of_foreign_files_has_a_fuzz_target() -> None:
    table = (ROOT / "fuzz" / "README.md").read_text(encoding="utf-8")
    rows = re.findall(r"^\| ([^|]+) \| `([^`|]+)` \| `([^`|]+)` \|$", table, re.M)
    here = "".join(
        (ROOT / "tests" / f"test_foreign_{part}.py").read_text(encoding="utf-8")
        for part in ("json", "files", "toml", "plans", "fleets")
    )
    for what, reader, target in rows:
        assert (ROOT / reader).exists(), f"{what}: {reader} is no file"
        is_rust = (ROOT / "fuzz" / "fuzz_targets" / f"{target}.rs").is_file()
        assert is_rust or f"def {target}(" in here, f"{what}: there is no target {target}"
    listed = {reader for _, reader, _ in rows}
    targets = {file.stem for file in (ROOT / "fuzz" / "fuzz_targets").glob("*.rs")}
    assert targets <= {target for _, _, target in rows}
    package = ROOT / "python" / "outlast"
    asking = {
        f"python/outlast/{file.relative_to(package)}"
        for file in package.rglob("*.py")
        if any(
            name.startswith("foreign.") and name not in {"foreign.rely_on", "foreign.relied_on"} for name in calls(file)
        )
    }
    assert asking <= listed, "a reader that the table of fuzz/README.md lacks"
