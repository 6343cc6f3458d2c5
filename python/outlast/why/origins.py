"""Origins of latency, writes, wear and errors: a text and its figures each, or `None` with nothing to say."""

from __future__ import annotations

from typing import Any

from outlast.causes import LATENCY
from outlast.report.errors import can_fail
from outlast.report.figure import CAUSES, amplification_by_cause
from outlast.report.findings import TAILS, blocks_lost
from outlast.report.numbers import counted, micros, percent, seconds, short, signed, tiny
from outlast.why.parts import Figures, named, value_of
from outlast.why.quantity import bytes_of

OPS = ("read", "write")
Told = tuple[str, Figures] | None
NAMED = 3
"""Causes that a sentence names at most."""
DAY_S = 86_400.0


def _tail_key(figures: dict[str, Any]) -> str | None:
    """The highest percentile that enough requests lie beyond."""
    return next((key for least, key, _ in TAILS if figures["count"] >= least and figures.get(key)), None)


def tail(summary: dict[str, Any]) -> Told:
    """Causes of latency of the slowest requests, or the setting that records them."""
    figures: dict[str, Any] = {}
    texts = []
    for op in OPS:
        latency = summary["latency_us"][op]
        if not latency or (key := _tail_key(latency)) is None:
            continue
        figures |= dict(named(summary, f"latency_us.{op}.{key}", f"latency_us.{op}.mean"))
        label = key.removeprefix("p").replace("_", ".")
        text = f"{op}s take {micros(latency['mean'])} on average and {label} % of them at most {micros(latency[key])}"
        text += _causes(summary, op, figures)
        texts.append(text)
    if not texts:
        return None
    whole = "; ".join(texts) + "."
    if "latency_causes" not in summary:
        whole += " `--set run.causes=true` splits this time by cause."
    return whole[0].upper() + whole[1:], figures


def _causes(summary: dict[str, Any], op: str, figures: dict[str, Any]) -> str:
    """The largest causes of the slowest band."""
    bands = ((summary.get("latency_causes") or {}).get(op) or {}).get("bands") or []
    if not bands or not bands[-1]["latency_ns"]:
        return ""
    last, labels = bands[-1], {cause.name: cause.label for cause in LATENCY}
    large = sorted(last["mean_ns"].items(), key=lambda item: -item[1])[:NAMED]
    shares = [(name, time / last["latency_ns"]) for name, time in large if time > 0]
    for name, _ in shares:
        figures[f"latency_causes.{op}.bands[{len(bands) - 1}].mean_ns.{name}"] = last["mean_ns"][name]
    words = [f"{percent(share, 2)} in “{labels.get(name, name)}”" for name, share in shares]
    who = f"the slowest {100 - last['from']:.3g} %" if last["from"] else "they"
    return f", and {who} spend {', '.join(words)}"


def writes(summary: dict[str, Any]) -> Told:
    """Programmed bytes for each byte of the host, by cause, beside the closed form."""
    wa, closed = summary["write_amplification"], summary["closed_form"]
    if wa["total"] is None:
        return None
    parts = amplification_by_cause(wa)
    beyond = sorted(((value, cause) for cause, value in parts.items() if cause != "host" and value), reverse=True)
    text = f"For each byte that the host writes, {wa['total']:.3f} go to flash"
    text += ": " + ", ".join(f"{CAUSES[cause][0]} {value:.3f}" for value, cause in beyond) if beyond else ""
    names = ["write_amplification.total", *(f"write_amplification.{c}" for _, c in beyond if c in wa)]
    if closed["greedy_waf"] is not None:
        off = (wa["total"] - parts["parity"]) / closed["greedy_waf"] - 1
        without = " without parity" if parts["parity"] else ""
        text += f"; the closed form gives {closed['greedy_waf']:.3f} (measured{without}: {signed(off)})"
        names.append("closed_form.greedy_waf")
    else:
        text += f"; no closed form applies ({closed['note'].rstrip('.')})"
    return text + ".", named(summary, *names)


