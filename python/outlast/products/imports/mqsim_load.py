"""MQSim's flows as a workload: one synthetic stream, the jobs of a fio file where there are several, or a trace."""

from __future__ import annotations

import statistics
from dataclasses import dataclass
from pathlib import Path
from typing import Any

from outlast.errors import ScenarioError
from outlast.products.imports.draft import Draft, nanoseconds, size
from outlast.products.imports.parameters import Parameters, Place
from outlast.products.imports.xml import XmlElement

SYNTHETIC, TRACE = "IO_Flow_Parameter_Set_Synthetic", "IO_Flow_Parameter_Set_Trace_Based"
CACHING = ("TURNED_OFF", "WRITE_CACHE", "READ_CACHE", "WRITE_READ_CACHE")
CLASSES = ("URGENT", "HIGH", "MEDIUM", "LOW")
SECTOR = 512
MOST_FLOWS = 64
SPREAD = 3
"""Standard deviations of a normal distribution of sizes that are kept; 0.3 % of the requests are beyond."""
MOST_SIZES = 64


@dataclass(frozen=True)
class Flow:
    """A flow of a scenario: its parameters, and what follows from them."""

    parameters: Parameters
    is_trace: bool

    @property
    def bytes(self) -> int:
        """Bytes of a request; of a trace, a page is assumed."""
        return SECTOR * self.parameters.whole("Average_Request_Size", 1, 2**20, 8)

    @property
    def reads(self) -> int:
        """Reads in percent."""
        return self.parameters.whole("Read_Percentage", 0, 100, 100)

    @property
    def alignment(self) -> int:
        """Bytes to whose multiples requests are aligned down."""
        unit = SECTOR * self.parameters.whole("Address_Alignment_Unit", 1, 2**20, 8)
        return unit if self.parameters.flag("Generated_Aligned_Addresses", True) else SECTOR


def read_flows(file: Path, top: XmlElement, scenario: int) -> list[Flow]:
    """The flows of one IO_Scenario, counted from 1."""
    scenarios = [each for each in top.children if each.name == "IO_Scenario"]
    if not 1 <= scenario <= len(scenarios):
        raise ScenarioError(f"{file}: --scenario {scenario}: there are {len(scenarios)}, counted from 1")
    flows = []
    for element in scenarios[scenario - 1].children:
        if element.name not in (SYNTHETIC, TRACE):
            raise ScenarioError(f"{file}:{element.line}: <{element.name}> is no flow of MQSim's")
        values = {each.name: Place(each.text, each.line) for each in element.children}
        flows.append(Flow(Parameters(str(file), values, element.name), element.name == TRACE))
    line = scenarios[scenario - 1].line
    if not 1 <= len(flows) <= MOST_FLOWS:
        raise ScenarioError(f"{file}:{line}: {len(flows)} flows: must be 1 to {MOST_FLOWS}")
    if len(flows) > 1 and any(each.is_trace for each in flows):
        raise ScenarioError(f"{file}:{line}: a trace beside other flows: a scenario here has either one trace or jobs")
    return flows


