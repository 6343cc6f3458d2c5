"""Does what a newcomer tries first work, or say in a line what does?"""

from __future__ import annotations

import json
from pathlib import Path
from typing import Any

import jsonschema
import pytest

from conftest import Outlast, files_below
from outlast import api, suspicious
from outlast.cli import COMMANDS, GROUPS
from outlast.errors import ScenarioError
from outlast.sweeps import figures
from outlast.sweeps.reading import read


def test_help_has_each_command_in_one_group(outlast: Outlast) -> None:
    grouped = [name for names in GROUPS.values() for name in names]
    assert sorted(grouped) == sorted(COMMANDS)
    text = outlast("--help").stdout
    assert [line.rstrip(":") for line in text.splitlines() if line.rstrip(":") in GROUPS] == list(GROUPS)


@pytest.mark.parametrize("group", ["presets", "model", "import", "scenario", "ctl", "trace", "image", "torture"])
def test_lists_of_commands_have_whole_sentences(outlast: Outlast, group: str) -> None:
    text = outlast(group, "--help").stdout
    assert "Commands:" in text and "..." not in text.partition("Commands:")[2].partition("Example")[0]


@pytest.mark.parametrize("command", ["run", "sweep", "report", "snapshot", "fit", "reproduce", "plot", "table"])
def test_every_command_that_writes_takes_the_same_option(outlast: Outlast, command: str) -> None:
    assert "-o, --out" in outlast(command, "--help").stdout


@pytest.mark.parametrize("ending", ["pdf", "svg", "csv"])
def test_a_report_is_not_written_under_the_name_of_something_else(
    outlast: Outlast, tmp_path: Path, tiny: Path, ending: str
) -> None:
    outlast("run", tiny, "-o", tmp_path / "result", "--quiet")
    before = files_below(tmp_path)
    done = outlast("report", tmp_path / "result", "-o", tmp_path / f"x.{ending}", check=False)
    assert done.returncode == 2 and "name it x.html" in done.stderr and done.stderr.count("\n") == 1
    assert files_below(tmp_path) == before


def test_an_option_of_another_program_is_answered_with_ours(outlast: Outlast) -> None:
    for option, answer in (("--threads", "run.threads=N"), ("--jobs", "--jobs"), ("--op", "over_provisioning")):
        done = outlast("run", "demo", option, "3", check=False)
        assert done.returncode == 2 and answer in done.stderr and done.stderr.count("\n") == 1, done.stderr


def test_a_job_file_as_a_sweep_is_said_to_be_no_toml(outlast: Outlast, tmp_path: Path) -> None:
    (tmp_path / "j.fio").write_text("[job]\nrw=read\n")
    done = outlast("sweep", tmp_path / "j.fio", check=False)
    assert done.returncode == 2 and "not valid TOML" in done.stderr


def test_a_percentage_that_looks_like_a_share_gets_a_note(outlast: Outlast, tiny: Path) -> None:
    done = outlast("validate", tiny, "--set", "workload.synthetic.read_percent=0.7")
    assert "read_percent = 0.7 is 0.7 %; for 70 %, write 70" in done.stderr
    assert outlast("validate", tiny).stderr == ""
    phased = {"workload": {"synthetic": {"read_percent": 70, "phases": [{"trim_percent": 0.05}]}}}
    assert suspicious.notes(phased) == ["workload.synthetic.phases[0].trim_percent = 0.05 is 0.05 %; for 5 %, write 5"]
    assert "for 2.8 %, write 0.028" in suspicious.notes({"device": {"ftl": {"over_provisioning": 2.8}}})[0]


CONFLICTS = {
    'extends = "demo"\n[device.geometry]\npage_size = "15KiB"\n': (
        "c.toml:3: device.geometry.page_size",
        "preset demo:",
    ),
    'extends = "demo"\n[run]\nwarm_up = "100s"\n': (
        "c.toml:3: run.warm_up",
        "workload.synthetic.duration = 20s (preset demo:",
    ),
    'extends = "array-raid5-5"\n[array]\nmembers = 2\n': (
        "c.toml:3: array.members = 2",
        "array.member[0].device = 5 (preset ",
    ),
    'extends = "msapl-128g"\n[device.geometry]\nchannels = 4\n': ("c.toml:3: device.geometry.channels = 4", "capacity"),
    'extends = "micron-7450-max-800g"\n[device.ftl]\nmulti_plane = false\none_shot = 5\n': (
        "c.toml:4: device.ftl.one_shot = 5",
        "2112",
    ),
}
"""Files that extend a preset and contradict it: where the message is placed, and what of the preset it names."""


