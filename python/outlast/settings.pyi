# Made by docs/make_settings.py (make schema) from the schema of scenario files.

from outlast.setting import Setting

array: Array
"""An array of such drives. Absent: the host has one drive."""
changes: Setting
"""Changes of protection during the run, and updates of placement handles; they need `run.timing = "full"`.
- at: When, from the start of the run. Give this, `pe_cycles` or `medium_errors`.
- block: Its new `block`; 0: none. Default: as it is.
- class: The class that gets another code. Default: 0.
- data: Its new `data`. Default: as it is.
- dies: Dies to add; see `device.absent_dies`.
- medium_errors: When this many units have been unreadable since the drive was made, for the host or for the drive
  itself. (`smart.media_errors` counts commands of the host.)
- parity: Its new `parity`. Default: as it is.
- pe_cycles: When the most-worn block has been erased this many times, initial wear included.
- update_handles: Placement identifiers whose handles refer to an empty reclaim unit from then on, as after `NVMe`'s
  Reclaim Unit Handle Update; see `device.placement`.
"""
description: Setting
"""Description in a sentence or two. Default: empty."""
device: Device
"""The drive; of an array, each of its members."""
expect: Setting
"""What the result must show, by the dotted name of a figure: `"latency_us.read.p99" = "< 1ms"`. A limit is `<`, `<=`,
`>` or `>=` and a number, with a unit where the figure has one, or two limits joined by `and`. `outlast run` ends
with exit code 1 if one is not met. Default: nothing.
"""
extends: Setting
"""What this scenario starts from: the name of a preset, or the path of another scenario from this file's folder, or a
list of them, of which later ones win. This file's own settings win over all.
"""
faults: Setting
"""Sudden failures at given times.
- at: When, from the start of the measurement.
- block: Block of the plane.
- channel: Channel of a chip.
- chip: Chip on the channel.
- device: Member of the array, counted from 0; its spares follow, which kinds `device` and `replace` do not take.
  Needed wherever there is an array, except for `power`.
- die: Die, counted over the drive: channel by channel, chip by chip.
- force: For kind `replace`: whether a member is exchanged even though data is lost with it. For `power` of an array:
  whether it starts even though what a missing member held may come back wrong. Default: false.
- kind: Kind of the fault.
- page: Page of the block.
- plane: Plane of the die.
- reads: Number of sensings that fail.
- shorn: For kind `power`, where the buffer is not protected: of each mapping unit whose program operation was under
  way so much is new, the rest old, and the drive reports it as good: `"3/8"` and `"7/8"` have been seen. Nothing
  that a flush has covered is among them. Default: such units are passed over.
- torn: The same, but each run of so many bytes is new or old by itself: 512 for sectors.
"""
name: Setting
"""Name shown in results. Default: "unnamed"."""
namespace: Setting
"""Namespaces of the drive. Absent: one, the whole drive.
- block_size: Bytes of a logical block: 512 or 4096. Default: 512.
- capacity: Capacity, which is also its quota: whole mapping units, together at most the drive's capacity. Of a drive
  with zones whole zones, by their size.
- placement_handles: Reclaim unit handles that it may use, by their numbers in the enabled configuration: a write
  with placement identifier i goes through the i-th of them, one with an identifier beyond them, or with none,
  through the first. Absent: those of `device.placement`.
- read_only: True for a namespace that takes no writes from hosts of `NVMe`. Default: false.
"""
policies: Policies
"""Decisions that code of your own takes."""
precondition: Precondition
"""Preparation of the drive before the measurement."""
run: Run
"""Extent and method of the measurement."""
seed: Setting
"""The one seed, from which every random stream is derived; 0 to 2^63 - 1. Default: 1."""
workload: Workload
"""The workload of the host."""

class Array(Setting):
    background: ArrayBackground
    """Rebuilding, resynchronising, moving parity and scrubbing."""
    chunk: Setting
    """Stripe unit: bytes of consecutive data on one member; a multiple of 512.
    Default: "64KiB".
    """
    consistency: Setting
    """How parity is made consistent after a loss of power; `resync` for `raid0`, in which nothing can be inconsistent.
    Default: "resync".
    - resync: Parity of the whole array is recomputed after an unclean stop. Costs nothing before; has the write
      hole: a member that fails before this is done may be reconstructed with wrong data where writes were in
      progress.
    - bitmap: As `resync`, but only regions marked before they are written. Has the write hole.
    - ppl: The parity of the unchanged part of a stripe is written to the parity members first (md's partial parity
      log). No write hole.
    - journal: All changes of a write are logged on their members first (md's journal, on the members). No write
      hole; writes in progress are replayed.
    """
    copies: Setting
    """Copies of each chunk; for level `raid10` only.
    Default: 2.
    """
    copy_layout: Setting
    """Placement of the copies; for level `raid10`.
    Default: "near".
    - near: Side by side: the copies follow each other over the members, row by row.
    - far: The first copies as in RAID-0 over the first part of the members; each further set in a part of its own,
      shifted by one member.
    - offset: As far, but each row of chunks is followed at once by its copies, shifted by one member.
    """
    ejection: ArrayEjection
    """When a member is ejected."""
    layout: Setting
    """How parity rotates; for levels `raid5`, `raid6` and `code`.
    Default: "left-symmetric".
    - left-symmetric: Parity moves left, data follows it: the usual choice, since long reads then use every member.
    - left-asymmetric: Parity moves left, data stays in order of members.
    - right-symmetric: Parity moves right, data follows it.
    - right-asymmetric: Parity moves right, data stays in order of members.
    - parity-first: Parity always on the first members.
    - parity-last: Parity always on the last members: RAID-4.
    """
    level: Setting
    """RAID level.
    - raid0: Striping, no redundancy.
    - raid1: Every member holds everything.
    - raid10: Striped copies.
    - raid4: One parity chunk in each stripe, all on the last member.
    - raid5: One parity chunk in each stripe, rotating.
    - raid6: Two parity chunks in each stripe.
    - code: `parities` parity chunks in each stripe, from a maximum-distance-separable code.
    """
    light: ArrayLight
    """Members modelled by latency and bandwidth only. Absent: none."""
    limited_retry: Setting
    """Whether chunks for the host are read with limited retry where redundancy can give the data: a member gives up
    after `device.reliability.limited_retries` re-reads, and the others are read instead; if that fails, the chunk is
    read again with all means. Nothing is rewritten, and no member is ejected for it. Default: false.
    - true
    - false
    """
    log: ArrayLog
    """Where and how large the records of `consistency` are."""
    member: Setting
    """Members that differ from the others.
    - capacity: Its capacity. The array uses only as much of every member as the smallest one has.
    - device: Which: counted from 0; spares follow the members.
    - fail_at: When it fails as a whole, from the start of the measurement; not for spares.
    - pe_cycles: Mean P/E cycles of its blocks at the beginning, for a used drive.
    """
    members: Setting
    """Devices that hold data and parity, spares not counted; at most 64."""
    parities: Setting
    """Parity chunks of each stripe; for level `code` only, which needs it."""
    parity_percent: Setting
    """Diff-RAID: the percentage of all parity that each member holds, in place of `layout`. They sum to 100, to a
    thousandth; with m parities in each stripe each is at most 100 / m. On replacement the oldest member gets the
    largest.
    """
    repair: ArrayRepair
    """Recovery of members with a failed die."""
    replacement: ArrayReplacement
    """Replacement of worn members."""
    safe_mode_delay: Setting
    """Time without a host write after which the members are marked clean, so that a loss of power leaves nothing in
    doubt; for `resync` and `bitmap`. 0: never. Default: 200 ms, md's `safe_mode_delay`; rounded as md does it, one
    to two delays pass.
    """
    spares: Setting
    """Spare devices.
    Default: 0.
    """
    table: Setting
    """Where chunks lie, written out in place of `layout`: for each stripe of a period the member of each chunk, data in
    order of address and then parity. `[[0, 1, 2], [2, 0, 1], [1, 2, 0]]` is left-symmetric RAID-5 over three
    members. At most 65536 stripes.
    """
    writes: Setting
    """Allowed ways to write a partial stripe.
    Default: "cheapest".
    - cheapest: The one with the fewest reads: a full stripe without any, else old data and old parity, or else the
      rest of the stripe. Of two that cost the same the latter, as in md. Where the member of a parity chunk is
      missing, the latter too, as in md: the rest of the stripe is read even where no parity is left to be written.
      Where a resynchronisation is to come, never from old parity, whatever is set here.
    - no-reconstruct: Full stripes where a command covers them, else old data and old parity: Diff-RAID, section 3.4,
      which does not read missing data.
    - chunk-by-chunk: Each chunk by itself, from old data and old parity, full stripes too.
    """

class ArrayBackground(Setting):
    chunks: Setting
    """How the chunks of a group are read and written. Default: `together`.
    - together: All that is read at once, then all that is written.
    - writes-in-turn: All that is read at once; then chunk by chunk what is written, each when the one before is
      done.
    - in-turn: Chunk by chunk what is read, then chunk by chunk what is written.
    """
    max_rate: Setting
    """Bytes per second of each member at most. Default: 200 000 KiB/s, md's `speed_limit_max`; at least `min_rate`. A
    rate that no device reaches is no limit.
    """
    min_rate: Setting
    """Bytes per second of each member, as the mean over the last 27 to 30 seconds, below which the work does not wait
    for the host. Above, where the host has been busy, it waits after every 128 KiB (or chunk, if that is more) until
    what it has under way is done, as in md. Default: 1000 KiB/s, md's `speed_limit_min`. A rate that no device
    reaches: it never waits.
    """
    own: Setting
    """Interval at which your own policy is asked for the rate of each rebuild or repair; its answer holds until the
    next one. From 10 us to 1 h. Default: 10 ms.
    """
    scrub_interval: Setting
    """Time from the end of one scrub to the start of the next, which repairs what it finds; not for `raid0`, in which
    there is nothing to compare. Absent: scrubs only on demand.
    """
    window: Setting
    """Groups worked on at once, at most 64. Default: 32 (a guess: enough to keep every member busy). One, where
    `chunks` is not `together`.
    """

