"""Are other simulators' configurations imported with their meaning and origins, and bad ones refused?"""

from __future__ import annotations

import json
import re
import tomllib
from decimal import Decimal
from itertools import pairwise
from pathlib import Path
from typing import Any

import pytest
from hypothesis import given, strategies

from conftest import Outlast, files_below
from foreign_configs import DEVICE, FLASH, FLOW, HOST, SIMPLESSD_CFG, SSD_CONFIG_H, ssdconfig, workload
from outlast.errors import ScenarioError
from outlast.products.imports.check import check_draft
from outlast.products.imports.draft import Draft, nanoseconds, size
from outlast.products.imports.femu import femu
from outlast.products.imports.mqsim import mqsim
from outlast.products.imports.mqsim_load import memory_ns
from outlast.products.imports.nvmevirt import nvmevirt
from outlast.products.imports.parameters import Parameters, Place
from outlast.products.imports.simplessd import simplessd
from outlast.products.imports.xml import parse_xml
from test_bad_input import refused

SILENT = """
Memory_Type Flash_Comm_Protocol CMT_Sharing_Mode Address_Mapping Ideal_Mapping_Table CMT_Capacity Caching_Mechanism
IO_Queue_Depth SATA_Processing_Delay HostInterface_Type Percentage_of_Hot_Region Variance_Request_Size
Request_Size_Distribution Synthetic_Generator_Type Total_Requests_To_Generate Channel_IDs Chip_IDs Die_IDs Plane_IDs
Initial_Occupancy_Percentage Device_Level_Data_Caching_Mode Priority_Class Bandwidth Page_Read_Latency_CSB
Page_Program_Latency_CSB Page_Read_Latency_MSB Page_Program_Latency_MSB Dynamic_Wearleveling_Enabled
Static_Wearleveling_Enabled Static_Wearleveling_Threshold
"""
"""Parameters that say nothing of this file's drive: what they choose holds here anyway, or is not chosen."""


def drafted(folder: Path, device: str, load: str) -> Draft:
    """A draft of two texts, which a run would accept as it stands."""
    (folder / "ssdconfig.xml").write_text(device)
    (folder / "workload.xml").write_text(load)
    draft = mqsim(folder / "ssdconfig.xml", folder / "workload.xml", 1)
    tomllib.loads(draft.text())
    return draft


def test_the_base_of_over_provisioning_is_each_simulators_own(tmp_path: Path) -> None:
    # MQSim and SimpleSSD: of the raw space, so user = raw x (1 - r). FEMU and NVMeVirt: user = raw / (1 + r).
    (tmp_path / "s.cfg").write_text(SIMPLESSD_CFG)
    (tmp_path / "ssd_config.h").write_text(SSD_CONFIG_H)
    over = {
        "mqsim": drafted(tmp_path, ssdconfig(), workload()).value("device.ftl.over_provisioning"),
        "simplessd": simplessd(tmp_path / "s.cfg").value("device.ftl.over_provisioning"),
        "femu": femu(["femu,op_pcent=28"]).value("device.ftl.over_provisioning"),
        "nvmevirt": nvmevirt(tmp_path / "ssd_config.h", None, None).value("device.ftl.over_provisioning"),
    }
    user = {name: 1 / (1 + value) for name, value in over.items()}
    assert user == pytest.approx({"mqsim": 1 - 0.127, "simplessd": 0.8, "femu": 100 / 128, "nvmevirt": 100 / 128})


def test_every_parameter_of_mqsim_is_set_or_listed_or_says_nothing_here(tmp_path: Path) -> None:
    draft = drafted(tmp_path, ssdconfig(), workload())
    text = draft.text()
    silent = set(SILENT.split())
    for name in {**DEVICE, **FLASH, **HOST, **FLOW}:
        if not name.startswith("Data_Cache_DRAM"):
            assert bool(re.search(rf"\b{name}\b", text)) != (name in silent), name


def test_each_number_says_where_it_comes_from(tmp_path: Path) -> None:
    lines = drafted(tmp_path, ssdconfig(), workload()).text().splitlines()
    for before, line in pairwise(lines):
        if "=" in line and not line.startswith("#"):
            assert "  # " in line or before.startswith("# "), line


