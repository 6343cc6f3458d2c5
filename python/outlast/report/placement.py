"""Flexible data placement: what each reclaim unit handle wrote, what moving cost, and what collection mixed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from typing import Any

from outlast.report import mechanisms
from outlast.report.figure import CAUSES, Figure, axis
from outlast.report.names import label, tip
from outlast.report.numbers import counted, percent, short, size
from outlast.report.page import Section

COLUMNS = {
    "handle": "handle",
    "isolation": "isolation",
    "written by the host": "host_bytes",
    "moved": "moved_bytes",
    "write amplification": "write_amplification",
    "mixed with others": "mixed_bytes",
    "left in its reclaim unit": "remaining_bytes",
}
GROUP_COLUMNS = {
    "group": "group",
    "written by the host": "host_bytes",
    "written by the drive": "media_bytes",
    "write amplification": "write_amplification",
    "went elsewhere": "elsewhere_bytes",
    "data at the end": "valid_bytes",
    "can hold": "most_bytes",
}
MOST_HANDLES = 4
"""Handles whose write amplification the terminal shows, the dearest first."""


def rows(summary: dict[str, Any]) -> list[tuple[str, str, str]]:
    """Row of the terminal: how many handles the host wrote through, what each cost, what collection mixed."""
    if (figures := summary.get("placement")) is None:
        return []
    used = [own for own in figures["handles"] if own["host_bytes"]]
    shown = sorted(used, key=lambda own: own["write_amplification"], reverse=True)[:MOST_HANDLES]
    said = [f"handle {own['handle']} {own['write_amplification']:.3f}" for own in shown]
    rest = len(used) - len(shown)
    text = f"write amplification: {', '.join(said)}" if said else "the host wrote nothing"
    text += f", {rest} more below" if rest else ""
    if mixed := sum(own["mixed_bytes"] for own in figures["handles"]):
        text += f"; {size(mixed)} lie beside data of other handles"
    lines = [("handles", f"{len(used)} of {len(figures['handles'])}", text)]
    if groups := figures.get("groups"):
        named = [own for own in groups if own["host_bytes"]]
        said = [f"group {own['group']} {own['write_amplification']:.3f}" for own in named]
        text = f"write amplification: {', '.join(said)}" if said else "the host wrote nothing"
        if elsewhere := sum(own["elsewhere_bytes"] for own in groups):
            text += f"; {size(elsewhere)} found their group full"
        lines.append(("reclaim groups", f"{len(named)} of {len(groups)}", text))
    return lines


def section(summary: dict[str, Any], over_time: Mapping[str, Any] | None = None) -> Section:
    """The part on handles; empty, and so left out, where a drive has none. `over_time` needs `run.utilisation`."""
    figures = summary.get("placement")
    made = Section("placement", "Flexible data placement", _finding(figures) if figures else "", columns="two")
    if figures:
        made.add(_writes(figures["handles"]))
        made.add(mechanisms.handles(over_time or {}))
        made.cards.append(_table(figures["handles"]))
        if groups := figures.get("groups"):
            made.cards.append(_group_table(groups))
    return made


def _finding(figures: dict[str, Any]) -> str:
    handles, events, log = figures["handles"], figures["events"], figures["statistics"]
    used = [own for own in handles if own["host_bytes"]]
    sentences = [f"The host wrote through {len(used)} of {counted(len(handles), 'handle')}."]
    if used:
        worst = max(used, key=lambda own: own["write_amplification"])
        factor = f"<b>{worst['write_amplification']:.3f}</b>"
        sentences.append(f"Handle {worst['handle']} costs most: {factor} bytes written for each of the host's.")
    valid = sum(own["valid_bytes"] for own in handles)
    if mixed := sum(own["mixed_bytes"] for own in handles):
        sentences.append(f"At the end {percent(mixed / valid)} of the data lies beside data of other handles.")
    sentences.append(
        f"Over the drive's life: {size(log['host_bytes_written'])} by the host (HBMW), "
        f"{size(log['media_bytes_written'])} to the media (MBMW), {size(log['media_bytes_erased'])} erased (MBE)."
    )
    if events["invalid_placement_identifier"]:
        wrong = counted(events["invalid_placement_identifier"], "write")
        sentences.append(f"{wrong} named a placement identifier that the namespace does not have.")
    if events["reclaim_unit_not_fully_written"]:
        left = counted(events["reclaim_unit_not_fully_written"], "reclaim unit")
        sentences.append(f"Handle updates left {left} before they were full.")
    return " ".join(sentences)


def _writes(handles: list[dict[str, Any]]) -> Figure | None:
    if not any(own["media_bytes"] for own in handles):
        return None
    names = [f"handle {own['handle']}" for own in handles]
    traces = [
        {
            "type": "bar",
            "name": name,
            "x": names,
            "y": [own[figure] / 2**30 for own in handles],
            "marker": {"color": CAUSES[cause][1]},
            "hovertemplate": "%{y:.3~s} GiB<extra>%{x}</extra>",
        }
        for name, figure, cause in (("host", "host_bytes", "host"), ("moved", "moved_bytes", "gc"))
    ]
    layout = {"barmode": "stack", "yaxis": axis("GiB written", rangemode="tozero"), "hovermode": "closest"}
    return Figure("placement-writes", traces, layout, "What was written for each handle", "")


def _table(handles: list[dict[str, Any]]) -> str:
    rows = []
    for own in handles:
        factor = own["write_amplification"]
        values = (
            own["isolation"].replace("-", " "),
            size(own["host_bytes"]),
            size(own["moved_bytes"]),
            "" if factor is None else short(factor),
            percent(own["mixed_bytes"] / own["valid_bytes"]) if own["valid_bytes"] else "",
            size(own["remaining_bytes"]),
        )
        rows.append((own["handle"], values))
    return _card("Reclaim unit handles", "handles", COLUMNS, rows)


def _group_table(groups: list[dict[str, Any]]) -> str:
    rows = []
    for own in groups:
        factor = own["write_amplification"]
        before = (size(own["host_bytes"]), size(own["media_bytes"]), "" if factor is None else short(factor))
        rows.append((own["group"], (*before, *(size(own[name]) for name in list(GROUP_COLUMNS.values())[4:]))))
    return _card("Reclaim groups", "groups", GROUP_COLUMNS, rows)


def _card(heading: str, figures: str, columns: Mapping[str, str], rows: Sequence[tuple[int, tuple[str, ...]]]) -> str:
    """A table whose rows begin with a number; the reference of `placement.figures` explains its columns."""
    tips = {name: tip(f"placement.{figures}[0].{figure}") for name, figure in columns.items()}
    head = "".join(f'<th scope="col"{own}>{label(name, own)}</th>' for name, own in tips.items())
    body = "".join(
        f'<tr><th scope="row">{number}</th>{"".join(f"<td>{value}</td>" for value in values)}</tr>'
        for number, values in rows
    )
    return (
        f'<div class="card scroll"><h3>{heading}</h3>'
        '<table class="figures" style="height: auto"><thead><tr>'
        f"{head}</tr></thead><tbody>{body}</tbody></table></div>"
    )