class ArrayEjection(Setting):
    bad_blocks: Setting
    """Runs of bad sectors above which a member is ejected. Default: 512, as many as fit into md's log."""
    read_errors: Setting
    """Corrected read errors above which a member is ejected; half are forgotten every hour. Default: 20, the limit of
    md's mirrors (`max_corr_read_errors`, since Linux 6.9 for `raid1`, too). md's parity levels have another rule,
    which is not modelled: a member goes after more errors than there are stripes in the cache (256), and each read
    that succeeds forgets them all.
    """

class ArrayLight(Setting):
    devices: Setting
    """Which: counted from 0; spares follow the members. At least one member is not light."""
    rate: Setting
    """Bandwidth, of reads and writes together. Absent: unlimited."""
    read_latency: Setting
    """Time of a read besides its transfer. Default: 0."""
    write_latency: Setting
    """Time of a write besides its transfer. Default: 0."""

class ArrayLog(Setting):
    bitmap_chunk: Setting
    """Bytes of a member that one bit of `bitmap` covers. Default: 64 MiB, md's choice for large arrays."""
    bitmap_delay: Setting
    """A bit is cleared when its region has not been written for this long. Default: 5 s, md's."""
    place: Setting
    """On the members, where they take space and time, or in the controller's protected memory, where they take neither.
    Default: "members".
    - members: At the end of each member.
    - controller: In protected memory.
    """
    size: Setting
    """Room for `ppl` and `journal` on each member. Default: 1 MiB, as md reserves for partial parity."""

class ArrayRepair(Setting):
    fakes: Setting
    """What is done with sectors that are to be written again though they can be read.
    Default: "reconstruct".
    - reconstruct: They are computed from the other members, as those that cannot be read (Reparo, section 5.2.3).
    - copy: They are read from the member itself.
    """
    order: Setting
    """What comes first.
    Default: "address".
    - address: By address, range by range.
    - exposure: All ranges are queried first; the rows that the most members lack are then recovered first. For `die`
      only.
    """
    queries: Setting
    """Ranges in progress at once: 1 is Reparo's strict sequence, in which the next range is queried when the last one
    has been recovered; with more, ranges are queried while others are being recovered. At most 64.
    Default: 1.
    """
    range: Setting
    """Bytes of a member's address space that one query for failed sectors covers. Default: 64 MiB, Reparo's example
    (section 4.2).
    """
    run_cost: Setting
    """Time of the host's processor for each run of failed sectors: to read the others' rows, to compute, to write back;
    one run after another. With `share` the processor, too, may be used for that part of the time only. Default: 0.
    """
    share: Setting
    """Part of the bandwidth of a member's link that recovery may use, whichever way it goes. It takes the place of
    `background.min_rate` and `background.max_rate`, whether the host is active or not. Absent: those hold.
    """
    way: Setting
    """What is recovered, and where to. Default: `die`, which moves least.
    - die: The failed sectors are computed from the other members and written back to the same member: Reparo,
      section 4.2.
    - assist: A spare takes the member's place and is filled from the member where that can be read, from the others
      elsewhere; then the member leaves: Rebuild Assist, Reparo's baseline. Waits for a spare.
    - rebuild: The member counts as failed, and is rebuilt on a spare from the others. Waits until the array can do
      without the member, and for members that report to be beyond repair and are replaced with their help.
    """

class ArrayReplacement(Setting):
    limit_percent: Setting
    """Percentage of its rated cycles at which a member is replaced by a spare; may exceed 100. The rating is
    `device.defects.endurance`, or that of a published `device.reliability.chip`; without either the setting is
    refused. Absent: never automatically.
    """
    shift: Setting
    """How parity gets to the oldest member, where `parity_percent` is set.
    Default: "minimal".
    - naive: The mapping stays, the order of the members shifts: every chunk moves, while the new member is rebuilt.
    - minimal: As few parity chunks as possible move, while the new member is rebuilt.
    - lazy: The same chunks move, but each only when its stripe is next written.
    """

class Device(Setting):
    absent_dies: Setting
    """Dies, numbered channel by channel, that are not there at first and can be added while the drive runs: the card
    slots that are still empty. Default: none.
    """
    bytes: Setting
    """Keep the real bytes of live data. Slow and memory-hungry: for tests.
    Default: false.
    - true
    - false
    """
    controller: DeviceController
    """Processors, scheduling, write buffer and host link."""
    data_sheet: DeviceDataSheet
    """Promises of the drive's maker, which results show beside the measured figures. Absent: none."""
    defects: DeviceDefects
    """Bad and worn-out blocks."""
    energy: DeviceEnergy
    """Energy that the drive draws. Absent: not counted, and the drive never sleeps."""
    ftl: DeviceFtl
    """The flash translation layer."""
    geometry: DeviceGeometry
    """How the flash is laid out."""
    hazards: DeviceHazards
    """Random failures. Default: none."""
    heat: DeviceHeat
    """Heat and throttling. Absent: the drive is never too warm."""
    model: Setting
    """Name shown in results.
    Default: "ssd".
    """
    mount: DeviceMount
    """A mount from flash after a loss of power, in simulated time. Absent: the drive goes on at once, with what it
    would have found.
    """
    placement: DevicePlacement
    """Flexible data placement: reclaim unit handles, through which the host keeps kinds of data apart. Absent: none."""
    protection: DeviceProtection
    """Parity across the dies of the drive. Absent: none."""
    reliability: DeviceReliability
    """Error rates of the flash, and how reads correct errors. Absent: it never errs."""
    repair: DeviceRepair
    """Repair of failed dies in place, with the help of a host that has redundancy. Absent: a failed die is detected at
    once, its data is lost, and the host is not told.
    """
    scrub: DeviceScrub
    """Moving data before it becomes unreadable. Absent: never."""
    slc_cache: DeviceSlcCache
    """A cache of superblocks with few bits a cell, into which the host writes first. Absent: none."""
    timing: DeviceTiming
    """How long flash operations take."""
    zones: DeviceZones
    """Zones: parts of the drive that are written from their start on and reset as a whole. Absent: none."""

class DeviceController(Setting):
    coalesce: Setting
    """Whether a unit that the host writes again while it is in the buffer, in a program unit that is not full or is
    held back, is programmed once. Default: false.
    - true
    - false
    """
    command_costs: DeviceControllerCommandCosts
    """Time of the master core by command. Absent: `master_cost` for all of them."""
    decode: DeviceControllerDecode
    """Time of the hardware decoder of the error-correcting code. Default: none."""
    decode_cost: Setting
    """Time of a flash core, when a unit is rebuilt from its stripe or block, for each member that goes into it; the
    host waits for it.
    Default: "0ns".
    """
    encode_cost: Setting
    """Time of a flash core for each mapping unit that the host writes and each parity unit that it changes.
    Default: "0ns".
    """
    flash_cores: Setting
    """Flash cores. Mapping unit `u` belongs to core `u mod flash_cores`; each core owns an equal share of the dies.
    Default: 1.
    """
    flush: Setting
    """How a flush, or a write with FUA, is handled if the buffer is volatile. Default: "honour"."""
    hold_back: Setting
    """Bytes of full program units that are held back in the buffer, over all cores, so that more writes coalesce; the
    oldest leave first. Default: 0, each goes to flash at once.
    """
    host_latency: DeviceControllerHostLatency
    """A fixed time each way between the host and the drive's queue. Default: zero."""
    in_order: Setting
    """Whether firmware hands commands to the flash cores in the order in which they came, so that a write that waits
    for room in the buffer holds up all commands behind it. Default: false, each goes as far as it can.
    - true
    - false
    """
    internal_operations: Setting
    """Bound on flash operations of internal tasks (collection, wear levelling) in flight at once, over all cores.
    Absent: one for each die.
    """
    link: Setting
    """Host link bandwidth in each direction; absent: unlimited."""
    master_cost: Setting
    """Time of the master core for each host command.
    Default: "0ns".
    """
    pauses: DeviceControllerPauses
    """Regular pauses in which no host write enters the buffer. Absent: none."""
    queue_depth: Setting
    """Commands that the drive works on at once; further ones wait.
    Default: 4096.
    """
    queues: DeviceControllerQueues
    """Submission queues and arbitration among them. Absent: one queue, first come, first served."""
    read_cache: Setting
    """Memory for units that the host has read: the most recently used ones stay, and are read without flash. Over all
    cores. Absent: none.
    """
    read_cost: Setting
    """Time of a flash core for each mapping unit that the host reads.
    Default: "0ns".
    """
    relocation_cost: Setting
    """Time of a flash core for each mapping unit that it relocates.
    Default: "0ns".
    """
    think_time: Setting
    """Think time of internal tasks: how long after each of their flash operations its place among `internal_operations`
    stays taken, while no die, channel or flash core is busy for it. Default: 0.
    """
    trims: Setting
    """Whether trims survive a loss of power if the buffer is not protected. Default: "kept".
    - kept: All of them, flushed or not: the log of the mapping is taken to be safe at once.
    - volatile: Those before the last flush that was carried out. Of others, what was deallocated may be there again,
      unless it has been written since.
    """
    write_buffer: Setting
    """Buffer for host data on its way to flash, over all cores.
    Default: "16MiB".
    """
    write_cache: Setting
    """When a write is acknowledged and what survives a loss of power.
    Default: "protected".
    - protected: In the buffer, which capacitors protect: flush and FUA cost nothing, relocated data may wait in the
      buffer.
    - volatile: In the buffer, which a loss of power empties: flush and FUA program what is buffered, padding the
      last pages.
    - off: On flash: every write behaves as FUA.
    """
    write_cost: Setting
    """Time of a flash core for each mapping unit that the host writes or trims.
    Default: "0ns".
    """

class DeviceControllerCommandCosts(Setting):
    append: Setting
    """For each zone append. Absent: as for each write."""
    read: Setting
    """For each read. Absent: `master_cost`."""
    write: Setting
    """For each write. Absent: `master_cost`."""

class DeviceControllerDecode(Setting):
    hard: Setting
    """Of what was sensed first: hard decisions. The last time, too, of a unit that was rebuilt from its stripe.
    Default: 0.
    """
    retry: Setting
    """Of what a re-read gave. Default: 0."""

