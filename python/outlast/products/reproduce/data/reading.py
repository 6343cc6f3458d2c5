"""Reads a paper that is a folder of TOML files."""

from __future__ import annotations

import itertools
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from typing import Any

from outlast import foreign
from outlast.errors import ScenarioError
from outlast.printable import printable
from outlast.products.reproduce.data import charts, checks
from outlast.products.reproduce.data.blocks import check_keys, spread
from outlast.products.reproduce.data.classes import claim_of, kind_of, whose_of
from outlast.products.reproduce.data.columns import Column
from outlast.products.reproduce.data.expression import Words
from outlast.products.reproduce.model import RUN, Cell, Figure, Mode, Paper, Row, Setting, Statement
from outlast.products.reproduce.rows import table_of
from outlast.sweeps import draw, figures, plan
from outlast.sweeps.reading import read as read_sweep

KEYS = ("name", "title", "figures", "modes", "elsewhere", "folder", "traces", "against", "apart")
MODE = ("scale", "about")
TRACE = ("file", "without")
FIGURE = ("title", "about", "kind", "assumptions", "points", "rows", "columns", "charts", "statements", "keep")
ROWS = ("over", "labels", "list", "function", "arguments")
POINTS = (
    *("scenario", "set", "method", "vary", "labels", "modes", "trace", "least_scale", "only", "function", "arguments"),
)
STATEMENT = ("text", "where", "kind", "whose", "claims", "unit", "reason", "because", "when", "each", *checks.KEYS)


@contextmanager
def _errors_of_file(file: Path) -> Iterator[None]:
    """Reports what no check of keys has found, such as a value of another kind, as a matter of the file."""
    try:
        yield
    except KeyError as error:
        raise ScenarioError(f"{file}: {error} is missing") from error
    except (AttributeError, IndexError, TypeError, ValueError) as error:
        what = printable(str(error), keep="\t")
        raise ScenarioError(f"{file}: something is not of its kind, a text, number, list or table ({what})") from error
    except ScenarioError as error:
        raise ScenarioError(printable(str(error), keep="\t")) from error


def load(folder: Path) -> Paper:
    """The paper of a folder.

    Raises:
        ScenarioError: a file says what cannot be; the message names file, key, value and limit.

    """
    with _errors_of_file(folder / "paper.toml"):
        return _paper(folder)


def _paper(folder: Path) -> Paper:
    file = folder / "paper.toml"
    said = _read(file)
    check_keys(said, KEYS, str(file))
    modes = {}
    for name, own in said["modes"].items():
        check_keys(own, MODE, f"{file}: modes.{name}")
        modes[name] = Mode(name, own["scale"], own["about"])
    # What has a colon is a figure in Python.
    found = [
        checks.function_of(name, f"{file}: figures") if ":" in name else figure(folder / f"{name}.toml")
        for name in said["figures"]
    ]
    traces = said.get("traces", ())
    for at, own in enumerate(traces):
        check_keys(own, TRACE, f"{file}: traces[{at}]")
    more = {name: said[name] for name in ("folder", "elsewhere", "against", "apart") if name in said}
    return Paper(
        said["name"],
        said["title"],
        modes,
        found,
        lambda setting: [_without(own, setting) for own in traces if _trace(setting, own["file"]) is None],
        **more,
    )


def _trace(setting: Setting, name: str) -> Path | None:
    """The file of a trace, if it is there."""
    file = setting.traces / name if setting.traces is not None else None
    return file if file is not None and file.is_file() else None


def _without(said: Mapping[str, Any], setting: Setting) -> str:
    """Parts that an absent trace leaves out."""
    text: str = said["without"]
    return _filled(text, {"file": said["file"], "folder": setting.traces or "any folder of traces"})


def figure(file: Path) -> Figure:
    """The figure of a file, called like it."""
    with _errors_of_file(file):
        return _figure(file)


