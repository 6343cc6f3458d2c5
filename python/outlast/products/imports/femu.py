"""FEMU's device options (`-device femu,...`, its black-box mode) as a scenario.

What the options mean is taken from FEMU's source (github.com/MoatLab/FEMU, commit 99ce4fb2b): the defaults are those of
`hw/femu/femu.c`, and the origin of a setting names the file of `hw/femu/bbssd` that decides.
"""

from __future__ import annotations

from collections.abc import Sequence

from outlast.errors import ScenarioError
from outlast.products.imports.draft import Draft, assume_load, nanoseconds, size
from outlast.products.imports.parameters import Parameters, Place

BLACK_BOX = 1
"""`FEMU_BBSSD_MODE`: the only mode with a translation layer in the device."""
MOST_NS = 2**31 - 1
RICHER = {
    "pg_xfer_lat": "device.timing.bus",
    "cmd_addr_lat": "device.timing.command",
    "trcbsy": "device.timing.cache_read",
}
"""Options of the finer model of timing with the setting that comes nearest."""
_QUIET = """
serial id bus addr queues entries multipoller_enabled poller_ratio hiops_inline max_cqes max_sqes stride aerl acl elpe
mdts cqr vwc intc intc_thresh intc_time ms ms_max dlfeat mpsmin mpsmax nlbaf lba_index extended dpc dps mc meta cmbsz
cmbloc oacs oncs sgl vid did lver debug_ftl flash_type gc_strategy cell_pages
"""
QUIET = frozenset(_QUIET.split())
"""Options of the emulator and of the NVMe registers, which change no figure of a simulation."""
LEFT = {
    "subsys": "with fdp=on it has reclaim unit handles; `device.placement` has them here",
    "read_cache_mb": "a cache of that size would be `device.controller.read_cache`",
    "mapping": "the whole mapping table is in memory here; `device.ftl.map_cache` keeps a part of it",
    "mapping_cache_mb": "`device.ftl.map_cache.size` is memory for a part of the table",
    "pgtype_lat": "a list in `device.timing.program` would give each page type its time",
    "ecc_step_ns": "reads of worn blocks take longer there; `device.reliability` would",
    "nand_bad_blocks": "`device.defects.factory_bad` is the share of bad blocks",
    "err_read_unc_ppm": "`device.reliability` gives reads an error rate by wear and age",
    "pcie_prop_delay_ns": "`device.controller.host_latency` is a time each way",
    "fw_cpu_ns": "`device.controller.master_cost` is the time of the controller for each command",
}


def femu(words: Sequence[str]) -> Draft:
    """A scenario from options as QEMU gets them: `femu,devsz_mb=4096,femu_mode=1,...`, in one word or several."""
    options = _options(words)
    draft = Draft("FEMU", ("-device femu",))
    mode = options.whole("femu_mode", 0, 255, BLACK_BOX)
    if mode != BLACK_BOX:
        raise options.wrong(
            "femu_mode", f"must be {BLACK_BOX}, the black-box mode; zones and open channels are not imported"
        )
    draft.set("name", "femu", "-device femu")
    planes = _geometry(draft, options)
    _timing(draft, options)
    _mapping(draft, options, planes)
    _controller(draft, options)
    assume_load(draft)
    for name, value in options.rest():
        if name in QUIET or value == "0":
            continue
        draft.leave(name, value, LEFT.get(name, "unknown to this import"))
    return draft


def _options(words: Sequence[str]) -> Parameters:
    values: dict[str, Place] = {}
    for word in ",".join(words).split(","):
        name, equals, text = word.strip().partition("=")
        if name in ("", "-device", "femu"):
            continue
        if not equals:
            raise ScenarioError(f'-device femu: "{word.strip()[:60]}" is neither of the form name=value nor a script')
        if name in values:
            raise ScenarioError(f"-device femu: {name} is given twice")
        values[name] = Place(text.strip(), 1)
    if not values:
        raise ScenarioError("-device femu: no options; they are of the form femu,devsz_mb=4096,femu_mode=1")
    return Parameters("-device femu", values)


def _geometry(draft: Draft, options: Parameters) -> int:
    """Sets the geometry and returns the bytes of all flash."""
    page = options.whole("secsz", 512, 65_536, 512) * options.whole("secs_per_pg", 1, 256, 8)
    channels, luns = options.whole("nchs", 1, 4096, 8), options.whole("luns_per_ch", 1, 128, 8)
    planes, blocks = options.whole("pls_per_lun", 1, 16, 1), options.whole("blks_per_pl", 4, 65_536, 256)
    pages = options.whole("pgs_per_blk", 1, 65_536, 256)
    geometry = "device.geometry"
    draft.set(f"{geometry}.channels", channels, "nchs")
    draft.set(f"{geometry}.chips_per_channel", luns, "luns_per_ch: each LUN works by itself, as a chip of one die")
    draft.set(f"{geometry}.dies_per_chip", 1, "see luns_per_ch")
    draft.set(f"{geometry}.planes_per_die", planes, "pls_per_lun")
    draft.set(f"{geometry}.blocks_per_plane", blocks, "blks_per_pl")
    draft.set(f"{geometry}.pages_per_block", pages, "pgs_per_blk")
    draft.set(f"{geometry}.page_size", size(page), "secsz x secs_per_pg")
    return channels * luns * planes * blocks * pages * page


