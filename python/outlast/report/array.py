"""Arrays: their state over time, rebuilding, and wear member by member."""

from __future__ import annotations

from typing import Any

from outlast.report import risk
from outlast.report.figure import Figure, axis
from outlast.report.names import PERCENTILES, tip
from outlast.report.numbers import YEAR_HOURS, micros, percent, plain, seconds, short, size, tiny
from outlast.report.tables import rows_card
from outlast.report.timeline import Shade

DEGRADED = "var:--warn"
"""The colour of what lacks redundancy: arrays that are degraded, drives under repair."""
SHADES = "amber: degraded, red: failed"
STATES = {"clean": "var:--good", "degraded": DEGRADED, "failed": "var:--bad"}


def finding(summary: dict[str, Any]) -> str:
    """Sentences on the array: its kind, the state of its members, and the risk of losing data in a rebuild."""
    array = summary["array"]
    parts = [f"{array['level'].upper()} of {array['members']} members; <b>{array['state']}</b> at the end."]
    if array["ejected"]:
        left = "member" if array["ejected"] == 1 else "members"
        parts.append(f"{short(array['ejected'])} {left} left it at a limit ({_limits(summary)}).")
    if rebuild := array["rebuild"]:
        parts.append(_rebuilt(rebuild, unloaded_s(summary)))
    if shares := parity_shares(array):
        parts.append(f"At the end the members hold {shares} of the parity.")
    if array["degraded_s"]:
        parts.append(f"The array was degraded for {seconds(array['degraded_s'])}.")
    if share := array["writes"]["full_stripe_share"]:
        parts.append(f"{percent(share)} of its stripe writes covered full stripes.")
    if loss := array["data_loss"]:
        parts.append(_a_year(loss, summary))
    if loss := array["data_loss_after_failures"]:
        names = {0: "With no member failed", 1: "Once the oldest member has failed"}
        who = names.get(loss["failures"], f"Once the {loss['failures']} oldest members have failed")
        parts.append(
            f"{who}, a rebuild would lose data with probability {_probability(loss['oldest'])}"
            + (f"; with any other failed instead, {_probability(loss['any'])}." if loss["failures"] else ".")
        )
    if array["lost_bytes"]:
        parts.append(f"<b>{size(array['lost_bytes'])}</b> of data cannot be recovered.")
    if array["mismatches"]:
        parts.append(f"Scrubs found {short(array['mismatches'])} sectors of inconsistent redundancy.")
    return " ".join(parts)


def _limits(summary: dict[str, Any]) -> str:
    """Limits at which members leave the array, with their values."""
    own = summary["scenario"]["array"]
    limits = []
    if percent_used := (own.get("replacement") or {}).get("limit_percent"):
        limits.append(f"array.replacement.limit_percent = {short(percent_used)} % of the rated cycles")
    limits += [
        f"array.ejection.{name} = {short(value)}" for name, value in (own.get("ejection") or {}).items() if value
    ]
    return ", ".join(limits)


def parity_shares(array: dict[str, Any]) -> str:
    """Share of the parity of each member, if they differ: Diff-RAID."""
    shares = [own["parity_percent"] for own in array["wear"]]
    known = [share for share in shares if share is not None]
    if len(known) < 2 or max(known) - min(known) < 1.0:
        return ""
    return ", ".join("–" if share is None else short(share) for share in shares) + " %"


def unloaded_s(summary: dict[str, Any]) -> float:
    """Seconds of the last rebuild that came after the end of the workload, and so ran without load."""
    rebuild, time = summary["array"]["rebuild"], summary["time"]
    if rebuild is None or rebuild["finished_s"] is None or not summary.get("after_host"):
        return 0.0
    ended = float(time["warm_up_s"] + time["simulated_s"])
    return max(float(rebuild["finished_s"]) - max(ended, float(rebuild["started_s"])), 0.0)


def _a_year(loss: dict[str, Any], summary: dict[str, Any]) -> str:
    years = loss["mttdl_hours"] / YEAR_HOURS
    sentence = f"Within a year the array loses data with probability <b>{_probability(loss['per_year'])}</b>"
    sentence += f" (MTTDL {short(years)} years"
    if took := risk.rebuild(loss, unloaded=unloaded_s(summary) > 0.0):
        sentence += f", {took}"
    mttf = summary["scenario"].get("run", {}).get("member_mttf_hours")
    return sentence + (f", each member failing once in {short(mttf)} hours)." if mttf else ").")


KEYS = ("mean", "p50", "p99", "p99_9", "max")


def latencies(array: dict[str, Any]) -> str:
    """Reads and writes by the state of the array, as a card; empty where there was one state only."""
    by_state = array["latency_us_by_state"]
    met = [state for state in by_state if by_state[state]["read"] or by_state[state]["write"]]
    rows = [
        (state, op, short(latency["count"]), *(micros(latency[key]) for key in KEYS))
        for state in met
        for op in ("read", "write")
        if (latency := by_state[state][op])
    ]
    columns = ("state", "", "requests", *(PERCENTILES[key] for key in KEYS))
    heads = ["", "", *(tip(f"latency_us.read.{key}") for key in ("count", *KEYS))]
    if len(met) < 2:
        return ""
    return rows_card("Latency by state of the array", columns, rows, wide=True, whole=True, heads=heads)


def _probability(value: float) -> str:
    return tiny(value)