class DeviceControllerHostLatency(Setting):
    complete: Setting
    """From the drive's completion until the host knows of it: the entry, the interrupt or poll, the host's software. At
    most 1 s. Default: zero.
    """
    submit: Setting
    """From the submission until the drive has the command: the host's driver, the doorbell, the fetch of the entry. At
    most 1 s. Default: zero.
    """

class DeviceControllerPauses(Setting):
    every: Setting
    """Time between the beginnings of two pauses; 10 us to 100 s."""
    length: Setting
    """Length of a pause; less than `every`."""

class DeviceControllerQueues(Setting):
    arbitration: Setting
    """How the next queue is selected. Default: "round-robin".
    - round-robin: One queue after the other; all are equal.
    - weighted: Urgent queues before all others; the others share, 8 commands of high, 4 of medium and 2 of low
      priority in a round; queues of a class one after the other.
    """
    classes: Setting
    """With "weighted": the class of queue 0, of queue 1, and so on, from the beginning again where there are more
    queues; 1 to 256 of them.
    """
    depth: Setting
    """Commands of one queue that the drive works on at once: a queue at this limit waits even if places are free. 1 to
    `queue_depth`. Default: as many as there are places.
    """

class DeviceDataSheet(Setting):
    random_read: Setting
    """Random reads of 4 KiB, or of a mapping unit where that is larger, a second."""
    random_write: Setting
    """Random writes of 4 KiB, or of a mapping unit where that is larger, a second, in the steady state."""
    read: Setting
    """Sequential reads."""
    read_latency: Setting
    """Latency of a read of that size that waits for no other command."""
    write: Setting
    """Sequential writes."""
    write_latency: Setting
    """Latency of a write of that size that waits for no other command."""

class DeviceDefects(Setting):
    endurance: Setting
    """P/E cycles after which a block is retired and replaced by a spare one; absent: never."""
    factory_bad: Setting
    """Share of all blocks that are bad from the factory, drawn from the seed; 0 to 0.5.
    Default: 0.0.
    """

class DeviceEnergy(Setting):
    active_watts: Setting
    """Power of the controller and its memory while commands of the host are in progress, W."""
    channel_watts: Setting
    """Power of each channel while it moves data, at both of its ends, W.
    Default: 0.0.
    """
    die_watts: Setting
    """Power of each die while it works or holds data, W; data sheets of flash give a current that hardly differs
    between reads, programs and erasures.
    Default: 0.0.
    """
    erase_joules: Setting
    """Energy of a block that is erased, beside the power of its die, J.
    Default: 0.0.
    """
    idle_watts: Setting
    """Power of the controller and its memory while none is, before any state of `states` is entered, W."""
    link_watts: Setting
    """Power of the host link for each direction in which data moves, W. Needs `controller.link`.
    Default: 0.0.
    """
    program_joules: Setting
    """Energy of a page that is programmed, beside the power of its die, J.
    Default: 0.0.
    """
    read_joules: Setting
    """Energy of a page that is read, beside the power of its die, J.
    Default: 0.0.
    """
    states: Setting
    """States of rest, each deeper than the one before. Default: none.
    - after: Pause of the host after which the state is entered, the time to enter it included.
    - exit: Time for which the next command waits.
    - watts: Power of the controller and its memory in this state, W.
    """

class DeviceFtl(Setting):
    allocation: Setting
    """Order in which consecutive program operations go over channels, chips ("ways"), dies and planes.
    Default: "CWDP".
    """
    capacity: Setting
    """User capacity. Give this or `over_provisioning`."""
    gc: DeviceFtlGc
    """Garbage collection."""
    map_cache: DeviceFtlMapCache
    """A mapping table that does not fit in memory: how much of it does. Absent: all of it."""
    map_flush: DeviceFtlMapFlush
    """Flushes of the mapping table to flash. Absent: it is in the controller's memory only, and costs nothing."""
    mapping_unit: Setting
    """Bytes that one entry of the mapping table covers; a multiple of 512. Smaller than a page (several units to a
    page) or larger (a unit over several pages of one die).
    Default: "4KiB".
    """
    multi_plane: Setting
    """Whether the planes of a die program, read and erase together.
    Default: true.
    - true
    - false
    """
    one_shot: Setting
    """Page rows that one program operation writes: one-shot programming of a word line (3 with TLC, 4 with QLC). Above
    1, `timing.program` is the time of the whole operation. 1 to 8. Default: 1, a program operation for each page
    row.
    """
    over_provisioning: Setting
    """Spare space over user space, such as 0.28: (raw − user) / user; at most 5. Give this or `capacity`."""
    spare_blocks: Setting
    """Blocks of each plane held back to replace bad ones.
    Default: 0.
    """
    streams: Setting
    """Write streams for host data, each with its own open superblock. Stream hints are taken modulo this number.
    Default: 1.
    """
    stride: Setting
    """Stride over the places of a superpage in the order of `allocation`: writes go to places 0, s, 2 s and so on, then
    to 1, 1 + s and so on, each place once (Flexible, sections 3.3 and 3.5). At most the places of a superpage: dies
    of a flash core, or their planes without `multi_plane`. Default: 1, in that order.
    """
    tolerated_bad_blocks: Setting
    """Bad blocks without a spare in their place that a superblock may have before it is given up. Their place counts as
    zero data in its stripes (Flexible, section 3.6).
    Default: 0.
    """
    two_pass: DeviceFtlTwoPass
    """Programming in two passes, outside an SLC cache. Absent: each program operation is one pass."""
    wear_leveling: DeviceFtlWearLeveling
    """Wear levelling."""

class DeviceFtlGc(Setting):
    choices: Setting
    """How many superblocks `d-choices` samples.
    Default: 8.
    """
    host_share: Setting
    """Share of the space that collection frees on its way to `stop_free` that host writes may use meanwhile; 0 to 1.
    Default: 1.
    """
    on_chip_copies: Setting
    """How often in a row data may be moved within its die (on-chip copy, copyback): it is sensed and programmed without
    crossing the channel, and thus without error correction, so that each copy adds the errors of its source. 1: data
    that a host wrote, as that of an SLC cache, is copied once, and then goes through the controller. Default: 0, the
    chip does not do it. At most 15.
    """
    overlap: Setting
    """Whether the next victim is read while the last one is erased, an eighth of its dies at a time; with a protected
    buffer. Takes one more free superblock for each relocating stream. Default: false, a victim is read when the one
    before it has been erased, on all dies at once.
    - true
    - false
    """
    pacing: Setting
    """How host writes are paced by collection: `true` or "smooth", `false` or "none", "burst", "token".
    Default: true.
    - true
    - false
    - smooth: Each unit that collection moves lets in its share of the host's writes: smooth latency. The same as
      true.
    - none: Host writes run ahead until no superblock is free and then wait for a whole victim. The same as false.
    - burst: Collection runs from the low mark to the high one, and not in between.
    - token: As smooth, and host writes enter at a rate that follows their recent one.
    """
    policy: Setting
    """Which superblock is collected next.
    Default: "greedy".
    - greedy: The one with the fewest valid units.
    - cost-benefit: The one with the largest (1 − u) / 2u · age (Kawaguchi, Nishioka, Motoda, USENIX 1995).
    - cost-age-times: The one with the largest (1 − u) / u · age / erasures (Chiang, Chang, Journal of Systems and
      Software 48, 1999).
    - fifo: The one filled longest ago.
    - d-choices: The one with the fewest valid units among `choices` random ones (Van Houdt, SIGMETRICS 2013).
    """
    reads: Setting
    """How much one read of a victim senses. Wear levelling and scrubbing read as collection does. Default:
    "multi-plane".
    - multi-plane: All valid units of a program unit: of each page row that holds some, all planes at once, in one
      tR.
    - page: The valid units of one page, in a tR of its own; of a mapping unit that spans pages, all of them.
    """
    relocation: Setting
    """Where collection writes moved data. Default: "own".
    - own: To a stream of its own, with its own open superblock.
    - host: Into the open superblock of the host's data of the same class, of its first stream.
    """
    start_free: Setting
    """Collection starts when this many superblocks or fewer are free (the low mark), and stops above. Absent: as few as
    the streams allow, which leaves the most spare space to the data.
    """
    stop_free: Setting
    """Collection, once started, goes on until this many superblocks are free (the high mark). With pacing "burst",
    which needs it, or "token". Absent: until more than `start_free` are.
    """
    token: DeviceFtlGcToken
    """Rate at which host writes enter while collection runs, with pacing "token"."""

class DeviceFtlGcToken(Setting):
    depth: Setting
    """How much data the saved tokens may cover, over all flash cores; collection may be ahead of the host by as much.
    At least a mapping unit for each core.
    Default: "1MiB".
    """
    factor: Setting
    """Rate of tokens over the host's recent one; 0.01 to 4.
    Default: 0.95.
    """
    rate: Setting
    """When the rate is set anew. Default: "window".
    - window: With each window. Collection is ahead of the host by `depth` at most.
    - burst: When a burst of collection begins, for as long as it lasts: `factor` times the host's rate over the
      window before and the one under way. Collection goes on at its own speed, to the high mark. Needs `stop_free`
      of at least two more than `start_free`.
    """
    window: Setting
    """Over what time the host's rate is averaged; 10 us to 10 s.
    Default: "50ms".
    """

class DeviceFtlMapCache(Setting):
    host_lookup: Setting
    """Time that the flash core takes for each look-up, as the table lies in the host's memory (HMB). Default: 0, it
    lies in the drive's.
    """
    prefetch: Setting
    """Pages after a missing one that are read with it when the page before was the one that was missing last. 0 to 64.
    Default: 0.
    """
    size: Setting
    """Memory for pages of the table, of one mapping unit each; every flash core has an equal share. At least two pages
    for each core, and as many more as `prefetch` says.
    """

