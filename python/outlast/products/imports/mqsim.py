"""MQSim's `ssdconfig.xml` and `workload.xml` as a scenario.

What the parameters mean is taken from MQSim's source (github.com/CMU-SAFARI/MQSim, commit 7ec40e3), from the file that
the origin of a setting names. Some parameters of the files that it comes with are never read there, because the
parser knows them under another name; they are named as such.
"""

from __future__ import annotations

import math
from pathlib import Path

from outlast.errors import ScenarioError
from outlast.products.imports import mqsim_load
from outlast.products.imports.draft import Draft, nanoseconds, rate, size
from outlast.products.imports.parameters import Parameters, Place
from outlast.products.imports.xml import XmlElement, read_xml

DEVICE, WORKLOAD = "Execution_Parameter_Set", "MQSim_IO_Scenarios"
"""The outermost elements of the two files."""

ALLOCATIONS = tuple(
    a + b + c + d for a in "CWDP" for b in "CWDP" for c in "CWDP" for d in "CWDP" if len({a, b, c, d}) == 4
)
LEAST_FREE_BLOCKS = 10
"""Free blocks of a plane below which MQSim collects whatever the threshold: `max_ongoing_gc_reqs_per_plane` of
`src/exec/SSD_Device.cpp`, to which `GC_and_WL_Unit_Base` raises it."""
WEAR_GAP = 100
"""Static_Wearleveling_Threshold as MQSim has it: `SSD_Device.cpp` passes the seed in the place of the three settings of
wear levelling, so that the defaults of `GC_and_WL_Unit_Page_Level.h` hold whatever the file says."""
PAYLOAD, OVERHEAD = 128, 28
"""Bytes of data and of headers in a packet of the link: `src/host/PCIe_Link.h`."""
MOST_COUNT = 65_535
MOST_NS = 10**12
MOST_TRANSFERS = 10_000
"""Transfers on a channel in MT/s; ONFI 6 has 4,800."""
CACHED_TABLE = (
    "the whole table is in memory here; a miss costs a read of flash there. `device.ftl.map_cache` keeps pages of the "
    "table, not single entries: reads miss as there, random writes write far more of it"
)

UNREAD = {
    "Memory_Type": "",
    "Flash_Comm_Protocol": "",
    "Data_Cache_Sharing_Mode": "all flows share the write buffer here; shares of their own would keep one flow out of "
    "another's",
    "Transaction_Scheduling_Policy": "host reads go before writes and collection here; MQSim's priorities and FLIN "
    "order by flow, which moves latency from one flow to another",
    "CMT_Sharing_Mode": "",
    "Page_Metadat_Capacity": "not transferred in MQSim; `device.geometry.spare_per_page` would be",
    "Use_Copyback_for_GC": "collection moves data over the channel here, which a copyback saves",
    "Preemptible_GC_Enabled": "host reads go before collection here until space is short, as with true",
    "GC_Hard_Threshold": "the host waits for collection here when no superblock is left to open",
    "Preferred_suspend_erase_time_for_read": "MQSim's parser knows it as Prefered_..., so the file's value is not read "
    "there; here a read suspends whatever is left of an operation",
    "Prefered_suspend_erase_time_for_read": "here a read suspends whatever is left of an operation",
    "Preferred_suspend_erase_time_for_write": "writes suspend nothing here",
    "Preferred_suspend_write_time_for_read": "here a read suspends whatever is left of an operation",
    "Block_PE_Cycles_Limit": "MQSim retires no block either; `device.defects.endurance` would",
    "Enable_ResponseTime_Logging": "`run.log` writes every request",
    "ResponseTime_Logging_Period_Length": "`run.window` is the width of the time series",
}
"""Parameters that are left out, with what each would change; empty for those that say what holds here anyway."""


