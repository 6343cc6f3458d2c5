"""Running scenarios from Python."""

from __future__ import annotations

import difflib
import json
import re
import tomllib
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from pathlib import Path
from typing import TYPE_CHECKING, Any, TypeAlias

from outlast import _core, memory
from outlast.causes import AMPLIFICATION
from outlast.errors import ScenarioError
from outlast.inputs import Text, is_folder, is_stream, mode_of, read_stream
from outlast.notebook.listing import Listing
from outlast.plain_values import NO_NAME, flag_of, json_text, name_of, override_of, place_of, shown

if TYPE_CHECKING:
    from typing import Unpack

    from outlast.policies import Maker, Policies
    from outlast.requests import RequestLog
    from outlast.result import Result
    from outlast.serving.options import ServeOptions
    from outlast.setting import Setting

ScenarioLike: TypeAlias = str | Path | Mapping[str, Any] | Text
"""The name of a preset, the path of a scenario file, settings as nested dictionaries, or a text with a name."""

Overrides: TypeAlias = "Mapping[str, Any] | Mapping[Setting, Any] | Iterable[tuple[str, str]]"
"""Settings by dotted name, such as `{"device.ftl.gc.policy": "fifo"}` or `{settings.device.ftl.gc.policy: "fifo"}`.
`None` takes an inherited setting away."""

Progress: TypeAlias = Callable[[str, float | None, int, float], bool | None]
"""Called about ten times a second with the phase, the fraction done (if it can be told), the requests so far and the
simulated seconds; `False` stops the run, which keeps what was measured."""

_BARE_NAME = re.compile(r"[A-Za-z0-9_-]+")
_KINDS = "a scenario is the name of a preset, a path, a table, or a list of them"


def layer(scenario: ScenarioLike) -> _core.Layer:
    """Scenario of a preset's name, a file or settings, as text with its format."""
    if isinstance(scenario, Mapping):
        return "json", json_text(scenario)
    if isinstance(scenario, Text):
        return f"text of {scenario.name}", scenario.content
    if not isinstance(scenario, (str, Path)):
        raise ScenarioError(f"{shown(scenario)}: {_KINDS}")
    if NO_NAME.search(str(scenario)):
        raise ScenarioError(f"{shown(str(scenario))}: no preset or file has such a name")
    # A folder is no scenario: one that is named like a preset, such as that of its result, does not hide it.
    bare = isinstance(scenario, str) and _BARE_NAME.fullmatch(scenario)
    if bare and (mode_of(scenario) is None or is_folder(scenario)):
        return "preset", str(scenario)
    if is_stream(scenario):
        return layer(read_stream(scenario))
    return "file", str(scenario)


def layers(scenario: ScenarioLike | Sequence[ScenarioLike]) -> list[_core.Layer]:
    """The layers of a scenario; later ones win."""
    if isinstance(scenario, (str, Path, Mapping, Text)):
        return [layer(scenario)]
    if not isinstance(scenario, Sequence) or isinstance(scenario, (bytes, bytearray, memoryview)):
        raise ScenarioError(f"{shown(scenario)}: {_KINDS}")
    if not scenario:
        raise ScenarioError("an empty list of scenarios; give at least one")
    return [layer(each) for each in scenario]


def override_list(overrides: Overrides | None) -> list[tuple[str, str]]:
    """Overrides as the texts that `--set` takes."""
    if overrides is None:
        return []
    try:
        pairs = [(name, value) for name, value in (overrides.items() if isinstance(overrides, Mapping) else overrides)]
    except (TypeError, ValueError) as error:
        raise ScenarioError(f"overrides = {shown(overrides)}: must be a table, or pairs of name and value") from error
    for name, _ in pairs:
        if not isinstance(name, str):
            raise ScenarioError(f"overrides: {shown(name)}: must be the dotted name of a setting")
    return [override_of(name, value) for name, value in pairs]


def whole(
    scenario: ScenarioLike | Sequence[ScenarioLike], overrides: Overrides | None, policies: Policies | None
) -> tuple[list[_core.Layer], list[tuple[str, str]], dict[str, Maker]]:
    """The layers of a scenario, its single settings, and its decisions that are code at hand."""
    settings: list[tuple[str, str]] = []
    makers: dict[str, Maker] = {}
    if policies:
        from outlast.policies import policy_settings

        settings, makers = policy_settings(policies)
    return layers(scenario), [*override_list(overrides), *settings], makers


def run(
    scenario: ScenarioLike | Sequence[ScenarioLike],
    overrides: Overrides | None = None,
    *,
    seed: int | None = None,
    progress: Progress | bool | None = None,
    any_memory: bool = False,
    log_near: Path | None = None,
    policies: Policies | None = None,
) -> Result:
    """Runs a scenario: a preset's name, a file's path, settings as a dictionary, or a list of these (later ones win).

    `seed` wins over that of the scenario. `progress=True` shows a bar; a function is called as `Progress` says.
    Ctrl-C stops within a second and gives a result marked `partial`; a second one raises `KeyboardInterrupt`. Other
    Python threads go on while it runs.
    A run that needs more memory than is free is refused, unless `any_memory` says otherwise.
    The log of requests, where `run.log` names one, is `Result.log`; it is written with the result, or here where its
    path is absolute. Until then its rows are in a folder of their own in `log_near`, or where temporary files go.
    `policies` are decisions of your own by name (`outlast.policies`); the result keeps their code.
    """
    from outlast import requests
    from outlast.notebook import bar

    chosen, changes, makers = whole(scenario, overrides, policies)
    changes += [] if seed is None else [override_of("seed", seed)]
    toml = _core.resolve(chosen, changes, "toml")
    check_limits(toml, scenario)
    if not any_memory:
        memory.check(_core.validate(chosen, changes, makers, runs_code=True))
    log = requests.of_scenario(toml, log_near)
    with bar.of_run(progress) as tell:
        done = _core.run(chosen, changes, tell, log.take if log else None, makers)
    return result_of(done, toml, log, makers)


