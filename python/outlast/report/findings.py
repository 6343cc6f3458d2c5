"""Sentences that say what the figures show."""

from __future__ import annotations

from typing import Any

from outlast.report import served
from outlast.report.figure import CAUSES, amplification_by_cause
from outlast.report.names import JUDGED, label, tips
from outlast.report.numbers import counted, micros, percent, seconds, short, signed, size, text, tiny

TAILS = ((10_000, "p99_9", "a thousand"), (1_000, "p99", "a hundred"), (100, "p90", "ten"))
"""Requests needed to state a percentile: ten lie beyond it then, so the count is known to about a third (1/√10)."""


def workload(summary: dict[str, Any]) -> str:
    """The workload in a few words."""
    spec = summary["scenario"].get("workload") or {}
    if trace := spec.get("trace"):
        return f"trace {str(trace['file']).rsplit('/', 1)[-1]}"
    if fio := spec.get("fio"):
        return f"fio job {str(fio.get('file') or '').rsplit('/', 1)[-1]}".strip()
    if (zoned := spec.get("zoned")) is not None:
        return str(zoned.get("name") or _zoned(zoned))
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


def _zoned(spec: dict[str, Any]) -> str:
    verb = "appends" if spec.get("command") == "append" else "writes"
    words = [f"{verb} of {spec.get('size', '4KiB')} to zones"]
    if reads := float(spec.get("read_percent") or 0):
        words.append(f"{short(reads)} % reads")
    if spec.get("queue_depth"):
        words.append(f"queue depth {spec['queue_depth']}")
    return ", ".join(words)


def latency(summary: dict[str, Any]) -> str:
    """Sentences on the ratio of tail latency to the median."""
    parts = []
    for op in ("read", "write"):
        figures = summary["latency_us"][op]
        if not figures or not figures["p50"]:
            continue
        tail = next(
            ((key, words) for least, key, words in TAILS if figures["count"] >= least and figures.get(key)), None
        )
        if tail is None:
            counted_ops = counted(figures["count"], op)
            parts.append(
                f"Only {counted_ops} {'was' if figures['count'] == 1 else 'were'} measured: too few for a tail."
            )
            continue
        value = figures[tail[0]]
        parts.append(
            f"One {op} in {tail[1]} takes longer than <b>{micros(value)}</b>, "
            f"{short(value / figures['p50'], 2)} times the median."
        )
    return " ".join(parts)


def amplification(summary: dict[str, Any]) -> str:
    """Sentence on write amplification by cause, beside the closed form."""
    wa, gc, closed = summary["write_amplification"], summary["gc"], summary["closed_form"]
    if wa["total"] is None:
        return "Nothing was written."
    if not summary["flash"]["programs"]:
        return "Nothing reached the flash during the measurement: the host's writes were still in the write buffer."
    parts = amplification_by_cause(wa)
    causes = {label: parts[cause] for cause, (label, _) in CAUSES.items() if cause != "host"}
    named = ", ".join(f"{label} {value:.3f}" for label, value in causes.items() if value)
    sentence = f"For each byte that the host wrote, <b>{wa['total']:.3f}</b> went to flash"
    sentence += f": 1 of the host’s own, {named}." if named else "; nothing was added."
    if gc["victims"] and gc["mean_valid"] is not None:
        moved = counted(gc["victims"], "superblock")
        sentence += (
            f" {moved} {'was' if gc['victims'] == 1 else 'were'} moved, {percent(gc['mean_valid'])} valid on average."
        )
    if collected := served.collected_note(summary):
        sentence += f" <b>{collected[0].upper()}{collected[1:].replace(': it says', ': write amplification says')}.</b>"
    note = text(closed["note"] or "")
    if closed["greedy_waf"] is not None:
        # The formula knows data that the host wrote and data that collection moved; of parity it knows nothing.
        off = (wa["total"] - parts["parity"]) / closed["greedy_waf"] - 1
        without = " without parity" if parts["parity"] else ""
        sentence += f" Closed form: <b>{closed['greedy_waf']:.3f}</b>"
        if parts["scrub"]:
            sentence += ", which does not include scrubbing."
        else:
            sentence += f", measured{without} {signed(off)}. {note}"
    elif note:
        sentence += f' <span class="muted">Without a closed form: {note}</span>'
    return sentence