def mqsim(device: Path, workload: Path, scenario: int) -> Draft:
    """A scenario from MQSim's two files; `scenario` counts the IO_Scenarios of the second from 1."""
    top = _outermost(device, DEVICE)
    draft = Draft("MQSim", (device.name, f"{workload.name} (IO_Scenario {scenario})"))
    drive = _parameters(device, top, "Device_Parameter_Set")
    inner = top.child("Device_Parameter_Set")
    flash = _parameters(device, inner, "Flash_Parameter_Set") if inner else drive
    host = _parameters(device, top, "Host_Parameter_Set")
    draft.set("name", device.stem, device.name)
    draft.set("seed", drive.whole("Seed", 0, 2**31 - 1, 123), "Seed; any other gives other random choices")
    planes = _geometry(draft, drive, flash)
    _timing(draft, drive, flash)
    _mapping(draft, drive)
    flows = mqsim_load.read_flows(workload, _outermost(workload, WORKLOAD), scenario)
    _controller(draft, drive, flash, host, flows, planes)
    mqsim_load.add_workload(draft, flows, drive)
    _rest(draft, drive, flash, host)
    return draft


def _outermost(file: Path, name: str) -> XmlElement:
    top = read_xml(file)
    if top.name != name:
        other = {DEVICE: "an ssdconfig.xml", WORKLOAD: "a workload.xml"}.get(top.name, "no file of MQSim's")
        raise ScenarioError(f"{file}:{top.line}: <{top.name}> is {other}; <{name}> belongs here")
    return top


def _parameters(file: Path, of: XmlElement, name: str) -> Parameters:
    element = of.child(name)
    if element is None:
        raise ScenarioError(f"{file}: <{name}> is missing in <{of.name}>")
    values = {each.name: Place(each.text, each.line) for each in element.children if not each.children}
    return Parameters(str(file), values, name)


def _geometry(draft: Draft, drive: Parameters, flash: Parameters) -> int:
    """Sets the geometry and returns how many planes there are."""
    planes = 1
    for setting, source, name, default in (
        ("channels", drive, "Flash_Channel_Count", 8),
        ("chips_per_channel", drive, "Chip_No_Per_Channel", 4),
        ("dies_per_chip", flash, "Die_No_Per_Chip", 2),
        ("planes_per_die", flash, "Plane_No_Per_Die", 2),
    ):
        count = source.whole(name, 1, MOST_COUNT, default)
        draft.set(f"device.geometry.{setting}", count, name)
        planes *= count
    blocks, pages = flash.whole("Block_No_Per_Plane", 4, 2**24), flash.whole("Page_No_Per_Block", 1, MOST_COUNT)
    draft.set("device.geometry.blocks_per_plane", blocks, "Block_No_Per_Plane")
    draft.set("device.geometry.pages_per_block", pages, "Page_No_Per_Block")
    page = flash.whole("Page_Capacity", 512, 2**20)
    if page % 512:
        raise flash.wrong("Page_Capacity", "must be a multiple of 512")
    draft.set("device.geometry.page_size", size(page), "Page_Capacity")
    return planes


def _timing(draft: Draft, drive: Parameters, flash: Parameters) -> None:
    technology = flash.word("Flash_Technology", ("SLC", "MLC", "TLC"), "MLC")
    kinds = {"SLC": ("LSB",), "MLC": ("LSB", "MSB"), "TLC": ("LSB", "CSB", "MSB")}[technology]
    for setting, name in (("read", "Page_Read_Latency"), ("program", "Page_Program_Latency")):
        times = [nanoseconds(flash.whole(f"{name}_{kind}", 1, MOST_NS)) for kind in kinds]
        same = len(set(times)) == 1
        origin = f"{name}_{'/'.join(kinds)} in ns; Flash_Technology {technology}"
        draft.set(f"device.timing.{setting}", times[0] if same else times, origin)
        for kind in {"LSB", "CSB", "MSB"} - set(kinds):
            flash.text(f"{name}_{kind}", "")
    draft.set("device.timing.erase", nanoseconds(flash.whole("Block_Erase_Latency", 1, MOST_NS)), "Block_Erase_Latency")
    transfers = drive.whole("Channel_Transfer_Rate", 1, MOST_TRANSFERS, 300)
    width = drive.whole("Flash_Channel_Width", 1, 8, 1)
    # MQSim cuts the time of a transfer to whole nanoseconds: 333 MT/s are 3 ns for each byte of the width.
    step = 1000 // transfers
    origin = f"Channel_Transfer_Rate {transfers} x Flash_Channel_Width {width}"
    if step:
        draft.set("device.timing.bus", rate(width * 1e9 / step), f"{origin}: {step} whole ns each (SSD_Device.cpp)")
    else:
        draft.set(
            "device.timing.bus", rate(width * 1e6 * transfers), f"{origin}; MQSim itself cuts 1000/{transfers} ns to 0"
        )
    draft.set("device.timing.command", "290ns", "a read in ONFI_Channel_NVDDR2.cpp; a program has 361 ns there")
    support = flash.word("CMD_Suspension_Support", ("NONE", "PROGRAM", "ERASE", "PROGRAM_ERASE"), "NONE")
    erase, program = (flash.whole(f"Suspend_{each}_Time", 0, MOST_NS, 0) for each in ("Erase", "Program"))
    if support != "NONE":
        draft.set("device.timing.suspend.program", "PROGRAM" in support, f"CMD_Suspension_Support {support}")
        draft.set("device.timing.suspend.erase", "ERASE" in support, f"CMD_Suspension_Support {support}")
        draft.set("device.timing.suspend.overhead", nanoseconds(program), "Suspend_Program_Time")
        draft.set("device.timing.suspend.erase_latency", nanoseconds(erase), "Suspend_Erase_Time")
        draft.set("device.timing.suspend.resume", "0ns", "MQSim resumes at once")
        draft.set("device.timing.suspend.limit", 255, "MQSim has no limit")


