"""Sentences that say what the figures show."""

from __future__ import annotations

from typing import Any

from outlast.report.numbers import micros, percent, seconds, short, size, text


def workload(summary: dict[str, Any]) -> str:
    """The workload in a few words."""
    spec = summary["scenario"].get("workload") or {}
    if trace := spec.get("trace"):
        return f"trace {str(trace['file']).rsplit('/', 1)[-1]}"
    if fio := spec.get("fio"):
        return f"fio job {str(fio.get('file') or '').rsplit('/', 1)[-1]}".strip()
    synthetic = spec.get("synthetic") or {}
    if synthetic.get("name"):
        return str(synthetic["name"])
    if synthetic.get("phases"):
        return f"synthetic, {len(synthetic['phases'])} phases"
    reads = float(synthetic.get("read_percent") or 0)
    mix = "reads" if reads == 100 else "writes" if reads == 0 else f"{short(reads)} % reads"
    words = [str(synthetic.get("pattern") or "uniform"), str(synthetic.get("size") or ""), mix]
    if synthetic.get("queue_depth"):
        words.append(f"queue depth {synthetic['queue_depth']}")
    if synthetic.get("rate_iops"):
        words.append(f"{short(float(synthetic['rate_iops']))} requests/s")
    return " ".join(word for word in words if word)


def latency(summary: dict[str, Any]) -> str:
    """How far the tail lies from the median."""
    parts = []
    for op in ("read", "write"):
        figures = summary["latency_us"][op]
        if figures and figures["p50"]:
            ratio = figures["p99_9"] / figures["p50"]
            parts.append(
                f"One {op} in a thousand takes longer than <b>{micros(figures['p99_9'])}</b>, "
                f"{short(ratio, 2)} times the median."
            )
    return " ".join(parts)


def amplification(summary: dict[str, Any]) -> str:
    """Where the writes beyond the host's own come from, and how the closed form compares."""
    wa, gc, closed = summary["write_amplification"], summary["gc"], summary["closed_form"]
    if wa["total"] is None:
        return "Nothing was written."
    causes = {
        "garbage collection": wa["gc"],
        "padding": wa["padding"],
        "wear levelling": wa["wear_leveling"],
        "partial units": wa["partial_write"],
    }
    named = ", ".join(f"{label} {value:.3f}" for label, value in causes.items() if value)
    sentence = f"For each byte that the host wrote, <b>{wa['total']:.3f}</b> went to flash"
    sentence += f": 1 of the host’s own, {named}." if named else "; nothing was added."
    if gc["victims"] and gc["mean_valid"] is not None:
        sentence += f" {short(gc['victims'])} superblocks were collected, {percent(gc['mean_valid'])} valid on average."
    note = text(closed["note"] or "")
    if closed["greedy_waf"] is not None:
        off = wa["total"] / closed["greedy_waf"] - 1
        sentence += f" Closed form: <b>{closed['greedy_waf']:.3f}</b>, measured {off:+.1%} from it. {note}"
    elif note:
        sentence += f' <span class="muted">No closed form beside it: {note}</span>'
    return sentence


def wear(summary: dict[str, Any]) -> str:
    """The spread of the cycles and the state of the spares."""
    figures = summary["wear"]
    if figures["mean_pe"] is None:
        return ""
    return (
        f"<b>{short(figures['mean_pe'])}</b> cycles on average, {short(figures['min_pe'])} to "
        f"{short(figures['max_pe'])}. {short(figures['bad_blocks'])} bad blocks, "
        f"{short(figures['spare_blocks_left'])} spare ones left."
    )


def facts(summary: dict[str, Any]) -> str:
    """Device, preconditioning and what the run cost, as a list of terms."""
    device, time, state = summary["device"], summary["time"], summary["steady_state"]
    before, memory, flash = state["precondition"], summary["memory"], summary["flash"]
    effective = device.get("effective_spare_factor")
    spare = f"{percent(device['spare_factor'])}" + (f" (effective {percent(effective)})" if effective else "")
    reached = {True: "steady", False: "not steady", None: "none"}[before["reached"]]
    if before["reached"] is not None:
        reached += f" after {short(before['drive_writes'])} drive writes"
    rate = summary["throughput"]["requests_per_cpu_s"]
    terms = {
        "Capacity": f"{size(device['capacity_bytes'])} of {size(device['raw_bytes'])} raw",
        "Spare": spare,
        "Mapping unit": size(device["mapping_unit"]),
        "Superblocks": f"{short(device['superblocks'])} of {short(device['units_per_superblock'])} units",
        "Preconditioning": reached,
        "Steady while measured": text(state["measured"].get("why") or "–"),
        "Host": f"{size(summary['host']['bytes_read'])} read, {size(summary['host']['bytes_written'])} written",
        "Flash": f"{short(flash['reads'])} reads, {short(flash['programs'])} programs, {short(flash['erases'])} erases",
        "Simulated": f"{seconds(time['simulated_s'])} after {seconds(time['warm_up_s'])} of warm-up",
        "Cost": f"{seconds(time['cpu_s'])} of CPU, {seconds(time['precondition_cpu_s'])} to precondition",
        "Speed": f"{short(rate)} requests per CPU-second",
        "Memory": f"{short(memory['peak_rss_mib'])} MiB at most, {short(memory['mapping_bytes_per_unit'])} B a unit",
    }
    items = "".join(f"<div><dt>{term}</dt><dd>{value}</dd></div>" for term, value in terms.items())
    return f'<dl class="card facts">{items}</dl>'