def memory_ns(drive: Parameters, count: int) -> int:
    """Time of the cache's memory for `count` bytes: `estimate_dram_access_time` of Data_Cache_Manager_Base.h."""
    rate = drive.whole("Data_Cache_DRAM_Data_Rate", 1, 10**6, 800)
    burst = drive.whole("Data_Cache_DRAM_Data_Busrt_Size", 1, 2**20, 4)
    row = drive.whole("Data_Cache_DRAM_Row_Size", 1, 2**30, 8192)
    first, column, close = (drive.whole(f"Data_Cache_DRAM_{each}", 0, 10**6, 13) for each in ("tRCD", "tCL", "tRP"))
    step = 1000 / rate
    if count <= row:
        return first + column + int(count // burst // 2 * step)
    rows = (first + column + int(row // burst // 2 * step) + close) * (count // row // 2)
    return rows + first + column + int(count % row / (burst * step))


def add_workload(draft: Draft, flows: list[Flow], drive: Parameters) -> None:
    """Sets the workload, and what the drive holds before it."""
    if flows[0].is_trace:
        _trace(draft, flows[0])
    elif len(flows) == 1:
        _synthetic(draft, flows[0])
    else:
        _jobs(draft, flows)
    _initial(draft, flows, drive)
    names = ("Channel_IDs", "Chip_IDs", "Die_IDs", "Plane_IDs")
    for number, flow in enumerate(flows, 1):
        for name, count in zip(names, _counts(draft), strict=True):
            if (listed := flow.parameters.text(name, "")) and len(set(listed.split(","))) < count:
                draft.leave(f"{name} of flow {number}", listed, "data of every flow goes to all of them here")
        for name, value in flow.parameters.rest():
            effect = {
                "Intensity": "MQSim's parser knows it as Bandwidth, so it is not read there either",
                "Bandwidth": "",
                "Percentage_of_Hot_Region": "",
                "Variance_Request_Size": "",
                "Average_No_of_Reqs_in_Queue": "",
                "Total_Requests_To_Generate": "",
                "Seed": "",
                "Initial_Occupancy_Percentage": "",
            }.get(name, "unknown to this import")
            if effect:
                draft.leave(f"{name} of flow {number}", value, effect)


def _counts(draft: Draft) -> list[int]:
    names = ("channels", "chips_per_channel", "dies_per_chip", "planes_per_die")
    return [draft.value(f"device.geometry.{name}") for name in names]


def _page(draft: Draft) -> int:
    text = str(draft.value("device.ftl.mapping_unit"))
    return int(text[:-3]) << {"KiB": 10, "MiB": 20}[text[-3:]] if text[-3:] in ("KiB", "MiB") else int(text[:-1])


def _capacity(draft: Draft) -> int:
    """User bytes, in whole pages, one page less than there may be, for the rounding of both."""
    geometry = _counts(draft)
    planes = geometry[0] * geometry[1] * geometry[2] * geometry[3]
    raw = planes * draft.value("device.geometry.blocks_per_plane") * draft.value("device.geometry.pages_per_block")
    return (int(raw / (1 + draft.value("device.ftl.over_provisioning"))) - 1) * _page(draft)


def _request_bytes(draft: Draft, flow: Flow) -> tuple[int, str]:
    """Bytes of a request, and where they come from."""
    page, given = _page(draft), flow.bytes
    if flow.reads < 100 and given < page and flow.alignment % page == 0:
        why = (
            f"Average_Request_Size {given // SECTOR} sectors, each in a page of its own (Address_Alignment_Unit) whose "
            "rest nobody writes: a whole page here, so that the old one is not read"
        )
        return page, why
    return given, f"Average_Request_Size {given // SECTOR} sectors"


def _region(draft: Draft, flow: Flow, index: int, count: int) -> tuple[int, int, str]:
    """Start and length in bytes of what a flow touches, and where they come from."""
    page, share = _page(draft), _capacity(draft) // count
    working = flow.parameters.whole("Working_Set_Percentage", 0, 255, 100)
    working = working if 1 <= working <= 100 else 100
    unit = max(page, flow.alignment)
    start = -(-index * share // unit) * unit
    length = max(((index + 1) * share - start) * working // 100 // unit, 1) * unit
    return start, length, f"Working_Set_Percentage {working} of this flow's share"


def _until(flow: Flow) -> tuple[str, str | int, str]:
    stop = flow.parameters.whole("Stop_Time", 0, 10**15, 0)
    if stop:
        return "duration", nanoseconds(stop), "Stop_Time in ns"
    return "requests", flow.parameters.whole("Total_Requests_To_Generate", 1, 10**12), "Total_Requests_To_Generate"


def _rate(flow: Flow) -> float:
    """Requests a second of a flow with a bandwidth: the divisions of Host_System.cpp, which drop fractions."""
    bandwidth = flow.parameters.whole("Bandwidth", SECTOR, 10**12)
    per_s = max(bandwidth // SECTOR // (flow.bytes // SECTOR), 1)
    return 1e9 / max(10**9 // per_s, 1)


def _synthetic(draft: Draft, flow: Flow) -> None:
    load = "workload.synthetic"
    given = flow.parameters
    draft.set(f"{load}.pattern", *_pattern(flow))
    if draft.value(f"{load}.pattern") == "hotcold":
        hot = given.whole("Percentage_of_Hot_Region", 1, 99)
        origin = f"Percentage_of_Hot_Region {hot}: there (100 - {hot}) % of the requests go to {hot} % of the addresses"
        draft.set(f"{load}.hot_fraction", hot / 100, origin)
        draft.set(f"{load}.hot_access", 1 - hot / 100, origin)
    draft.set(f"{load}.read_percent", flow.reads, "Read_Percentage")
    if given.word("Request_Size_Distribution", ("FIXED", "NORMAL"), "FIXED") == "NORMAL":
        _normal_sizes(draft, flow)
    else:
        draft.set(f"{load}.size", *_sized(_request_bytes(draft, flow)))
    draft.set(f"{load}.align", size(flow.alignment), "Address_Alignment_Unit, if Generated_Aligned_Addresses")
    _, length, origin = _region(draft, flow, 0, 1)
    draft.set(f"{load}.span", size(length), origin)
    if given.word("Synthetic_Generator_Type", ("BANDWIDTH", "QUEUE_DEPTH"), "QUEUE_DEPTH") == "QUEUE_DEPTH":
        depth = given.whole("Average_No_of_Reqs_in_Queue", 1, 65_535)
        draft.set(f"{load}.queue_depth", depth, "Average_No_of_Reqs_in_Queue")
    else:
        draft.set(f"{load}.rate_iops", _rate(flow), "Bandwidth / Average_Request_Size, in whole ns between requests")
        draft.set(f"{load}.arrival", "poisson", "exponential gaps (IO_Flow_Synthetic.cpp)")
    setting, value, origin = _until(flow)
    draft.set(f"{load}.{setting}", value, origin)


def _sized(found: tuple[int, str]) -> tuple[str, str]:
    return size(found[0]), found[1]


def _pattern(flow: Flow) -> tuple[str, str]:
    words = {"STREAMING": "sequential", "RANDOM_HOTCOLD": "hotcold", "RANDOM_UNIFORM": "uniform"}
    word = flow.parameters.word("Address_Distribution", tuple(words), "RANDOM_UNIFORM")
    return words[word], f"Address_Distribution {word}"


def _normal_sizes(draft: Draft, flow: Flow) -> None:
    """Sizes of a normal distribution, rounded up to sectors as MQSim does, each with its probability."""
    mean, deviation = flow.bytes // SECTOR, flow.parameters.whole("Variance_Request_Size", 0, 2**20)
    if deviation == 0:
        draft.set("workload.synthetic.size", size(mean * SECTOR), "Average_Request_Size, Variance_Request_Size 0")
        return
    normal = statistics.NormalDist(mean, deviation)
    low, high = max(mean - SPREAD * deviation, 1), mean + SPREAD * deviation
    step = max(-(-(high - low + 1) // MOST_SIZES), 1)
    rows: list[dict[str, Any]] = []
    for sectors in range(low, high + 1, step):
        begin = -1e9 if sectors == low else sectors - 1
        end = 1e9 if sectors + step > high else sectors - 1 + step
        rows.append({"size": size(sectors * SECTOR), "weight": round(normal.cdf(end) - normal.cdf(begin), 9)})
    origin = f"Request_Size_Distribution NORMAL: mean {mean}, standard deviation (called variance) {deviation} sectors"
    draft.set("workload.synthetic.sizes", [row for row in rows if row["weight"] > 0], origin)


def _jobs(draft: Draft, flows: list[Flow]) -> None:
    lines = ["[global]", "ioengine=libaio", "direct=1", "norandommap", ""]
    for index, flow in enumerate(flows):
        given = flow.parameters
        pattern = _pattern(flow)[0]
        verb = "rw" if pattern == "sequential" else "randrw"
        kind = {100: verb.replace("rw", "read"), 0: verb.replace("rw", "write")}.get(flow.reads, verb)
        count, why = _request_bytes(draft, flow)
        start, length, region = _region(draft, flow, index, len(flows))
        lines += [f"[flow-{index + 1}]", f"rw={kind}  ; Address_Distribution, Read_Percentage"]
        if kind == verb:
            lines.append(f"rwmixread={flow.reads}  ; Read_Percentage")
        lines += [f"; {why}", f"bs={count}", f"blockalign={max(flow.alignment, SECTOR)}  ; Address_Alignment_Unit"]
        if pattern == "hotcold":
            hot = given.whole("Percentage_of_Hot_Region", 1, 99)
            lines.append(f"random_distribution=zoned:{100 - hot}/{hot}:{hot}/{100 - hot}  ; Percentage_of_Hot_Region")
        lines += [f"offset={start}  ; {region}", f"size={length}"]
        if given.word("Synthetic_Generator_Type", ("BANDWIDTH", "QUEUE_DEPTH"), "QUEUE_DEPTH") == "BANDWIDTH":
            lines += [f"rate_iops={round(_rate(flow))}  ; Bandwidth", "rate_process=poisson", "iodepth=1024"]
        else:
            depth = given.whole("Average_No_of_Reqs_in_Queue", 1, 65_535)
            lines.append(f"iodepth={depth}  ; Average_No_of_Reqs_in_Queue")
        setting, value, _ = _until(flow)
        if setting == "duration":
            lines += ["time_based", f"runtime={_fio_time(given.whole('Stop_Time', 1, 10**15))}  ; Stop_Time", ""]
        else:
            lines += ["time_based", "runtime=1d", f"number_ios={value}  ; Total_Requests_To_Generate", ""]
        if given.word("Request_Size_Distribution", ("FIXED", "NORMAL"), "FIXED") == "NORMAL":
            draft.leave(f"Request_Size_Distribution of flow {index + 1}", "NORMAL", "every request has the mean size")
    draft.set("workload.fio.job", "\n".join(lines), f"the {len(flows)} flows, as jobs beside each other")


def _fio_time(ns: int) -> str:
    """A time as fio has it, in whole microseconds or a coarser unit, from nanoseconds, rounded up."""
    us = -(-ns // 1000)
    for factor, unit in ((10**6, "s"), (10**3, "ms")):
        if us % factor == 0:
            return f"{us // factor}{unit}"
    return f"{us}us"


def _trace(draft: Draft, flow: Flow) -> None:
    given, load = flow.parameters, "workload.trace"
    draft.set(f"{load}.file", given.text("File_Path"), "File_Path, here counted from the folder of the scenario")
    draft.set(f"{load}.format", "ascii", "MQSim's own: time device address size op")
    unit = given.word("Time_Unit", ("PICOSECOND", "NANOSECOND", "MICROSECOND"), "NANOSECOND")
    draft.set(f"{load}.time_unit", "us" if unit == "MICROSECOND" else "ns", f"Time_Unit {unit}")
    if unit == "PICOSECOND":
        draft.set(f"{load}.time_scale", 0.001, f"Time_Unit {unit}")
    draft.set(f"{load}.address_unit", "sector", "as in MQSim")
    draft.set(f"{load}.addresses", "wrap", "MQSim folds addresses beyond the drive")
    draft.set(f"{load}.repeat", given.whole("Relay_Count", 1, 10**6, 1), "Relay_Count")
    percent = given.whole("Percentage_To_Be_Executed", 1, 100, 100)
    if percent < 100:
        draft.leave("Percentage_To_Be_Executed", percent, "all of the trace is replayed; workload.trace.head cuts it")


def _initial(draft: Draft, flows: list[Flow], drive: Parameters) -> None:
    occupied = max(each.parameters.whole("Initial_Occupancy_Percentage", 0, 100, 0) for each in flows)
    if drive.flag("Enabled_Preconditioning", True):
        origin = "Enabled_Preconditioning; MQSim computes the steady state, here the workload's writes produce it"
        draft.set("precondition.fill", "sequential", origin)
        draft.set("precondition.fill_fraction", occupied / 100, f"Initial_Occupancy_Percentage {occupied}")
        draft.set("precondition.overwrite", "workload", origin)
    elif flows[0].is_trace or any(each.reads for each in flows):
        draft.set(
            "precondition.fill",
            "sequential",
            "Enabled_Preconditioning false; reads of what was never written cost a read",
        )
        draft.set("precondition.overwrite", "none", "Enabled_Preconditioning false")
    else:
        draft.set("precondition.fill", "none", "Enabled_Preconditioning false")
        draft.set("precondition.overwrite", "none", "Enabled_Preconditioning false")
