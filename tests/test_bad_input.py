"""Is bad input refused with exit code 2 and one line that names place, value and limit, and is nothing left behind?"""

from __future__ import annotations

import gzip
import os
from pathlib import Path

import pytest

from conftest import Outlast, files_below

GOOD_ROWS = [f"{128166372003061629 + 10_000 * i},web,0,Write,{8192 * i},4096,100" for i in range(200)]


def refused(outlast: Outlast, folder: Path, *arguments: str | Path, says: list[str]) -> None:
    """The call must fail as bad input does, and leave the folder as it was."""
    before = files_below(folder)
    done = outlast(*arguments, check=False)
    assert done.returncode == 2, (done.returncode, done.stdout, done.stderr)
    assert done.stdout == ""
    lines = done.stderr.splitlines()
    assert len(lines) == 1, done.stderr
    assert lines[0].startswith("error: ")
    for part in says:
        assert part in lines[0], (part, lines[0])
    assert files_below(folder) == before


def changed(tiny: Path, old: str, new: str) -> int:
    """Changes a line of the scenario and returns its number."""
    text = tiny.read_text()
    assert old in text
    tiny.write_text(text.replace(old, new))
    return text[: text.index(old)].count("\n") + 1


def test_misspelt_key(outlast: Outlast, tmp_path: Path, tiny: Path) -> None:
    line = changed(tiny, "channels = 2", "chanels = 2")
    says = [f"tiny.toml:{line}", "device.geometry.chanels", "did you mean `channels`"]
    refused(outlast, tmp_path, "run", "tiny.toml", "--out", "out", says=says)
    refused(outlast, tmp_path, "validate", "tiny.toml", says=says)


def test_negative_size(outlast: Outlast, tmp_path: Path, tiny: Path) -> None:
    line = changed(tiny, 'page_size = "4KiB"', 'page_size = "-4KiB"')
    says = [f"tiny.toml:{line}", "device.geometry.page_size", "-4KiB"]
    refused(outlast, tmp_path, "run", "tiny.toml", "--out", "out", says=says)
    refused(outlast, tmp_path, "validate", "demo", "--set", "device.geometry.page_size=-1", says=["page_size", "-1"])


def test_value_beyond_its_limit(outlast: Outlast, tmp_path: Path, tiny: Path) -> None:
    line = changed(tiny, "channels = 2", "channels = 0")
    says = [f"tiny.toml:{line}", "device.geometry.channels = 0", "at least 1"]
    refused(outlast, tmp_path, "validate", "tiny.toml", says=says)


@pytest.mark.parametrize(
    ("old", "new", "says"),
    [
        (
            'chip = "tlc-72-layer"',
            'model = { form = "power-law", epsilon = 1e-3, alpha = -4e-10, beta = 0, gamma = 0, k = 2, m = 1, n = 1, '
            "p = 1, q = 1 }",
            ["device.reliability.model.alpha = -0.0000000004", "at least 0"],
        ),
        ('chip = "tlc-72-layer"', 'chip = "tlc-72"', ["device.reliability.chip = tlc-72", "tlc-72-layer"]),
        ("strength = 40", "strength = 4097", ["device.reliability.ecc.strength = 4097", "4096 bits of a codeword"]),
        ("scale_factor = 1.3", "scale_factor = 0.9", ["rereads.scale_factor = 0.9", "at least 1"]),
        ("data = 3", "data = 4", ["device.protection.data = 4", "5 dies wide", "has 4"]),
        ("data = 3", "data = 0", ["device.protection.data = 0", "at least 1"]),
        ("expected_errors = 38", "reads = 32", ["device.scrub.reads = 32", "32 pages of a block"]),
        ("expected_errors = 38", 'age = "1s"', ["device.scrub.age = 1s", "1433600us"]),
        ("expected_errors = 38", "", ["device.scrub = empty", "needs a trigger"]),
        ('age = ["1d", "60d"]', 'age = ["60d", "1d"]', ["initial.age = [60d, 1d]", "begin with the youngest"]),
    ],
    ids=lambda value: value if isinstance(value, str) and len(value) < 30 else "",
)
def test_settings_of_errors(outlast: Outlast, tmp_path: Path, weak: Path, old: str, new: str, says: list[str]) -> None:
    line = changed(weak, old, new)
    # A table that is refused as a whole is named by the line of its heading.
    line -= 1 if says[0] == "device.scrub = empty" else 0
    refused(outlast, tmp_path, "run", "weak.toml", "--out", "out", says=[f"weak.toml:{line}", *says])