REASONS = {
    "by_reads": "read too often",
    "by_age": "too old",
    "by_expected_errors": "too many errors expected",
    "by_rereads": "re-reads cost more than moving",
    "by_patrol": "patrol found too many wrong bits",
    "by_exposed": "stripes had lost members",
    "by_code": "the class had another code",
    "by_dies": "dies were added",
    "by_evacuation": "a die was expected to fail",
}


def errors(summary: dict[str, Any]) -> str:
    """Sentences on error rate, corrections, lost data and their cost."""
    figures = summary["reliability"]
    had = _had(figures, in_array="array" in summary)
    return " ".join(part for part in (_flash_errs(figures), had, _moved(figures), _twin(figures)) if part)


def _flash_errs(figures: dict[str, Any]) -> str:
    parts = []
    if rber := figures["rber"]:
        parts.append(
            f"At the end the raw bit error rate was <b>{tiny(rber['mean'])}</b>, in the worst block "
            f"{tiny(rber['max'])}."
            if rber["mean"] > 0
            else "No bit was ever wrong."
        )
        if rber["saturated_reads"]:
            parts.append("Some rates were beyond the range of the model: see the notes.")
    if figures["faults"]:
        parts.append(f"{counted(figures['faults'], 'sudden failure')} happened.")
    return " ".join(parts)


def _had(figures: dict[str, Any], *, in_array: bool) -> str:
    corrected_by, lost = figures["corrected_by"], figures["uncorrectable_reads"]
    lost_text = "could not be read from their drive" if in_array else "that the host asked for could not be read"
    sentence = (
        f"Of the units read, {short(corrected_by['ecc'])} were correct at the first read, "
        f"{short(corrected_by['reread'])} after re-reads, "
        f"{short(corrected_by['stripe'])} were rebuilt from their stripe; <b>{short(lost)}</b> {lost_text}."
    )
    if in_array:
        sentence += f" {counted(figures['medium_errors'], 'request')} of the host ended with a medium error."
    if exact := figures["exact"]:
        last = exact["after_stripe"]
        if last["log10_uber"] is None:
            sentence += " Computed exactly, no unit could have been lost to wrong bits."
        else:
            rate = tiny(last["uber"], last["log10_uber"])
            sentence += (
                f" Computed exactly rather than counted, the uncorrectable bit error rate was <b>{rate}</b> after all "
                "recovery."
            )
    if figures["lost_bytes"]:
        sentence += f" {size(figures['lost_bytes'])} were lost for good and fail until they are written again."
    return sentence


def _moved(figures: dict[str, Any]) -> str:
    scrubbed = figures["scrubbed"]
    if not scrubbed["superblocks"]:
        return ""
    why = ", ".join(f"{words}: {short(scrubbed[key])}" for key, words in REASONS.items() if scrubbed.get(key))
    again = f"; {short(scrubbed['again'])} of them written by scrubbing itself" if scrubbed["again"] else ""
    return f"Scrubbing moved {counted(scrubbed['superblocks'], 'superblock')} ({why}){again}."


def _twin(figures: dict[str, Any]) -> str:
    twin = figures["twin"]
    if not twin or twin["read_mean_ratio"] is None:
        return ""
    tail = twin["read_p99_9_ratio"]
    beside = f" ({short(tail)} times at 99.9 %)" if tail is not None else ""
    return f"Reads took <b>{short(twin['read_mean_ratio'])}</b> times as long as without errors{beside}."


GOES_BAD = (
    ("defects", "factory_bad"),
    ("defects", "endurance"),
    ("hazards", "per_year", "block"),
    ("hazards", "per_operation", "program"),
    ("hazards", "per_operation", "erase"),
)
"""Settings of a device, by their names from the outermost table, that make blocks go bad."""


def _setting(table: Any, *names: str) -> Any:
    """The setting of those names below a table; None where it is not given."""
    for name in names:
        table = (table or {}).get(name)
    return table


