"""A result of a fleet in a screenful of words."""

from __future__ import annotations

from typing import Any


def bytes_of(value: float) -> str:
    """A size in decimal units, three digits."""
    for unit, name in ((1e18, "EB"), (1e15, "PB"), (1e12, "TB"), (1e9, "GB"), (1e6, "MB"), (1e3, "kB")):
        if value >= unit:
            return f"{value / unit:.3g} {name}"
    return f"{value:.3g} B"


def interval(row: dict[str, Any]) -> str:
    """A probability with its interval; one number if exact."""
    if row["low"] == row["high"]:
        return f"{row['mean']:.4g}"
    return f"{row['mean']:.3g} ({row['low']:.3g} to {row['high']:.3g})"


def summary(result: dict[str, Any]) -> str:
    """Text that the command prints."""
    fleet, life, engine, last = result["fleet"], result["life"], result["engine"], result["loss_by_year"][-1]
    years = last["year"]
    nines = result["object_nines_a_year"]
    shape = f"{fleet['drives']} drives, {fleet['groups']} groups of {fleet['pieces_of_group']} pieces"
    moved = bytes_of(life["rebuild_bytes_a_year"])
    lines = [
        f"{result['name']}: {shape}, {bytes_of(fleet['user_bytes'])} of data",
        f"losses by {engine['losses']}: {engine['reason']}",
        f"{engine['repair']} repair, {fleet['rebuild_hours']:.3g} h a drive",
        f"loss of data within {years} years: {interval(last['fleet'])}, {last['fleet']['kind']}",
        f"expected loss in that time: {bytes_of(result['expected_bytes_lost'])}",
        "an object a year: " + ("never lost" if nines is None else f"{nines:.2f} nines"),
        f"a year: {life['drives_failed_a_year']:.4g} drives fail, {moved} moved by rebuilds,",
        f"  {life['days_degraded_a_year']:.3g} days with a group degraded",
    ]
    if life["dies_failed_a_year"]:
        failed, repaired = life["dies_failed_a_year"], life["dies_repaired_a_year"]
        lines.append(f"  {failed:.4g} dies fail, of which drives repair {repaired:.4g} by themselves")
    if life["unavailable_groups"]:
        lines.append(f"  outages make {life['unavailable_groups']:.3g} of groups unreadable on average")
    if result["causes"]:
        shares = sorted(result["causes"].items(), key=lambda cause: -cause[1])
        lines.append("causes: " + ", ".join(f"{name} {100 * share:.3g} %" for name, share in shares))
    if "cost" in result:
        cost = result["cost"]
        each = f"{cost['per_user_tb_year']:.4g} per TB of data and year"
        lines.append(f"cost: {cost['a_year']:.5g} {cost['currency']} a year, {each}")
    if result.get("change_first"):
        lines.append("what to change first (% of losses for each % of the setting):")
        lines += [f"  {row['setting']}: {row['elasticity']:+.2f}" for row in result["change_first"][:6]]
    return "\n".join(lines)