@pytest.mark.parametrize(
    ("fault", "line", "says"),
    [
        ('at = "1s"\nkind = "die"\ndie = 4', 3, ["faults[0].die = 4", "less than 4"]),
        ('at = "1s"\nkind = "chip"\nchannel = 0\nchip = 1', 4, ["faults[0].chip = 1", "less than 1"]),
        ('at = "1s"\nkind = "plane"\ndie = 1', 0, ["faults[0].plane = absent", "plane"]),
        ('at = "1s"\nkind = "dye"', 2, ['faults[0].kind = "dye"', "did you mean `die`"]),
    ],
    ids=["die", "chip", "plane", "kind"],
)
def test_a_fault_where_there_is_nothing(
    outlast: Outlast, tmp_path: Path, weak: Path, fault: str, line: int, says: list[str]
) -> None:
    text = weak.read_text()
    weak.write_text(f"{text}\n[[faults]]\n{fault}\n")
    heading = text.count("\n") + 2
    refused(outlast, tmp_path, "run", "weak.toml", "--json", says=[f"weak.toml:{heading + line}", *says])


def test_rates_of_hazards_and_leaps_of_age(outlast: Outlast, tmp_path: Path, weak: Path) -> None:
    hazard, leap = "device.hazards.per_year.die", "run.ageing"
    refused(outlast, tmp_path, "run", "weak.toml", "--set", f"{hazard}=-1", says=[f"{hazard} = -1", "between 0 and"])
    say = [f"{leap}[0].by = 40000d", "1000d"]
    refused(outlast, tmp_path, "run", "weak.toml", "--set", leap + '=[{ at = "1s", by = "40000d" }]', says=say)


PROTECTION = "device.protection"


@pytest.mark.parametrize(
    ("settings", "says"),
    [
        ([f"{PROTECTION}.parity=3"], [f"{PROTECTION}.data = 3", "6 dies wide", "has 4"]),
        (
            [f"{PROTECTION}.data=250", f"{PROTECTION}.parity=6"],
            [f"{PROTECTION}.data = 250", "at most 255 members"],
        ),
        ([f"{PROTECTION}.classes=[{{parity=1}},{{parity=0}}]"], [f"{PROTECTION}.classes[1]", "has no stream"]),
        (
            [f'{PROTECTION}.classes=[{{ranges=[{{from="0B",to="4MiB"}}]}},{{ranges=[{{from="2MiB",to="8MiB"}}]}}]'],
            [f"{PROTECTION}.classes[1].ranges[0] = 2MiB", "overlaps", "ends at 4MiB"],
        ),
        ([f"{PROTECTION}.classes=[{{hints=[1]}},{{hints=[1]}}]"], [f"{PROTECTION}.classes[1].hints = 1", "twice"]),
        (
            [f'{PROTECTION}.classes=[{{ranges=[{{from="0B",to="17MiB"}}]}}]'],
            [f"{PROTECTION}.classes[0].ranges[0].to = 17MiB", "capacity of the drive, 16MiB"],
        ),
        ([f"{PROTECTION}.default_class=1"], [f"{PROTECTION}.default_class = 1", "number of classes, 1"]),
        ([f"{PROTECTION}.block=32"], [f"{PROTECTION}.block = 32", "give at most 31"]),
        (
            [f'{PROTECTION}.partial={{place="blocks"}}', "device.ftl.capacity=22MiB"],
            ["device.ftl.capacity = 22MiB", "open and held-back", "the drive has 64"],
        ),
        (["device.absent_dies=[4]"], ["device.absent_dies[0] = 4", "different dies below 4"]),
        (
            ["device.absent_dies=[3]", 'changes=[{at="1s",dies=[2]}]'],
            ["changes[0].dies[0] = 2", "one of device.absent_dies"],
        ),
        (['changes=[{at="1s",pe_cycles=3,parity=2}]'], ["changes[0]", "exactly one of at, pe_cycles"]),
        (['changes=[{at="1s"}]'], ["changes[0]", "data, parity or block", "or dies"]),
        (['changes=[{at="1s",class=1,parity=0}]'], ["changes[0].class = 1", "number of classes, 1"]),
        (['changes=[{at="1s",data=250,parity=9}]'], ["changes[0].data = 250", "at most 255 members"]),
    ],
    ids=lambda value: value[0][:50] if isinstance(value, list) else "",
)
def test_settings_of_protection(
    outlast: Outlast, tmp_path: Path, weak: Path, settings: list[str], says: list[str]
) -> None:
    assert weak.is_file()
    changes = [part for setting in settings for part in ("--set", setting)]
    refused(outlast, tmp_path, "run", "weak.toml", *changes, "--out", "out", says=says)


def test_not_toml(outlast: Outlast, tmp_path: Path, tiny: Path) -> None:
    tiny.write_text('name = "x"\nseed = = 1\n')
    refused(outlast, tmp_path, "run", "tiny.toml", "--json", says=["tiny.toml:2", "TOML"])


