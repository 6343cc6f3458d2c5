"""The sentences of an explanation, each with the figures that it is made of."""

from __future__ import annotations

from dataclasses import dataclass
from typing import Any

from outlast.report import served
from outlast.report.numbers import percent, seconds, short
from outlast.why.cache import slc_cache
from outlast.why.heat import heat
from outlast.why.limit import Limit
from outlast.why.origins import collection, errors, mapping, tail, wear, writes
from outlast.why.parts import Figures, Part, die_work, named, was_asked


@dataclass(frozen=True)
class Sentence:
    """A finding in words."""

    about: str
    """The subject: `limit`, `served`, a part, `host`, `heat`, `cache`, `mapping`, `tail`, `writes`, `collection`,
    `wear`, `errors`, or `trust`."""
    text: str
    figures: Figures
    """Figures of `result.json` that the sentence is made of, by dotted name."""


def sentences(summary: dict[str, Any], parts: list[Part], limit: Limit) -> list[Sentence]:
    """About ten sentences, the most important first."""
    by_name = {part.name: part for part in parts}
    found: list[Sentence | None] = [_limit(summary, limit), _failed(summary)]
    if parts:
        found += [_dies(summary, by_name["dies"]), _channels(summary, by_name["channels"])]
        found += [_link(by_name), _firmware(by_name), _host(summary)]
    origins = {
        "heat": heat,
        "cache": slc_cache,
        "mapping": mapping,
        "tail": tail,
        "writes": writes,
        "collection": collection,
        "wear": wear,
        "errors": errors,
    }
    for about, of in origins.items():
        if origin := of(summary):
            found.append(Sentence(about, *origin))
    found.append(_trust(summary))
    return [sentence for sentence in found if sentence is not None]


def _limit(summary: dict[str, Any], limit: Limit) -> Sentence:
    queue, part = summary["queue"], limit.part
    if part is None and not was_asked(summary):
        counts = named(summary, "host.reads", "host.writes", "time.warm_up_s", "partial")
        return Sentence("limit", served.unmeasured_sentence(summary), counts)
    if part is None:
        text = "The run has no timing (run.timing = none): nothing limits its rate, and only counts are reported."
        return Sentence("limit", text, named(summary, "scenario.run.timing"))
    iops = summary["throughput"]["iops"]
    figures = dict(named(summary, "throughput.iops")) | dict(part.figures)
    if limit.name == "heat":
        throttled = percent(summary["energy"]["heat"]["throttled_share"])
        text = (
            f"Heat limits the rate of {short(iops)} requests a second: the drive let commands in slowly, or not at "
            f"all, for {throttled} of the time; the busiest part, {part.label}, is busy {percent(part.busy)}."
        )
        return Sentence("limit", text, figures | dict(named(summary, "energy.heat.throttled_share")))
    if limit.name == "host_rate":
        load = f"the {short(iops)} requests a second that it asks for are served"
        if not served.is_as_asked(summary):
            rate = served.asked_iops(summary)
            of = "" if rate is None else f" of the {short(rate)} that it asks for"
            load = f"{short(iops)} requests a second{of} are served"
        text = (
            f"The host limits the rate: {load}, and the busiest part, {part.label}, is busy {percent(part.busy)} of "
            "the time."
        )
        if part.busy > 0:
            text = text[:-1] + f"; it would saturate at {short(iops / part.busy)} requests a second."
        return Sentence("limit", text, figures)
    if limit.name == "queue_depth":
        depth = queue["host_queue_depth"]
        text = (
            f"The host's queue depth limits the rate: with {depth} requests in flight no part is saturated, and the "
            f"busiest one, {part.label}, is busy {percent(part.busy)} of the time; more requests in flight, or a "
            "shorter latency, give more."
        )
        return Sentence("limit", text, figures | dict(named(summary, "queue.host_queue_depth")))
    name = part.label[0].upper() + part.label[1:]
    share = part.mean if part.waits else part.busy
    verb = "limit" if part.label.endswith("s") else "limits"
    text = f"{name} {verb} the rate of {short(iops)} requests a second: busy {percent(share)} of the time"
    if queue["overload"]:
        text += f", while the host asks for {short(queue['overload']['offered_iops'])} a second"
        figures |= dict(named(summary, "queue.overload.offered_iops"))
    return Sentence("limit", text + ".", figures)