def _rebuilt(rebuild: dict[str, Any], unloaded: float) -> str:
    volume = f"{size(rebuild['bytes_written'])} written, {size(rebuild['bytes_read'])} read"
    rate = f"{short(rebuild['rate_mib_s'])} MiB/s"
    if rebuild["finished_s"] is None:
        left = f", {seconds(rebuild['left_s'])} left" if rebuild["left_s"] is not None else ""
        done = f"{percent(rebuild['done'])} done{left}"
        return f"Rebuilding since {seconds(rebuild['started_s'])}: {done} ({volume}, {rate})."
    span = rebuild["finished_s"] - rebuild["started_s"]
    beside = f", {seconds(unloaded)} of that after the workload, without its load" if unloaded else ""
    return f"Rebuilding took {seconds(span)} from {seconds(rebuild['started_s'])} on{beside} ({volume}, {rate})."


def states(table: dict[str, Any]) -> Figure | None:
    """The state of the array over time, as a bar."""
    if not table or not len(table["start_s"]):
        return None
    spans = list(zip(table["start_s"], table["end_s"], table["state"], strict=True))
    data = []
    for state, colour in STATES.items():
        spans_of_state = [(float(start), float(end)) for start, end, name in spans if name == state]
        if spans_of_state:
            data.append(
                {
                    "type": "bar",
                    "orientation": "h",
                    "name": state,
                    "x": plain([end - start for start, end in spans_of_state]),
                    "base": plain([start for start, _ in spans_of_state]),
                    "y": ["array"] * len(spans_of_state),
                    "marker": {"color": colour},
                    "hovertemplate": f"{state} from %{{base:.3f}} s for %{{x:.3f}} s<extra></extra>",
                }
            )
    layout = {
        "barmode": "overlay",
        "xaxis": axis("simulated time, s"),
        "yaxis": axis("", showticklabels=False),
        "hovermode": "closest",
        "showlegend": True,
    }
    return Figure("array-states", data, layout, "State over time", "", 170)


def unclean(table: dict[str, Any]) -> list[Shade]:
    """The spans in which the array was degraded or had failed, in the colours of its states."""
    spans = zip(table["start_s"], table["end_s"], table["state"], strict=True) if table else ()
    return [(float(start), float(end), STATES[state]) for start, end, state in spans if state != "clean"]


def members(array: dict[str, Any]) -> Figure | None:
    """Mean cycles of each member, beside its share of the parity."""
    wear = [member for member in array["wear"] if member["mean_pe"] is not None]
    if not wear:
        return None
    x = [f"{member['device']}" for member in wear]
    data: list[dict[str, Any]] = [
        {
            "type": "bar",
            "name": "mean cycles",
            "x": x,
            "y": plain([member["mean_pe"] for member in wear]),
            "marker": {"color": "var:--heat2"},
            "hovertemplate": "member %{x}: %{y:.1f} cycles<extra></extra>",
        }
    ]
    layout: dict[str, Any] = {
        "xaxis": axis("member", type="category"),
        "yaxis": axis("P/E cycles", rangemode="tozero"),
        "hovermode": "closest",
    }
    hint = ""
    if wear[0]["parity_percent"] is not None:
        data[0] |= {"text": [f"{member['parity_percent']:.3g} %" for member in wear], "textposition": "outside"}
        hint = "with each member’s share of the parity"
    return Figure("array-wear", data, layout, "Wear by member", hint)


MEMBER = (
    *(("member", "device"), ("state", "in_sync"), ("P/E cycles, mean", "mean_pe"), ("P/E cycles, maximum", "max_pe")),
    *(("parity", "parity_percent"), ("written", "bytes_written"), ("write amplification", "write_amplification")),
    *(("RBER", "rber"), ("UBER after ECC", "log10_uber")),
)


def member_table(array: dict[str, Any]) -> str:
    """The members as a card."""
    rows = []
    for member in array["wear"]:
        state = "absent" if not member["present"] else "in sync" if member["in_sync"] else "being rebuilt"
        uber = member["log10_uber"]
        cells = (
            str(member["device"]),
            state,
            short(member["mean_pe"]),
            short(member["max_pe"]),
            "–" if member["parity_percent"] is None else f"{member['parity_percent']:.3g} %",
            size(member["bytes_written"]),
            "–" if member["write_amplification"] is None else f"{member['write_amplification']:.3f}",
            tiny(member["rber"]),
            "–" if uber is None else tiny(None, uber),
        )
        rows.append(cells)
    heads = [tip(f"array.wear[0].{name}") for _, name in MEMBER]
    return rows_card("Members", [title for title, _ in MEMBER], rows, wide=True, whole=True, heads=heads)


MOST_EVENTS = 100


def events(table: dict[str, Any]) -> str:
    """Table of the first hundred events of members."""
    if not table or not len(table["at_s"]):
        return ""
    rows = list(zip(table["at_s"], table["event"], table["member"], table["detail"], strict=True))
    shown = [
        (seconds(float(at)), str(event), "" if member != member else str(int(member)), str(detail))
        for at, event, member, detail in rows[:MOST_EVENTS]
    ]
    title = "Events" if len(rows) <= MOST_EVENTS else f"Events, the first {MOST_EVENTS} of {short(len(rows))}"
    return rows_card(title, ("at", "what", "member", "more"), shown, wide=True, whole=True)
