"""Does each command do what its help says?"""

from __future__ import annotations

import json
import re
import shutil
import subprocess
import tomllib
from pathlib import Path

import polars as pl
import pytest

from conftest import WEAK, Outlast, files_below, summary_of
from outlast.cli import COMMANDS

ROOT = Path(__file__).resolve().parent.parent

FILES = {"result.json", "timeseries.parquet", "latency.parquet", "wear.parquet", "scenario.toml", "report.html"}


def test_help_names_every_command_and_gives_examples(outlast: Outlast) -> None:
    text = outlast("--help").stdout
    for command in COMMANDS:
        assert f"  {command} " in text
        own = outlast(command, "--help").stdout
        assert own.startswith(f"Usage: outlast {command}")
        if command != "trace":
            assert "Example" in own, command
    for command in ("info", "convert"):
        assert "Example" in outlast("trace", command, "--help").stdout


def test_help_loads_nothing_heavy() -> None:
    import sys

    script = (
        "import sys\nfrom outlast.cli import cli\n"
        "try: cli.main(['--help'], prog_name='outlast')\nexcept SystemExit: pass\n"
        "heavy = {'polars', 'plotly', 'numpy', 'rich', 'outlast._core'} & set(sys.modules)\n"
        "print(heavy, file=sys.stderr)"
    )
    done = subprocess.run([sys.executable, "-c", script], capture_output=True, text=True, check=True)
    assert done.stderr.strip() == "set()"


def test_no_arguments_shows_the_help(outlast: Outlast) -> None:
    done = outlast(check=False)
    assert done.returncode == 2
    assert "Simulate:" in done.stdout + done.stderr


def test_version(outlast: Outlast) -> None:
    import outlast as package

    told = outlast("--version").stdout
    assert re.fullmatch(rf"outlast {re.escape(package.__version__)}( \(\S+\))?\n", told)
    if (ROOT / ".git").exists() and shutil.which("git"):
        head = subprocess.run(["git", "-C", ROOT, "rev-parse", "HEAD"], capture_output=True, text=True).stdout
        assert head.startswith(told.split("(")[1].rstrip("+)\n")), told


