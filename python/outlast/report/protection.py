"""Parity in the drive: its classes, what it costs in writes, and changes that were made to it."""

from __future__ import annotations

from typing import Any

from outlast.report.figure import CAUSES, Figure, axis, broken
from outlast.report.names import label, tip
from outlast.report.numbers import counted, micros, seconds, short, size, text
from outlast.report.page import Section

PARTS = {
    "host_parity": "with host data",
    "gc_parity": "with collected data",
    "wear_leveling_parity": "with levelled data",
    "scrub_parity": "with scrubbed data",
    "map_parity": "with the mapping table",
    "partial_parity": "of incomplete stripes",
    "reencode": "data moved to another code",
}


def section(summary: dict[str, Any]) -> Section:
    """The part on parity; empty, and so left out, where a drive has none."""
    figures = summary.get("protection")
    made = Section("protection", "Parity", _finding(summary, figures) if figures else "", columns="two")
    if not figures:
        return made
    made.add(_costs(summary["write_amplification"]))
    made.cards.append(_classes(figures["by_class"]))
    if figures["changes"]:
        made.cards.append(_changes(figures))
    return made


def _finding(summary: dict[str, Any], figures: dict[str, Any]) -> str:
    amplification, corrected_by = summary["write_amplification"], summary["reliability"]["corrected_by"]
    sentences = []
    if amplification["total"] is not None:
        parity, partial = amplification.get("parity") or 0.0, amplification.get("partial_parity") or 0.0
        sentences.append(
            f"For each byte that the host wrote <b>{parity + partial:.3f}</b> of parity went to flash, {partial:.3f} "
            "of it for incomplete stripes."
        )
    exposed = sum(own["unprotected_page_seconds"] for own in figures["by_class"])
    sentences.append(f"Data waited {short(exposed)} page-seconds for its parity.")
    if corrected_by["stripe"] or corrected_by.get("block"):
        sentences.append(
            f"Parity across dies restored {counted(corrected_by['stripe'], 'unit')}, parity within blocks "
            f"{short(corrected_by.get('block') or 0)}."
        )
    if own := figures.get("redundancy"):
        sentences += [_lost(loss) for loss in own["losses"]]
        sentences.append(f"At the end data survives <b>{counted(own['data_survives'], 'failed die')}</b>.")
        if own["lacks_space"]:
            sentences.append("Too few superblocks are free to rebuild what has lost redundancy.")
    if len(figures["by_class"]) > 1:
        codes = ", ".join(f"class {own['class']} {code(own)}" for own in figures["by_class"])
        sentences.append(f"Codes at the end: {codes}.")
    for change in figures["changes"]:
        refused = f", which was refused: {text(change['refused'])}" if change["refused"] else ""
        sentences.append(f"At {short(change['at_s'])} s {text(change['what'])}{refused}.")
    if figures["outdated_superblocks"]:
        left, of = short(figures["outdated_superblocks"]), short(figures["superblocks"])
        sentences.append(f"<b>{left}</b> of {of} superblocks still have the previous code of their class.")
    return " ".join(sentences)


def _lost(loss: dict[str, Any]) -> str:
    """A die that was given up, and how long its data had less redundancy."""
    of = "" if loss["device"] is None else f" of drive {loss['device']}"
    plane = "" if loss["plane"] is None else f", plane {loss['plane']},"
    sentence = f"Die {loss['die']}{plane}{of} failed at {short(loss['at_s'])} s"
    held = f"{counted(loss['superblocks'], 'superblock')} with {size(loss['bytes'])} lacked redundancy"
    after = loss["time_to_full_redundancy_s"]
    until = "until the end" if after is None else f"for <b>{seconds(after)}</b>"
    return f"{sentence}: {held} {until}."


def code(own: dict[str, Any]) -> str:
    """Code of a class, such as `(6, 1) + (63, 1) in blocks`."""
    across = f"({own['k']}, {own['m']})" if own["m"] else "none across dies"
    return across + (f" + ({own['block']}, 1) in blocks" if own["block"] else "")


def _costs(amplification: dict[str, Any]) -> Figure | None:
    parts = {label: amplification.get(name) or 0.0 for name, label in PARTS.items()}
    shown = {label: value for label, value in parts.items() if value}
    if not shown:
        return None
    colour = CAUSES["parity"][1]
    bar = {
        "type": "bar",
        "orientation": "h",
        "x": list(shown.values()),
        "y": list(map(broken, shown)),
        "marker": {"color": colour},
    }
    layout = {
        "xaxis": axis("bytes programmed per byte written", rangemode="tozero"),
        "yaxis": {"automargin": True, "autorange": "reversed"},
        "hovermode": "closest",
    }
    return Figure("parity-costs", [bar | {"hovertemplate": "%{x:.3f}<extra></extra>"}], layout, "What parity costs", "")


def _classes(classes: list[dict[str, Any]]) -> str:
    titles = {
        "class": "class",
        "code": "m",
        "pages": "pages",
        "page-seconds without parity": "unprotected_page_seconds",
    }
    tips_by_title = {name: tip(f"protection.by_class[0].{figure}") for name, figure in titles.items()}
    head = "".join(f'<th scope="col"{own}>{label(name, own)}</th>' for name, own in tips_by_title.items())
    rows = []
    for own in classes:
        cells = "".join(
            f"<td>{value}</td>" for value in (code(own), short(own["pages"]), short(own["unprotected_page_seconds"]))
        )
        rows.append(f'<tr><th scope="row">{own["class"]}</th>{cells}</tr>')
    return (
        '<div class="card scroll"><h3>Classes of data at the end</h3>'
        '<table class="figures" style="height: auto"><thead><tr>'
        f"{head}</tr></thead><tbody>{''.join(rows)}</tbody></table></div>"
    )


def _changes(figures: dict[str, Any]) -> str:
    items = []
    for change in figures["changes"]:
        outcome = f"refused: {text(change['refused'])}" if change["refused"] else "made"
        items.append(f"<li>{micros(1e6 * change['at_s'])}: {text(change['what'])}, {outcome}</li>")
    return f'<div class="card notes"><h3>Changes</h3><ul>{"".join(items)}</ul></div>'
