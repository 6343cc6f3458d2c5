"""Are the names of settings complete, typed, explained and usable as overrides?"""

from __future__ import annotations

import importlib.util
import inspect
import json
import pickle
import re
import subprocess
import sys
from pathlib import Path
from typing import Any

import pytest

import outlast
from conftest import ROOT, Outlast
from outlast import setting, settings
from outlast.differences import flatten


def test_the_stub_is_of_this_schema() -> None:
    spec = importlib.util.spec_from_file_location("make_settings", ROOT / "docs" / "make_settings.py")
    assert spec is not None and spec.loader is not None
    made = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(made)
    committed = made.STUB.read_text()
    same = committed == made.stub()  # two texts of a thousand lines are not worth a comparison
    assert same, "python/outlast/settings.pyi is out of date: run make schema"
    assert committed.count("\nclass ") > 40


def test_every_setting_of_a_scenario_is_there() -> None:
    known = setting._all()
    for preset in ("demo", "die-repair", "pm1643-raid5", "micron-7450-max-800g"):
        used = {name.replace("[0]", "") for name in flatten(outlast.resolve(preset))}
        # Tables in lists, and chips' and error models' own columns, are values.
        unknown = {name for name in used if name not in known and not re.search(r"\[\d+\]|^faults|^changes", name)}
        assert not unknown, unknown


MOST_SETTINGS = 369
"""Settings that take a value. One more has a committed scenario that needs it, or takes the place of another.

281, and `workload.trace.streams`, `device.hazards.by_age` and `age`, `policies.predict`,
`array.limited_retry` and `device.reliability.limited_retries`,
`device.ftl.gc.token.rate`, and `device.controller.pauses.every` and `length`, the three of `device.placement`,
`namespace`, `expect`, the eight of `workload.trace.columns`, of which the example `trace-columns` sets each, the ten of
`device.zones` with the twelve of `workload.zoned`, the three of `device.zones.random_write` with
`workload.zoned.rewrite_percent`, of which the example `random-write-areas` sets each,
`device.controller.command_costs.append`, the eleven of
`device.slc_cache`, the three of `device.ftl.map_cache`, which the example `map-cache` sets, and the nine of
`device.energy` with the ten of `device.heat`, of which the example `heat` sets each, and the two of
`device.ftl.two_pass`, which the example `qlc-two-pass` sets, `device.timing.suspend.program_phase` of `wd-zn540`, and
`workload.fio.time_slice` of the scenarios `zn540/resets`.
"""


def test_settings_do_not_grow_unnoticed() -> None:
    leaves = [name for name, each in setting._all().items() if not setting.vars_of(each)]
    assert len(leaves) <= MOST_SETTINGS, "more settings: what needs it, and which one may go?"
    assert len(leaves) == MOST_SETTINGS, "fewer settings: MOST_SETTINGS may fall, too"


def test_the_reference_says_when_one_would_set_each() -> None:
    spec = importlib.util.spec_from_file_location("settings_reference", ROOT / "docs" / "settings_reference.py")
    assert spec is not None and spec.loader is not None
    pages = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(pages)
    leaves = {name for name, each in setting._all().items() if not setting.vars_of(each)}
    assert pages.when().keys() == leaves, "docs/when.toml is of other settings"
    assert all(pages.when().values())


def test_a_setting_is_a_key_of_overrides() -> None:
    gc = settings.device.ftl.gc
    assert gc.policy == "device.ftl.gc.policy" and isinstance(gc.policy, str)
    resolved = outlast.resolve("demo", {gc.policy: "fifo", settings.seed: 7})
    assert resolved["device"]["ftl"]["gc"]["policy"] == "fifo" and resolved["seed"] == 7
    assert json.dumps({gc.policy: 1}) == '{"device.ftl.gc.policy": 1}'
    assert type(pickle.loads(pickle.dumps(gc.policy))) is str
    # Names that Python has for itself: a method of texts, and a keyword.
    assert settings.workload.trace.format == "workload.trace.format"
    assert settings.precondition.from_ == "precondition.from"