def result_of(done: _core.Ended, toml: str, log: RequestLog | None, makers: Mapping[str, Maker]) -> Result:
    """A result of what the core gives at the end of a run: summary, tables, and whether it was stopped."""
    # Before the import, which may bring polars and plotly: the figure is the simulator's.
    peak_mib = memory.peak_rss_mib()
    from outlast.result import Result
    from outlast.tables import LaterTables

    text, given, stopped = done
    tables = given if isinstance(given, dict) else LaterTables(given)
    summary = json.loads(text)
    summary["memory"]["peak_rss_mib"] = peak_mib
    # A key that readers count on is there even where it has nothing to say.
    summary["write_amplification"] = summary["write_amplification"] or dict.fromkeys(AMPLIFICATION)
    # Most scenarios have none, and to parse one takes longer than all else here.
    if "policies" in toml and (named := tomllib.loads(toml).get("policies")) is not None:
        from outlast.policies import records

        summary["policies"] = records(named, makers)
    if log and log.is_absolute:
        log.write(Path(log.name))
    return Result(summary, tables, toml, stopped=stopped and summary["partial"], log=log)


def snapshot(
    scenario: ScenarioLike | Sequence[ScenarioLike],
    file: str | Path,
    overrides: Overrides | None = None,
    *,
    progress: Progress | bool | None = None,
    any_memory: bool = False,
    policies: Policies | None = None,
) -> Path | None:
    """Prepares the drive or array of a scenario and writes it as it then is to `file`, whole or not at all.

    A scenario with the same `[device]` and `[array]` goes on from there: `[precondition] from = FILE`, or
    `outlast.restore`. `None` where `progress` or Ctrl-C stopped it: nothing has been written.
    """
    from outlast.notebook import bar
    from outlast.output import cannot_write, check_file, staged_file

    path = place_of(file)
    chosen, changes, makers = whole(scenario, overrides, policies)
    check_file(path)
    if not any_memory:
        memory.check(_core.validate(chosen, changes, makers, runs_code=True))
    with suppress(StoppedError), staged_file(path) as staging, bar.of_run(progress) as tell:
        try:
            if not _core.snapshot(chosen, changes, str(staging), tell, makers):
                raise StoppedError
        except OSError as error:
            raise cannot_write(path, error) from error
        return path
    return None


class StoppedError(Exception):
    """Preparing was stopped."""


def validate(
    scenario: ScenarioLike | Sequence[ScenarioLike], overrides: Overrides | None = None, *, load: bool = False
) -> int:
    """Checks a scenario as `run` would before it starts, files of the workload included; raises what is wrong.

    Builds no drive, and runs no code that `[policies]` names: it checks that the file is there and that the name could
    be one. With `load` it loads the code, which runs it. Returns a run's peak of memory in bytes, within 15 %.
    """
    chosen, changes = layers(scenario), override_list(overrides)
    runs_code = flag_of(load, "load", ScenarioError)
    peak = memory.process_bytes() + _core.validate(chosen, changes, runs_code=runs_code)
    check_limits(_core.resolve(chosen, changes, "toml"), scenario)
    return peak


def check_limits(toml: str, scenario: ScenarioLike | Sequence[ScenarioLike]) -> None:
    """Refuses limits of `[expect]` in a resolved scenario that no result can be judged by; the file's line is named."""
    # Most scenarios have none, and to parse one takes longer than the rest.
    if "[expect]" in toml:
        from outlast.expectations import check

        check(tomllib.loads(toml), [scenario] if isinstance(scenario, (str, Path, Mapping, Text)) else scenario)


def start_server(
    scenario: ScenarioLike | Sequence[ScenarioLike],
    overrides: Overrides | None = None,
    *,
    listen: str,
    speed: float | None = 1.0,
    spin: bool = False,
    export: str | None = None,
    **more: Unpack[ServeOptions],
) -> _core.Server:
    """Starts to serve the scenario's drive or array over NBD and returns at once: the drive is still being prepared.

    `listen` is `unix:PATH` or `tcp:ADDRESS:PORT`; anything but this machine needs TLS or `insecure`. `speed` is that
    of the clock on the wall; `None` is the virtual clock. `image` is the folder in which the drive is kept; of one that
    is there, the scenario may be left out (`[]`).
    """
    known = more.get("image") is not None and not isinstance(scenario, str | Path | Mapping | Text) and not scenario
    return _core.serve(
        [] if known else layers(scenario),
        override_list(overrides),
        listen=listen,
        speed=speed,
        spin=spin,
        export=export,
        **more,
    )


def resolve(scenario: ScenarioLike | Sequence[ScenarioLike], overrides: Overrides | None = None) -> dict[str, Any]:
    """The whole scenario with everything inherited and every default written out."""
    return dict(json.loads(_core.resolve(layers(scenario), override_list(overrides), "json")))


def presets() -> dict[str, str]:
    """The presets: a line on each by name; in a notebook a table."""
    known = {name: title for name, title, _ in _core.presets()}
    return Listing(known, ("preset", "what it is"), lambda name, title: (name, title))


def show_preset(name: str) -> str:
    """The text of a preset's scenario file, with the source of each number."""
    known = {preset: text for preset, _, text in _core.presets()}
    if name_of(name, "a preset", ScenarioError) not in known:
        near = difflib.get_close_matches(name, known, n=1, cutoff=0.5)
        hint = f'did you mean "{near[0]}"?' if near else f"there are {', '.join(known)}"
        raise ScenarioError(f'no preset "{name}"; {hint}')
    return known[name]