class DeviceFtlMapFlush(Setting):
    dirty_only: Setting
    """Whether only those pages are written that have changed since they were last written; else a flush writes the
    whole table. Default: true.
    - true
    - false
    """
    entry: Setting
    """Size of an entry: as many as fit into a mapping unit make a page of the table. 1 to 64 bytes. Default: 4 bytes.
    """
    interval: Setting
    """Time between the beginnings of two flushes. Writes without time, as in preconditioning, know no such flushes.
    Absent: none is due by time.
    """
    written: Setting
    """What the host writes, in whole mapping units, between the beginnings of two flushes. Each flash core counts its
    share. Absent: none is due by what is written.
    """

class DeviceFtlTwoPass(Setting):
    coarse: Setting
    """Share of tPROG that the coarse pass takes, above 0 and below 1; the fine pass takes the rest."""
    distance: Setting
    """The fine pass of a program operation follows the coarse pass of the one that comes so many later in its block: a
    word line further, with as many strings. 1 to 64. Default: 1.
    """

class DeviceFtlWearLeveling(Setting):
    dynamic: Setting
    """Dynamic: a stream opens the least-worn free superblock. Otherwise the one freed longest ago.
    Default: true.
    - true
    - false
    """
    static_gap: Setting
    """Static: when the erase counts of two superblocks differ by more than this, the least-worn one's cold data is
    moved into a well-worn free superblock. Absent: never.
    """

class DeviceGeometry(Setting):
    blocks_per_plane: Setting
    """Blocks in each plane, spare and bad ones included. A block is the unit of erasure."""
    channels: Setting
    """Flash channels: buses that chips share."""
    chips_per_channel: Setting
    """Chips (packages, "ways") on each channel."""
    dies_per_chip: Setting
    """Dies in each chip. A die works on one operation at a time."""
    page_size: Setting
    """User bytes in a page."""
    pages_per_block: Setting
    """Pages in each block."""
    planes_per_die: Setting
    """Planes in each die. Planes of one die can work together on the same page row."""
    spare_per_page: Setting
    """Spare (out-of-band) bytes in a page: they hold ECC and metadata and travel over the channel with the page.
    Default: "0B".
    """

class DeviceHazards(Setting):
    age: Setting
    """Age of the drive when its time begins, for `by_age`. Default: 0."""
    by_age: Setting
    """Factors by which the rates of `per_year` are multiplied from an age of the drive on, such as `[{ from = "0s",
    factor = 4 }, { from = "90d", factor = 1 }]`: early failures, as in the curves of a field study (Reparo, Figure
    2). In order of age, the first from 0 on; factors 0 to 1e6. Default: 1.
    - factor: Multiple of the yearly rates.
    - from: Age from which the factor holds, up to the next one's.
    """
    per_operation: Setting
    """Probability that an operation fails, by operation: `program` of a page of a block, for each page of a program
    operation; `erase` of a block; `read`, a sensing, although the data are whole. Each 0 to 0.5, such as `{ program
    = 1e-6, erase = 1e-5 }`. Default: none.
    """
    per_year: Setting
    """Mean number of parts of the drive that break in a year of 365 days, by kind as in `faults`: `page`, `wordline`,
    `block`, `plane`, `die` and `chip`, such as `{ block = 2.5, die = 0.01 }`; each 0 to 1e9. Default: none, which
    runs of minutes would hardly see.
    """

class DeviceHeat(Setting):
    ambient: Setting
    """Temperature of the air, °C. Default: 25."""
    case_capacity: Setting
    """Heat capacity of the case with flash, board and heatsink, J/K."""
    case_to_air: Setting
    """Thermal resistance between case and air, K/W: small with a heatsink."""
    controller_capacity: Setting
    """Heat capacity of the controller, J/K."""
    controller_to_case: Setting
    """Thermal resistance between controller and case, K/W."""
    every: Setting
    """Time between two looks at the sensor, 100 us to 10 s; power counts as constant in between. Default: 10 ms."""
    shutdown: DeviceHeatShutdown
    """Shut-down. Default: never."""
    start: Setting
    """Temperature of both nodes at the beginning, °C. Default: that of a drive that has been idle for a long time."""
    throttle: Setting
    """Steps of throttling, each hotter than the one before. Default: none.
    - from: Temperature of the controller at which it begins, °C.
    - rate: Bytes a second of reads and writes that are let in meanwhile.
    - until: Temperature of the controller at which it ends, °C; below `from`.
    """

class DeviceHeatShutdown(Setting):
    from_: Setting
    """Temperature of the controller at which the drive stops, °C."""
    until: Setting
    """Temperature of the controller at which it takes commands again, °C; below `from`."""

class DeviceMount(Setting):
    checkpoint_every: Setting
    """After so many programmed bytes a checkpoint of the mapping is written, so that a mount looks only at what came
    later. Absent: never.
    """
    lists: Setting
    """Whether a superblock that is full has a list of the owners of all its units, 12 bytes each, in pages of its own;
    else the mount reads the spare areas of all its pages. Default: true.
    - true
    - false
    """

class DevicePlacement(Setting):
    configuration: Setting
    """Number of the configuration that is enabled, below that of configurations. Default: 0."""
    configurations: Setting
    """Configurations that the drive offers, numbered from 0 in this order; at least one.
    Default: [].
    - handles: Reclaim unit handles, numbered from 0 in this order, each by its isolation; 1 to 128.
    - reclaim_groups: Reclaim groups (`NVMe`: NRG), numbered from 0: each has an equal share of the flash cores,
      first those of the first channels, and each handle has a reclaim unit in each group. Data stays in the group to
      which the host wrote it; where that has no room left, it goes to another. 1 to 64, a divisor of
      `controller.flash_cores`. Default: 1.
    - superblocks: Superblocks of each flash core in a reclaim unit (`NVMe`: Reclaim Unit Nominal Size); 1 to the
      blocks of a plane. A handle fills them one after another, and an update leaves those that are left; collection
      takes them one by one. Default: 1.
    - time_limit: Time after which a handle leaves a reclaim unit that it has begun and not filled (`NVMe`: Estimated
      Reclaim Unit Time Limit); 1 ms to 100 days. Absent: none.
    """
    placement_handles: Setting
    """Handles that the namespace may use, by number: a write with placement identifier i goes through the i-th of them,
    one with an identifier beyond them, or with none, through the first. Of G reclaim groups, identifier i is handle
    i / G of the list (rounded down) in group i mod G. At most 128, each once. Absent: all of the configuration, in
    order.
    """

class DeviceProtection(Setting):
    block: Setting
    """Program units of a block that one more protects: q of the (q, 1) code within each block (Flexible, section 3.2).
    Absent: none.
    """
    classes: Setting
    """Classes of data with codes of their own, numbered from 0 in this order; each has write streams of its own.
    Absent: one class, with the code above.
    - at_least: Write commands of at least so many bytes belong to it.
    - at_most: Write commands of at most so many bytes belong to it.
    - codes: As `device.protection.codes`, which is the default; an empty list: none.
    - data: As `device.protection.data`, which is the default.
    - hints: Stream hints of write commands that belong to it.
    - hot: Writes into megabytes of the address space that have lately been written at least so many times as often
      as the mean one belong to it; with `at_least` or `at_most`, only those of them that fit. Above 0.
    - parity: As `device.protection.parity`, which is the default.
    - ranges: Ranges of addresses that belong to it: a namespace is one.
    """
    codes: Setting
    """Stronger codes for worn or failing superblocks, chosen whenever one is opened: the last one whose figures have
    been reached, otherwise the code above (Flexible, section 3.4). From the weakest to the strongest, by which room
    is counted. Absent: none.
    - data: Program units of data in a stripe.
    - expected_errors: Wrong bits expected of its worst codeword at the end of its last use, when its blocks were
      erased; of one that has not been erased since the run began, at the beginning. Needs `device.reliability`.
    - parity: Program units of parity in a stripe.
    - pe_cycles: P/E cycles of the superblock, the mean of its blocks.
    - rereads: Pages of it that were read again in its last use. Needs `device.reliability`.
    - uncorrectable: Units of it that neither ECC nor the re-reads before the stripe could correct in its last use,
      whether or not parity recovered them.
    """
    data: Setting
    """Program units of data in a stripe (s in HRM, k of a (k, m) code); at least 1. Default: 15."""
    default_class: Setting
    """The class of writes that match no class. Default: 0."""
    parity: Setting
    """Parity program units in a stripe: how many may fail together. 0: no parity across dies. Default: 1."""
    partial: DeviceProtectionPartial
    """Protection of incomplete stripes. Default: nothing."""
    rebuild: Setting
    """Whether the drive, when a die or a plane has failed, moves what has lost redundancy into superblocks of full
    protection, in the background and by itself, as drives with parity over their dies do. Where `device.repair` is
    given, its `rebuild` says so instead. Default: true.
    - true
    - false
    """
    rebuild_bandwidth: Setting
    """Most bytes that this moves in a second, over all cores; above 0. Absent: that of `device.scrub.bandwidth`, else
    what idle dies allow.
    """
    rebuild_every: Setting
    """On a die that is never idle, one in this many operations is one of a background task while redundancy is lacking;
    1 to 255. 1 gives it every other turn. Absent: 32, as of all background tasks.
    """
    streams: Setting
    """Which data is protected. Default: all.
    - all: Everything.
    - gathered: What garbage collection and static wear levelling gathered: cold data (HRM, section 5).
    """

class DeviceProtectionPartial(Setting):
    cache: Setting
    """Bytes of the parity cache, over all cores, where `place` is `cache`. Default: 16 MiB."""
    place: Setting
    """Where the parity of an incomplete stripe goes. Default: nowhere.
    - none: Nowhere: its data is unprotected until the stripe is full.
    - inline: Into the stripe itself, which then holds that much less data (eSAP). Where no room would be left for
      data, the stripe ends there: a short stripe. Data that was relocated is not covered.
    - blocks: Into separate superblocks, whose contents become stale at about the same time (mSAPL, section 4.4). If
      more stripes are open than such a superblock has room for, some stay unprotected until others are full.
    - cache: Into a non-volatile cache, where all open stripes have their parity at all times (Flexible, section
      3.5).
    """
    timeout: Setting
    """The open stripe of a stream is protected after this time without a write. Default: 50 ms (mSAPL, section 4.4)."""