def blocks_lost(summary: dict[str, Any]) -> list[str]:
    """Bad and spare blocks, where there can be any."""
    figures, device = summary["wear"], (summary.get("scenario") or {}).get("device") or {}
    found = []
    if figures["bad_blocks"] or any(_setting(device, *names) for names in GOES_BAD):
        found.append(counted(figures["bad_blocks"], "bad block"))
    if figures["spare_blocks_left"] or (device.get("ftl") or {}).get("spare_blocks"):
        found.append(f"{counted(figures['spare_blocks_left'], 'spare block')} left")
    return found


def wear(summary: dict[str, Any]) -> str:
    """The spread of the cycles; bad and spare blocks where there can be any."""
    figures = summary["wear"]
    if figures["mean_pe"] is None:
        return ""
    blocks = blocks_lost(summary)
    return (
        f"Blocks have <b>{short(figures['mean_pe'])}</b> P/E cycles on average, {short(figures['min_pe'])} to "
        f"{short(figures['max_pe'])}{'; ' if blocks else ''}{', '.join(blocks)}."
    )


FACTS = {
    "Capacity": ("device.capacity_bytes", "device.raw_bytes"),
    "Spare": ("device.spare_factor", "device.effective_spare_factor"),
    "Mapping unit": ("device.mapping_unit",),
    "Superblocks": ("device.superblocks", "device.units_per_superblock"),
    "Preconditioning": ("steady_state.precondition.reached", "steady_state.precondition.drive_writes"),
    "Steady while measured": ("steady_state.measured.reached", "steady_state.measured.why"),
    "Host": ("host.bytes_read", "host.bytes_written"),
    "Mapping table": ("memory.mapping_bytes_per_unit",),
    "Flash": ("flash.reads", "flash.programs", "flash.erases"),
}
"""Figures of `result.json` that each term is made of."""


def facts(summary: dict[str, Any]) -> str:
    """Device, preconditioning and what the run cost, as a list of terms."""
    device, time, state = summary["device"], summary["time"], summary["steady_state"]
    before, memory, flash = state["precondition"], summary["memory"], summary["flash"]
    effective = device.get("effective_spare_factor")
    spare = f"{percent(device['spare_factor'])}" + (f" (effective {percent(effective)})" if effective else "")
    if "effective_spare_factor" in device and effective is None:
        spare += " (now none: the flash that is left holds less than the capacity)"
    reached = {True: "steady", False: "not steady", None: "none"}[before["reached"]]
    if before["reached"] is not None:
        reached += f" after {short(before['drive_writes'])} drive writes"
    measured = state["measured"]
    verdict = JUDGED[measured["reached"]]
    if measured.get("why"):
        verdict += f"; {text(measured['why'])}"
    rate = summary["throughput"]["requests_per_cpu_s"]
    terms = {
        "Capacity": f"{size(device['capacity_bytes'])} of {size(device['raw_bytes'])} raw",
        "Spare": spare,
        "Mapping unit": size(device["mapping_unit"]),
        "Superblocks": f"{short(device['superblocks'])} of {short(device['units_per_superblock'])} units",
        "Preconditioning": reached,
        "Steady while measured": verdict,
        "Host": f"{size(summary['host']['bytes_read'])} read, {size(summary['host']['bytes_written'])} written",
        "Flash": f"{short(flash['reads'])} reads, {short(flash['programs'])} programs, {short(flash['erases'])} erases",
        "Simulated": f"{seconds(time['simulated_s'])} after {seconds(time['warm_up_s'])} of warm-up",
        "Cost": f"{seconds(time['cpu_s'])} of CPU, {seconds(time['precondition_cpu_s'])} to precondition",
        "Speed": f"{short(rate)} requests per CPU-second",
        "Memory": f"{short(memory['peak_rss_mib'])} MiB at most",
        "Mapping table": f"{short(memory['mapping_bytes_per_unit'])} B per mapping unit",
    }
    tips_of = {term: tips(*FACTS.get(term, ())) for term in terms}
    items = "".join(
        f"<div{tips_of[term]}><dt>{label(term, tips_of[term])}</dt><dd>{value}</dd></div>"
        for term, value in terms.items()
    )
    return f'<dl class="card facts">{items}</dl>'