def test_a_package_names_the_commit_that_it_is_made_of(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    from outlast import version

    written = tmp_path / "_commit.txt"
    monkeypatch.setattr(version, "WRITTEN", written)
    monkeypatch.setattr(version, "HERE", tmp_path / "site-packages" / "outlast")
    assert version.commit() is None
    written.write_text("0123456789\n")
    assert version.commit() == "0123456789"
    assert version.named().endswith(" (0123456789)")


def test_run_writes_a_whole_folder(tiny_result: Path) -> None:
    assert {path.name for path in tiny_result.iterdir()} >= FILES
    assert {path.name for path in tiny_result.parent.iterdir()} == {"tiny.toml", "out"}
    assert "<html" in (tiny_result / "report.html").read_text()[:100]
    for table in ("timeseries", "latency", "wear"):
        assert pl.read_parquet(tiny_result / f"{table}.parquet").height > 0


def test_the_written_scenario_gives_the_result_again(tiny_result: Path, outlast: Outlast) -> None:
    from outlast.differences import VARYING, flatten

    again = json.loads(outlast("run", tiny_result / "scenario.toml", "--json").stdout)
    first, second = flatten(summary_of(tiny_result)), flatten(again)
    assert {k: v for k, v in first.items() if k not in VARYING} == {k: v for k, v in second.items() if k not in VARYING}


def test_json_is_all_of_standard_output(outlast: Outlast, tiny: Path, tmp_path: Path) -> None:
    done = outlast("run", "tiny.toml", "--json", "--seed", "42")
    summary = json.loads(done.stdout)
    assert summary["schema"] == "outlast-result/1"
    assert summary["seed"] == 42
    assert summary["scenario"]["seed"] == 42
    assert done.stderr == ""
    assert files_below(tmp_path) == {Path("tiny.toml")}


def test_the_summary_for_people(outlast: Outlast, tiny: Path) -> None:
    text = outlast("run", "tiny.toml").stdout
    for part in ("tiny", "IOPS", "write amplification", "99.99 %", "steady state"):
        assert part in text


def test_overrides_win_in_order(outlast: Outlast, tiny: Path) -> None:
    scenario = outlast("validate", "tiny.toml", "--set", "seed=3", "--set", "seed=4", "--json").stdout
    assert json.loads(scenario)["seed"] == 4
    scenario = outlast("validate", "tiny.toml", "--set", "seed=3", "--seed", "5", "--toml").stdout
    assert tomllib.loads(scenario)["seed"] == 5


def test_force_replaces_an_earlier_result(outlast: Outlast, tiny: Path, tmp_path: Path) -> None:
    outlast("run", "tiny.toml", "--out", "out", "--quiet")
    outlast("run", "tiny.toml", "--out", "out", "--quiet", "--force", "--seed", "9")
    assert summary_of(tmp_path / "out")["seed"] == 9
    assert {path.name for path in tmp_path.iterdir()} == {"tiny.toml", "out"}


def test_presets_can_be_listed_shown_and_checked(outlast: Outlast, tmp_path: Path) -> None:
    titles = json.loads(outlast("presets", "--json").stdout)
    assert {"demo", "hrm-200g", "msapl-128g", "x25m-80g", "pm1643-4t"} <= set(titles)
    listing = outlast("presets").stdout
    for name in titles:
        assert name in listing
        (tmp_path / "copy.toml").write_text(outlast("presets", "show", name).stdout)
        assert outlast("validate", "copy.toml", "--json").stdout == outlast("validate", name, "--json").stdout


def test_schema_accepts_what_runs_and_refuses_what_does_not(outlast: Outlast) -> None:
    import jsonschema

    schema = json.loads(outlast("schema").stdout)
    checker = jsonschema.Draft202012Validator(schema)
    checker.check_schema(schema)
    for name in json.loads(outlast("presets", "--json").stdout):
        checker.validate(tomllib.loads(outlast("presets", "show", name).stdout))
    checker.validate(tomllib.loads(WEAK))
    checker.validate({"faults": [{"at": "1s", "kind": "die", "die": 0}], "run": {"ageing": [{"at": 0, "by": "1d"}]}})
    assert not checker.is_valid({"device": {"geometry": {"chanels": 2}}})
    assert not checker.is_valid({"device": {"reliability": {"model": {"form": "powerlaw"}}}})
    assert not checker.is_valid({"faults": [{"at": "1s", "kind": "dye"}]})


def test_trace_info_and_convert(outlast: Outlast, tmp_path: Path) -> None:
    rows = [f"{1000 * i},{'RW'[i % 2]}" for i in range(100)]
    lines = [f"0,{row[1]},{8192 * i},4096,{row[0]}" for i, row in enumerate(r.split(",") for r in rows)]
    (tmp_path / "a.csv").write_text("\n".join(lines) + "\n")
    info = json.loads(outlast("trace", "info", "a.csv", "--format", "alibaba", "--json").stdout)
    assert (info["records"], info["reads"]["count"], info["writes"]["bytes"]) == (100, 50, 50 * 4096)
    assert "100 requests" in outlast("trace", "info", "a.csv", "--format", "alibaba").stdout
    done = outlast("trace", "convert", "a.csv", "b.iolog", "--format", "alibaba", "--to", "fio-iolog")
    assert "100 requests" in done.stderr
    again = json.loads(outlast("trace", "info", "b.iolog", "--json").stdout)
    assert again["format"] == "fio-iolog"
    for kind in ("reads", "writes"):
        assert again[kind] == info[kind]


def written_trace(folder: Path) -> Path:
    """A trace of MSR's form."""
    file = folder / "m.csv"
    rows = (f"{128166372003061629 + 10_000 * i},web,0,Write,{8192 * i},4096,100\n" for i in range(20))
    file.write_text("".join(rows))
    return file


@pytest.mark.parametrize("output", ["m.csv", "./m.csv", "linked.csv", "hard.csv"])
def test_a_trace_is_not_converted_into_itself(outlast: Outlast, tmp_path: Path, output: str) -> None:
    trace = written_trace(tmp_path)
    (tmp_path / "linked.csv").symlink_to("m.csv")
    (tmp_path / "hard.csv").hardlink_to(trace)
    before = trace.read_text()
    done = outlast("trace", "convert", "m.csv", output, "--to", "spc", check=False)
    assert (done.returncode, done.stdout) == (2, "")
    assert done.stderr == f"error: {Path(output)}: is read by this command; name another file\n"
    assert trace.read_text() == before and (tmp_path / "linked.csv").is_symlink()


def test_the_trace_of_an_image_replaces_no_file_of_it(outlast: Outlast, tmp_path: Path) -> None:
    image = tmp_path / "disk.outlast"
    image.mkdir()
    (image / "log").write_text("kept")
    done = outlast("image", "trace", image.name, "disk.outlast/log", check=False)
    assert done.returncode == 2 and "disk.outlast/log: is in disk.outlast, which is read by this command" in done.stderr
    assert (image / "log").read_text() == "kept"


@pytest.mark.parametrize("to", ["xyz", "fiu", "auto", "SPC", ""])
def test_a_format_that_cannot_be_written_is_refused_with_those_that_can(
    outlast: Outlast, tmp_path: Path, to: str
) -> None:
    from outlast.traces import WRITTEN

    written_trace(tmp_path)
    done = outlast("trace", "convert", "m.csv", "new", "--to", to, check=False)
    assert (done.returncode, done.stderr.count("\n")) == (2, 1)
    assert f'format to write = "{to}": ' in done.stderr and f"one of {', '.join(WRITTEN)}\n" in done.stderr.lower()
    assert not (tmp_path / "new").exists()


def test_the_formats_that_can_be_written_are_those_of_the_core(outlast: Outlast, tmp_path: Path) -> None:
    from outlast import WorkloadError, _core
    from outlast.traces import WRITTEN

    spec = json.dumps({"file": str(written_trace(tmp_path))})
    with pytest.raises(WorkloadError) as error:
        _core.trace_convert(spec, "fiu", str(tmp_path / "new"))
    assert str(error.value).endswith(f"one of {', '.join(WRITTEN)}")
    for form in WRITTEN:
        assert form in outlast("trace", "convert", "--help").stdout
        outlast("trace", "convert", "m.csv", f"new.{form}", "--to", form)


@pytest.mark.parametrize(
    ("words", "name"),
    [("die 3 die=4", "die"), ("die 3 4", "die"), ("die 3 device=0 device=1", "device"), ("die kind=x", "kind")],
)
def test_a_field_of_a_fault_is_given_once(outlast: Outlast, words: str, name: str) -> None:
    done = outlast("ctl", "fault", *words.split(), check=False)
    assert done.returncode == 2 and f'"{words.split()[-1]}": {name} is given twice' in done.stderr, done.stderr


@pytest.mark.parametrize(
    "arguments", [("report", "{r}", "-o", "page.html"), ("report", "{r}", "{r}", "-o", "page.html")]
)
def test_report_of_one_and_of_several(
    outlast: Outlast, tiny_result: Path, tmp_path: Path, arguments: tuple[str, ...]
) -> None:
    outlast(*(part.format(r=tiny_result) for part in arguments))
    assert (tmp_path / "page.html").stat().st_size > 500_000


def test_compare_shows_settings_and_figures(outlast: Outlast, tiny: Path, tmp_path: Path) -> None:
    outlast("run", "tiny.toml", "--out", "a", "--quiet")
    outlast("run", "tiny.toml", "--out", "b", "--quiet", "--set", "device.ftl.gc.policy=fifo")
    difference = json.loads(outlast("compare", "a", "b", "--json").stdout)
    assert difference["settings"] == {"device.ftl.gc.policy": ["greedy", "fifo"]}
    row = difference["figures"]["write_amplification.total"]
    assert row["change"][0] == 0.0
    assert row["change"][1] == pytest.approx(row["values"][1] / row["values"][0] - 1)
    assert "time.cpu_s" not in difference["figures"]
    text = outlast("compare", "a", "b").stdout
    assert "device.ftl.gc.policy" in text
    assert "fifo" in text
    assert "no difference" in outlast("compare", "a", "a").stdout


def test_defects_are_one_line_and_exit_code_3(
    monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    from outlast import InternalError, foreign
    from outlast.cli.failures import INTERNAL, of_exception

    # A command is a process of its own; this one has believed what other tests read.
    monkeypatch.setattr(foreign, "_RELIED_ON", [])
    monkeypatch.delenv("OUTLAST_DEBUG", raising=False)
    for defect in (InternalError("index out of bounds (ftl.rs:1)"), KeyError("iops")):
        assert of_exception(defect) == INTERNAL
        message = capsys.readouterr().err
        assert message.startswith("error: internal error: ")
        assert "please report" in message
        assert message.count("\n") == 1