def test_mqsims_times_are_those_of_its_code(tmp_path: Path) -> None:
    draft = drafted(tmp_path, ssdconfig({"Channel_Transfer_Rate": 300}), workload())
    # 1000 / 300 MT/s is cut to 3 whole ns for each transfer, so that 300 is as fast as 333 there.
    assert draft.value("device.timing.bus") == "333.333MB/s"
    assert draft.value("device.timing.program") == ["700us", "800us"]
    assert draft.value("device.timing.read") == "75us"
    # 4096 bytes / 4 in a burst / 2 of 1.25 ns each, cut, beside tRCD and tCL: 640 + 26 ns.
    assert draft.value("device.controller.write_cost") == "666ns"
    slow = Parameters(
        "x", {"Data_Cache_DRAM_Data_Rate": Place("100", 1), "Data_Cache_DRAM_Data_Busrt_Size": Place("1", 2)}
    )
    assert memory_ns(slow, 4096) == 20_506


def test_hot_and_cold_are_the_way_round_that_mqsim_has_them(tmp_path: Path) -> None:
    flow = {"Address_Distribution": "RANDOM_HOTCOLD", "Percentage_of_Hot_Region": 20}
    one = drafted(tmp_path, ssdconfig(), workload(flow))
    assert (one.value("workload.synthetic.hot_fraction"), one.value("workload.synthetic.hot_access")) == (0.2, 0.8)
    both = drafted(tmp_path, ssdconfig(), workload(flow, {})).value("workload.fio.job")
    assert "random_distribution=zoned:80/20:20/80" in both


def test_a_bandwidth_of_mqsim_is_a_rate_of_requests(tmp_path: Path) -> None:
    flow = {"Synthetic_Generator_Type": "BANDWIDTH", "Bandwidth": 40_960_000}
    draft = drafted(tmp_path, ssdconfig(), workload(flow))
    assert draft.value("workload.synthetic.rate_iops") == pytest.approx(10_000)
    assert draft.value("workload.synthetic.arrival") == "poisson"


def test_normal_sizes_keep_their_mean_and_their_deviation(tmp_path: Path) -> None:
    flow = {"Request_Size_Distribution": "NORMAL", "Average_Request_Size": 64, "Variance_Request_Size": 8}
    rows = drafted(tmp_path, ssdconfig(), workload(flow)).value("workload.synthetic.sizes")
    sectors = [
        int(row["size"].removesuffix("KiB").removesuffix("B")) * (2 if "KiB" in row["size"] else 1 / 512)
        for row in rows
    ]
    weights = [row["weight"] for row in rows]
    mean = sum(a * b for a, b in zip(sectors, weights, strict=True))
    deviation = sum((a - mean) ** 2 * b for a, b in zip(sectors, weights, strict=True)) ** 0.5
    assert sum(weights) == pytest.approx(1, abs=1e-6)
    # Rounding up moves the mean by half a sector, and a rounding adds 1/12 to the variance.
    assert mean == pytest.approx(64.5, abs=0.05)
    assert deviation == pytest.approx((64 + 1 / 12) ** 0.5, rel=0.01)


def test_half_pages_that_nobody_completes_are_whole_ones(tmp_path: Path) -> None:
    half = {"Average_Request_Size": 4, "Address_Alignment_Unit": 8}
    assert drafted(tmp_path, ssdconfig(), workload(half)).value("workload.synthetic.size") == "4KiB"
    others = half | {"Address_Alignment_Unit": 4}
    assert drafted(tmp_path, ssdconfig(), workload(others)).value("workload.synthetic.size") == "2KiB"


def test_a_threshold_that_mqsim_never_reaches_is_listed(tmp_path: Path) -> None:
    draft = drafted(tmp_path, ssdconfig(flash={"Block_No_Per_Plane": 64}), workload())
    assert "device.ftl.gc.start_free" not in draft.settings
    assert any(each.name == "GC_Exec_Threshold" and "never stops" in each.effect for each in draft.unmatched)
    assert drafted(tmp_path, ssdconfig(), workload()).value("device.ftl.gc.start_free") == 10


def test_a_cached_mapping_table_is_listed_with_what_comes_nearest(tmp_path: Path) -> None:
    draft = drafted(tmp_path, ssdconfig({"Ideal_Mapping_Table": "false", "CMT_Capacity": 60_000}), workload())
    (left,) = [each for each in draft.unmatched if each.name == "CMT_Capacity"]
    assert "`device.ftl.map_cache` keeps pages of the table, not single entries" in left.effect


