"""Does a plan say what its simulations measured and what the closed forms make of it, and refuse what cannot be?"""

from __future__ import annotations

import json
import math
from pathlib import Path
from typing import Any

import pytest

import outlast
from conftest import Outlast
from outlast import models, planning
from outlast.planning.figures import mean_time
from outlast.planning.trials import scaled_down, try_layout
from test_bad_input import refused

YEARS, HOURS = 5, 8760.0
PLAN = """\
name = "six"
years = 5
simulated = "300ms"
energy_price = 0.2

[drives]
preset = "drive.toml"
count = 6
capacity = "960GB"
price = 100
dwpd = 1
watts = 10

[workload]
written_per_day = "1TB"
size = "16KiB"
read_percent = 50

[[layout]]
level = "raid5"
[[layout]]
level = "raid6"
spares = 1
[[layout]]
level = "raid10"
"""
DRIVE = """\
extends = "demo"
[device.geometry]
channels = 2
dies_per_chip = 1
planes_per_die = 1
pages_per_block = 32
blocks_per_plane = 128
[device.ftl]
capacity = "112MiB"
"""


@pytest.fixture(scope="module")
def folder(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """A folder with a plan and its drive."""
    place = tmp_path_factory.mktemp("plan")
    (place / "six.toml").write_text(PLAN)
    (place / "drive.toml").write_text(DRIVE)
    return place


@pytest.fixture(scope="module")
def planned(folder: Path) -> planning.LayoutPlan:
    return planning.plan(folder / "six.toml")


def test_capacity_wear_and_price_follow_from_the_drives(planned: planning.LayoutPlan) -> None:
    drive, host = 960e9, 1e12
    # What a layout writes for each byte of the host: small writes to RAID-5 change one chunk of parity, to RAID-6 two.
    expected = {"RAID-5": (5, 6, 2), "RAID-6": (3, 5, 3), "RAID-10": (3, 6, 2)}
    for layout in planned.layouts:
        data, members, copies = expected[layout.name]
        assert layout.usable_bytes == data * drive
        # Neighbouring writes that are under way at once share parity.
        assert layout.member_written_per_day == pytest.approx(host * copies / members, rel=0.05)
        assert layout.dwpd_used == pytest.approx(layout.member_written_per_day / drive)
        used = layout.member_written_per_day * 365 * YEARS
        assert layout.dwpd_left == pytest.approx(1.0 - layout.dwpd_used)
        assert layout.tbw_left_bytes == pytest.approx(drive * 365 * YEARS - used)
        assert layout.energy_kwh == pytest.approx(6 * 10 * HOURS * YEARS / 1e3)
        paid = 600 + 0.2 * 6 * 10 * HOURS * YEARS / 1e3
        assert layout.price_per_tb_year == pytest.approx(paid / (data * 0.96) / YEARS)
        assert layout.failures == pytest.approx(6 * HOURS * YEARS / 1.5e6)


def test_the_risk_is_that_of_the_chains_at_the_simulated_rate(planned: planning.LayoutPlan) -> None:
    by_name = {layout.name: layout for layout in planned.layouts}
    for layout in planned.layouts:
        assert layout.rebuild_hours == pytest.approx(960e9 / (layout.rebuild_mib_s * 2**20) / 3600)
        assert 1.0 < layout.rebuild_mib_s <= 195.4
        assert (layout.rebuild_min_mib_s, layout.rebuild_max_mib_s) == pytest.approx((0.977, 195.3), rel=1e-3)
        assert layout.loss_in_period == pytest.approx(-math.expm1(-HOURS * YEARS / layout.mttdl_hours))
    raid5 = by_name["RAID-5"]
    failure = models.read_failure(1e-16, 5 * 960e9 * 8)
    chain = models.mttdl(6, 1, 1.5e6, raid5.rebuild_hours, parallel_repair=True, read_failure=failure)
    assert raid5.mttdl_hours == pytest.approx(float(chain))
    assert by_name["RAID-6"].loss_per_year < by_name["RAID-10"].loss_per_year < raid5.loss_per_year


@pytest.mark.parametrize("level", ["raid1", "raid4", "raid5", "raid6", "raid10"])
def test_the_chains_are_those_of_a_result(folder: Path, level: str) -> None:
    """A rebuild that ends within a run gives the same mean time to data loss in the run's own result."""
    table: dict[str, Any] = {
        "drives": {"preset": str(folder / "drive.toml"), "count": 4, "capacity": "960GB"},
        "simulated": "3s",
        "workload": {"written_per_day": "50GB", "size": "16KiB"},
        "layout": [{"level": level, "background": {"max_rate": "400MB/s", "min_rate": "400MB/s"}}],
    }
    spec = planning.read(table)
    (layout,) = spec.layouts
    trials = try_layout(spec, layout, scaled_down(spec))
    rebuilt = trials.rebuilding.summary
    assert rebuilt["array"]["rebuild"]["done"] == 1
    scale = 960e9 / trials.member_bytes
    scenario = rebuilt["scenario"] | {"precondition": {"overwrite": "none"}}
    loss = outlast.run(scenario, {"run.capacity_scale": scale}).summary["array"]["data_loss"]
    assert loss["repair_measured"]
    assert mean_time(spec, layout, loss["repair_hours"]) == pytest.approx(loss["mttdl_hours"], rel=1e-3)


def test_drives_are_bought_again_when_their_writes_are_used_up(folder: Path) -> None:
    text = PLAN.replace("dwpd = 1", 'tbw = "150TB"').partition("[[layout]]")[0]
    (folder / "worn.toml").write_text(text + '[[layout]]\nlevel = "raid5"\n')
    (layout,) = planning.plan(folder / "worn.toml").layouts
    # A third of a terabyte a day: 150 TB last 450 days, and five years take five such drives.
    assert layout.tbw_years == pytest.approx(150e12 / (1e12 / 3) / 365, rel=0.01)
    assert layout.drives_bought == 5 * 6
    assert layout.tbw_left_bytes is not None and layout.tbw_left_bytes < 0


def test_a_drive_that_holds_all_parity_wears_first(folder: Path) -> None:
    text = PLAN.partition("[[layout]]")[0]
    (folder / "fixed.toml").write_text(text + '[[layout]]\nlevel = "raid4"\n')
    (layout,) = planning.plan(folder / "fixed.toml").layouts
    # Each write changes a chunk of one of five drives, and one of the sixth.
    assert layout.member_written_per_day == pytest.approx(1e12, rel=0.05)
    assert layout.tbw_years == pytest.approx(960e9 * 365 * YEARS / 1e12 / 365, rel=0.05)


def test_a_small_drive_has_the_dies_and_the_spare_share_of_the_large_one() -> None:
    spec = planning.read(
        {
            "drives": {"preset": "micron-7450-pro-960g", "count": 4, "capacity": "960GB"},
            "workload": {"written_per_day": "1TB"},
        }
    )
    full, small = (outlast.resolve("micron-7450-pro-960g", sets)["device"] for sets in ({}, scaled_down(spec)))
    for name in ("channels", "chips_per_channel", "dies_per_chip", "planes_per_die", "page_size"):
        assert small["geometry"][name] == full["geometry"][name]
    assert small["ftl"]["over_provisioning"] == full["ftl"]["over_provisioning"]
    assert small["geometry"]["pages_per_block"] == 48  # sixteen programs of three pages
    assert small["timing"]["erase"] == f"{round(5e6 * 48 / 2112)}ns"


def test_summary_page_and_json_have_the_same_layouts(outlast: Outlast, folder: Path, tmp_path: Path) -> None:
    page = tmp_path / "plan.html"
    told = outlast("plan", folder / "six.toml", "-o", page).stdout
    html = page.read_text()
    for name in ("RAID-5", "RAID-6", "RAID-10", "usable capacity", "rate, as simulated", "TBW left after 5 years"):
        assert name in told and name in html, name
    assert "<script" not in html.partition("</footer>")[0]
    found = json.loads(outlast("plan", folder / "six.toml", "--json", "--quiet").stdout)
    assert [layout["name"] for layout in found["layouts"]] == ["RAID-5", "RAID-6", "RAID-10"]
    assert found["plan"]["drives"]["mttf_hours"] == 1.5e6


@pytest.mark.parametrize(
    ("wrong", "right", "says"),
    [
        ("count = 6", "count = 1", "drives.count = 1: must be a whole number within 2 to 64"),
        ('"960GB"', '"960 gigs"', "drives.capacity = 960 gigs: must be a number with its unit"),
        ("price = 100", "prise = 100", "drives.prise: unknown setting; did you mean `price`?"),
        ('level = "raid6"', 'level = "raid0"', "layout[1].level = raid0: must be one of raid1, raid10"),
        ("spares = 1", "spares = 5", "layout[1].spares = 5: must be a whole number within 0 to 4"),
        ('written_per_day = "1TB"', "", "workload = absent: needs written_per_day"),
        ("read_percent = 50", "read_percent = 100", "workload.read_percent = 100: must be below 100"),
        ("years = 5", "years = -1", "years = -1: must be a number within 0.01 to 100"),
        ('preset = "drive.toml"', 'preset = "array-raid5-5"', "is an array"),
        ("dwpd = 1", 'dwpd = 1\ntbw = "1PB"', "cannot stand beside tbw"),
        ("dwpd = 1", "warranty_years = 3", "drives.warranty_years = 3: has no effect without drives.dwpd"),
        ("watts = 10", "", "energy_price = 0.2: has no effect without drives.watts"),
        ('name = "six"', 'name = "a\\u001b[2Jb"', "must be a text of one line"),
        ('name = "six"', 'name = " "', "must be a text of one line"),
        ('"960GB"', "true", "drives.capacity = True: must be a number with its unit"),
        (
            '"960GB"',
            "960",
            "drives.capacity = 960: must be at least 1GB and at most 10PB; a number without a unit is in",
        ),
        (
            "dwpd = 1",
            "tbw = 150",
            "drives.tbw = 150: must be at least 960GB and at most 100EB; a number without a unit is in bytes",
        ),
        ('"300ms"', "20", "simulated = 20: must be at least 0.1s and at most 3600s"),
        ('"300ms"', '"1ns"', "simulated = 1ns: must be at least 0.1s"),
        ('"16KiB"', "4096.5", "workload.size = 4096.5: must be a whole number of bytes"),
        ('"16KiB"', '"1000B"', "wrong.toml: workload.size = 1000B: must be a whole number of 512-byte sectors"),
        ('"1TB"', '"1EB"', "wrong.toml: workload.written_per_day, as requests a second = "),
        ('"1TB"', '"1kB"', "written_per_day = 1kB: is 2.1e-07 writes within the 0.3 s that are simulated"),
        ('"1TB"', '"1TB"\nscenario = "demo"', "written_per_day = 1TB: cannot stand beside workload.scenario"),
        ('"drive.toml"', '"nope"', 'wrong.toml: drives.preset: no preset or file "nope"'),
        ('level = "raid5"', 'level = "raid5"\ncopies = 2', "layout[0].copies = 2: has no effect on raid5"),
        ('level = "raid5"', 'level = "raid5"\nnothing = 2', "wrong.toml: layout[0].nothing: unknown setting"),
    ],
)
def test_what_cannot_be_is_refused(
    outlast: Outlast, folder: Path, tmp_path: Path, wrong: str, right: str, says: str
) -> None:
    assert wrong in PLAN
    (folder / "wrong.toml").write_text(PLAN.replace(wrong, right))
    refused(outlast, tmp_path, "plan", folder / "wrong.toml", says=[says])