@pytest.mark.parametrize("text", CONFLICTS)
def test_a_conflict_with_a_preset_is_placed_in_the_file_that_made_it(
    outlast: Outlast, tmp_path: Path, text: str
) -> None:
    (tmp_path / "c.toml").write_text(text)
    done = outlast("validate", "c.toml", check=False)
    place, other = CONFLICTS[text]
    assert done.returncode == 2 and done.stderr.count("\n") == 1, done.stderr
    assert done.stderr.startswith(f"error: {place}") and "does not go with" in done.stderr and other in done.stderr


def test_settings_that_only_together_contradict_a_preset_are_all_named(outlast: Outlast, tmp_path: Path) -> None:
    # Half of the channels and half of the dies: each alone leaves too little space, and so does the other.
    (tmp_path / "c.toml").write_text('extends = "msapl-128g"\n[device.geometry]\nchannels = 4\npages_per_block = 64\n')
    said = outlast("validate", "c.toml", check=False).stderr
    assert (
        "c.toml:3: device.geometry.channels = 4" in said and "device.geometry.pages_per_block = 64 (c.toml:4)" in said
    )


def test_an_error_placed_in_a_preset_names_what_was_set(outlast: Outlast, tmp_path: Path) -> None:
    done = outlast("run", "demo", "--set", "device.geometry.page_size=15KiB", "--set", "seed=3", check=False)
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert "must divide the page size, 15KiB" in done.stderr
    assert done.stderr.startswith("error: --set: device.geometry.page_size = "), done.stderr
    # Where the fault is in what was written, its place says so.
    (tmp_path / "mine.toml").write_text('extends = "demo"\n[workload.trace]\nfile = "nofile"\n')
    for arguments, place in (
        (("demo", "--set", "device.geometry.channels=0"), "--set: device.geometry.channels = 0"),
        (("mine.toml", "--set", "seed=3"), "mine.toml:3: nofile: cannot be opened"),
    ):
        done = outlast("run", *arguments, check=False)
        assert place in done.stderr and "(with" not in done.stderr, done.stderr


def test_a_trace_without_a_drive_or_a_file_is_told_so(outlast: Outlast, tmp_path: Path) -> None:
    (tmp_path / "t.csv").write_text("128166372003061629,hm,0,Read,0,4096,1331\n")
    for command, says in (
        (("run", "--trace", tmp_path / "t.csv"), "name a drive for it, such as --preset demo"),
        (("run", "demo", "--trace", tmp_path / "none.csv"), "none.csv: there is no such file"),
    ):
        done = outlast(*command, check=False)
        assert done.returncode == 2 and says in done.stderr and done.stderr.count("\n") == 1, done.stderr


def test_an_unsorted_trace_is_said_to_go_back_by_what_its_columns_say(outlast: Outlast, tmp_path: Path) -> None:
    rows = [f"12816637200{last}061629,hm,0,Read,0,4096,1331\n" for last in (4, 2)]
    (tmp_path / "t.csv").write_text("".join(rows))
    done = outlast("trace", "info", "t.csv", check=False)
    # Two million of MSR's ticks of 100 ns, not a time since 1601 that no column has.
    assert done.returncode == 2 and "t.csv, line 2: time runs backwards by 200000000 ns;" in done.stderr, done.stderr


def test_a_spare_factor_that_looks_like_a_percentage_gets_a_note(outlast: Outlast) -> None:
    assert "is 2800% of the user space" in outlast("model", "waf", "--spare", "28").stdout
    assert "of the user space" not in outlast("model", "waf", "--spare", "0.28").stdout


@pytest.mark.parametrize(
    ("name", "meant"),
    [("run.seed", "`seed`"), ("device.ftl.slc_cache", "`device.slc_cache`"), ("array.write_buffer", "write_buffer`")],
)
def test_a_setting_in_the_wrong_table_is_answered_with_its_place(outlast: Outlast, name: str, meant: str) -> None:
    done = outlast("validate", "demo", "--set", f"{name}=1", check=False)
    assert done.returncode == 2 and f"{name}: unknown setting; did you mean" in done.stderr and meant in done.stderr


def test_a_size_is_told_as_a_person_reads_it_and_kept_as_it_is_written(outlast: Outlast) -> None:
    wrong = outlast("validate", "demo", "--set", "device.ftl.capacity=12883720KiB", check=False)
    assert "device.ftl.capacity = 12883720KiB (12.29 GiB): " in wrong.stderr
    kept = outlast("validate", "demo", "--set", "device.ftl.capacity=3145732KiB", "--toml").stdout
    assert 'capacity = "3145732KiB"' in kept
    assert (
        "capacity = 12056328KiB (11.50 GiB): "
        in outlast("validate", "demo", "--set", "device.ftl.capacity=12345679872", check=False).stderr
    )