def test_a_rate_of_transfers_that_mqsim_cuts_to_nothing_is_taken_as_written(tmp_path: Path) -> None:
    draft = drafted(tmp_path, ssdconfig({"Channel_Transfer_Rate": 1200}), workload())
    assert draft.value("device.timing.bus") == "1200MB/s"
    assert "cuts 1000/1200 ns to 0" in draft.text()


def test_a_closing_tag_that_mqsim_skips_is_no_mistake(tmp_path: Path) -> None:
    load = workload().replace("</Generated_Aligned_Addresses>", "</<Generated_Aligned_Addresses>")
    assert load != workload()
    assert drafted(tmp_path, ssdconfig(), load).text() == drafted(tmp_path, ssdconfig(), workload()).text()


def run_as_imported(outlast: Outlast, folder: Path, *command: str | Path) -> dict[str, Any]:
    """Figures of a run of an import."""
    outlast("import", *command, "-o", folder / "imported.toml")
    found: dict[str, Any] = json.loads(outlast("run", folder / "imported.toml", "--json").stdout)
    return found


def test_what_is_imported_runs(outlast: Outlast, tmp_path: Path) -> None:
    (tmp_path / "ssdconfig.xml").write_text(ssdconfig())
    (tmp_path / "workload.xml").write_text(workload({}, {"Read_Percentage": 100, "Average_No_of_Reqs_in_Queue": 2}))
    (tmp_path / "ssd_config.h").write_text(SSD_CONFIG_H)
    (tmp_path / "s.cfg").write_text(SIMPLESSD_CFG)
    jobs = run_as_imported(outlast, tmp_path, "mqsim", tmp_path / "ssdconfig.xml", tmp_path / "workload.xml")
    assert jobs["host"]["reads"] > 0 and jobs["host"]["writes"] > 0
    small = "devsz_mb=192,femu_mode=1,nchs=2,luns_per_ch=2,blks_per_pl=64"
    for command in (
        ("femu", f"femu,{small}"),
        ("nvmevirt", tmp_path / "ssd_config.h", "--memory", "256MiB"),
        ("simplessd", tmp_path / "s.cfg"),
    ):
        assert run_as_imported(outlast, tmp_path, *command)["throughput"]["iops"] > 0


def test_a_trace_of_mqsim_is_replayed(outlast: Outlast, tmp_path: Path) -> None:
    (tmp_path / "traces").mkdir()
    (tmp_path / "traces" / "some.trace").write_text("".join(f"{i * 1000} 0 {8 * i} 8 {i % 2}\n" for i in range(100)))
    (tmp_path / "ssdconfig.xml").write_text(ssdconfig())
    (tmp_path / "workload.xml").write_text(workload({}, trace=True))
    found = run_as_imported(outlast, tmp_path, "mqsim", tmp_path / "ssdconfig.xml", tmp_path / "workload.xml")
    assert (found["host"]["reads"], found["host"]["writes"]) == (150, 150)


def test_a_trace_that_is_not_there_yet_is_imported_all_the_same(outlast: Outlast, tmp_path: Path) -> None:
    (tmp_path / "ssdconfig.xml").write_text(ssdconfig())
    (tmp_path / "workload.xml").write_text(workload({}, trace=True))
    done = outlast("import", "mqsim", tmp_path / "ssdconfig.xml", tmp_path / "workload.xml")
    assert tomllib.loads(done.stdout)["workload"]["trace"]["file"] == "traces/some.trace"


def test_a_file_that_is_no_scenario_says_what_reads_it(outlast: Outlast, tmp_path: Path) -> None:
    for name, text, part in (
        ("ssdconfig.xml", ssdconfig(), "outlast import mqsim"),
        ("workload.xml", workload(), "outlast import mqsim ssdconfig.xml"),
        ("ssd_config.h", SSD_CONFIG_H, "outlast import nvmevirt"),
        ("s.cfg", SIMPLESSD_CFG, "outlast import simplessd"),
        ("a.csv", "1,h,0,Read,0,4096,1\n", "--trace"),
    ):
        (tmp_path / name).write_text(text)
        for command in ("run", "validate"):
            done = outlast(command, tmp_path / name, check=False)
            assert done.returncode == 2
            assert part in done.stderr and name in done.stderr and done.stderr.count("\n") == 1, done.stderr
    (tmp_path / "no-ending").write_text("# a scenario\nextends = 'demo'\n")
    assert outlast("validate", tmp_path / "no-ending").returncode == 0