def _figure(file: Path) -> Figure:
    said = _read(file)
    check_keys(said, FIGURE, str(file))
    columns = [Column(own, f"{file}: columns[{at}]") for at, own in enumerate(said["columns"])]
    blocks = spread(said.get("points", ()), POINTS, f"{file}: points")
    for at, own in enumerate(blocks):
        if "function" in own:
            checks.function_of(own["function"], f"{file}: points[{at}].function")
    grids = said.get("rows", ())
    for at, own in enumerate(grids):
        check_keys(own, ROWS, f"{file}: rows[{at}]")
        if "function" in own:
            checks.function_of(own["function"], f"{file}: rows[{at}].function")
    drawn = spread(said.get("charts", ()), charts.KEYS, f"{file}: charts")
    return Figure(
        file.stem,
        said["title"],
        said["about"],
        lambda setting: [
            cell for at, own in enumerate(blocks) for cell in _cells(own, setting, file.parent, f"{file}: points[{at}]")
        ],
        # What rows without a run are over comes first; what is text there is a label, and stands before all columns.
        {name: name for own in grids for name, values in own.get("over", {}).items() if not isinstance(values[0], str)}
        | {column.name: column.title for column in columns if column.shown},
        lambda table: [charts.chart(own, f"{file.stem}-{at}", table) for at, own in enumerate(drawn)],
        [
            _statement(own, names, f"{file}: statements[{at}]")
            for at, own in enumerate(said.get("statements", ()))
            for names in own.get("each", ({},))
        ],
        said.get("assumptions", ()),
        _rows(columns, lambda setting: [row for own in grids for row in _grid(own, setting)], said.get("keep")),
        kind_of(said, str(file)) or RUN,
    )


def _cells(said: Mapping[str, Any], setting: Setting, folder: Path, place: str) -> list[Cell]:
    """The points of a block: read and drawn as those of a sweep file, or made by a function.

    `folder` has the files of shared choices.
    """
    if "function" in said:
        made: list[Cell] = checks.function_of(said["function"], f"{place}.function")(
            setting, **said.get("arguments", {})
        )
        return made
    own = {name: said[name] for name in ("scenario", "set", "method", "vary") if name in said}
    if "vary" in own:
        own["vary"] = [_axis(axis, folder, f"{place}.vary[{at}]") for at, axis in enumerate(own["vary"])]
    own["set"] = dict(said.get("set", {})) | said.get("modes", {}).get(setting.mode.name, {})
    scenario = setting.scenarios / own["scenario"]
    spec = read_sweep(own | {"scenario": str(scenario)} | ({} if "vary" in own else {"vary": [_nothing()]}))
    layers: list[str | Path | Mapping[str, Any]] = [scenario]
    if "trace" in said:
        if (file := _trace(setting, said["trace"]["file"])) is None:
            return []
        layers.append({"workload": {"trace": said["trace"] | {"file": str(file)}}})
    only = said.get("only", {}).get(setting.mode.name)
    found, drawn = [], draw.points(spec)
    for values in drawn:
        labels = dict(said.get("labels", {}))
        axes = zip(spec.axes, values, strict=True)
        labels |= {axis.name: str(plan.axis_label(axis, value)) for axis, value in axes if axis.name != NOTHING}
        if only is not None and not any(own.items() <= labels.items() for own in only):
            continue
        scale = said.get("least_scale", {}).get(setting.mode.name, 1)
        found.append(Cell(labels, layers, {**spec.overrides, **plan.changes_of(spec, values)}, least_scale=scale))
    if not drawn:
        raise ScenarioError(f"{place}: has no points")
    return found