def _timing(draft: Draft, options: Parameters) -> None:
    for setting, name, default in (
        ("read", "pg_rd_lat", 40_000),
        ("program", "pg_wr_lat", 200_000),
        ("erase", "blk_er_lat", 2_000_000),
    ):
        draft.set(f"device.timing.{setting}", nanoseconds(options.whole(name, 1, MOST_NS, default)), f"{name} in ns")
    draft.set("device.timing.bus", "100GB/s", "no time: FEMU books no channel (NAND_CH_OFF in ftl-media.c)")
    options.text("ch_xfer_lat", "")
    for name, setting in RICHER.items():
        if options.whole(name, 0, MOST_NS, 0):
            draft.leave(
                name, options.text(name), f"each operation takes that much longer there; `{setting}` comes nearest"
            )
    cell = options.whole("nand_cell_type", 0, 5, 0)
    if cell:
        draft.leave(
            "nand_cell_type",
            cell,
            "times of FEMU's table of flash types take the place of pg_rd_lat and the others there",
        )


def _mapping(draft: Draft, options: Parameters, raw: int) -> None:
    ftl = "device.ftl"
    draft.set(f"{ftl}.mapping_unit", draft.value("device.geometry.page_size"), "FEMU maps pages")
    spare = options.whole("op_pcent", 0, 500, 0)
    if spare:
        draft.set(f"{ftl}.over_provisioning", spare / 100, "op_pcent, of the user space there and here (femu.c)")
        options.text("devsz_mb", "")
    else:
        exposed = options.whole("devsz_mb", 1, 2**31, 1024) << 20
        if exposed >= raw:
            shown = f"must leave spare space below the {raw >> 20} MiB of flash, or name op_pcent"
            if "devsz_mb" in options:
                raise options.wrong("devsz_mb", shown)
            raise ScenarioError(f"-device femu: devsz_mb = 1024 (default): {shown}")
        draft.set(f"{ftl}.capacity", size(exposed), "devsz_mb")
    draft.set(f"{ftl}.multi_plane", False, "FEMU programs and reads page by page")
    words = {
        "greedy": "greedy",
        "cost-benefit": "cost-benefit",
        "fifo": "fifo",
        "d-choice": "d-choices",
        "random": "d-choices",
    }
    name = options.text("gc_policy", "greedy")
    if name not in words:
        name = "greedy"
        draft.leave("gc_policy", options.text("gc_policy"), "unknown to FEMU too, which is greedy then")
    draft.set(f"{ftl}.gc.policy", words[name], "gc_policy")
    if name == "random":
        draft.set(f"{ftl}.gc.choices", 1, "gc_policy random")
    lines = draft.value("device.geometry.blocks_per_plane")
    share = options.whole("gc_thres_pcent_high", 1, 100, 95)
    spare_lines = (raw - _user_bytes(draft, raw)) * lines // raw
    urgent = lines - lines * share // 100
    if 1 <= urgent <= spare_lines - 3:
        draft.set(
            f"{ftl}.gc.start_free", urgent, f"gc_thres_pcent_high {share} of {lines} lines, where the host waits there"
        )
    else:
        why = f"{urgent} lines are to be free there, of {spare_lines} spare; here collection begins as late as it can"
        draft.leave("gc_thres_pcent_high", share, why)
    draft.leave(
        "gc_thres_pcent",
        options.whole("gc_thres_pcent", 1, 100, 75),
        "the early collection between requests, which takes only lines of an eighth invalid pages",
    )
    draft.leave("collection", "", "moved pages go to the host's open line there, and to one of their own here")
    draft.set(f"{ftl}.gc.reads", "page", "page by page")


def _user_bytes(draft: Draft, raw: int) -> int:
    if "device.ftl.over_provisioning" in draft.settings:
        return int(raw / (1 + draft.value("device.ftl.over_provisioning")))
    text = draft.value("device.ftl.capacity")
    return int(text[:-3]) << {"KiB": 10, "MiB": 20, "GiB": 30, "TiB": 40}[text[-3:]]


def _controller(draft: Draft, options: Parameters) -> None:
    draft.set("device.controller.write_cache", "off", "FEMU has no write buffer: a write ends with its programs")
    link = options.whole("pcie_bandwidth_mbps", 0, 10**7, 0)
    if link:
        draft.set("device.controller.link", f"{link}MB/s", "pcie_bandwidth_mbps")
    count = options.whole("namespaces", 1, 256, 1)
    if count > 1:
        draft.leave("namespaces", count, "one namespace here, of the whole capacity")
