"""Units that collection moves for each unit of the host, with relocated data in its own stream and in the host's.

python tests/relocation_table.py
"""

from __future__ import annotations

from statistics import mean
from typing import Any

import outlast
from drives import geometry


def moved(policy: str, relocation: str, pattern: str, seed: int) -> float:
    """Units relocated per unit of the host in steady state: 128 superblocks, 28 % spare space."""
    drive: dict[str, Any] = {
        "extends": "demo",
        "seed": seed,
        "device": {
            "geometry": geometry(2, 128, 64),
            "ftl": {"over_provisioning": 0.28, "gc": {"policy": policy, "relocation": relocation}},
            "controller": {"write_buffer": "64KiB"},
        },
        "workload": {"synthetic": {"pattern": pattern, "size": "4KiB", "read_percent": 0, "requests": 100_000}},
        "precondition": {"overwrite": "workload", "min_drive_writes": 20, "max_drive_writes": 40},
        "run": {"timing": "none", "warm_up": "0s"},
    }
    if pattern == "hotcold":
        drive["workload"]["synthetic"] |= {"hot_fraction": 0.1, "hot_access": 0.9}
    closed = {"workload.synthetic.rate_iops": None, "workload.synthetic.duration": None}
    result: float = outlast.run(drive, closed | {"workload.synthetic.queue_depth": 32}).write_amplification.total
    return result - 1


def main() -> None:
    """Prints a row for each pattern and policy; the mean of three seeds."""
    print("| pattern | policy | own stream | host's stream | more |\n|---|---|---|---|---|")
    for pattern in ("uniform", "hotcold"):
        for policy in ("greedy", "cost-benefit"):
            own, host = (
                mean(moved(policy, relocation, pattern, seed) for seed in (1, 2, 3)) for relocation in ("own", "host")
            )
            print(f"| {pattern} | {policy} | {own:.2f} | {host:.2f} | {host / own - 1:+.0%} |")


if __name__ == "__main__":
    main()