class DeviceReliability(Setting):
    activation_energy: Setting
    """Activation energy of charge loss in electronvolts, for `temperature` and for rows of a chip's file at several
    temperatures. 0 to 3. Default: 1.1 (JEDEC JESD218 and JESD47).
    """
    chip: Setting
    """A published chip, such as `tlc-72-layer`, whose error rates and their source are known (`outlast chips` lists
    them), or the path of a CSV file of measurements of your own, such as `mine.csv`: one that ends in `.csv`.
    Loading fits the file, and the resolved scenario has a table here, the fitted chip, with which the file is not
    read again. Give this or `model`.
    """
    codewords_checked: Setting
    """Which codewords of a mapping unit a read for the host decodes: `all`, or `one`, as if it had asked for no more
    than a codeword holds. Reads by the drive itself decode all. Default: `all`.
    - all: All of the unit.
    - one: One of them.
    """
    collection_disturbs: Setting
    """Whether reads that move data, for collection, wear levelling and scrubbing, disturb, too. HRM does not say how
    they count. Default: true.
    - true
    - false
    """
    ecc: DeviceReliabilityEcc
    """The error-correcting code."""
    fit: Setting
    """The curve fitted to a chip's file. Default: `power-law`.
    - power-law: The power law that comes nearest to them: HRM's Equation 1.
    - exponential: The exponential of P/E cycles that comes nearest to them: mSAPL's Equation 1. Of rows that tell
      wear only.
    - interpolate: The measured rates with straight lines between them; where measurements fall, the nearest rates
      that never do.
    """
    initial: DeviceReliabilityInitial
    """State of the flash at the beginning of the run."""
    limited_retries: Setting
    """Re-reads of a read that is sent with limited retry (bit LR of `NVMe`'s Read) before it ends in an error; no
    stripe is asked, and the data stays readable by other reads. An array sends such reads with
    `array.limited_retry`, `outlast.Drive.read` with `limited_retry=True`. Default: 0.
    """
    model: DeviceReliabilityModel
    """A law of your own for the error rates; measured ones are the file of a `chip`. Give this or `chip`."""
    page_types: DeviceReliabilityPageTypes
    """How page types differ; absent: not at all."""
    read_scope: Setting
    """What a read disturbs. Default: its block.
    - block: The whole block: the reads of the error model are those of the block since its erasure.
    - page: Only the page that is read: one counter for each page.
    """
    reference_temperature: Setting
    """°C that the chip's times of retention are of. -100 to 300. Default: the chip's own; of a file, that of its rows,
    the lowest if there are several.
    """
    reread_history: Setting
    """Whether the first read of a block uses the step that last succeeded there (until its next erase). Default: false.
    - true
    - false
    """
    rereads: DeviceReliabilityRereads
    """Re-reads after the code has failed."""
    rereads_if_protected: Setting
    """Re-reads of data that has parity across dies before it is rebuilt from its stripe (HRM's conditional re-reads);
    the rest of `rereads.max_retries` comes after the stripe has failed. Absent: all re-reads come first.
    """
    temperature: Setting
    """°C at which data is kept: time counts for retention as Arrhenius' law says beside `reference_temperature`. -100
    to 300. Absent: the chip's times are taken as they are.
    """
    variation: DeviceReliabilityVariation
    """How blocks differ."""

class DeviceReliabilityEcc(Setting):
    data_bits: Setting
    """Bits of data in a codeword. Default: 4096 (512 bytes, which HRM's Figure 5 implies)."""
    parity_bits: Setting
    """Bits of parity in a codeword, which err like data bits. Default: 0, as HRM counts. A BCH code of strength t over
    512 bytes has 13·t (Diff-RAID's 4148-bit codewords: 52).
    """
    strength: Setting
    """Wrong bits that are corrected in each codeword; absent: any number (∞-bit ECC)."""

class DeviceReliabilityInitial(Setting):
    age: Setting
    """Time since the data were written: one time for all, or two between which each row of pages is uniformly
    distributed. At most 3650d.
    Default: "0ns".
    """
    block_reads: Setting
    """Reads of each block since its erasure. Where reads disturb only their own page (`scope = "page"`) they are spread
    evenly over its pages, rounded down.
    Default: 0.
    """
    pe_cycles: Setting
    """Mean P/E cycles of the blocks; at most 10 000 000.
    Default: 0.
    """
    pe_spread: Setting
    """Standard deviation of the P/E cycles from block to block, in cycles; at most `pe_cycles`. Normally distributed,
    rounded, and never below 0: that it is normal is this simulator's assumption.
    Default: 0.0.
    """

class DeviceReliabilityModel(Setting):
    alpha: Setting
    """α: errors per bit and cycle^k."""
    beta: Setting
    """β: errors per bit, cycle^m and day^n."""
    epsilon: Setting
    """ε: errors per bit of a fresh page."""
    form: Setting
    """- power-law"""
    gamma: Setting
    """γ: errors per bit, cycle^p and read^q."""
    k: Setting
    """k: exponent of cycles in the wear term."""
    m: Setting
    """m: exponent of cycles in the retention term."""
    n: Setting
    """n: exponent of days in the retention term."""
    p: Setting
    """p: exponent of cycles in the disturbance term."""
    q: Setting
    """q: exponent of reads in the disturbance term."""
    a: Setting
    """A: errors per bit of an unworn block; above 0, at most 0.5."""
    b: Setting
    """B: growth per P/E cycle; at least 0."""

class DeviceReliabilityPageTypes(Setting):
    factors: Setting
    """One factor for each page type, above 0. They are divided by their mean, so that the chip's mean RBER stays what
    the model says.
    """

class DeviceReliabilityRereads(Setting):
    max_retries: Setting
    """Re-reads after which the page is given up; 0: none; absent: until it succeeds (HRM, section 4.1)."""
    scale_factor: Setting
    """By how much each re-read divides the RBER; at least 1. Default: 2 (HRM, section 4.1)."""

class DeviceReliabilityVariation(Setting):
    sigma: Setting
    """Standard deviation of ln(factor); 0 to 2; 0: all blocks are alike.
    Default: 0.0.
    """

class DeviceRepair(Setting):
    bad_blocks: Setting
    """Bad blocks of a die, found while it is in use, above which it counts as failed: `N_bad^die` of section 4.2.1; at
    least 1. A die of which every block in use is bad has failed in any case. Default: 32, assumed: about the 2.5 %
    of a die's blocks that data sheets allow, for a die of about 1300 blocks.
    """
    identifier: Setting
    """How the failed data is found.
    Default: "p2l-block".
    - l2p-one-core: The core of the die looks through the mapping table (section 4.2.2).
    - l2p-all-cores: All cores look through it (section 5.1).
    - p2l-page: From the spare area of the pages of the neighbouring die (section 6.1).
    - p2l-block: From the last page of the blocks of the neighbouring die, which is kept for this (section 6.2).
    """
    migration: Setting
    """How data moves to the core to which it now belongs, where the scheme is `cooperative`.
    Default: "host".
    - host: It is reported as failed, and the host writes it again (section 5.2.3).
    - device: The cores pass it to each other, beside the host's commands (the future work of section 9).
    """
    pages_per_entry: Setting
    """Pages of 4 KiB that an entry of the mapping table stands for, by which the calibrated costs of the identifier are
    multiplied: 1 of a drive with entries of 4 KiB, 16 where a scenario has entries of 64 KiB for the sake of time;
    0: identification is free. At most 65536. Default: 1.
    """
    predict: DeviceRepairPredict
    """Moving data off a die that is expected to fail. Absent: never."""
    rebuild: Setting
    """Who rebuilds failed data that the drive's own stripes can give.
    Default: "cheapest".
    - cheapest: Whoever is expected to be faster. The drive reads `k` program units of a stripe of `k` data, on dies
      that work at the same time: `k` · (sense + transfer) / dies of the core. The host reads at least one other
      device and writes the result: twice the link time of the same bytes; without a limit on the link, the drive
      does it.
    - device: The drive, by relocation; the host is told only of what the drive cannot rebuild.
    - host: The host: it is told of all, as data that can still be read.
    """
    repaired_dies: Setting
    """Dies, numbered channel by channel, that failed and were repaired before the drive is filled, in that order: for
    studies of what a repaired drive is like. Default: none.
    """
    scheme: Setting
    """Which dies take over from the failed die.
    Default: "cooperative".
    - isolated: The other dies of its core (section 4.2.3).
    - cooperative: The dies of all cores: a part of the core's logical space goes to the others (section 5.2).
    """
    search_cores: Setting
    """Flash cores that look through the mapping table together, that of the die among them; for the identifier
    `l2p-all-cores` only. Between 1 and `controller.flash_cores`. Absent: all.
    """

class DeviceRepairPredict(Setting):
    bad_blocks: Setting
    """Bad blocks of the die, found while it is in use; below `bad_blocks`. Default: 8 (assumed)."""
    uncorrectable: Setting
    """Units of the die that its own ECC and re-reads could not correct within an hour; 0: do not count. Default: 0."""

class DeviceScrub(Setting):
    age: Setting
    """Read refresh: a superblock is moved when its oldest data has this age. Checked a hundred times in that period."""
    bandwidth: Setting
    """Most bytes that scrubbing moves in a second, over all cores; absent: what idle dies allow."""
    expected_errors: Setting
    """Oracle: a superblock is moved when the expected wrong bits of a codeword anywhere in it exceed this (HRM, section
    4.3). No real drive can know.
    """
    own: Setting
    """Interval at which your own policy (`policies.scrub`) is asked which superblocks to move. Default: 10 ms, if there
    is one.
    """
    patrol: Setting
    """Patrol read: every program unit of full superblocks is read once in this time, and a superblock is moved when a
    codeword has more wrong bits than `patrol_errors`.
    """
    patrol_errors: Setting
    """See `patrol`; absent: half of what the ECC corrects."""
    reads: Setting
    """Read reclaim: a superblock is moved when one of its blocks has been read this often since its erase."""
    reprotect: Setting
    """Move data whose protection is no longer what new data gets: its stripes have lost a die, its class has another
    code now, or dies have been added. The most exposed first.
    Default: false.
    - true
    - false
    """
    rereads_per_unit: Setting
    """Cost and benefit (HRM, section 5): a superblock is moved when its re-reads since its erasure, for each unit that
    would have to be moved, reach this; the one with the most first.
    """
    unit: Setting
    """What is moved at once: a whole superblock, or the one block of it that `reads`, `expected_errors` or
    `rereads_per_unit` finds bad; the superblock's other data stays, and it is erased when nothing is left in it.
    Default: `superblock`.
    - superblock: A superblock.
    - block: A block of one plane of one die.
    """

