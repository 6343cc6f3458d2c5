"""Does the JSON Schema of sweep files take what the reader takes, and refuse what it refuses?"""

from __future__ import annotations

import json
import re
import tomllib
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from conftest import ROOT, Outlast
from outlast import sweep_schema
from outlast.errors import ScenarioError
from outlast.sweeps import keys
from outlast.sweeps.reading import read

AXIS = {"setting": "device.ftl.gc.policy", "values": ["greedy", "fifo"]}
SPAN = {"setting": "workload.synthetic.rate_iops", "from": 100, "to": 1000}
CHOICES = {
    "name": "drive",
    "choices": [{"label": "small", "set": {"device.ftl.capacity": "1GiB"}}, {"label": "as it is"}],
}
LEAST: dict[str, Any] = {"scenario": "demo", "vary": [AXIS]}

TAKEN: list[dict[str, Any]] = [
    LEAST,
    LEAST | {"name": "mine", "seed": 0, "repeats": 1000, "retries": 0, "confidence": 0.5, "figures": []},
    LEAST | {"scenario": {"extends": "demo"}, "set": {"run": {"warm_up": "1ms"}}},
    LEAST | {"scenario": ["demo", {"name": "two"}], "method": "list"},
    LEAST
    | {"vary": [AXIS | {"labels": ["a", "b"], "name": "policy"}, SPAN | {"steps": 2, "scale": "log", "unit": ""}]},
    LEAST | {"method": "random", "points": 3, "vary": [SPAN | {"whole": True}, AXIS]},
    LEAST | {"method": "latin-hypercube", "points": 100_000, "vary": [SPAN, CHOICES]},
    LEAST | {"pareto": []},
    LEAST | {"pareto": ["latency_us.read.p99", {"figure": "throughput.iops", "best": "highest"}]},
    LEAST | {"vary": [CHOICES]},
    LEAST | {"method": "tpe", "points": 10},
    LEAST | {"method": "tpe", "points": 10, "aim": "throughput.iops", "batch": 1, "prune": True, "repeats": 2},
    LEAST | {"method": "tpe", "points": 1, "aim": [{"figure": "gc.victims", "best": "lowest"}], "vary": [SPAN, AXIS]},
    LEAST | {"method": "tpe", "points": 1, "aim": ["latency_us.read.p99", "throughput.iops"], "pareto": []},
]