def test_a_setting_is_explained() -> None:
    policy = inspect.getdoc(settings.device.ftl.gc.policy)
    assert policy is not None
    assert policy.startswith('Which superblock is collected next.\nDefault: "greedy".\n- greedy: ')
    assert "- cost-benefit: " in policy
    assert "\n- at: " in (settings.faults.__doc__ or "")  # of a list of tables, what each has
    assert all(each.__doc__ for each in setting._all().values()), "a setting without a word on it"
    assert dir(settings.device.ftl.gc) == sorted(setting.vars_of(settings.device.ftl.gc))
    assert "device" in dir(settings) and "Which superblock is collected next." in settings.device.ftl.gc._repr_html_()


OLD = """\
extends = "demo"  # the base

[run]
histogram_digits = 3
max_windows = 64

[device]
hazards = { die_per_year = 0.5 }
"""
NEW = """\
extends = "demo"  # the base

[run]

[device]
hazards = { per_year.die = 0.5 }
"""


def test_a_setting_of_an_earlier_version_is_refused_and_migrated(outlast: Outlast, tmp_path: Path) -> None:
    old = tmp_path / "old.toml"
    old.write_text(OLD)

    def refused(*words: str) -> str:
        done = outlast(*words, check=False)
        assert done.returncode == 2 and not done.stdout
        return done.stderr

    said = refused("validate", "old.toml")
    advice = "(`outlast scenario migrate` rewrites a file)"
    assert (
        f"old.toml:8: device.hazards.die_per_year: is no setting any more: write device.hazards.per_year.die {advice}"
        in said
    )
    assert f"old.toml:5: run.max_windows: is no setting any more: it is always 10000 now {advice}" in said
    migrated = outlast("scenario", "migrate", "old.toml")
    assert migrated.stdout == NEW
    assert migrated.stderr == "old.toml:5: run.max_windows = 64: went; it is always 10000 now\n"
    assert outlast("scenario", "migrate", "old.toml", "--in-place").stdout == ""
    assert old.read_text() == NEW
    outlast("validate", "old.toml")
    (tmp_path / "not.toml").write_text("a = [")
    assert "not.toml:1: not valid TOML" in refused("scenario", "migrate", "not.toml")
    assert "cannot be read" in refused("scenario", "migrate", "none.toml")


@pytest.mark.parametrize(
    ("expression", "says"),
    [
        ("settings.device.ftl.gc.polcy", "no setting 'device.ftl.gc.polcy'; did you mean device.ftl.gc.policy?"),
        (
            "settings.device.geometry.numChannels",
            "no setting 'device.geometry.numChannels'; did you mean device.geometry.channels or device.timing.channel?",
        ),
        ("settings.devcie", "no setting 'devcie'; did you mean device?"),
        ("settings.gc", "no setting 'gc'; did you mean policies.gc or device.ftl.gc?"),
        ("settings.seed.value", "no setting 'seed.value'; seed has no others in it"),
        ("outlast.settings.run.zzzz", "no setting 'run.zzzz'; there are ageing, capacity_scale, "),
    ],
)
def test_a_misspelt_setting_says_what_was_meant(expression: str, says: str) -> None:
    with pytest.raises(AttributeError, match=f"^{re.escape(says)}"):
        eval(expression, {"settings": settings, "outlast": outlast})


def test_choices_are_those_that_the_program_takes() -> None:
    names = [name for name in setting._all() if setting.choices(name)]
    assert {"device.ftl.gc.policy", "run.causes", "workload.trace.format"} <= set(names)
    for choice in setting.choices("device.ftl.gc.policy"):
        outlast.resolve("demo", {settings.device.ftl.gc.policy: choice})
    with pytest.raises(outlast.ScenarioError):
        outlast.resolve("demo", {settings.device.ftl.gc.policy: "none-of-these"})


def test_a_type_checker_knows_every_setting(tmp_path: Path) -> None:
    program = tmp_path / "program.py"
    program.write_text(
        "import outlast\nfrom outlast import settings\n"
        'outlast.run("demo", {settings.device.ftl.gc.policy: "fifo", outlast.settings.seed: 1})\n'
        "settings.device.ftl.gc.polcy\nsettings.devcie\nsettings.seed.value\n"
    )
    command = [sys.executable, "-m", "mypy", "--strict", "--no-error-summary", str(program)]
    done: Any = subprocess.run(command, cwd=ROOT, text=True, capture_output=True)
    lines = [line.split(":", 2)[1] for line in done.stdout.splitlines() if "error:" in line]
    assert lines == ["4", "5", "6"], done.stdout + done.stderr
