"""CPU-seconds of single cases, beside the budget of a case: tests/costs.toml.

    python tests/costs.py FILE

FILE has a line for each test in Rust, as tests/costed.sh writes them. Prints the cases above the budget that give no
reason. Python's are printed alike, at the end of a run of pytest (tests/hooks.py). No run fails for them: processor
time is a clock, too, and a slow or busy machine takes several times as long for the same work.
"""

from __future__ import annotations

import sys
import tomllib
from collections.abc import Mapping
from pathlib import Path

TABLE = Path(__file__).parent / "costs.toml"


def above_budget(costs: Mapping[str, float], language: str) -> list[str]:
    """Lines for the cases that are above the budget without a reason."""
    table = tomllib.loads(TABLE.read_text(encoding="utf-8"))
    budget, reasons = float(table["budget_s"]), table[language]
    over = {name: cost for name, cost in costs.items() if cost > budget and name.partition("[")[0] not in reasons}
    lines = [f"{cost:8.1f}  {name}" for name, cost in sorted(over.items(), key=lambda item: -item[1])]
    if lines:
        lines.insert(0, f"CPU-seconds of cases above {budget:g} s, without a reason in tests/costs.toml:")
    return lines


def of_rust(text: str) -> dict[str, float]:
    """Seconds of each test, by its program and name."""
    costs: dict[str, float] = {}
    for line in text.splitlines():
        user, system, name = line.split(" ", 2)
        if " " not in name:
            # No single test: an example, or all tests of a program.
            continue
        costs[name] = costs.get(name, 0.0) + float(user) + float(system)
    return costs


def main(arguments: list[str]) -> None:
    """Tells of the tests in Rust."""
    file = Path(arguments[0])
    lines = above_budget(of_rust(file.read_text(encoding="utf-8")) if file.exists() else {}, "rust")
    print("\n".join(lines), end="\n" if lines else "")


if __name__ == "__main__":
    main(sys.argv[1:])
