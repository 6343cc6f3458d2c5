"""Title and sentences of a run's findings, and the part of its report that answers the scenario's question."""

from __future__ import annotations

from typing import Any

from outlast.report import array, endurance, errors, findings, repair, served
from outlast.report.figure import amplification_by_cause
from outlast.report.numbers import counted, micros, percent, seconds, short, signed, text
from outlast.why.limit import Limit, limit_of
from outlast.why.parts import parts_of, was_asked

MOST = 5
"""Sentences."""


def question(summary: dict[str, Any]) -> str:
    """The section that comes first: of what the scenario makes happen, the rarest."""
    array_figures = summary.get("array")
    if repair.repairs(summary):
        return "repair"
    if array_figures is not None and (
        array_figures["rebuild"] or array_figures["state"] != "clean" or array_figures["lost_bytes"]
    ):
        return "array"
    if errors.can_fail(summary) and _met(summary["reliability"]):
        return "errors"
    if len(((summary["scenario"].get("workload") or {}).get("synthetic") or {}).get("phases") or ()) > 1:
        return "time"
    return "latency" if summary["throughput"]["iops"] is not None else "amplification"


def _met(reliability: dict[str, Any]) -> bool:
    """True if errors had any effect in a run, or were requested."""
    happened = ("medium_errors", "lost_bytes", "uncorrectable_reads", "rereads_per_read", "faults")
    return bool(
        reliability["twin"] or reliability["scrubbed"]["superblocks"] or any(reliability.get(name) for name in happened)
    )


def nothing_measured(summary: dict[str, Any]) -> bool:
    """True if the run ended, or was stopped, within its warm-up."""
    return not was_asked(summary)


def title(summary: dict[str, Any]) -> str:
    """The name of the scenario and the answer to its question."""
    if nothing_measured(summary):
        return f"{summary['name']}: {served.unmeasured(summary)}"
    if refused := served.refused(summary):
        amount = f"{short(refused[0])} of {short(refused[1])} writes"
        return f"{summary['name']}: the drive became read-only and refused {amount}"
    answer = {"repair": _repaired, "array": _rebuilt, "errors": _erred}.get(question(summary), _served)(summary)
    name = str(summary["name"])
    # A scenario named after its way of repair says it once.
    return answer if answer.startswith(f"{name} ") else f"{name}: {answer}"


def _repaired(summary: dict[str, Any]) -> str:
    found = repair.repairs(summary)
    if any(each["finished_s"] is None for each in found):
        return "a failed die was not repaired before the run ended"
    took = sum(float(repair.sized(each, "total_s")) for each in found)
    dies = "the failed die" if len(found) == 1 else f"{len(found)} failed dies"
    answer = f"{repair.scheme(found[0])} repairs {dies} in {seconds(took)}"
    return "; ".join([answer, *_besides_repair(summary)])


def _besides_repair(summary: dict[str, Any]) -> list[str]:
    """Events of the run beside the repair of dies: a replaced member, a changed code."""
    events = []
    array_figures = summary.get("array") or {}
    if (rebuild := array_figures.get("rebuild")) and rebuild["finished_s"] is not None:
        events.append(
            f"member {rebuild['member']} is replaced in {seconds(rebuild['finished_s'] - rebuild['started_s'])}"
        )
    made = [change for change in (summary.get("protection") or {}).get("changes", []) if not change["refused"]]
    if made:
        events.append(made[-1]["what"])
    return events


def _rebuilt(summary: dict[str, Any]) -> str:
    array_figures = summary["array"]
    if array_figures["lost_bytes"]:
        return "the array lost data"
    rebuild = array_figures["rebuild"]
    if rebuild is None:
        return f"the array was {array_figures['state']} at the end"
    if rebuild["finished_s"] is None:
        return f"the rebuild was {percent(rebuild['done'])} done when the run ended"
    unloaded = array.unloaded_s(summary)
    beside = f", {seconds(unloaded)} of that after the workload" if unloaded else ""
    return f"the rebuild took {seconds(rebuild['finished_s'] - rebuild['started_s'])}{beside}"


def _erred(summary: dict[str, Any]) -> str:
    reliability = summary["reliability"]
    if reliability["medium_errors"]:
        return f"{counted(reliability['medium_errors'], 'request')} ended with a medium error"
    if reliability["twin"] and reliability["twin"]["read_mean_ratio"] is not None:
        return f"reads take {short(reliability['twin']['read_mean_ratio'])} times as long as without errors"
    last = reliability["exact"]["after_stripe"] if reliability["exact"] else None
    if last is None or last["log10_uber"] is None:
        return "every read was correct"
    from outlast.report.numbers import tiny

    return f"an uncorrectable bit error rate of {tiny(last['uber'], last['log10_uber'])}"