def _axis(said: Mapping[str, Any], folder: Path, place: str) -> Mapping[str, Any]:
    """An axis; choices that are shared or computed come from a file or a function, as its settings by label."""
    choices = said.get("choices")
    if not isinstance(choices, Mapping):
        return said
    taken = {name: value for name, value in choices.items() if name != "from"}
    source = str(choices.get("from"))
    if source.endswith(".toml"):
        made = _shared(folder / source, f"{place}.choices", **taken)
    else:
        made = checks.function_of(source, f"{place}.choices.from")(**taken)
    return dict(said) | {"choices": [{"label": label, "set": own} for label, own in made.items()]}


def _shared(file: Path, place: str, names: Sequence[str] | Mapping[str, str]) -> dict[str, Any]:
    """Settings of a file by label: those that are named, which a table calls otherwise."""
    known = _read(file)
    called = names if isinstance(names, Mapping) else {name: name for name in names}
    for name in called.values():
        if name not in known:
            raise ScenarioError(f"{place}.names: {name}: not in {file}; there are {', '.join(known)}")
    return {label: known[name] for label, name in called.items()}


NOTHING = "one point"


def _nothing() -> dict[str, Any]:
    """The axis of a block in which nothing varies."""
    return {"name": NOTHING, "choices": [{"label": "alone", "set": {}}]}


def _grid(said: Mapping[str, Any], setting: Setting) -> list[Row]:
    """Rows without a run: each of `list` with every combination of the values of `over`, and what a function adds."""
    over = said.get("over", {})
    rows = [
        dict(own) | dict(zip(over, values, strict=True))
        for own in said.get("list", ({},))
        for values in itertools.product(*over.values())
    ]
    labels = dict(said.get("labels", {}))
    if "function" not in said:
        return [labels | row for row in rows]
    function, arguments = checks.function_of(said["function"], "function"), said.get("arguments", {})
    return [labels | row | more for row in rows for more in function(setting, **arguments, **row)]


def _rows(
    columns: Sequence[Column], without_runs: Callable[[Setting], list[Row]], keep: str | None
) -> Callable[[Setting, Sequence[Cell], Sequence[Mapping[str, Any]]], list[Row]]:
    def rows(setting: Setting, cells: Sequence[Cell], records: Sequence[Mapping[str, Any]]) -> list[Row]:
        table = table_of(cells, [dict(record) for record in records])
        closed = without_runs(setting)
        table.rows += closed
        wholes = [record["summary"] | {"scenario": record["scenario"]} for record in records]
        summaries = [figures.flat(whole) for whole in wholes] + [{}] * len(closed)
        # Column after column, so that a row may stand beside another: those before it are in all rows by then.
        for column in columns:
            values = [column.of(row, table, own, setting) for row, own in zip(table.rows, summaries, strict=True)]
            for row, value in zip(table.rows, values, strict=True):
                row[column.name] = value
        return [row for row in table.rows if keep is None or keep in row]

    return rows


def _statement(said: Mapping[str, Any], names: Mapping[str, Any], place: str) -> Statement:
    """A statement; `names` are those of its `each`, which stand for values in its texts and expressions."""
    check_keys(said, STATEMENT, place)
    own = dict(said) | {part: _filled(said[part], names) for part in ("text", "name", "because") if part in said}
    check = checks.check_of(own, place, names)
    because = Words(own.get("because", ""), f"{place}.because")
    asked = said.get("when", ())
    return Statement(
        own["text"],
        own["where"],
        check,
        lambda table: because.of(table, names),
        kind_of(own, place),
        whose_of(own, place),
        claim_of(own, place),
        lambda table: not asked or any(table.has(**one) for one in ([asked] if isinstance(asked, Mapping) else asked)),
    )


def _filled(text: str, names: Mapping[str, Any]) -> str:
    for name, value in names.items():
        text = text.replace(f"{{{name}}}", str(value))
    return text


def _read(file: Path) -> dict[str, Any]:
    try:
        table: dict[str, Any] = foreign.read(file, foreign.toml_of)
        return table
    except OSError as error:
        raise ScenarioError(f"{file}: cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise ScenarioError(f"{file}: {error}") from error
