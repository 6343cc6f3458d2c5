"""What a run found, in a title and a few sentences, and which part of its report answers the scenario's question."""

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
    own = summary.get("array")
    if repair.repairs(summary):
        return "repair"
    if own is not None and (own["rebuild"] or own["state"] != "clean" or own["lost_bytes"]):
        return "array"
    if errors.can_fail(summary) and _met(summary["reliability"]):
        return "errors"
    if len(((summary["scenario"].get("workload") or {}).get("synthetic") or {}).get("phases") or ()) > 1:
        return "time"
    return "latency" if summary["throughput"]["iops"] is not None else "amplification"


def _met(own: dict[str, Any]) -> bool:
    """Whether errors did anything in a run, or were asked for."""
    happened = ("medium_errors", "lost_bytes", "uncorrectable_reads", "rereads_per_read", "faults")
    return bool(own["twin"] or own["scrubbed"]["superblocks"] or any(own.get(name) for name in happened))


def nothing_measured(summary: dict[str, Any]) -> bool:
    """Whether the run ended, or was stopped, before its warm-up was over."""
    return not was_asked(summary)


def title(summary: dict[str, Any]) -> str:
    """The name of the scenario and the answer to its question."""
    if nothing_measured(summary):
        return f"{summary['name']}: {served.unmeasured(summary)}"
    if refused := served.refused(summary):
        told = f"{short(refused[0])} of {short(refused[1])} writes"
        return f"{summary['name']}: the drive became read-only and refused {told}"
    said = {"repair": _repaired, "array": _rebuilt, "errors": _erred}.get(question(summary), _served)(summary)
    name = str(summary["name"])
    # A scenario named after its way of repair says it once.
    return said if said.startswith(f"{name} ") else f"{name}: {said}"


def _repaired(summary: dict[str, Any]) -> str:
    found = repair.repairs(summary)
    if any(own["finished_s"] is None for own in found):
        return "a failed die was not repaired before the run ended"
    took = sum(float(repair.sized(own, "total_s")) for own in found)
    dies = "the failed die" if len(found) == 1 else f"{len(found)} failed dies"
    return f"{repair.scheme(found[0])} repairs {dies} in {seconds(took)}"


def _rebuilt(summary: dict[str, Any]) -> str:
    own = summary["array"]
    if own["lost_bytes"]:
        return "the array lost data"
    rebuild = own["rebuild"]
    if rebuild is None:
        return f"the array was {own['state']} at the end"
    if rebuild["finished_s"] is None:
        return f"the rebuild was {percent(rebuild['done'])} done when the run ended"
    unloaded = array.unloaded_s(summary)
    beside = f", {seconds(unloaded)} of that after the workload" if unloaded else ""
    return f"the rebuild took {seconds(rebuild['finished_s'] - rebuild['started_s'])}{beside}"


def _erred(summary: dict[str, Any]) -> str:
    own = summary["reliability"]
    if own["medium_errors"]:
        return f"{counted(own['medium_errors'], 'request')} ended with a medium error"
    if own["twin"] and own["twin"]["read_mean_ratio"] is not None:
        return f"reads take {short(own['twin']['read_mean_ratio'])} times as long as without errors"
    last = own["exact"]["after_stripe"] if own["exact"] else None
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
    asked = served.asked_iops(summary)
    of = "" if asked is None else f" of the {short(asked)} IOPS asked for"
    return f"{short(iops)}{of or ' IOPS'}{_tail(summary)}"


def _limit(summary: dict[str, Any]) -> Limit | None:
    try:
        return limit_of(summary, parts_of(summary))
    except KeyError:
        # Of an earlier version, and without these figures.
        return None


def _called(limit: Limit) -> str:
    return "its queue depth" if limit.name == "queue_depth" or limit.part is None else limit.part.label


def _tail(summary: dict[str, Any]) -> str:
    """The highest percentile of the slower kind of request that is more than an accident."""
    known = []
    for op in ("read", "write"):
        own = summary["latency_us"][op]
        for least, key, _ in findings.TAILS:
            if own and own["count"] >= least and own.get(key):
                share = key.removeprefix("p").replace("_", ".")
                known.append((own[key], f"{share} % of {op}s within {micros(own[key])}"))
                break
    return f"; {max(known)[1]}" if known else ""


def sentences(summary: dict[str, Any]) -> list[str]:
    """Three to five sentences with numbers, as HTML: first what the scenario is about, then what holds for any."""
    if nothing_measured(summary):
        return [text(served.unmeasured_sentence(summary))]
    about = question(summary)
    said: list[str] = [f"<b>{text(told)}</b>" for told in (served.sentence(summary),) if told]
    if served.is_short(summary):
        count = served.served(summary) + served.failed(summary)
        said.append(
            f"<b>Only {counted(count, 'request')} measured after the warm-up</b>: too few for a rate or a tail."
        )
    if about == "repair":
        said.append(repair.finding(repair.repairs(summary)[:2]))
    elif about == "array":
        said.append(array.finding(summary))
    elif about == "errors":
        said.append(findings.errors(summary))
    steady = summary["steady_state"]["measured"]["reached"]
    if steady is False:
        said.append("<b>The drive was not in steady state</b>: a longer run would give other figures.")
    said += [each for each in (_pace(summary), findings.latency(summary), _writes(summary)) if each]
    said += [each for each in (endurance.sentence(summary), _wear(summary)) if each][:1]
    return said[:MOST]


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
    said = f"Flash programs <b>{wa['total']:.3f}</b> bytes for each byte that the host writes"
    most = max((cause for cause in parts if cause != "host"), key=lambda cause: parts[cause])
    if parts[most] > 0:
        from outlast.report.figure import CAUSES

        said += f", {parts[most]:.3f} of them for {CAUSES[most][0]}"
    if closed is not None and not parts["scrub"]:
        off = signed((wa["total"] - parts["parity"]) / closed - 1)
        without = " without parity" if parts["parity"] else ""
        said += f"; the closed form gives {closed:.3f} (measured{without}: {off})"
    if note := served.collected_note(summary):
        said += f"; {note}"
    return said + "."


def _wear(summary: dict[str, Any]) -> str:
    own = summary["wear"]
    if own["mean_pe"] is None:
        return ""
    return (
        f"Blocks have <b>{short(own['mean_pe'])}</b> P/E cycles on average, {short(own['min_pe'])} to "
        f"{short(own['max_pe'])}."
    )


def listed(summary: dict[str, Any]) -> str:
    """The sentences as a list."""
    items = "".join(f"<li>{sentence}</li>" for sentence in sentences(summary))
    return f'<ul class="found">{items}</ul>' if items else ""
