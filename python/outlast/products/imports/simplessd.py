"""SimpleSSD's configuration (`sample.cfg`) as a scenario.

What the parameters mean is taken from SimpleSSD's source (github.com/SimpleSSD/SimpleSSD, commit 2be3716): `ftl/ftl.cc`
for space, `ftl/page_mapping.cc` for collection, `pal/` for flash. Times there are in picoseconds.
"""

from __future__ import annotations

import re
from pathlib import Path

from outlast.errors import ScenarioError
from outlast.products.imports.draft import Draft, assume_load, nanoseconds, rate, size
from outlast.products.imports.parameters import Parameters, Place
from outlast.products.imports.xml import read_bytes

SECTIONS = ("cpu", "nvme", "ufs", "sata", "pal", "ftl", "icl", "dram")
SIMULATION = ("global", "generator", "trace")
"""Sections of the other file that SimpleSSD-Standalone takes."""
MOST_PS = 10**15
LANES = {0: 2.5e9 * 0.8, 1: 5e9 * 0.8, 2: 8e9 * 128 / 130}
"""Bits of data a second on a lane by PCIEGeneration: 2.5 and 5 GT/s in 8b/10b, 8 GT/s in 128b/130b."""
POLICIES = {0: "greedy", 1: "cost-benefit", 2: "d-choices", 3: "d-choices"}
OTHER_SECTIONS = {
    "cpu": "firmware takes time by its instructions there; `device.controller.*_cost` are times by command and by unit",
    "dram": "the buffer's memory takes time there; `device.controller.write_cost` is a time for each unit written",
    "ufs": "the interface here is that of `nvme`",
    "sata": "the interface here is that of `nvme`",
}
LEFT = {
    "SuperblockSize": "a superblock is one block of every plane here; a smaller one is collected in smaller steps",
    "GCReclaimThreshold": "",
    "EnableRandomIOTweak": "",
    "CacheWaySize": "the caches are fully associative here",
    "EnableReadPrefetch": "nothing is read ahead here; sequential reads are faster there",
    "EvictMode": "the buffer is emptied in the order in which it was filled here",
    "EvictPolicy": "the read cache evicts the least recently used here",
    "WorkInterval": "commands are looked for in such steps there; `device.controller.host_latency` is a fixed time",
    "MaxRequestCount": "",
    "CacheLatency": "`device.controller.write_cost` is a time for each unit written",
}
"""Parameters that are left out, with what each would change; empty for those that say nothing of their own."""


def simplessd(file: Path) -> Draft:
    """A scenario from SimpleSSD's configuration file."""
    sections = _sections(file)
    draft = Draft("SimpleSSD", (file.name,))
    draft.set("name", file.stem, file.name)
    flash, ftl, cache, nvme = (sections[name] for name in ("pal", "ftl", "icl", "nvme"))
    planes = _geometry(draft, flash)
    _timing(draft, flash)
    _mapping(draft, flash, ftl, planes)
    _controller(draft, cache, nvme)
    assume_load(draft)
    _filling(draft, ftl)
    for name, section in sections.items():
        rest = list(section.rest())
        if name in OTHER_SECTIONS and rest:
            draft.leave(f"[{name}]", "", OTHER_SECTIONS[name])
            continue
        for key, value in rest:
            if effect := LEFT.get(key, "" if name == "nvme" else "unknown to this import"):
                draft.leave(f"{name}.{key}", value, effect)
    return draft