def test_fleet_plan_and_sweep_files_know_the_words_of_the_field(outlast: Outlast, tmp_path: Path) -> None:
    file = tmp_path / "f.toml"
    for command, text, meant in (
        ("fleet", "[topology]\nracks = 3\n", "cluster"),
        ("fleet", "[cluster]\nnumNodes = 3\n", "nodes"),
        ("fleet", "[code]\nk = 8\n", "code.data"),
        ("fleet", "[repair]\nmttr = 8\n", "repair.hours"),
        ("fleet", "[[bursts]]\nrate = 8\n", "bursts.per_year"),
        ("plan", "[disks]\ncount = 3\n", "drives"),
        ("plan", '[drives]\npreset = "demo"\nsize = "1TB"\n', "drives.capacity"),
        ("sweep", 'scenario = "demo"\n[[parameters]]\nkey = "seed"\n', "vary"),
        ("sweep", 'scenario = "demo"\n[[vary]]\nparameter = "seed"\n', "vary.setting"),
    ):
        file.write_text(text)
        done = outlast(command, file, check=False)
        assert done.returncode == 2 and f"did you mean `{meant}`?" in done.stderr, (text, done.stderr)


@pytest.mark.parametrize(
    ("text", "command"),
    [
        ("[cluster]\nracks = 3\n[drive]\nafr = 0.01\n", "fleet"),
        ('years = 5\n[drives]\npreset = "demo"\n', "plan"),
        ('scenario = "demo"\n[[vary]]\nsetting = "seed"\nvalues = [1]\n', "sweep"),
        ("[sheet]\nread = 6800\n", "fit"),
    ],
)
def test_a_file_for_another_command_is_told_so(outlast: Outlast, tmp_path: Path, text: str, command: str) -> None:
    (tmp_path / "mine.toml").write_text(text)
    done = outlast("run", "mine.toml", check=False)
    assert done.returncode == 2 and done.stderr.count("\n") == 1
    assert f"not a scenario, but a file for outlast {command}: outlast {command} mine.toml" in done.stderr


def test_what_is_made_can_be_printed_as_json(outlast: Outlast, tmp_path: Path, tiny: Path) -> None:
    made = json.loads(outlast("snapshot", tiny, "-o", tmp_path / "s.outlast", "--json").stdout)
    assert made["schema"] == "outlast-snapshot/1" and made["bytes"] == (tmp_path / "s.outlast").stat().st_size
    run = ("torture", "record", "--fs", "none", "--json", "-o", tmp_path / "r.outlast", "--", "false")
    done = outlast(*run, check=False)
    recorded = json.loads(done.stdout)
    assert done.returncode == recorded["exit"] == 1 and recorded["command"] == ["false"]
    refused = outlast("fit", "--json", "--curve", tmp_path / "x.csv", check=False)
    assert refused.returncode == 2 and "--json: not with --curve" in refused.stderr


@pytest.mark.parametrize("wrong", [5, 2.5, object()])
def test_what_is_no_scenario_is_refused_as_one(wrong: Any) -> None:
    with pytest.raises(ScenarioError, match="a scenario is the name of a preset, a path, a table, or a list"):
        api.layers(wrong)


def test_results_have_json_schemas_that_they_satisfy(outlast: Outlast, tiny: Path) -> None:
    result = json.loads(outlast("run", tiny, "--json").stdout)
    schema = json.loads(outlast("schema", "--of", "result.json").stdout)
    check = jsonschema.Draft202012Validator(schema)
    check.check_schema(schema)
    assert list(check.iter_errors(result)) == []
    assert [error.json_path for error in check.iter_errors(result | {"seed": "one"})] == ["$.seed"]
    del result["throughput"]
    assert ["throughput" in error.message for error in check.iter_errors(result)] == [True]
    assert json.loads(outlast("schema", "--of", "sweep.json").stdout)["type"] == "object"


def test_a_front_is_over_the_figures_that_a_sweep_asks_for() -> None:
    sweep = {"scenario": "demo", "vary": [{"setting": "seed", "values": [1, 2]}]}
    assert read(sweep).pareto == figures.FRONT
    asked = ["latency_us.read.p99_9", "throughput.iops", "gc.victims", "array.data_loss.per_year"]
    wanted = (
        ("latency_us.read.p99_9", "lowest"),
        ("throughput.iops", "highest"),
        ("array.data_loss.per_year", "lowest"),
    )
    assert read(sweep | {"figures": asked}).pareto == wanted
    # One figure, or none with a better end, makes no front.
    assert read(sweep | {"figures": ["write_amplification.total"]}).pareto == ()
    assert read(sweep | {"figures": ["gc.victims"]}).pareto == ()