class DeviceSlcCache(Setting):
    bits_per_cell: Setting
    """Bits of a cell that the cache uses. Default: 1, SLC."""
    dynamic_share: Setting
    """Share of the free superblocks, and of those that the cache has already, that are lent to the dynamic cache, 0 to
    1. 1: the whole drive is a cache while it is empty. Default: 1 if `dynamic_size` is given, else 0.
    """
    dynamic_size: Setting
    """Most bytes of the dynamic cache, rounded to whole superblocks. Default: no bound but `dynamic_share`."""
    endurance: Setting
    """P/E cycles after which a block that was used for the cache is retired. Default: never."""
    error_rate: Setting
    """Raw bit error rate of its cells relative to that of the cells outside it at equal wear, age and reads, above 0
    and at most 10: fewer levels lie further apart. Needs `reliability`. Default: 1.
    """
    fold_after_idle: Setting
    """Pause of the host after which the cache is folded until the next command. Seen within a quarter of it. Default:
    never.
    """
    fold_from: Setting
    """Share of the cache, above 0 and up to 1, from which on it is folded while the host writes. Default: only when
    space is short, or when the host waits for folding.
    """
    native_bits_per_cell: Setting
    """Bits of a cell outside the cache: 2 (MLC), 3 (TLC), 4 (QLC). Default: the page rows that are programmed in one
    shot (`ftl.one_shot`), else the page types for which `timing.program` or `timing.read` has times, else 3.
    """
    program: Setting
    """tPROG of the cache's pages."""
    read: Setting
    """tR of the cache's pages."""
    static_size: Setting
    """Bytes of the static cache: its superblocks are used for nothing else. Rounded up to whole superblocks. Default:
    0.
    """
    when_full: Setting
    """Course of a write of the host when the cache is full. Default: `direct`.
    - direct: It goes to superblocks with all bits at once.
    - fold: It waits until a part of the cache has been folded.
    """

class DeviceTiming(Setting):
    bus: Setting
    """Bandwidth of one channel."""
    cache_read: Setting
    """tRCBSY: the time that what has been sensed takes into the cache register, from where it leaves over the channel
    while the array senses the next page. Absent: there is no such register, and a die, or a plane that reads by
    itself, is held until its data has left.
    """
    channel: Setting
    """Which data goes first over a channel. Default: "fifo".
    - fifo: The transfer that has waited longest.
    - reads-first: Transfers of read data go before waiting data to be programmed, at most 16 times before the same
      data; a transfer under way is not interrupted.
    """
    command: Setting
    """Time that the command and address cycles of one operation hold the channel.
    Default: "0ns".
    """
    erase: Setting
    """tBERS: erasure of a block (of all planes of a die together, when they work together)."""
    plane_reads: Setting
    """True if the planes of a die may each sense a page of its own. Default: "together".
    - together: One; it senses pages of one row on all planes that it wants.
    - independent: As many as are on different planes, each with pages of its own (independent or asynchronous plane
      reads). Programs and erases take the whole die.
    """
    program: Setting
    """tPROG: from the page register into the array. One time, or one for each page type in turn; where a word line is
    programmed in one shot (`ftl.one_shot`), one time, for all its pages together.
    """
    read: Setting
    """tR: from the array into the page register. One time, or one for each page type in turn (LSB, CSB, MSB)."""
    suspend: DeviceTimingSuspend
    """Suspension of a program or erase by a host read; absent: never."""

class DeviceTimingSuspend(Setting):
    erase: Setting
    """True if host reads may suspend an erase.
    - true
    - false
    """
    erase_latency: Setting
    """Time from the suspend command to an erase until the die can read. Absent: `overhead`."""
    least_progress: Setting
    """Time of work in the array that an operation must have made since it began or last went on before it may be
    suspended (again). A read that comes earlier waits until then, and so do reads that were left waiting when the
    operation began or went on. Absent: none, and reads left waiting suspend nothing (except for a program with
    phases); the next one that comes does.
    """
    limit: Setting
    """How often one operation may be suspended; then it runs to its end."""
    overhead: Setting
    """Time from the suspend command until the die can read, and again from the last read until the operation goes on,
    where `erase_latency` and `resume` say nothing else.
    """
    program: Setting
    """True if host reads may suspend a program.
    - true
    - false
    """
    program_phase: Setting
    """Time of one phase of a program, such as a pulse with its verification, where a program can be suspended only
    between two phases (Wu and He, FAST 2012: inter-phase suspension). A read waits for the end of the phase that it
    meets, also one that was left waiting, and a program makes at least one before it is suspended (again). Absent:
    at any moment. Example: "125us".
    """
    reads: Setting
    """How many reads (each with its re-reads) a die serves during one suspension; then the operation goes on. So a
    stream of reads delays it by at most `limit · (2 · overhead + reads · one read)`. 1 to 255. Default: 16, an
    assumption of this simulator.
    """
    resume: Setting
    """Time from the last read until the suspended operation goes on. Absent: `overhead`."""
    while_writes_wait: Setting
    """Whether a program may be suspended while host writes wait to enter the buffer of its flash core. Where not, no
    read suspends a program meanwhile; one that came meanwhile waits for its end. Default: true.
    - true
    - false
    """

class DeviceZones(Setting):
    count: Setting  # type: ignore[assignment]
    """Number of zones; 1 to 2^24. Their superblocks, those that are open, and those held back for moves must fit into
    the flash.
    """
    erase_time: Setting
    """Time for which the reset of a zone that the host has written wholly keeps its dies busy; of another by the share
    written. At most 1 s. Absent: the time of a block erase for each of its superblocks with data.
    """
    finish: Setting
    """What a finish does with the rest of the zone. Default: written.
    - written: Writes it, as fast as the drive writes anything: wear and time, as measured on drives.
    - free: Leaves it as it is: no block is programmed further.
    """
    finish_time: Setting
    """Time that a finish takes beside what it writes, of a zone that is partly written; at most 1 s. Default: 0."""
    max_active: Setting
    """Most zones that are partly written or open (`NVMe`: Maximum Active Resources); 1 to 128, each with a write stream
    and its open superblock. Several namespaces have equal shares of this, of `max_open` and of `random_write.zones`.
    Default: 14.
    """
    max_open: Setting
    """Most zones that are open at once (`NVMe`: Maximum Open Resources); at most `max_active`. Absent: `max_active`."""
    random_write: DeviceZonesRandomWrite
    """Zone random write areas (`NVMe`: ZRWA): zones that are opened with one take writes behind their write pointer in
    any order, and again, and only what is committed is written to flash. Absent: none.
    """
    reset_time: Setting
    """Time that a reset takes beside the erasure of what is written; at most 1 s. Default: 0."""
    reset_time_partial: Setting
    """Time that a reset takes longer of a zone that is partly written and was not finished; at most 1 s. Default: 0."""
    size: Setting
    """From the start of one zone to that of the next; at least the capacity. Hosts such as Linux want a power of two.
    Absent: the capacity, rounded up to a power of two.
    """
    superblocks: Setting
    """Superblocks of each flash core in a zone; 1 to 4096. Their data is the capacity of the zone. Default: 1."""

class DeviceZonesRandomWrite(Setting):
    granularity: Setting
    """Step by which the write pointer moves (`NVMe`: ZRWAFG); a multiple of the mapping unit. Absent: the mapping unit.
    """
    size: Setting
    """Size of an area (`NVMe`: ZRWASZ); a multiple of the granularity, at most the capacity of a zone and 65,535
    mapping units. A write that ends up to as much behind the area commits what lies in front of it.
    """
    zones: Setting
    """Most zones that have an area at once (`NVMe`: NUMZRWA); 1 to `max_active`. Absent: `max_active`."""

class Policies(Setting):
    code: Setting
    """Which code (data and parity units of a stripe) a superblock gets when it is opened, in the place of that of its
    class, which must need no less room: code of your own. Default: that of its class, `device.protection`.
    """
    gc: Setting
    """Which superblock garbage collection takes next: a policy of `device.ftl.gc.policy`, or code of your own. Default:
    what that setting says.
    """
    pacing: Setting
    """How host writes are paced by collection: a policy of `device.ftl.gc.pacing`, or code of your own, which says for
    each victim what share of that setting's pace the host has. Default: what that setting says.
    """
    placement: Setting
    """Which stream hint each write of the workload gets, and so which of the drive's streams (`device.ftl.streams`) or
    classes (`device.protection.classes`) has it, asked for thousands of writes at once: code of your own. Default:
    the workload's own hints.
    """
    predict: Setting
    """Whether a die that has shown a sign of failure is expected to fail, so that its data is moved away while it can
    be read: code of your own, with `device.repair.predict`. Default: as the limits of that table say.
    """
    rebuild: Setting
    """How fast an array rebuilds members, and repairs them, asked every `array.background.own`: code of your own.
    Default: as `array.background` and `array.repair.share` say.
    """
    repair: Setting
    """When and how an array repairs the failure of a die in a member: a way of `array.repair.way`, or code of your own,
    asked when the member tells of it. Default: at once, as that setting says.
    """
    repair_order: Setting
    """Which of the rows that a member has lost with a die are recovered first: an order of `array.repair.order`, or
    code of your own, which sees all of them at once. Default: what that setting says.
    """
    scrub: Setting
    """Which superblocks scrubbing moves, beside what `device.scrub` says, asked every `device.scrub.own` until it names
    none: code of your own. Default: no others.
    """
    wear_leveling: Setting
    """Which superblock static wear levelling moves next, asked after every erasure: code of your own. Default: as
    `device.ftl.wear_leveling.static_gap` says.
    """

