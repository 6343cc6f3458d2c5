"""Caveats of a sweep: runs not in steady state, and figures that say less than they seem to."""

from __future__ import annotations

from typing import Any

from outlast.report.numbers import short

MARK = "†"


def mark(point: dict[str, Any]) -> str:
    """Mark behind the values of a point with runs not in steady state; else empty."""
    return f" {MARK}" if point.get("not_steady") else ""


def badge(point: dict[str, Any], repeats: int) -> str:
    """The same as HTML, with the number of runs under the pointer."""
    if not mark(point):
        return ""
    label_text = f"{short(point['not_steady'])} of {short(repeats)} runs not in steady state"
    return f' <span class="change" title="{label_text}">{MARK}</span>'


def note(summary: dict[str, Any]) -> str:
    """The line below a table that says what the mark means; empty where all runs were in steady state."""
    if not summary["not_steady"]:
        return ""
    sentence = f"{short(summary['not_steady'])} of {short(summary['runs'])} runs were not in steady state"
    return f"{sentence}: at the points with {MARK}" if any(map(mark, summary["points"])) else sentence


def notes(summary: dict[str, Any]) -> list[str]:
    """Sentences below the table: of steady state, of runs that say less than they seem to, of absent figures."""
    runs = short(summary["runs"])
    sentences = [note(summary)]
    if count := summary.get("not_measured"):
        sentences.append(f"{short(count)} of {runs} runs measured nothing: they ended within their warm-up")
    if count := summary.get("not_served"):
        sentences.append(
            f"in {short(count)} of {runs} runs requests failed (host.errors): rates and latencies are of those that "
            "were served"
        )
    if count := summary.get("not_collected"):
        sentences.append(
            f"in {short(count)} of {runs} runs no superblock was collected, or a few empty ones: their write "
            "amplification says nothing about spare space or policy"
        )
    sentences += [f"{name}: in none of the runs, because {why}" for name, why in (summary.get("absent") or {}).items()]
    return [each for each in sentences if each]
