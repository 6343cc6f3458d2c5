"""The decisions of drives and arrays, and the policies that take them, as the schema of scenarios has them."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from outlast import _core, schemas
from outlast.policies.questions import QUESTIONS

CHOICES = {
    "gc": "device.ftl.gc.policy",
    "pacing": "device.ftl.gc.pacing",
    "gc_reads": "device.ftl.gc.reads",
    "relocation": "device.ftl.gc.relocation",
    "partial_parity": "device.protection.partial.place",
    "parity_placement": "array.layout",
    "drive_repair": "device.repair.scheme",
    "repair": "array.repair.way",
    "repair_order": "array.repair.order",
}
"""Settings whose value is the name of a policy, by decision."""

RULES = {
    "parity_shares": ("array", ("parity_percent", "table")),
    "wear_leveling": ("device.ftl.wear_leveling", ("dynamic", "static_gap")),
    "scrub": ("device.scrub", ("reads", "age", "expected_errors", "rereads_per_unit", "patrol", "reprotect")),
    "predict": ("device.repair.predict", ("bad_blocks", "uncorrectable")),
    "code": ("device.protection", ("data", "parity", "block", "classes")),
    "rebuild": ("array.background", ("min_rate", "max_rate")),
    "placement": ("device.protection.classes", ("hints", "ranges", "at_least", "at_most", "hot")),
}
"""Decisions by rules that hold beside each other, each turned on by a setting of its own."""


ABOUT = {"parity_shares": "Which share of the parity each member of an array holds."}
"""Descriptions of decisions that are only a part of the setting that takes them."""

SEEN = {
    "placement": "thousands of writes (outlast.policies.Writes)",
    "repair_order": "all rows that a member has lost (outlast.policies.LostRows)",
} | {decision: f"outlast.policies.{question.__name__}" for decision, (question, _) in QUESTIONS.items()}
"""Views of the decisions that are not about the superblocks of a flash core."""
SUPERBLOCKS = "the superblocks of a flash core (outlast.policies.View)"


def decisions() -> dict[str, dict[str, Any]]:
    """Decisions by name: description, setting, built-in policies with theirs, and the view that user code gets."""
    schema = schemas.scenario_schema()
    user_policies = _of(schema, "policies")["properties"]
    found = {}
    for name, setting in CHOICES.items():
        place = _of(schema, setting)
        found[name] = _entry(name, place, setting, _named(schema, place), user_policies.get(name))
    for name, (setting, rules) in RULES.items():
        place = _of(schema, setting)
        texts = {rule: _first(place["properties"][rule].get("description", "")) for rule in rules}
        found[name] = _entry(name, place, setting, texts, user_policies.get(name))
    own_first = {name: place for place, name in enumerate(_core.decisions())}
    return dict(sorted(found.items(), key=lambda item: (own_first.get(item[0], len(own_first)), item[0])))


def _entry(
    name: str,
    place: Mapping[str, Any],
    setting: str,
    policies: Mapping[str, str],
    user_policy: Mapping[str, Any] | None,
) -> dict[str, Any]:
    about = ABOUT.get(name) or (user_policy["description"] if user_policy else place.get("description", ""))
    return {
        "about": _first(about),
        "setting": setting,
        "policies": dict(policies),
        "own": user_policy and f"a function of {SEEN.get(name, SUPERBLOCKS)}",
    }


def _of(schema: Mapping[str, Any], setting: str) -> dict[str, Any]:
    """The part of the schema that describes a setting, with its references followed."""
    place = _followed(schema, schema)
    for part in setting.split("."):
        inner = place["properties"][part]
        place = _followed(schema, inner) | {key: inner[key] for key in ("description",) if key in inner}
    return place


def _followed(schema: Mapping[str, Any], place: Mapping[str, Any]) -> dict[str, Any]:
    while True:
        options = [option for option in place.get("anyOf", []) if option.get("type") != "null"]
        if "$ref" in place:
            place = schema["$defs"][place["$ref"].rpartition("/")[2]]
        elif "items" in place:
            place = place["items"]
        elif len(options) == 1 and "properties" not in place:
            place = options[0]
        else:
            return dict(place)


def _named(schema: Mapping[str, Any], place: Mapping[str, Any]) -> dict[str, str]:
    """The values that a setting may have, with their texts."""
    found: dict[str, str] = {}
    for option in [place, *place.get("oneOf", []), *place.get("anyOf", [])]:
        option = _followed(schema, option) if option is not place else option
        if "const" in option:
            found[str(option["const"])] = _first(option.get("description", ""))
        for value in option.get("enum", []):
            found.setdefault(str(value), "")
    return found


def _first(text: str) -> str:
    """A description in one line."""
    return " ".join(text.split())