def _sections(file: Path) -> dict[str, Parameters]:
    values: dict[str, dict[str, Place]] = {name: {} for name in SECTIONS}
    section = ""
    for number, line in enumerate(read_bytes(file).decode("utf-8", errors="replace").splitlines(), 1):
        text = line.split("#", 1)[0].strip()
        if not text:
            continue
        if (found := re.fullmatch(r"\[(\w+)\]", text)) is not None:
            section = found[1]
            if section in SIMULATION:
                reason = "configures a simulation; name the drive's file, which has [pal]: simplessd/config/sample.cfg"
                raise ScenarioError(f"{file}:{number}: [{section}]: {reason}")
            if section not in values:
                raise ScenarioError(f"{file}:{number}: [{section}]: must be one of {', '.join(SECTIONS)}")
            continue
        name, equals, value = text.partition("=")
        if not equals or not section:
            raise ScenarioError(f'{file}:{number}: "{text[:60]}" is not of the form name = value in a section')
        values[section][name.strip()] = Place(value.strip(), number)
    if not values["pal"]:
        raise ScenarioError(f"{file}: no section [pal]: not SimpleSSD's configuration")
    return {name: Parameters(str(file), each, f"[{name}]") for name, each in values.items()}


def _geometry(draft: Draft, flash: Parameters) -> int:
    """Sets the geometry and returns the planes that work together."""
    geometry = "device.geometry"
    for setting, name, default in (
        ("channels", "Channel", 8),
        ("chips_per_channel", "Package", 4),
        ("dies_per_chip", "Die", 2),
        ("planes_per_die", "Plane", 1),
        ("blocks_per_plane", "Block", 512),
        ("pages_per_block", "Page", 512),
    ):
        draft.set(f"{geometry}.{setting}", flash.whole(name, 1, 2**24, default), name)
    draft.set(f"{geometry}.page_size", size(flash.whole("PageSize", 512, 2**24, 16_384)), "PageSize")
    together = flash.flag("EnableMultiPlaneOperation", True)
    draft.set("device.ftl.multi_plane", together, "EnableMultiPlaneOperation")
    return int(draft.value(f"{geometry}.planes_per_die")) if together else 1


def _timing(draft: Draft, flash: Parameters) -> None:
    kind = flash.whole("NANDType", 0, 2, 1)
    pages = (("LSB",), ("LSB", "MSB"), ("LSB", "CSB", "MSB"))[kind]
    for setting, end in (("read", "Read"), ("program", "Write")):
        times = [nanoseconds(flash.whole(f"{page}{end}", 1000, MOST_PS) / 1000) for page in pages]
        origin = f"{'/'.join(pages)}{end} in ps; NANDType {kind}"
        draft.set(f"device.timing.{setting}", times[0] if len(set(times)) == 1 else times, origin)
        for page in {"LSB", "CSB", "MSB"} - set(pages):
            flash.text(f"{page}{end}", "")
    draft.set("device.timing.erase", nanoseconds(flash.whole("Erase", 1000, MOST_PS) / 1000), "Erase in ps")
    transfers, width = flash.whole("DMASpeed", 1, 10**5, 400), flash.whole("DMAWidth", 8, 16, 8)
    draft.set(
        "device.timing.bus", rate(transfers * 1e6 * width / 8), f"DMASpeed {transfers} MT/s x DMAWidth {width} bits"
    )


