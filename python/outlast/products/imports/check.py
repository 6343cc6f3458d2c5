"""A draft, checked as a run would check it, before anything is written."""

from __future__ import annotations

from pathlib import Path

from outlast import api, foreign
from outlast.errors import ScenarioError
from outlast.inputs import Text
from outlast.products.imports.draft import Draft


def check_draft(draft: Draft) -> None:
    """Raises ScenarioError if the drive that a draft describes is none that can be simulated.

    A trace that is not there yet is no reason: the folder of the scenario is chosen by whoever moves it.
    """
    text = draft.text()
    tables = foreign.toml_of(text)
    trace = tables.get("workload", {}).get("trace", {}).get("file")
    if trace is not None and not Path(trace).is_file():
        del tables["workload"]
        layers: object = tables
    else:
        layers = Text(f"{draft.source} as imported", text)
    try:
        api.validate(layers)  # type: ignore[arg-type]
    except ScenarioError as error:
        raise ScenarioError(f"{draft.files[0]}: {error}") from error
