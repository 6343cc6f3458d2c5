"""NVMeVirt's `ssd_config.h` as a scenario.

What the definitions mean is taken from NVMeVirt's source (github.com/snu-csl/nvmevirt, commit 61c90f7): `ssd.c` for the
geometry, `conv_ftl.c` for space and collection, `channel_model.h` for bandwidths, whose MB are MiB.
"""

from __future__ import annotations

from pathlib import Path

from outlast.errors import ScenarioError
from outlast.products.imports.definitions import Definitions
from outlast.products.imports.draft import Draft, assume_load, nanoseconds, rate, size

UNIT = 4096
"""Bytes that an entry of the mapping table covers: `pgsz` in `ssd.c`."""
MEMORY = 64 << 30
"""`memmap_size` of the read-me, which the capacity of the drive comes from."""
LEAST_FREE = 2
"""`gc_thres_lines` of `conv_ftl.c`."""
CELLS = {1: ("LSB",), 2: ("LSB", "MSB"), 3: ("LSB", "CSB", "MSB")}
"""Page types by CELL_MODE; QLC has no times there."""
OTHERS = {0: "memories other than flash", 2: "zones", 3: "keys and values"}
MOST_NS = 10**10


def nvmevirt(file: Path, base: str | None, memory: int | None) -> Draft:
    """A scenario from the model that `base` selects, of a drive in `memory` bytes, the module's `memmap_size`."""
    given = Definitions.read(file, base)
    kind = given.whole("NS_SSD_TYPE_0", 0, 100)
    if kind != 1:
        what = OTHERS.get(kind, "others")
        raise ScenarioError(
            f"{file}: {given.base} is no conventional SSD, and {what} are not imported; --base names another"
        )
    draft = Draft("NVMeVirt", (f"{file.name} ({given.base})",))
    draft.set("name", given.base.lower().replace("_", "-"), f"BASE_SSD {given.base}")
    _geometry(draft, given, memory)
    _timing(draft, given)
    ftl = "device.ftl"
    draft.set(f"{ftl}.mapping_unit", size(UNIT), "4 KiB in ssd.c, whatever the page")
    rows = given.whole("ONESHOT_PAGE_SIZE", UNIT, 2**24) // given.whole("FLASH_PAGE_SIZE", UNIT, 2**24)
    draft.set(f"{ftl}.one_shot", rows, "ONESHOT_PAGE_SIZE / FLASH_PAGE_SIZE")
    percent = int((1 + given.number("OP_AREA_PERCENT", 0, 5)) * 100)
    draft.set(f"{ftl}.over_provisioning", (percent - 100) / 100, "OP_AREA_PERCENT, of the user space there and here")
    draft.set(f"{ftl}.gc.policy", "greedy", "the line with the fewest valid pages (conv_ftl.c)")
    draft.set(f"{ftl}.gc.start_free", LEAST_FREE, "gc_thres_lines of conv_ftl.c")
    _controller(draft, given)
    assume_load(draft)
    for name in given.rest():
        if name in LEFT:
            draft.leave(name, given.text(name), LEFT[name])
    return draft


LEFT = {
    "NAND_READ_LATENCY_LSB": "reads above 4 KiB take this there; every read takes the time of 4 KiB here",
    "NAND_READ_LATENCY_MSB": "reads above 4 KiB take this there; every read takes the time of 4 KiB here",
    "FW_READ_LATENCY": "a fixed time of reads above 4 KiB",
    "FW_WBUF_LATENCY1": "a time for each 4 KiB of a write",
    "FW_CH_XFER_LATENCY": "a time for each transfer on a channel; `device.timing.command` comes nearest",
    "MAX_CH_XFER_SIZE": "transfers are cut to this there, so that they overlap with the link",
    "MDTS": "requests are as long as the workload makes them here",
}