def _failed(summary: dict[str, Any]) -> Sentence | None:
    sentence = served.sentence(summary)
    if not sentence:
        return None
    names = ["host.errors", *(f"host.failed.{name}" for name in summary["host"].get("failed") or ())]
    return Sentence("served", sentence, named(summary, *names))


def _dies(summary: dict[str, Any], part: Part) -> Sentence:
    work = die_work(summary)
    least, most = summary["queue"]["die_utilisation"]["min"], summary["queue"]["die_utilisation"]["max"]
    text = f"A die is busy {percent(part.mean)} of the time ({percent(least)} to {percent(most)})"
    if work is None:
        return Sentence("dies", f"{text}.", part.figures)
    waiting = part.mean - sum(work.values())
    # A run that was stopped goes on a little beyond its last request.
    assert waiting > -(1e-3 if summary["partial"] else 1e-9), f"dies busy {part.mean}, of which {work}"
    text += (
        f": {percent(work['program'], 2)} programming, {percent(work['erase'], 2)} erasing, and {percent(waiting, 2)} "
        "sensing, transferring data, or holding data until the channel is free."
    )
    return Sentence("dies", text, {**part.figures, **named(summary, "queue.die_work.program", "queue.die_work.erase")})


def _channels(summary: dict[str, Any], part: Part) -> Sentence:
    shares = summary["queue"]["channel_utilisation"]
    if len(shares) == 1:
        return Sentence("channels", f"The channel is busy {percent(part.busy)} of the time.", part.figures)
    number = shares.index(part.busy)
    text = (
        f"Channels are busy {percent(part.mean)} of the time on average; the busiest, channel {number}, is busy "
        f"{percent(part.busy)}."
    )
    return Sentence("channels", text, part.figures)


def _link(by_name: dict[str, Part]) -> Sentence | None:
    parts = [by_name[name] for name in ("link_out", "link_in") if name in by_name]
    if not parts:
        return None
    words = {"link_out": "read data", "link_in": "written data"}
    uses = ", ".join(f"{words[part.name]} takes {percent(part.busy)} of its time" for part in parts)
    figures = {name: value for part in parts for name, value in part.figures.items()}
    return Sentence("link", f"The link to the host: {uses}.", figures)


def _firmware(by_name: dict[str, Part]) -> Sentence | None:
    parts = [by_name[name] for name in ("master", "cores") if name in by_name]
    if not parts:
        return None
    uses = " and ".join(
        f"{part.label} {'are' if part.label.endswith('s') else 'is'} busy {percent(part.busy)}" for part in parts
    )
    figures = {name: value for part in parts for name, value in part.figures.items()}
    measured = any(name.startswith("queue.controller.") for name in figures)
    how = "" if measured else ", estimated from the commands and units handled"
    return Sentence("firmware", f"Firmware: {uses} of the time{how}.", figures)


def _host(summary: dict[str, Any]) -> Sentence:
    queue = summary["queue"]
    figures = named(summary, "queue.mean_in_flight", "queue.max_in_flight", "queue.host_queue_depth")
    if queue["host_queue_depth"] is None:
        text = (
            f"The host submits at a given rate, whatever is in flight: {short(queue['mean_in_flight'])} requests are "
            f"in flight on average, {short(queue['max_in_flight'])} at most."
        )
    else:
        text = (
            f"The host keeps up to {short(queue['host_queue_depth'])} requests in flight, "
            f"{short(queue['mean_in_flight'])} on average."
        )
    return Sentence("host", text, figures)


def _trust(summary: dict[str, Any]) -> Sentence:
    measured = summary["steady_state"]["measured"]
    state = {
        True: "was steady during the measurement",
        False: "was not steady during the measurement, and a longer run would give other figures",
        None: "was not measured long enough to judge whether it was steady",
    }[measured["reached"]]
    why = f" ({measured['why']})" if measured.get("why") else ""
    text = f"The drive {state}{why}; {seconds(summary['time']['simulated_s'])} were measured."
    names = ["steady_state.measured.reached", "time.simulated_s"]
    if summary["partial"]:
        text = f"The run was stopped early. {text}"
        names.append("partial")
    return Sentence("trust", text, named(summary, *names))