def _served(summary: dict[str, Any]) -> str:
    iops, overload = summary["throughput"]["iops"], summary["queue"].get("overload")
    if iops is None:
        total = summary["write_amplification"]["total"]
        return "no request was timed" if total is None else f"a write amplification of {total:.3f}"
    if served.is_short(summary):
        count = served.served(summary) + served.failed(summary)
        return f"only {counted(count, 'request')} measured after the warm-up, too few for a rate"
    if overload:
        return f"{short(iops)} of the {short(overload['offered_iops'])} IOPS asked for"
    limit = _limit(summary)
    if limit is None or limit.part is None:
        return f"{short(iops)} IOPS{_tail(summary)}"
    if limit.name != "host_rate":
        return f"{short(iops)} IOPS, limited by {_called(limit)}{_tail(summary)}"
    if served.is_as_asked(summary):
        return f"{short(iops)} IOPS as asked for{_tail(summary)}"
    asked_rate = served.asked_iops(summary)
    of = "" if asked_rate is None else f" of the {short(asked_rate)} IOPS asked for"
    return f"{short(iops)}{of or ' IOPS'}{_tail(summary)}"


def _limit(summary: dict[str, Any]) -> Limit | None:
    try:
        return limit_of(summary, parts_of(summary))
    except KeyError:
        # Of an earlier version, and without these figures.
        return None


def _called(limit: Limit) -> str:
    named = {"queue_depth": "its queue depth", "heat": "its heat"}
    return named.get(limit.name) or ("its queue depth" if limit.part is None else limit.part.label)


def _tail(summary: dict[str, Any]) -> str:
    """The highest percentile of the slower kind of request that is more than an accident."""
    known = []
    for op in ("read", "write"):
        latency = summary["latency_us"][op]
        for least, key, _ in findings.TAILS:
            if latency and latency["count"] >= least and latency.get(key):
                share = key.removeprefix("p").replace("_", ".")
                known.append((latency[key], f"{share} % of {op}s within {micros(latency[key])}"))
                break
    return f"; {max(known)[1]}" if known else ""


def sentences(summary: dict[str, Any]) -> list[str]:
    """Three to five sentences with numbers, as HTML: first what the scenario is about, then what holds for any."""
    if nothing_measured(summary):
        return [text(served.unmeasured_sentence(summary))]
    about = question(summary)
    parts: list[str] = [f"<b>{text(sentence)}</b>" for sentence in (served.sentence(summary),) if sentence]
    if served.is_short(summary):
        count = served.served(summary) + served.failed(summary)
        parts.append(
            f"<b>Only {counted(count, 'request')} measured after the warm-up</b>: too few for a rate or a tail."
        )
    if about == "repair":
        parts.append(repair.finding(repair.repairs(summary)[:2]))
        if events := _besides_repair(summary):
            parts.append(f"Besides, {text('; '.join(events))}.")
    elif about == "array":
        parts.append(array.finding(summary))
    elif about == "errors":
        parts.append(findings.errors(summary))
    steady = summary["steady_state"]["measured"]["reached"]
    if steady is False:
        parts.append("<b>The drive was not in steady state</b>: a longer run would give other figures.")
    parts += [each for each in (_pace(summary), findings.latency(summary), _writes(summary)) if each]
    parts += [each for each in (endurance.sentence(summary), _wear(summary)) if each][:1]
    return parts[:MOST]


def _pace(summary: dict[str, Any]) -> str:
    from outlast.why.explanation import of_summary

    try:
        return text(of_summary(summary).sentences[0].text)
    except KeyError:
        return ""


def _writes(summary: dict[str, Any]) -> str:
    """The write amplification in a line; by cause it is in its own part."""
    wa, closed = summary["write_amplification"], summary["closed_form"]["greedy_waf"]
    if wa["total"] is None or not summary["flash"]["programs"]:
        return ""
    parts = amplification_by_cause(wa)
    sentence = f"Flash programs <b>{wa['total']:.3f}</b> bytes for each byte that the host writes"
    most = max((cause for cause in parts if cause != "host"), key=lambda cause: parts[cause])
    if parts[most] > 0:
        from outlast.report.figure import CAUSES

        sentence += f", {parts[most]:.3f} of them for {CAUSES[most][0]}"
    if closed is not None and not parts["scrub"]:
        off = signed((wa["total"] - parts["parity"]) / closed - 1)
        without = " without parity" if parts["parity"] else ""
        sentence += f"; the closed form gives {closed:.3f} (measured{without}: {off})"
    if note := served.collected_note(summary):
        sentence += f"; {note}"
    return sentence + "."


def _wear(summary: dict[str, Any]) -> str:
    wear = summary["wear"]
    if wear["mean_pe"] is None:
        return ""
    return (
        f"Blocks have <b>{short(wear['mean_pe'])}</b> P/E cycles on average, {short(wear['min_pe'])} to "
        f"{short(wear['max_pe'])}."
    )


def listed(summary: dict[str, Any]) -> str:
    """The sentences as a list."""
    items = "".join(f"<li>{sentence}</li>" for sentence in sentences(summary))
    return f'<ul class="found">{items}</ul>' if items else ""
