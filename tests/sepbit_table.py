"""Write amplification with SepBIT (FAST 2022), a stream for collection alone (SepGC), and no separation (NoSep).

python tests/sepbit_table.py
"""

from __future__ import annotations

from pathlib import Path
from statistics import mean
from typing import Any

import outlast
from drives import geometry

SEPBIT = Path(__file__).parent.parent / "examples" / "policies" / "sepbit.py"


def amplification(pattern: str, theta: float, seed: int, way: str, requests: int = 400_000, blocks: int = 512) -> float:
    """Write amplification of an overwritten drive of `blocks` superblocks (512: 218 MiB).

    With cost-benefit, a selection of the authors' code.
    """
    drive: dict[str, Any] = {
        "extends": "demo",
        "seed": seed,
        "device": {
            "geometry": geometry(4, blocks, 32),
            "ftl": {"capacity": f"{436 * blocks}KiB", "gc": {"policy": "cost-benefit"}},
        },
        "workload": {
            "synthetic": {
                "pattern": pattern,
                "zipf_theta": theta,
                "size": "4KiB",
                "read_percent": 0,
                "rate_iops": None,
                "duration": None,
                "queue_depth": 32,
                "requests": requests,
            }
        },
        "precondition": {"overwrite": "workload"},
        "run": {"timing": "none"},
    }
    ways: dict[str, dict[str, Any]] = {
        "nosep": {"device.ftl.gc.relocation": "host"},
        "sepgc": {},
        "sepbit": {
            "device.ftl.streams": 2,
            "policies.placement": f"{SEPBIT}:sepbit.place",
            "policies.gc": f"{SEPBIT}:sepbit.collect",
        },
    }
    result: float = outlast.run(drive, ways[way]).write_amplification.total
    return result


def main() -> None:
    """Prints a row for each skew; the mean of three seeds."""
    print("| pattern | NoSep | SepGC | SepBIT | SepBIT over NoSep |\n|---|---|---|---|---|")
    for theta in (0.0, 0.6, 0.8, 1.0, 1.2):
        pattern = "zipf" if theta else "uniform"
        means = [
            mean(amplification(pattern, theta or 1.0, seed, way) for seed in (1, 2, 3))
            for way in ("nosep", "sepgc", "sepbit")
        ]
        named = f"Zipf, {theta}" if theta else pattern
        print(f"| {named} | {' | '.join(f'{value:.3f}' for value in means)} | {means[2] / means[0] - 1:+.1%} |")


if __name__ == "__main__":
    main()
