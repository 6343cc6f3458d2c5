"""Processor time that is told of scenarios before they run, beside what they take.

python tests/estimated.py [NAME ...]   of COSTS in tests/test_estimate.py, or all

For a person, and no test: processor time is a clock, too.
"""

from __future__ import annotations

import sys
import time

import outlast as api
from test_estimate import COSTS


def main(names: list[str]) -> None:
    """Prints a line for each scenario: seconds told, seconds taken, and the factor between them."""
    for name in names or COSTS:
        preset, changes, _ = COSTS[name]
        told = api.estimate(preset, changes).cpu_s
        before = time.process_time()
        api.run(preset, changes)
        taken = time.process_time() - before
        print(f"{name:32} {told:8.2f} s told {taken:8.2f} s taken {taken / told:6.2f} times", flush=True)


if __name__ == "__main__":
    main(sys.argv[1:])
