"""The keys of a sweep file: what each takes and means. The reader and the JSON Schema both go by this."""

from __future__ import annotations

from typing import Any

METHODS = ("grid", "list", "random", "latin-hypercube", "tpe")
SEARCH = "tpe"
"""Method that chooses each point by the figures of earlier ones."""
DRAWN = ("random", "latin-hypercube", SEARCH)
"""Methods that draw points, and need to know how many."""
SEARCH_ONLY = ("aim", "batch", "prune")
"""Keys of a sweep file that belong to a search."""
SCALES = ("linear", "log")
BESTS = ("lowest", "highest")
MOST_RUNS = 100_000
"""Runs of a sweep at most: the figures of all are in memory at once."""
MOST_SEED = 2**53 - 1
"""The largest whole number that every reader of JSON holds."""

Keys = dict[str, dict[str, Any]]

_TEXT = {"type": "string"}
_SETTINGS = {"type": "object"}
_FIGURE = {"anyOf": [_TEXT, {"$ref": "#/$defs/front"}]}
MOST_AIMS = 8
"""Figures that a search is for: with more, hardly a point is dominated."""


def _whole(least: int, most: int, default: int | None, description: str) -> dict[str, Any]:
    known = {} if default is None else {"default": default}
    return {"type": "integer", "minimum": least, "maximum": most, "description": description} | known


SWEEP: Keys = {
    "scenario": {
        "anyOf": [_TEXT, _SETTINGS, {"type": "array", "items": {"anyOf": [_TEXT, _SETTINGS]}}],
        "description": "The name of a preset, the path of a scenario file beside this one, a table as in a scenario "
        "file, or a list of these.",
    },
    "name": {
        "type": "string",
        "pattern": "^[^./][^/]*$",
        "description": "Name of the sweep and of its folder in `out/`. Default: the name of the file.",
    },
    "set": _SETTINGS | {"default": {}, "description": "Settings changed at every point, by dotted name."},
    "method": {"enum": list(METHODS), "default": "grid", "description": "Which points of the axes are run."},
    "points": _whole(1, MOST_RUNS, None, "Number of points, for `random`, `latin-hypercube` and `tpe`."),
    "seed": _whole(0, MOST_SEED, 1, "Seed for drawing points; the scenario has its own."),
    "repeats": _whole(1, 1000, 1, "Runs of each point, each with its own seed."),
    "figures": {
        "type": "array",
        "items": _TEXT,
        "description": "Figures to show and summarise, by the names of `result.json`.",
    },
    "pareto": {
        "type": "array",
        "items": _FIGURE,
        "not": {"minItems": 1, "maxItems": 1},
        "description": "Figures of the Pareto front, two or more; an empty list for no front.",
    },
    "confidence": {
        "type": "number",
        "exclusiveMinimum": 0,
        "exclusiveMaximum": 1,
        "default": 0.95,
        "description": "Confidence level of the intervals.",
    },
    "retries": _whole(0, 100, 1, "How often a failed run is tried again."),
    "aim": {
        "anyOf": [_FIGURE, {"type": "array", "minItems": 1, "maxItems": MOST_AIMS, "items": _FIGURE}],
        "description": "With `tpe`, the figure that is searched for its best, or several, for their Pareto front. "
        "Default: those of `pareto`.",
    },
    "batch": _whole(1, 1000, 4, "With `tpe`, points that are chosen together, before any of them has run."),
    "prune": {
        "type": "boolean",
        "default": False,
        "description": "With `tpe` and one aim, whether a point that is worse than the median after some repeats, all "
        "in steady state, gets no more of them.",
    },
    "vary": {
        "type": "array",
        "minItems": 1,
        "items": {"$ref": "#/$defs/axis"},
        "description": "The axes: settings that vary.",
    },
}

