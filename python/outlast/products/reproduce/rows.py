"""The figures of a cell's row, from what its run gave."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from outlast.products.reproduce.cells import Record
from outlast.products.reproduce.model import Cell, Row, Table


def table_of(cells: Sequence[Cell], records: Sequence[Record]) -> Table:
    """A row for each cell."""
    return Table([dict(cell.labels) | figures(record) for cell, record in zip(cells, records, strict=True)])


def figures(record: Record) -> Row:
    """Parts of the figures of papers."""
    summary = record["summary"]
    read = summary["latency_us"]["read"] or {}
    amplification = summary["write_amplification"] or {}
    unit = summary["device"]["mapping_unit"]
    moved = (amplification.get("gc") or 0.0) * summary["host"]["bytes_written"] / unit
    spare = summary["device"].get("effective_spare_factor", summary["device"]["spare_factor"])
    row: Row = {
        "read_mean_us": read.get("mean"),
        "read_p99_9_us": read.get("p99_9"),
        "write_amplification": amplification.get("total"),
        "wa_gc": amplification.get("gc"),
        "wa_scrub": amplification.get("scrub"),
        "wa_parity": _sum(
            amplification, ("host_parity", "gc_parity", "scrub_parity", "wear_leveling_parity", "map_parity")
        ),
        "collection_checks_percent": 100 * moved / max(moved + summary["host"]["reads"], 1),
        "superblocks": summary["device"]["superblocks"],
        "spare_percent": None if spare is None else 100 * spare,
        "busy_percent": 100 * summary["queue"]["die_utilisation"]["mean"],
        "steady_before": summary["steady_state"]["precondition"]["reached"],
        "notes": " ".join(summary["notes"]),
    }
    row |= _times(summary["latency_us"]) | _protection(summary) | _cores(amplification) | _repair(record)
    return row | _reliability(summary.get("reliability")) | _errors(record.get("errors") or {})


def _times(latency: Mapping[str, Any]) -> Row:
    """Response times of all commands, and of writes; the fastest and slowest read."""
    known = [own for own in (latency["read"], latency["write"]) if own]
    count = sum(own["count"] for own in known)
    return {
        "response_mean_us": sum(own["mean"] * own["count"] for own in known) / count if count else None,
        "write_mean_us": (latency["write"] or {}).get("mean"),
        "read_min_us": (latency["read"] or {}).get("min"),
        "read_max_us": (latency["read"] or {}).get("max"),
    }


def _protection(summary: Mapping[str, Any]) -> Row:
    """Parity in the drive: what it adds to writes, what it gave back, how far a change of codes has come."""
    amplification, reliability = summary["write_amplification"] or {}, summary.get("reliability") or {}
    row: Row = {
        "wa_partial": amplification.get("partial_parity"),
        "wa_reencode": amplification.get("reencode"),
        "from_block_code": reliability.get("corrected_by", {}).get("block"),
        "from_stripe": reliability.get("corrected_by", {}).get("stripe"),
    }
    if (own := summary.get("protection")) is not None:
        row["protected_superblocks"] = own["superblocks"]
        row["outdated_percent"] = 100 * own["outdated_superblocks"] / max(own["superblocks"], 1)
        row["changes"] = [change["what"] for change in own["changes"] if not change["refused"]]
        row["unprotected_page_seconds"] = sum(part["unprotected_page_seconds"] for part in own["by_class"])
    return row


def _cores(amplification: Mapping[str, Any]) -> Row:
    """Write amplification of the first of several flash cores: what it writes for what the host writes to it."""
    by_core = list(amplification.get("by_core") or [])
    return {"wa_first_core": by_core[0]} if len(by_core) > 1 else {}


def _repair(record: Record) -> Row:
    """Times of repairing dies, or of filling a spare where they are not repaired, of the drive in full.

    Times, data and units are absent where it has not ended, where data was lost, and where a drive was replaced
    although its dies were to be repaired.
    """
    summary = record["summary"]
    repairs, rebuild = summary.get("repair") or (), (summary.get("array") or {}).get("rebuild")
    if not repairs:
        return {}
    scale = record["scenario"]["run"].get("capacity_scale", 1.0)
    row: Row = {"repairs": len(repairs)}
    if any(own["lost_bytes"] for own in repairs) or (repairs[0]["way"] == "assist") != (rebuild is not None):
        return row
    amounts = ("identify_s", "bytes_read_from_peers", "bytes_read_from_member", "bytes_written")
    total = {name: sum(own[name] or 0 for own in repairs) for name in (*amounts, "failed_units", "fake_failures")}
    if rebuild is not None:
        ended = rebuild["finished_s"] if rebuild["done"] >= 1 else None
        took, read, written = (ended or 0.0) - rebuild["started_s"], rebuild["bytes_read"], rebuild["bytes_written"]
        total["identify_s"] = 0.0
    else:
        ended = max(own["finished_s"] for own in repairs) if all(own["finished_s"] for own in repairs) else None
        took = sum(own["total_s"] or 0.0 for own in repairs)
        read = total["bytes_read_from_peers"] + total["bytes_read_from_member"]
        written = total["bytes_written"]
    if ended is None:
        return row
    return row | {
        "repaired_s": ended,
        "repair_min": scale * took / 60,
        "identify_min": scale * total["identify_s"] / 60,
        "repair_read_gb": scale * read / 1e9,
        "repair_written_gb": scale * written / 1e9,
        "failed_units": scale * total["failed_units"],
        "fake_failures": scale * total["fake_failures"],
    }


def _sum(values: Mapping[str, Any], names: Sequence[str]) -> float:
    return float(sum(values.get(name) or 0.0 for name in names))


def _reliability(reliability: Mapping[str, Any] | None) -> Row:
    if reliability is None:
        return {}
    if reliability["exact"] is None:
        return {"uncorrectable_reads": reliability["uncorrectable_reads"]}
    exact, recovery = reliability["exact"], reliability["stripe_recovery"]
    attempts, failures = recovery["attempts"], recovery["failures"]
    before, after = exact["after_rereads"]["per_unit"], exact["after_stripe"]["per_unit"]
    return {
        "rereads_per_read": reliability["rereads_per_read"],
        "first_check_fails_percent": 100 * (exact["after_ecc"]["per_unit"] or 0.0),
        "stripe_attempts": attempts,
        "stripe_failures": failures,
        "stripe_fails_percent": 100 * failures / attempts if attempts else None,
        "stripe_fails_exact_percent": 100 * after / before if before else None,
        "uncorrectable_reads": reliability["uncorrectable_reads"],
        "log10_uber": exact["after_stripe"]["log10_uber"],
        "scrubbed_superblocks": reliability["scrubbed"]["superblocks"],
        "scrubbed_again": reliability["scrubbed"]["again"],
        "fresh_errors": reliability["rber"]["fresh_errors"],
        "rber_max": reliability["rber"]["max"],
    }


def _errors(errors: Mapping[str, Sequence[int]]) -> Row:
    """Shares of the sampled codewords by their wrong bits."""
    bits, counts = errors.get("wrong_bits", ()), errors.get("codewords", ())
    total = sum(counts)
    if not total:
        return {}
    pairs = list(zip(bits, counts, strict=True))
    return {
        "below_75_percent": 100 * sum(count for bit, count in pairs if bit < 75) / total,
        "to_75_percent": 100 * sum(count for bit, count in pairs if bit <= 75) / total,
        "codewords": total,
        "cumulative": _cumulative(pairs, total),
    }


def _cumulative(pairs: Sequence[tuple[int, int]], total: int) -> list[list[float]]:
    points: list[list[float]] = []
    seen = 0
    for bit, count in pairs:
        seen += count
        points.append([bit, round(100 * seen / total, 4)])
    return points