def test_unknown_preset_and_file(outlast: Outlast, tmp_path: Path) -> None:
    refused(outlast, tmp_path, "run", "--preset", "hrm-200", says=['"hrm-200"', "did you mean", "hrm-200g"])
    refused(outlast, tmp_path, "run", "none.toml", says=["none.toml", "No such file"])
    refused(outlast, tmp_path, "presets", "show", "dmo", says=['"dmo"', "did you mean", "demo"])


def test_override_without_value(outlast: Outlast, tmp_path: Path) -> None:
    refused(outlast, tmp_path, "run", "demo", "--set", "seed", says=['"seed"', "name=value"])
    refused(outlast, tmp_path, "run", "demo", "--set", "seed=many", says=["seed", "many"])


def test_spare_space_cannot_hold_the_open_superblocks(outlast: Outlast, tmp_path: Path, tiny: Path) -> None:
    changed(tiny, 'capacity = "26MiB"', 'capacity = "31.75MiB"')
    refused(outlast, tmp_path, "run", "tiny.toml", "--out", "out", says=["tiny.toml:16", "capacity = 32512KiB", "128"])
    refused(outlast, tmp_path, "validate", "tiny.toml", says=["superblock"])


def test_truncated_gzip(outlast: Outlast, tmp_path: Path, tiny: Path) -> None:
    whole = gzip.compress("\n".join(GOOD_ROWS).encode())
    (tmp_path / "cut.csv.gz").write_bytes(whole[: len(whole) // 2])
    says = ["cut.csv.gz", "line", "gzip", "truncated"]
    refused(outlast, tmp_path, "run", "tiny.toml", "--trace", "cut.csv.gz", "--out", "out", says=says)
    refused(outlast, tmp_path, "trace", "info", "cut.csv.gz", says=says)
    refused(outlast, tmp_path, "trace", "convert", "cut.csv.gz", "new.iolog", "--to", "fio-iolog", says=says)


def test_wrong_column(outlast: Outlast, tmp_path: Path, tiny: Path) -> None:
    rows = [*GOOD_ROWS]
    rows[119] = rows[119].replace("Write", "Wriet")
    (tmp_path / "column.csv").write_text("\n".join(rows))
    says = ["column.csv", "line 120", '"Wriet"', "Read"]
    refused(outlast, tmp_path, "run", "tiny.toml", "--trace", "column.csv", "--out", "out", says=says)


def test_times_that_run_backwards(outlast: Outlast, tmp_path: Path, tiny: Path) -> None:
    rows = [*GOOD_ROWS]
    rows[49], rows[50] = rows[50], rows[49]
    (tmp_path / "back.csv").write_text("\n".join(rows))
    says = ["back.csv", "line 51", "backwards", "sort"]
    refused(outlast, tmp_path, "run", "tiny.toml", "--trace", "back.csv", "--json", says=says)


def test_address_past_the_end(outlast: Outlast, tmp_path: Path, tiny: Path) -> None:
    rows = [*GOOD_ROWS]
    rows[149] = rows[149].replace(f",{8192 * 149},", f",{2**40},")
    (tmp_path / "far.csv").write_text("\n".join(rows))
    strict = ("--set", "workload.trace.addresses=strict")
    says = ["far.csv", "line 150", str(2**40 // 512), "capacity", "wrap"]
    refused(outlast, tmp_path, "run", "tiny.toml", "--trace", "far.csv", *strict, "--out", "out", says=says)


def test_output_below_a_file(outlast: Outlast, tmp_path: Path, tiny: Path) -> None:
    (tmp_path / "file").write_text("")
    says = ["file/out", "cannot be written"]
    refused(outlast, tmp_path, "run", "tiny.toml", "--out", "file/out", says=says)
    refused(outlast, tmp_path, "run", "tiny.toml", "--report", "file/page.html", says=["file/page.html"])
    refused(outlast, tmp_path, "run", "tiny.toml", "--out", "file", says=["not a folder"])


def test_read_only_output_folder(outlast: Outlast, tmp_path: Path, tiny: Path) -> None:
    locked = tmp_path / "locked"
    locked.mkdir(mode=0o555)
    # Root may write through any mode, but not everywhere: the kernel's own folder takes no new entries from anyone.
    target = "locked/out" if os.geteuid() != 0 else "/proc/outlast-result"
    refused(outlast, tmp_path, "run", "tiny.toml", "--out", target, says=[target, "cannot be written"])
    assert not Path(target).exists()


def test_output_that_would_be_overwritten(outlast: Outlast, tmp_path: Path, tiny: Path) -> None:
    folder = tmp_path / "full"
    folder.mkdir()
    (folder / "thesis.tex").write_text("years of work")
    refused(outlast, tmp_path, "run", "tiny.toml", "--out", "full", says=["full", "not empty"])
    refused(outlast, tmp_path, "run", "tiny.toml", "--out", "full", "--force", says=["no result.json"])


def test_results_that_cannot_be_read(outlast: Outlast, tmp_path: Path) -> None:
    (tmp_path / "result.json").write_text('{"schema": "outlast-result/99"}')
    refused(outlast, tmp_path, "report", ".", says=["result.json", "outlast-result/99", "outlast-result/1"])
    refused(outlast, tmp_path, "compare", "absent", "result.json", says=["absent", "No such file"])
    refused(outlast, tmp_path, "compare", "result.json", says=["two results"])


def test_misspelt_commands_and_options(outlast: Outlast, tmp_path: Path) -> None:
    refused(outlast, tmp_path, "runn", says=['"runn"', 'did you mean "run"'])
    refused(outlast, tmp_path, "run", "demo", "--sed", "1", says=["--sed"])
    refused(outlast, tmp_path, "run", says=["SCENARIO", "--preset"])
    refused(outlast, tmp_path, "run", "demo", "--format", "msr", says=["--trace"])


@pytest.mark.parametrize(
    ("setting", "says"),
    [
        ("array.parity_percent=[50, 20, 10, 10, 5]", ["array.parity_percent", "sum to 100", "95"]),
        ("array.parity_percent=[50, 50]", ["array.parity_percent", "each of the 5 members"]),
        ("array.members=1", ["array.members = 1", "between 2 and 64"]),
        ("array.chunk=1000", ["array.chunk = 1000B", "multiple of 512"]),
        ("array.member=[{device=7}]", ["array.member[0].device = 7", "less than 6"]),
        ("array.member=[{device=1, capacity='4GiB'}]", ["array.member[0].capacity = 4GiB", "raw capacity"]),
        ("faults=[{at='1s', kind='device', device=5}]", ["faults[0].device = 5", "less than 5"]),
        ("faults=[{at='1s', kind='device'}]", ["faults[0].device = absent", "needed"]),
        ("faults=[{at='1s', kind='die', die=0}]", ["faults[0].device = absent", "needed"]),
        ("faults=[{at='1s', kind='die', die=0, device=1, force=true}]", ["faults[0].force", "takes none"]),
    ],
)
def test_arrays_that_cannot_be(outlast: Outlast, tmp_path: Path, setting: str, says: list[str]) -> None:
    refused(outlast, tmp_path, "validate", "array-raid5-5", "--set", setting, says=says)
    refused(outlast, tmp_path, "run", "array-raid5-5", "--set", setting, "--json", says=says)


def test_faults_of_members_without_an_array(outlast: Outlast, tmp_path: Path) -> None:
    for fault in ("{at='1s', kind='device', device=0}", "{at='1s', kind='die', die=0, device=0}"):
        refused(outlast, tmp_path, "validate", "demo", "--set", f"faults=[{fault}]", says=["faults[0]", "no [array]"])


def test_the_only_copy_is_not_replaced(outlast: Outlast, tmp_path: Path) -> None:
    settings = ["array.level=raid0", "array.consistency=resync", "workload.synthetic.duration=2s"]
    settings.append("faults=[{at='1s', kind='replace', device=1}]")
    call = ["run", "array-raid5-5", *(part for setting in settings for part in ("--set", setting)), "--json"]
    refused(outlast, tmp_path, *call, says=["faults[0].device = 1", "only copy", "force"])


def test_the_smallest_member_decides_and_is_said(outlast: Outlast, tmp_path: Path) -> None:
    small = "array.member=[{device=1, capacity='512MiB'}]"
    done = outlast("run", "array-raid5-5", "--set", small, "--set", "workload.synthetic.duration=1s")
    assert "Members differ in size: 512MiB of each is used" in done.stdout


def test_a_folder_named_like_a_preset_does_not_hide_it(outlast: Outlast, tmp_path: Path) -> None:
    (tmp_path / "demo").mkdir()
    assert "demo: ok" in outlast("validate", "demo").stdout
    sweep = 'scenario = "demo"\nset = { run.warm_up = "0s", workload.synthetic.duration = "10ms" }\n'
    (tmp_path / "seeds.toml").write_text(sweep + '[[vary]]\nsetting = "seed"\nvalues = [1]\n')
    outlast("sweep", "seeds.toml", "--out", "seeds", "--quiet")
    assert (tmp_path / "seeds" / "sweep.json").exists()
    (tmp_path / "absent").mkdir()
    refused(outlast, tmp_path, "validate", "absent", says=["absent"])