AXIS: Keys = {
    "name": _TEXT | {"default": "", "description": "What the axis is called in the data and in the report."},
    "setting": {"type": "string", "minLength": 1, "description": "The dotted name of a setting, as `--set` takes it."},
    "values": {
        "type": "array",
        "minItems": 1,
        "description": "Its values; `null` as a text removes what is inherited.",
    },
    "labels": {"type": "array", "items": _TEXT, "uniqueItems": True, "description": "A shorter name for each value."},
    "from": {"type": "number", "description": "Where a range begins."},
    "to": {"type": "number", "description": "Where it ends."},
    "steps": _whole(2, MOST_RUNS, None, "Values on the range, both ends included, for `grid` and `list`."),
    "scale": {"enum": list(SCALES), "default": "linear", "description": "How values lie on the range."},
    "whole": {"type": "boolean", "default": False, "description": "Whether values of the range are whole numbers."},
    "unit": _TEXT | {"default": "", "description": "Put behind each value of the range, such as `MiB`."},
    "choices": {
        "type": "array",
        "minItems": 1,
        "items": {"$ref": "#/$defs/choice"},
        "description": "Several settings changed together, in place of one.",
    },
}

CHOICE: Keys = {
    "label": {"type": "string", "minLength": 1, "description": "What the choice is called; no two alike."},
    "set": _SETTINGS | {"default": {}, "description": "The settings that it changes, by dotted name."},
}

FRONT: Keys = {
    "figure": _TEXT | {"description": "A figure, by its name in `result.json`."},
    "best": {"enum": list(BESTS), "description": "Which is better. Default: `lowest`; in `aim`, that of the figure."},
}

RANGE_ONLY = ("steps", "scale", "whole", "unit")
"""Keys of an axis that belong to a range."""
CHOICES_WITH = ("name", "choices")
"""Keys of an axis of choices."""


def limits(key: dict[str, Any]) -> tuple[int, int]:
    """The least and the most that a whole number may be."""
    return key["minimum"], key["maximum"]


def _table(keys: Keys, *needed: str, **more: Any) -> dict[str, Any]:
    table = {"type": "object", "additionalProperties": False, "properties": keys}
    return table | ({"required": list(needed)} if needed else {}) | more


def _without(*names: str) -> dict[str, Any]:
    return {"properties": dict.fromkeys(names, False)}


def schema() -> dict[str, Any]:
    """The JSON Schema of sweep files: what the reader takes, except for what two keys must have in common."""
    listed = {"required": ["setting", "values"]} | _without("from", "to", *RANGE_ONLY, "choices")
    ranged = {"required": ["setting", "from", "to"]} | _without("values", "labels", "choices")
    chosen = {"required": list(CHOICES_WITH), "properties": {"name": {"minLength": 1}}}
    chosen["properties"] |= _without(*(key for key in AXIS if key not in CHOICES_WITH))["properties"]
    has_range = {"required": ["from"]}
    drawn = {"required": ["points"], "properties": {"vary": {"items": _without("steps")}}}
    listed_out = _without("points")
    listed_out["properties"]["vary"] = {"items": {"if": has_range, "then": {"required": ["steps"]}}}
    searched = {"required": ["method"], "properties": {"method": {"const": SEARCH}}}
    whole = _table(SWEEP, "scenario", "vary")
    whole["if"] = {"required": ["method"], "properties": {"method": {"enum": list(DRAWN)}}}
    return {
        "$schema": "https://json-schema.org/draft/2020-12/schema",
        "$id": "urn:outlast:schema:sweep:1",
        "title": "Sweep",
        "description": "One scenario at many points: a sweep file of Outlast.",
        **whole,
        "then": drawn,
        "else": listed_out,
        "allOf": [{"if": searched, "else": _without(*SEARCH_ONLY)}],
        "$defs": {
            "axis": _table(AXIS, oneOf=[listed, ranged, chosen]),
            "choice": _table(CHOICE, "label"),
            "front": _table(FRONT, "figure"),
        },
    }