def _mapping(draft: Draft, drive: Parameters) -> None:
    ftl = "device.ftl"
    draft.set(f"{ftl}.mapping_unit", draft.value("device.geometry.page_size"), "Page_Capacity: MQSim maps pages")
    spare = drive.number("Overprovisioning_Ratio", 0, 0.9, 0.07)
    base = f"Overprovisioning_Ratio {spare:g} is of raw space there, of user space here: {spare:g}/(1 - {spare:g})"
    draft.set(f"{ftl}.over_provisioning", round(spare / (1 - spare), 12), base)
    scheme = drive.word("Plane_Allocation_Scheme", ALLOCATIONS, "CWDP")
    draft.set(f"{ftl}.allocation", scheme, "Plane_Allocation_Scheme; by address there, in order of writing here")
    _collection(draft, drive, spare)
    draft.set(f"{ftl}.wear_leveling.dynamic", True, "MQSim's own, as SSD_Device.cpp passes no setting on")
    draft.set(f"{ftl}.wear_leveling.static_gap", WEAR_GAP, "MQSim's own, as SSD_Device.cpp passes no setting on")
    for name in ("Dynamic_Wearleveling_Enabled", "Static_Wearleveling_Enabled", "Static_Wearleveling_Threshold"):
        drive.text(name, "")
    drive.word("Address_Mapping", ("PAGE_LEVEL", "HYBRID"), "PAGE_LEVEL")
    cache = drive.whole("CMT_Capacity", 0, 2**40, 2**21)
    if not drive.flag("Ideal_Mapping_Table", False):
        draft.leave("CMT_Capacity", cache, CACHED_TABLE)


def _collection(draft: Draft, drive: Parameters, spare: float) -> None:
    policies = ("GREEDY", "RGA", "RANDOM", "RANDOM_P", "RANDOM_PP", "FIFO")
    policy = drive.word("GC_Block_Selection_Policy", policies, "RGA")
    blocks = draft.value("device.geometry.blocks_per_plane")
    gc = "device.ftl.gc"
    if policy in ("GREEDY", "FIFO"):
        draft.set(f"{gc}.policy", policy.lower(), "GC_Block_Selection_Policy")
    else:
        # RGA samples as many blocks of a plane as its logarithm; the others take one at random.
        choices = int(math.log2(blocks)) if policy == "RGA" else 1
        draft.set(f"{gc}.policy", "d-choices", f"GC_Block_Selection_Policy {policy}")
        why = "log2 of Block_No_Per_Plane (GC_and_WL_Unit_Page_Level.cpp)" if policy == "RGA" else "one block at random"
        draft.set(f"{gc}.choices", choices, why)
    if policy == "RANDOM_PP":
        draft.leave("RANDOM_PP", "", "a block is drawn again there until enough of it is invalid")
    share = drive.number("GC_Exec_Threshold", 0, 1, 0.05)
    threshold = max(int(share * blocks), LEAST_FREE_BLOCKS)
    held = math.floor(spare * blocks)
    if threshold + 3 <= held:
        # Fewer than that are free, and one more is set aside for the mapping table's pages, even of an ideal table.
        origin = f"GC_Exec_Threshold {share:g} of {blocks} blocks of a plane, 10 at least, as MQSim sets one more aside"
        draft.set(f"{gc}.start_free", threshold, origin)
    else:
        effect = (
            f"MQSim collects while fewer than {threshold} blocks of a plane are free, and only {held} are spare, so "
        )
        draft.leave(
            "GC_Exec_Threshold", share, f"{effect}that it never stops; here collection begins as late as it can"
        )
    draft.set(f"{gc}.reads", "page", "MQSim reads the valid pages of a victim one by one")