def collection(summary: dict[str, Any]) -> Told:
    """Valid share of victims, and the time for which writes wait for space."""
    gc = summary["gc"]
    if not gc["victims"] or gc["mean_valid"] is None:
        return None
    span = summary["time"]["simulated_s"]
    moved, valid = counted(gc["victims"], "superblock"), percent(gc["mean_valid"])
    text = f"Collection, wear levelling and scrubbing moved {moved}, {valid} of their units still valid"
    has_user_policy = "gc" in summary["scenario"].get("policies", {})
    policy = "scenario.policies.gc" if has_user_policy else "scenario.device.ftl.gc.policy"
    names = ["gc.victims", "gc.mean_valid", "gc.blocked_s", policy]
    if span:
        text += f"; host writes waited for space for {seconds(gc['blocked_s'])}, summed over the flash cores"
    more = "more spare space would leave fewer valid units to move; under skewed writes, another policy may help, too"
    return f"{text}; {more}.", named(summary, *names)


def mapping(summary: dict[str, Any]) -> Told:
    """Look-ups that did not find their page of the mapping table in memory, and pages read for that."""
    host, read = summary["host"], summary["flash"]["by_cause"]["map_reads"]
    hits, misses = host.get("map_hits", 0), host.get("map_misses", 0)
    if not misses:
        return None
    names = [f"host.{name}" for name in ("map_hits", "map_misses") if name in host] + ["flash.by_cause.map_reads"]
    names += ["flash.reads", "scenario.device.ftl.map_cache.size"]
    share = percent(misses / (hits + misses))
    text = f"The mapping table does not fit in memory: {share} of look-ups did not find their page of it"
    if read:
        text += f", and {percent(read / summary['flash']['reads'])} of all pages read from flash are pages of the table"
    return f"{text}; more memory for it, or a host that stays within a smaller range, would save these.", named(
        summary, *names
    )


def wear(summary: dict[str, Any]) -> Told:
    """P/E cycles of the blocks, and their growth."""
    cycles, rated = summary["wear"], (summary["scenario"]["device"].get("defects") or {}).get("endurance")
    if cycles["mean_pe"] is None:
        return None
    spread = f"{short(cycles['min_pe'])} to {short(cycles['max_pe'])}"
    text = f"Blocks have {short(cycles['mean_pe'])} P/E cycles on average, {spread}"
    names = ["wear.mean_pe", "wear.min_pe", "wear.max_pe"]
    blocks, span = summary["device"]["raw_bytes"] / _block_bytes(summary), summary["time"]["simulated_s"]
    a_day = summary["flash"]["erases"] / blocks / span * DAY_S if span and value_of(summary, "throughput.iops") else 0.0
    if a_day:
        text += f", and {short(a_day)} more each day under this load"
        names += ["flash.erases", "device.raw_bytes", "time.simulated_s"]
        if rated:
            left = max(rated - cycles["mean_pe"], 0) / a_day * DAY_S
            days = f"{short(left / DAY_S)} days" if left >= DAY_S else seconds(left)
            text += f": the {short(rated)} cycles that they are rated for are reached in {days}"
            names.append("scenario.device.defects.endurance")
    if blocks := blocks_lost(summary):
        text += f"; {', '.join(blocks)}"
        names += ["wear.bad_blocks", "wear.spare_blocks_left"]
    return text + ".", named(summary, *names)


def _block_bytes(summary: dict[str, Any]) -> float:
    geometry = summary["scenario"]["device"]["geometry"]
    return float(geometry["pages_per_block"] * bytes_of(geometry["page_size"]))


def errors(summary: dict[str, Any]) -> Told:
    """Corrections and failures of reads, where the flash can fail."""
    reliability = summary["reliability"]
    if not can_fail(summary):
        return None
    steps = ("ecc", "reread", "stripe")
    names = [f"reliability.corrected_by.{key}" for key in steps]
    at_first_read, by_rereads, by_stripe = (short(reliability["corrected_by"][key]) for key in steps)
    text = (
        f"Of the units read, {at_first_read} were correct at the first read, {by_rereads} after re-reads, "
        f"{by_stripe} from their stripe, and {counted(reliability['medium_errors'], 'request')} ended with an error"
    )
    if reliability["exact"]:
        last = reliability["exact"]["after_stripe"]
        if last["log10_uber"] is not None:
            text += f"; the exact rate of uncorrectable bits is {tiny(last['uber'], last['log10_uber'])}"
            names.append("reliability.exact.after_stripe.log10_uber")
    return text + ".", named(summary, *names, "reliability.medium_errors")