def _mapping(draft: Draft, flash: Parameters, ftl: Parameters, planes: int) -> None:
    table = "device.ftl"
    mode = ftl.whole("MappingMode", 0, 100, 0)
    if mode:
        raise ftl.wrong("MappingMode", "must be 0, a mapping of pages")
    unit = flash.whole("PageSize", 512, 2**24, 16_384) * planes
    draft.set(f"{table}.mapping_unit", size(unit), "PageSize x the planes that work together (EnableRandomIOTweak)")
    spare = ftl.number("OverProvisioningRatio", 0.001, 0.9, 0.25)
    base = (
        f"OverProvisioningRatio {spare:g} is of raw space there (ftl.cc), of user space here: {spare:g}/(1 - {spare:g})"
    )
    draft.set(f"{table}.over_provisioning", round(spare / (1 - spare), 9), base)
    scheme = flash.text("PageAllocation", "CWDP").upper()
    if sorted(scheme) != sorted("CWDP"):
        raise flash.wrong("PageAllocation", "must have C, W, D and P once each")
    draft.set(f"{table}.allocation", scheme, "PageAllocation")
    policy = ftl.whole("EvictPolicy", 0, 3, 0)
    draft.set(f"{table}.gc.policy", POLICIES[policy], f"EvictPolicy {policy}")
    if policy >= 2:
        choices = ftl.whole("DChoiceParam", 1, 65_535, 3) if policy == 3 else 1
        draft.set(f"{table}.gc.choices", choices, "DChoiceParam" if policy == 3 else "EvictPolicy 2: at random")
    else:
        ftl.text("DChoiceParam", "")
    blocks = draft.value("device.geometry.blocks_per_plane")
    share = ftl.number("GCThreshold", 0, 1, 0.05)
    start = int(share * blocks)
    if 1 <= start <= int(spare * blocks) - 3:
        draft.set(f"{table}.gc.start_free", start, f"GCThreshold {share:g} of {blocks} superblocks")
    else:
        draft.leave(
            "GCThreshold", share, "that many superblocks are not spare; here collection begins as late as it can"
        )
    if ftl.whole("GCMode", 0, 1, 0) == 1:
        stop = ftl.number("GCReclaimThreshold", 0, 1, 0.1)
        draft.leave(
            "GCMode",
            1,
            f"collection goes on there until {stop:g} of all blocks are free; `gc.stop_free` with a pacing does",
        )
    count = ftl.whole("GCReclaimBlocks", 1, 10**6, 1)
    if count > 1:
        draft.leave("GCReclaimBlocks", count, "one superblock is collected after the other here")
    worn = ftl.whole("EraseThreshold", 1, 2**31, 100_000)
    draft.set("device.defects.endurance", worn, "EraseThreshold")


def _controller(draft: Draft, cache: Parameters, nvme: Parameters) -> None:
    controller = "device.controller"
    held = cache.whole("CacheSize", 0, 2**40, 2**25)
    if cache.flag("EnableWriteCache", True) and held:
        draft.set(f"{controller}.write_buffer", size(held), "CacheSize, EnableWriteCache")
    else:
        draft.set(f"{controller}.write_cache", "off", "EnableWriteCache 0")
    if cache.flag("EnableReadCache", True) and held:
        draft.set(f"{controller}.read_cache", size(held), "CacheSize, EnableReadCache; one cache for both there")
    for name in ("ReadPrefetchMode", "ReadPrefetchCount", "ReadPrefetchRatio"):
        cache.text(name, "")
    if not cache.flag("EnableReadPrefetch", False):
        cache.text("EnableReadPrefetch", "")
    generation, lanes = nvme.whole("PCIEGeneration", 0, 2, 2), nvme.whole("PCIELane", 1, 32, 4)
    draft.set(
        f"{controller}.link", rate(LANES[generation] * lanes / 8), f"PCIEGeneration {generation} x PCIELane {lanes}"
    )


def _filling(draft: Draft, ftl: Parameters) -> None:
    ftl.whole("FillingMode", 0, 2, 0)
    filled, stale = ftl.number("FillRatio", 0, 1, 0.0), ftl.number("InvalidPageRatio", 0, 1, 0.0)
    if filled:
        draft.set("precondition.fill_fraction", filled, "FillRatio")
    elif not stale:
        draft.set("precondition.fill", "none", "FillRatio 0: reads of what was never written cost no flash here")
        draft.set("precondition.overwrite", "none", "InvalidPageRatio 0")
    if stale:
        draft.set("precondition.overwrite", "random", "InvalidPageRatio, FillingMode")
        draft.set("precondition.min_drive_writes", 0, "InvalidPageRatio")
        draft.set("precondition.max_drive_writes", stale, "InvalidPageRatio, in parts of the user space")
    elif filled:
        draft.set("precondition.overwrite", "none", "InvalidPageRatio 0")