class Precondition(Setting):
    fill: Setting
    """Filling of the drive. Default: sequential.
    - sequential: Every mapping unit once, in order of address.
    - none: None: the drive is fresh from the factory.
    """
    fill_fraction: Setting
    """Share of the capacity that is filled; 0 to 1. Default: 1."""
    from_: Setting
    """A snapshot (`outlast snapshot`) of the same `device` and `array`, prepared: the run goes on from there as if it
    had prepared them itself, and nothing is filled or overwritten. Default: none.
    """
    max_drive_writes: Setting
    """Goes no further than this, in drive writes, and says so; at least `min_drive_writes`. Default: 30."""
    min_drive_writes: Setting
    """Overwrites at least this much before the drive can be found steady, in drive writes; at least 0. Default: 1."""
    overwrite: Setting
    """Writes that then overwrite it. Default: random.
    - random: Mapping units drawn uniformly from those filled.
    - workload: The workload's own writes and trims, as often as needed, without their times.
    - none: None: the drive stays as filled.
    """
    round: Setting
    """A round, after which the write amplification is noted, in drive writes (capacities); above 0, at most 100.
    Default: 0.1, and never less than eight superblocks of each flash core.
    """
    rounds: Setting
    """Parts that are compared to find the write amplification steady, each of at least one round; 2 to 1000. Default:
    5.
    """
    tolerance: Setting
    """Steady: over the last third of what was overwritten, cut into `rounds` parts, the write amplification ranges over
    no more than this share of its mean, its linear trend over them moves less than half of that, single rounds
    scatter by no more than a fifth (or this share, if larger), and what was written before space was first reclaimed
    would, at its present rate, take up less than this share of the spare space in ten more drive writes; above 0, at
    most 1. Default: 0.03.
    """

class Run(Setting):
    ageing: Setting
    """Leaps of age: the data on flash becomes older at once, as if the drive had been stored without power. Default:
    none.
    - at: Time from the start of the run.
    - by: Time by which all data becomes older.
    """
    capacity_scale: Setting
    """The drive stands for one whose dies have this many times its blocks: figures that grow with the size of dies are
    multiplied by this in `repair[].scaled` and for `array.data_loss`, and nowhere else. Above 0. Default: 1.
    """
    causes: Setting
    """True to split the time of every request by cause: `latency_causes` in results, and columns of the log. With time.
    Default: false, which costs nothing.
    - true
    - false
    """
    finish_rebuild: Setting
    """True if an array continues after the workload until its members are rebuilt and its parity is consistent, without
    the host and outside the measurement; the counters of its drives continue. Default: true.
    - true
    - false
    """
    log: Setting
    """A Parquet file that gets a row for every request, those of the warm-up included; a relative path begins at the
    folder of the result. With time; not for sweeps. Default: none.
    """
    member_mttf_hours: Setting
    """Mean time to failure of a member of an array, in hours, for the risk of data loss. Above 0. Default: 1.5 million
    (assumed: data sheets of enterprise drives name 1.5 to 2.5 million).
    """
    threads: Setting
    """Threads that a run may use while it prepares drives and where it runs without time; results do not depend on
    them. 1 to 1024. Default: one for each processor; in sweeps, which make several runs at once, 1.
    """
    timing: Setting
    """Simulation of time. Default: full.
    - full: Every flash operation, transfer and queue.
    - none: None: only the placement of data and the wear that it causes, for endurance studies.
    """
    twin: Setting
    """True if an error-free twin of the drive (an ECC that corrects everything, no parity, no scrubbing, no faults) is
    run first with the same seed, to measure the cost of reliability. Default: false.
    - true
    - false
    """
    utilisation: Setting
    """True for tables of how busy dies, channels and the controller were over time, of the valid units and the wear of
    superblocks, and of every one that was moved. With time. Default: false, which costs nothing.
    - true
    - false
    """
    warm_up: Setting
    """Simulated time at the start that is not measured. Default: 0."""
    window: Setting
    """Length of a window of the time series; more than 0. Default: chosen so that there are enough of them."""

class Workload(Setting):
    fio: WorkloadFio
    """A fio job file, or its text."""
    synthetic: WorkloadSynthetic
    """A stream drawn at random or counted up."""
    trace: WorkloadTrace
    """A recorded trace."""
    zoned: WorkloadZoned
    """A host that writes zones one after another, and resets them."""

class WorkloadFio(Setting):
    file: Setting
    """A job file."""
    job: Setting
    """The text of a job file."""
    time_slice: Setting
    """Turns that all jobs take on one core of the host, from 10 us to 10 s each. A job polls for its completions: while
    it runs it never gives up the core, and it sees a completion, or the end of a sleep, only while it runs. Two
    threads that SPDK pins to one core have 16 ms each on Linux up to 6.5 with 250 ticks a second and 8 processors or
    more. Absent: each job has a core of its own.
    """
    vars: Setting
    """Values of `${NAME}` in the job. `outlast run job.fio` takes missing ones from its environment; the simulator
    never does.
    """

class WorkloadSynthetic(Setting):
    align: Setting
    """Requests start at multiples of this from the start of the region. Default: `size`; for a list, its smallest size;
    for `sizes = "jesd219"`, 4 KiB (as the job file for that standard which comes with fio does).
    """
    arrival: Setting
    """How they arrive; needs `rate_iops`. Default: poisson.
    - poisson: Exponential gaps with a mean of 1 / `rate_iops`.
    - fixed: Equal gaps of 1 / `rate_iops`.
    """
    bytes: Setting
    """Ends with the request that reaches so many bytes read, written and trimmed."""
    cold_stream: Setting
    """Stream hint of the other writes under `hotcold` and `jesd219`. Default: `stream`."""
    duration: Setting
    """Ends after so much simulated time. In a closed loop not in a phase, since only the engine sees the time there."""
    flush_every: Setting
    """A flush after every so many writes. Default: none."""
    fua_percent: Setting
    """Writes with forced unit access, in percent of the writes. Default: 0."""
    hot_access: Setting
    """Share of the requests that go there; 0 to 1. Default: 0.8."""
    hot_fraction: Setting
    """Share of the region that is hot under `hotcold`; between 0 and 1. Default: 0.2."""
    hot_stream: Setting
    """Stream hint of writes to the hottest part under `hotcold` and `jesd219`. Default: `stream`."""
    name: Setting
    """A name for reports. Default: the pattern and size."""
    offset: Setting
    """Start of the region: a size or a percentage of the capacity. Default: 0."""
    pattern: Setting
    """The order of addresses. Default: uniform.
    - sequential: One after another, starting again at the end of the region.
    - uniform: Each place equally likely.
    - zipf: The place of rank r with a probability proportional to r^-`zipf_theta`.
    - hotcold: `hot_access` of the requests go to the first `hot_fraction` of the region.
    - jesd219: The enterprise endurance workload of JEDEC JESD219A: 50 % of accesses to the first 5 % of the region,
      30 % to the next 15 %, 20 % to the remaining 80 %. Only the skew; the sizes of that standard are `sizes =
      "jesd219"`.
    """
    phases: Setting
    """Phases that run one after another; each has limits of its own and may set any other setting anew.
    - align: Requests start at multiples of this from the start of the region. Default: `size`; for a list, its
      smallest size; for `sizes = "jesd219"`, 4 KiB (as the job file for that standard which comes with fio does).
    - arrival: How they arrive; needs `rate_iops`. Default: poisson.
    - bytes: Ends with the request that reaches so many bytes read, written and trimmed.
    - cold_stream: Stream hint of the other writes under `hotcold` and `jesd219`. Default: `stream`.
    - duration: Ends after so much simulated time. In a closed loop not in a phase, since only the engine sees the
      time there.
    - flush_every: A flush after every so many writes. Default: none.
    - fua_percent: Writes with forced unit access, in percent of the writes. Default: 0.
    - hot_access: Share of the requests that go there; 0 to 1. Default: 0.8.
    - hot_fraction: Share of the region that is hot under `hotcold`; between 0 and 1. Default: 0.2.
    - hot_stream: Stream hint of writes to the hottest part under `hotcold` and `jesd219`. Default: `stream`.
    - name: A name for reports. Default: the pattern and size.
    - offset: Start of the region: a size or a percentage of the capacity. Default: 0.
    - pattern: The order of addresses. Default: uniform.
    - phases: Phases that run one after another; each has limits of its own and may set any other setting anew.
    - queue_depth: Requests kept in flight: a closed loop. At least 1. Excludes `rate_iops`; not in a phase.
    - random_percent: Share of the requests of a `sequential` stream that go to a random place, from which the stream
      then goes on, in percent: the mix of random and sequential access of Iometer's access specifications. Default:
      0.
    - rate_iops: Mean arrivals per second: an open loop. More than 0, at most 1e9.
    - read_percent: Reads among the requests, in percent. Default: 0.
    - requests: Ends after so many requests, flushes included. Beside phases: of all phases together.
    - scramble: Scatters the addresses over the region by a bijection, so that hot places are not neighbours. It
      follows from the seed of the run and is the same in all phases. Not with `sequential`. Default: false.
    - size: Size of every request; a whole number of sectors. Excludes `sizes`. Default: 4 KiB.
    - sizes: A mix of sizes. Excludes `size`.
    - span: Length of the region: a size or a percentage of the capacity. Default: up to the end.
    - stream: Stream hint of the writes. Default: 0.
    - trim_percent: Trims among the requests, in percent; with `read_percent` at most 100. The rest are writes.
      Default: 0.
    - zipf_theta: Skew of `zipf`; more than 0, at most 10. Default: 0.99, as in YCSB (Cooper et al., `SoCC` 2010).
    """
    queue_depth: Setting
    """Requests kept in flight: a closed loop. At least 1. Excludes `rate_iops`; not in a phase."""
    random_percent: Setting
    """Share of the requests of a `sequential` stream that go to a random place, from which the stream then goes on, in
    percent: the mix of random and sequential access of Iometer's access specifications. Default: 0.
    """
    rate_iops: Setting
    """Mean arrivals per second: an open loop. More than 0, at most 1e9."""
    read_percent: Setting
    """Reads among the requests, in percent. Default: 0."""
    requests: Setting
    """Ends after so many requests, flushes included. Beside phases: of all phases together."""
    scramble: Setting
    """Scatters the addresses over the region by a bijection, so that hot places are not neighbours. It follows from the
    seed of the run and is the same in all phases. Not with `sequential`. Default: false.
    - true
    - false
    """
    size: Setting
    """Size of every request; a whole number of sectors. Excludes `sizes`. Default: 4 KiB."""
    sizes: Setting
    """A mix of sizes. Excludes `size`.
    - jesd219: JEDEC JESD219A, enterprise: 512 B 4 %; 1, 1.5, 2, 2.5, 3, 3.5 KiB 1 % each; 4 KiB 67 %; 8 KiB 10 %; 16
      KiB 7 %; 32 KiB 3 %; 64 KiB 3 %.
    - size: Size of a request; a whole number of 512-byte sectors.
    - weight: Relative frequency; more than 0. Weights need not add up to anything.
    """
    span: Setting
    """Length of the region: a size or a percentage of the capacity. Default: up to the end."""
    stream: Setting
    """Stream hint of the writes. Default: 0."""
    trim_percent: Setting
    """Trims among the requests, in percent; with `read_percent` at most 100. The rest are writes. Default: 0."""
    zipf_theta: Setting
    """Skew of `zipf`; more than 0, at most 10. Default: 0.99, as in YCSB (Cooper et al., `SoCC` 2010)."""