LAUGHS = '<!DOCTYPE a [<!ENTITY b "ha"><!ENTITY c "&b;&b;">]><MQSim_IO_Scenarios>&c;</MQSim_IO_Scenarios>'


@pytest.mark.parametrize(
    ("device", "load", "says"),
    [
        (ssdconfig({"Flash_Channel_Count": "many"}), workload(), "Flash_Channel_Count = many: must be a whole number"),
        (ssdconfig({"Overprovisioning_Ratio": "1e999"}), workload(), "Overprovisioning_Ratio = 1e999: must be"),
        (ssdconfig({"Overprovisioning_Ratio": "nan"}), workload(), "Overprovisioning_Ratio = nan: must be a number"),
        (ssdconfig({"Plane_Allocation_Scheme": "CCCC"}), workload(), "Plane_Allocation_Scheme = CCCC: must be one"),
        (ssdconfig(flash={"Page_Capacity": 4000}), workload(), "Page_Capacity = 4000: must be a multiple of 512"),
        (ssdconfig()[:900], workload(), "not XML"),
        (ssdconfig(), LAUGHS, ":1: a document type is not read"),
        (ssdconfig(), "<a>" * 40, "at most 16 elements within each other"),
        (ssdconfig(), workload().replace("us-ascii", "klingon"), "not XML"),
        (workload(), workload(), "is a workload.xml; <Execution_Parameter_Set> belongs here"),
        (ssdconfig(), workload().replace("IO_Flow_Parameter_Set_Synthetic", "Flow"), "<Flow> is no flow"),
        (ssdconfig(), workload({"Read_Percentage": 101}), "Read_Percentage = 101: must be a whole number"),
        (ssdconfig(), " " * (1 << 20) + workload(), "longer than"),
    ],
)  # fmt: skip
def test_a_bad_file_is_refused_in_a_line(outlast: Outlast, tmp_path: Path, device: str, load: str, says: str) -> None:
    (tmp_path / "ssdconfig.xml").write_text(device)
    (tmp_path / "workload.xml").write_text(load)
    before = files_below(tmp_path)
    files = (tmp_path / "ssdconfig.xml", tmp_path / "workload.xml")
    done = outlast("import", "mqsim", *files, "-o", tmp_path / "mine.toml", check=False)
    assert (done.returncode, done.stdout, done.stderr.count("\n")) == (2, "", 1), done.stderr
    assert says in done.stderr, done.stderr
    assert files_below(tmp_path) == before


@given(strategies.binary(max_size=400) | strategies.text(alphabet='<>&;/ab"! [', max_size=200).map(str.encode))
def test_any_bytes_are_an_element_or_refused_in_a_line(content: bytes) -> None:
    try:
        parse_xml("x", content)
    except ScenarioError as error:
        assert "\n" not in str(error)


@given(strategies.integers(0, 10**15))
def test_a_time_and_a_size_are_written_exactly(count: int) -> None:
    units = {"s": 10**9, "ms": 10**6, "us": 1000, "ns": 1}
    text = nanoseconds(count)
    digits = text.rstrip("smun")
    assert Decimal(digits) * units[text[len(digits) :]] == count
    written = size(count)
    digits = written.rstrip("KMGTiB")
    power = {"B": 0, "KiB": 10, "MiB": 20, "GiB": 30, "TiB": 40}[written[len(digits) :]]
    assert int(digits) << power == count


@pytest.mark.parametrize(
    ("ns", "runtime"), [(1, "1us"), (65_535, "66us"), (1_500_000_000, "1500ms"), (10**15, "1000000s")]
)
def test_flows_beside_each_other_stop_at_any_time_in_whole_units_of_fio(tmp_path: Path, ns: int, runtime: str) -> None:
    draft = drafted(tmp_path, ssdconfig(), workload({"Stop_Time": ns}, {}))
    check_draft(draft)
    assert f"runtime={runtime}  ; Stop_Time" in draft.value("workload.fio.job")


def test_an_import_is_not_written_over_what_it_reads(outlast: Outlast, tmp_path: Path) -> None:
    config = tmp_path / "sample.cfg"
    config.write_text(SIMPLESSD_CFG)
    refused(
        outlast, tmp_path, "import", "simplessd", config, "-o", config, says=["sample.cfg", "is read by this command"]
    )