def _controller(
    draft: Draft, drive: Parameters, flash: Parameters, host: Parameters, flows: list[mqsim_load.Flow], planes: int
) -> None:
    controller = "device.controller"
    mode = flows[0].parameters.word("Device_Level_Data_Caching_Mode", mqsim_load.CACHING, "WRITE_CACHE")
    page = flash.whole("Page_Capacity", 512, 2**20)
    cache = drive.whole("Data_Cache_Capacity", 0, 2**40, 2**29)
    drive.word("Caching_Mechanism", ("SIMPLE", "ADVANCED"), "ADVANCED")
    if any(each.parameters.text("Device_Level_Data_Caching_Mode", mode).upper() != mode for each in flows):
        draft.leave("Device_Level_Data_Caching_Mode", "by flow", f"all flows have that of the first, {mode}")
    buffer = max(planes, 2) * page
    draft.set(f"{controller}.write_buffer", size(buffer), "a page for each plane, on the way to flash (SSD_Device.cpp)")
    if mode in ("WRITE_CACHE", "WRITE_READ_CACHE"):
        effect = "a page written twice within a second stays in the cache there and is programmed when evicted"
        draft.leave("Data_Cache_Capacity", cache, effect)
        cost = mqsim_load.memory_ns(drive, flows[0].bytes)
        origin = "the cache's memory, one transfer at a time: tRCD + tCL + bytes / burst / 2 / data rate"
        draft.set(f"{controller}.write_cost", nanoseconds(cost), origin)
    else:
        draft.set(f"{controller}.write_cache", "off", f"Device_Level_Data_Caching_Mode {mode}")
    if mode in ("READ_CACHE", "WRITE_READ_CACHE"):
        draft.set(f"{controller}.read_cache", size(cache), "Data_Cache_Capacity")
    lane, lanes = host.number("PCIe_Lane_Bandwidth", 0.001, 1000, 1.0), host.whole("PCIe_Lane_Count", 1, 64, 4)
    link = lane * lanes * 1e9 * PAYLOAD / (PAYLOAD + OVERHEAD)
    origin = f"PCIe_Lane_Bandwidth x PCIe_Lane_Count, of which {PAYLOAD}/{PAYLOAD + OVERHEAD} are data (PCIe_Link.h)"
    draft.set(f"{controller}.link", rate(link), origin)
    delay = nanoseconds(host.whole("SATA_Processing_Delay", 0, MOST_NS, 400_000))
    if drive.word("HostInterface_Type", ("NVME", "SATA"), "NVME") == "SATA":
        for setting in ("submit", "complete"):
            draft.set(f"{controller}.host_latency.{setting}", delay, "SATA_Processing_Delay")
        depth = min(drive.whole("IO_Queue_Depth", 1, MOST_COUNT, 1024), 32)
        draft.set(f"{controller}.queue_depth", depth, "IO_Queue_Depth, of which SATA has 32 at most")
    else:
        fetch = drive.whole("Queue_Fetch_Size", 1, MOST_COUNT, 512)
        depth = min(fetch * len(flows), MOST_COUNT)
        draft.set(f"{controller}.queue_depth", depth, "Queue_Fetch_Size for each flow")
        drive.text("IO_Queue_Depth", "")
    classes = [each.parameters.word("Priority_Class", mqsim_load.CLASSES, "HIGH").lower() for each in flows]
    if len(set(classes)) > 1:
        draft.set(f"{controller}.queues.arbitration", "weighted", "Priority_Class differs by flow")
        draft.set(f"{controller}.queues.classes", classes, "Priority_Class of each flow")


def _rest(draft: Draft, drive: Parameters, flash: Parameters, host: Parameters) -> None:
    for each in (drive, flash, host):
        for name, value in each.rest():
            effect = UNREAD.get(name, "unknown to this import and to MQSim's parser")
            if effect:
                draft.leave(name, value, effect)
