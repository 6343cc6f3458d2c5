"""JSON Schemas of the files that people write: scenarios and sweeps."""

from __future__ import annotations

import json
from importlib import resources
from pathlib import Path
from typing import Any


def scenario_schema() -> dict[str, Any]:
    """The JSON Schema of scenario files."""
    return dict(json.loads(resources.files("outlast").joinpath("scenario.schema.json").read_text("utf-8")))


def sweep_schema() -> dict[str, Any]:
    """The JSON Schema of sweep files."""
    from outlast.sweeps import keys

    return keys.schema()


def hint() -> str:
    """First line of a scenario file, by which editors find the schema that is installed here."""
    return f"#:schema {(Path(__file__).parent / 'scenario.schema.json').as_uri()}\n"