def _geometry(draft: Draft, given: Definitions, memory: int | None) -> None:
    geometry = "device.geometry"
    channels, luns = given.whole("NAND_CHANNELS", 1, 1024), given.whole("LUNS_PER_NAND_CH", 1, 1024)
    planes, blocks = given.whole("PLNS_PER_LUN", 1, 16), given.whole("BLKS_PER_PLN", 4, 2**24)
    page = given.whole("FLASH_PAGE_SIZE", UNIT, 2**24)
    draft.set(f"{geometry}.channels", channels, "NAND_CHANNELS")
    draft.set(f"{geometry}.chips_per_channel", luns, "LUNS_PER_NAND_CH: each LUN works by itself, as a chip of one die")
    draft.set(f"{geometry}.dies_per_chip", 1, "see LUNS_PER_NAND_CH")
    draft.set(f"{geometry}.planes_per_die", planes, "PLNS_PER_LUN")
    draft.set(f"{geometry}.blocks_per_plane", blocks, "BLKS_PER_PLN")
    bytes_of_all = MEMORY if memory is None else memory
    shot = given.whole("ONESHOT_PAGE_SIZE", UNIT, 2**24)
    shots = -(-bytes_of_all // (channels * luns * planes * blocks) // shot)
    why = "--memory" if memory is not None else "memmap_size of the read-me"
    origin = f"{bytes_of_all >> 20} MiB ({why}) over all blocks, in ONESHOT_PAGE_SIZE (ssd.c)"
    draft.set(f"{geometry}.pages_per_block", max(shots, 1) * (shot // page), origin)
    draft.set(f"{geometry}.page_size", size(page), "FLASH_PAGE_SIZE")


def _timing(draft: Draft, given: Definitions) -> None:
    mode = given.whole("CELL_MODE", 0, 4)
    kinds = CELLS.get(mode, ("LSB",))
    reads = [nanoseconds(given.whole(f"NAND_4KB_READ_LATENCY_{kind}", 1, MOST_NS)) for kind in kinds]
    timing = "device.timing"
    origin = f"NAND_4KB_READ_LATENCY_{'/'.join(kinds)}"
    draft.set(f"{timing}.read", reads[0] if len(set(reads)) == 1 else reads, origin)
    program = nanoseconds(given.whole("NAND_PROG_LATENCY", 1, MOST_NS))
    draft.set(f"{timing}.program", program, "NAND_PROG_LATENCY, of a whole ONESHOT_PAGE_SIZE")
    draft.set(
        f"{timing}.erase", nanoseconds(max(given.whole("NAND_ERASE_LATENCY", 0, MOST_NS), 1)), "NAND_ERASE_LATENCY"
    )
    channel = given.whole("NAND_CHANNEL_BANDWIDTH", 1, 10**6)
    draft.set(f"{timing}.bus", rate(channel * 2**20), f"NAND_CHANNEL_BANDWIDTH {channel}, in MiB/s")


def _controller(draft: Draft, given: Definitions) -> None:
    controller = "device.controller"
    cores = given.whole("SSD_PARTITIONS", 1, 256)
    draft.set(f"{controller}.flash_cores", cores, "SSD_PARTITIONS: parts of the channels with a translation layer each")
    link = given.whole("PCIE_BANDWIDTH", 1, 10**6)
    draft.set(f"{controller}.link", rate(link * 2**20), f"PCIE_BANDWIDTH {link}, in MiB/s")
    # Versions before the zoned write buffers call it WRITE_BUFFER_SIZE.
    buffer = given.first_of("GLOBAL_WB_SIZE", "WRITE_BUFFER_SIZE")
    draft.set(f"{controller}.write_buffer", size(given.whole(buffer, 1, 2**40)), buffer)
    if not given.whole("WRITE_EARLY_COMPLETION", 0, 1):
        draft.set(f"{controller}.write_cache", "off", "WRITE_EARLY_COMPLETION 0")
    reads, writes = (given.whole(name, 0, MOST_NS) for name in ("FW_4KB_READ_LATENCY", "FW_WBUF_LATENCY0"))
    both = min(reads, writes)
    draft.set(
        f"{controller}.host_latency.submit", nanoseconds(both), "what FW_4KB_READ_LATENCY and FW_WBUF_LATENCY0 share"
    )
    if reads > both:
        draft.leave(
            "FW_4KB_READ_LATENCY",
            reads,
            f"a read takes {nanoseconds(reads - both)} longer there: no fixed time of reads alone here",
        )
    if writes > both:
        draft.leave("FW_WBUF_LATENCY0", writes, f"a write takes {nanoseconds(writes - both)} longer there")