class WorkloadTrace(Setting):
    address_unit: Setting
    """Unit of the addresses and sizes of `ascii` (default: guessed, with a note) and of `columns` (default: byte).
    - sector: Sectors of 512 bytes.
    - byte: Bytes.
    """
    addresses: Setting
    """Treatment of addresses beyond the capacity. Default: fit.
    - wrap: Taken modulo the capacity, so that different data may come to lie on the same addresses. A request that
      would then cross the end is moved back to end there.
    - fit: If the trace reaches beyond the capacity, the 1 MiB pieces that it touches are packed side by side in
      order of address, which keeps runs and distances within touched stretches; what still does not fit wraps. Costs
      one pass over the file when it is opened, and 8 bytes for each MiB touched.
    - strict: An error naming line, LBA and capacity; `refuse` means the same.
    """
    align: Setting
    """Rounds requests out to this unit: start down, end up. Default: as recorded."""
    columns: WorkloadTraceColumns
    """The columns of a table; with `format = "columns"`, which needs it."""
    device: Setting
    """Only the records of this device. Default: all."""
    devices: Setting
    """Treatment of several devices. Default: merge.
    - merge: Their address spaces are laid over each other: the same LBA of two devices is one LBA.
    - concat: Their address spaces are laid side by side in the order of appearance, each rounded up to 1 MiB. Costs
      one pass over the file when it is opened.
    """
    event: Setting
    """Which event of `blkparse` is a request. Default: Q; in a trace that begins without one D, else C, with a note.
    - Q: Queued: what the software above asked for.
    - D: Issued to the driver, after merging and scheduling.
    - C: Completed.
    """
    file: Setting
    """The file: plain, or packed by gzip, zstd, bzip2, xz or zip.
    Default: "".
    """
    format: Setting  # type: ignore[assignment]
    """Its format. Default: auto.
    - auto: Recognised from the file's beginning.
    - msr: MSR Cambridge: `timestamp,host,disk,Read|Write,offset,size,response`; time in FILETIME ticks of 100 ns,
      addresses in bytes. A row index in front is accepted.
    - spc: SPC / `UMass` repository: `ASU,LBA,size,opcode,timestamp`; 512-byte LBAs, size in bytes, time in seconds.
      Commas or blanks.
    - ascii: `MQSim`, `DiskSim` and `SSDSim`: `time device address size op` with op 1 = read, 0 = write.
    - blkparse: The default text output of blkparse.
    - fio-iolog: fio's I/O log, version 2 or 3.
    - fio-iolog-v2: fio's I/O log, version 2: times as `wait` actions. To write; to read, `fio-iolog` serves both.
    - vscsi: `CloudPhysics` vscsiStats, binary, version 1 or 2.
    - alibaba: Alibaba block traces: `device_id,opcode,offset,length,timestamp`; bytes and microseconds.
    - etw: Disk events of Event Tracing for Windows as text, from xperf's dumper or SNIA IOTTA's Microsoft production
      servers: `DiskRead, TimeStamp, Process Name ( PID), ThreadID, IrpPtr, ByteOffset, IOSize, ElapsedTime, DiskNum,
      ...`; microseconds and bytes. The file's own header says which column is which.
    - commands: One command in each line, those to zones included: `time,command,place,size,handle`; seconds and
      bytes. A place may be one in a zone, such as `4z+65536`.
    - columns: A table with one request in each line, whose columns `columns` names.
    - msr-6: MSR Cambridge without response times: the columns of `msr` but the last.
    - fiu: FIU (`SRCMap`): `time pid process LBA size op major minor MD5`; nanoseconds and sectors.
    - tencent: Tencent cloud block storage: `time,offset,size,0|1,volume`; seconds and sectors, 0 = read.
    - systor-17: Systor '17: `Timestamp,Response,IOType,LUN,Offset,Size`; seconds and bytes. Lines whose type is
      neither R nor W are left out.
    - k5cloud: Fujitsu's K5 cloud: `volume,time,R|W,offset,size`; seconds and bytes.
    - cloudphysics-csv: A `CloudPhysics` trace as libCacheSim has it in CSV: `version,time,op,size,lbn`; seconds,
      SCSI's numbers of commands, bytes and sectors.
    - oracle-general: libCacheSim's `oracleGeneral`, binary. All its requests are reads: a cache's trace does not
      tell.
    - biosnoop: bcc's biosnoop: `TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)`.
    - block-rq: The tracepoint `block_rq_issue` of Linux, as `perf script` or ftrace print it. Other events are left
      out.
    """
    head: Setting
    """Takes at most so many records of each pass. Default: all."""
    queue_depth: Setting
    """Replays as a closed loop with so many requests in flight and ignores the recorded times. Default: open loop at
    the recorded times, counted from the first record.
    """
    repeat: Setting
    """How often the trace is replayed; each pass follows the one before after the mean gap between its records.
    Default: 1.
    """
    skip: Setting
    """Leaves out so many records at the beginning. Default: 0."""
    streams: Setting
    """Stream hints of writes by device of the trace, such as `{ "hm_0" = 1, "hm_1" = 2 }`: a host that tells its
    volumes apart, as mSAPL's. Default: none; writes to devices that are not named have hint 0.
    """
    time_scale: Setting
    """Recorded times are multiplied by this: 2 takes twice as long, 0.5 half as long. 1e-6 to 1e6. Default: 1."""
    time_unit: Setting
    """Unit of the times of `ascii` (default: guessed, with a note), of a version 3 `fio-iolog` (default: us), and of
    `columns` and `commands` (default: s).
    - ns: Nanoseconds.
    - us: Microseconds.
    - ms: Milliseconds.
    - s: Seconds.
    - filetime: Windows FILETIME ticks of 100 ns.
    """
    unordered: Setting
    """Treatment of records that are out of order. Default: error.
    - error: An error naming both times.
    - sort: Sorted within a window of 1024 records; later than that, an error.
    - clamp: Given the time of the record before it.
    """

class WorkloadTraceColumns(Setting):
    base: Setting
    """Taken off each address, in its unit: where the trace's addresses begin. Default: 0."""
    header: Setting
    """True if the first line is a header: columns are then found by their names in it. Default: false.
    - true
    - false
    """
    names: Setting
    """The columns in order: `time`, `op`, `offset` and `size` once each, `device` and `handle` at most once; any other
    name is a column that is not read. `handle` is the placement handle of a write, or its stream hint; of reads it
    is ignored, and empty it is 0. With `header`, names as the first line of the file has them, in any order.
    Default: [].
    """
    read: Setting
    """Words or numbers in `op` that mean a read. Default: R, r, Read, read, READ, rs."""
    separator: Setting
    """What stands between two columns. Default: comma.
    - comma: A comma.
    - semicolon: A semicolon.
    - tab: A tabulator.
    - blanks: One or more blanks or tabulators.
    """
    size_unit: Setting
    """Unit of `size`. Default: that of the addresses.
    - sector: Sectors of 512 bytes.
    - byte: Bytes.
    """
    skip_others: Setting
    """True to leave lines out, and count them, whose `op` is neither; else they are refused. Default: false.
    - true
    - false
    """
    write: Setting
    """Words or numbers in `op` that mean a write. Default: W, w, Write, write, WRITE, ws."""

class WorkloadZoned(Setting):
    bytes: Setting
    """Ends with the request that reaches so many bytes read and written."""
    command: Setting
    """The command by which it writes. Default: write.
    - write: Writes at the write pointer, which the host knows.
    - append: Appends: the drive says where the data has gone.
    """
    duration: Setting
    """Ends after so much simulated time."""
    finish_at: Setting
    """Share of a zone at which it is finished; above 0, at most 1. Default: 1, which leaves it to the last write."""
    name: Setting
    """A name for reports. Default: the command and size."""
    queue_depth: Setting
    """Requests kept in flight. Default: 1."""
    read_percent: Setting
    """Reads among the requests, in percent, of what has been written. Default: 0."""
    requests: Setting
    """Ends after so many reads and writes."""
    reset: Setting
    """Which full zone is reset where no zone is empty. Default: oldest.
    - oldest: The one that became full first.
    - random: Any, each as likely.
    """
    rewrite_percent: Setting
    """Writes, in percent, that write again what lies in the random write area of their zone, from 0 to 99. Given, each
    zone is opened with such an area, and committed at its end; it needs `device.zones.random_write` and goes with
    writes only.
    """
    size: Setting
    """Size of every request; a whole number of mapping units, at most the capacity of a zone. The last write to a zone
    is shorter where it does not divide. Default: 4 KiB.
    """
    zones: Setting
    """The first so many zones are used, at least one more than `zones_in_flight`. Default: all."""
    zones_in_flight: Setting
    """Zones that are written side by side, in turns; at most `device.zones.max_active`, and with `rewrite_percent` at
    most `device.zones.max_open`. Default: 1.
    """
