"""A draft, checked as a run would check it, before anything is written."""

from __future__ import annotations

from pathlib import Path

from outlast import api
from outlast.errors import ScenarioError
from outlast.inputs import Text
from outlast.products.imports.draft import Draft


def check_draft(draft: Draft) -> None:
    """Raises ScenarioError if the drive that a draft describes is none that can be simulated.

    A trace that is not there yet is no reason: the folder of the scenario is chosen by whoever moves it.
    """
    trace = draft.settings.get("workload.trace.file")
    if trace is not None and not Path(trace[0]).is_file():
        drive = {name: value for name, value in draft.settings.items() if not name.startswith("workload.")}
        draft = Draft(draft.source, draft.files, drive)
        draft.set("workload.synthetic.requests", 1, "in the place of a trace that is not there")
    try:
        api.validate(Text(f"{draft.source} as imported", draft.text()))
    except ScenarioError as error:
        raise ScenarioError(f"{draft.files[0]}: {error}") from error
