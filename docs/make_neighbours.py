"""Writes the table on noisy neighbours in docs/guide/nvme.md: a reader in one namespace, and a writer in another.

python docs/make_neighbours.py
"""

from __future__ import annotations

from pathlib import Path

import outlast

ROOT = Path(__file__).parent.parent
EXAMPLE = ROOT / "scenarios" / "examples" / "namespaces.toml"
PAGE = ROOT / "docs" / "guide" / "nvme.md"
BEGIN, END = "<!-- neighbours: docs/make_neighbours.py -->\n", "<!-- end of neighbours -->\n"


def latencies() -> dict[str, dict[str, float]]:
    """Latency in microseconds of reads of the first namespace, alone and beside the writer."""
    both = outlast.resolve(EXAMPLE)["workload"]["fio"]["job"]
    jobs = {"alone": both.split("[noisy]")[0], "beside the writer": both}
    return {name: reads(outlast.run(EXAMPLE, {"workload.fio.job": job}).summary) for name, job in jobs.items()}


def reads(summary: dict[str, object]) -> dict[str, float]:
    """Latency of reads of the first namespace."""
    namespaces = summary["namespaces"]
    assert isinstance(namespaces, list)
    found: dict[str, float] = namespaces[0]["read"]
    return found


def table(found: dict[str, dict[str, float]]) -> str:
    """The table, a row for each run."""
    lines = ["| reads of the quiet namespace | mean, µs | 99 % below, µs |", "|---|---|---|"]
    lines += [f"| {name} | {own['mean']:.0f} | {own['p99']:.0f} |" for name, own in found.items()]
    return "\n".join(lines)


if __name__ == "__main__":
    before, rest = PAGE.read_text(encoding="utf-8").split(BEGIN)
    after = rest.split(END)[1]
    PAGE.write_text(f"{before}{BEGIN}{table(latencies())}\n{END}{after}", encoding="utf-8")
