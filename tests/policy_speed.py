"""Cost of a policy in Python or in C: requests for each second of processor time, beside the built-in one.

    python tests/policy_speed.py [--preset peers-32g] [--times 5]

Runs of the same scenario in turns, so that what else the machine does falls on all alike; of the ratios the median.
"""

from __future__ import annotations

import argparse
import statistics
import subprocess
import tempfile
from pathlib import Path
from typing import Any

import outlast
from outlast.policies import View

ROOT = Path(__file__).parent.parent


def greedy(view: View) -> int | None:
    """The fewest valid units."""
    return view.least(view.valid)


def cost_benefit(view: View) -> int | None:
    """The largest (1 - u) / 2u times age."""
    valid = view.valid.astype(float)
    return view.most((view.units - valid) * (view.age + 1) / (2 * valid))


def compiled(folder: Path) -> str:
    """The example in C."""
    library = folder / "cost_benefit.so"
    source = ROOT / "examples" / "policies" / "cost_benefit.c"
    include = Path(outlast.__file__).parent / "include"
    subprocess.run(["cc", "-O2", "-shared", "-fPIC", "-I", include, "-o", library, source], check=True)
    return f"{library}:choose"


def main() -> None:
    """Prints a row for each policy."""
    parser = argparse.ArgumentParser(description=__doc__, formatter_class=argparse.RawDescriptionHelpFormatter)
    parser.add_argument("--preset", default="peers-32g")
    parser.add_argument("--times", type=int, default=5)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory() as folder:
        rows: list[tuple[str, str, Any]] = [
            ("greedy", "Python", greedy),
            ("cost-benefit", "Python", cost_benefit),
            ("cost-benefit", "C", compiled(Path(folder))),
        ]
        print("policy        code    victims     requests/CPU-s     built in    ratio (all)")
        for built_in, code, policy in rows:
            show(asked.preset, built_in, code, policy, asked.times)


def show(preset: str, built_in: str, code: str, policy: Any, times: int) -> None:
    """Runs both in turns and prints what they gave."""
    own, theirs = [], []
    for _ in range(times):
        theirs.append(outlast.run(preset, policies={"gc": built_in}))
        own.append(outlast.run(preset, policies={"gc": policy}))
        assert own[-1].latency_us == theirs[-1].latency_us, "the same choices give the same run"
    rates = [[result.throughput.requests_per_cpu_s for result in results] for results in (own, theirs)]
    ratios = [mine / built for mine, built in zip(*rates, strict=True)]
    median = statistics.median
    print(
        f"{built_in:<13} {code:<7} {own[0].gc.victims:>7} {median(rates[0]):>18,.0f} {median(rates[1]):>12,.0f}"
        f"    {median(ratios):.3f} ({', '.join(f'{ratio:.3f}' for ratio in ratios)})"
    )


if __name__ == "__main__":
    main()