REFUSED: list[dict[str, Any]] = [
    {"vary": [AXIS]},
    {"scenario": "demo"},
    LEAST | {"vary": []},
    LEAST | {"scenario": 3},
    LEAST | {"repeat": 2},
    LEAST | {"name": "a/b"},
    LEAST | {"name": ""},
    LEAST | {"method": "sobol"},
    LEAST | {"method": "random"},
    LEAST | {"points": 3},
    LEAST | {"method": "tpe"},
    LEAST | {"method": "tpe", "points": 3, "vary": [SPAN | {"steps": 3}]},
    LEAST | {"method": "tpe", "points": 3, "aim": []},
    LEAST | {"method": "tpe", "points": 3, "aim": 7},
    LEAST | {"method": "tpe", "points": 3, "aim": {"best": "lowest"}},
    LEAST | {"method": "tpe", "points": 3, "aim": {"figure": "throughput.iops", "best": "most"}},
    LEAST | {"method": "tpe", "points": 3, "aim": ["throughput.iops"] * 9},
    LEAST | {"method": "tpe", "points": 3, "batch": 0},
    LEAST | {"method": "tpe", "points": 3, "prune": 1},
    LEAST | {"aim": "throughput.iops"},
    LEAST | {"method": "random", "points": 3, "batch": 4},
    LEAST | {"prune": False},
    LEAST | {"method": "random", "points": 0},
    LEAST | {"seed": -1},
    LEAST | {"seed": 2**53},
    LEAST | {"repeats": 0},
    LEAST | {"repeats": 1001},
    LEAST | {"repeats": 1.5},
    LEAST | {"retries": 101},
    LEAST | {"confidence": 0},
    LEAST | {"confidence": 1},
    LEAST | {"confidence": "high"},
    LEAST | {"set": []},
    LEAST | {"figures": "iops"},
    LEAST | {"figures": [1]},
    LEAST | {"pareto": ["throughput.iops"]},
    LEAST | {"pareto": ["throughput.iops", {"figure": "latency_us.read.p99", "best": "low"}]},
    LEAST | {"pareto": ["throughput.iops", {"best": "lowest"}]},
    LEAST | {"vary": [{"setting": "", "values": [1]}]},
    LEAST | {"vary": [{"values": [1]}]},
    LEAST | {"vary": [{"setting": "seed"}]},
    LEAST | {"vary": [{"setting": "seed", "values": []}]},
    LEAST | {"vary": [AXIS | {"steps": 3}]},
    LEAST | {"vary": [AXIS | {"from": 1}]},
    LEAST | {"vary": [AXIS | {"labels": ["a", "a"]}]},
    LEAST | {"vary": [AXIS | {"name": 1}]},
    LEAST | {"vary": [SPAN]},
    LEAST | {"vary": [SPAN | {"steps": 1}]},
    LEAST | {"vary": [SPAN | {"steps": 2, "scale": "cubic"}]},
    LEAST | {"vary": [SPAN | {"steps": 2, "whole": 1}]},
    LEAST | {"vary": [SPAN | {"steps": 2, "labels": ["a", "b"]}]},
    LEAST | {"vary": [{"setting": "seed", "from": 1, "steps": 2}]},
    LEAST | {"method": "random", "points": 3, "vary": [SPAN | {"steps": 2}]},
    LEAST | {"vary": [{"choices": [{"label": "a"}]}]},
    LEAST | {"vary": [CHOICES | {"choices": []}]},
    LEAST | {"vary": [CHOICES | {"choices": [{"set": {}}]}]},
    LEAST | {"vary": [CHOICES | {"choices": [{"label": "a", "sets": {}}]}]},
    LEAST | {"vary": [CHOICES | {"setting": "seed"}]},
]

BLOCK = re.compile(r"^```toml\n(.*?)^```", re.MULTILINE | re.DOTALL)


def accepts(said: Any) -> bool:
    """True if the schema accepts the content of a file."""
    schema = sweep_schema()
    jsonschema.Draft202012Validator.check_schema(schema)
    return bool(jsonschema.Draft202012Validator(schema).is_valid(said))


def published() -> list[tuple[str, dict[str, Any]]]:
    """Every sweep file in pages and folders: a file that varies something and names what."""
    texts = [(path, text) for path in ROOT.glob("docs/guide/*.md") for text in BLOCK.findall(path.read_text())]
    texts += [
        (path, path.read_text()) for folder in ("scenarios", "examples") for path in (ROOT / folder).rglob("*.toml")
    ]
    found = [(str(path.relative_to(ROOT)), tomllib.loads(text)) for path, text in texts if "[[vary]]" in text]
    return [(name, said) for name, said in found if "scenario" in said]


def test_every_published_sweep_file_is_accepted() -> None:
    files = published()
    assert len(files) >= 8, [name for name, _ in files]
    assert not [name for name, said in files if not accepts(said)]


@pytest.mark.parametrize("said", TAKEN, ids=range(len(TAKEN)))
def test_both_take_it(said: dict[str, Any]) -> None:
    read(said)
    assert accepts(said)


@pytest.mark.parametrize("said", REFUSED, ids=range(len(REFUSED)))
def test_both_refuse_it(said: dict[str, Any]) -> None:
    with pytest.raises(ScenarioError):
        read(said)
    assert not accepts(said)


def test_it_is_the_committed_one(outlast: Outlast) -> None:
    committed = (ROOT / "docs" / "reference" / "sweep.schema.json").read_text()
    assert outlast("schema", "--sweep").stdout == committed, "docs/reference/sweep.schema.json is old: run make schema"
    assert json.loads(committed) == sweep_schema()


def test_the_guide_has_a_row_for_each_key() -> None:
    page = Path(ROOT / "docs" / "guide" / "sweeps.md").read_text()
    rows = set(re.findall(r"^\| `(\w+)` \|", page, re.MULTILINE))
    assert set(keys.SWEEP) - {"vary"} <= rows
    assert all(f"`{key}`" in page for key in (*keys.AXIS, "[[vary]]"))
