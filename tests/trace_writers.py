"""Traces as their publishers and tools write them, each from the definition of its format and not by Outlast."""

from __future__ import annotations

import struct
from collections.abc import Callable, Iterable
from typing import NamedTuple

SECTOR = 512
FILETIME = 128_166_372_003_061_629
UNIX = 1_456_135_200


class Access(NamedTuple):
    """One access of a host."""

    at_us: int
    is_read: bool
    sector: int
    sectors: int


def _lines(lines: Iterable[str]) -> bytes:
    return "".join(f"{line}\n" for line in lines).encode()


def _letter(each: Access) -> str:
    return "R" if each.is_read else "W"


def _word(each: Access) -> str:
    return "Read" if each.is_read else "Write"


def msr(all_: list[Access]) -> bytes:
    """SNIA IOTTA 388: Timestamp,Hostname,DiskNumber,Type,Offset,Size,ResponseTime."""
    return _lines(
        f"{FILETIME + 10 * a.at_us},hm,0,{_word(a)},{a.sector * SECTOR},{a.sectors * SECTOR},1331" for a in all_
    )


def msr_without_response(all_: list[Access]) -> bytes:
    """The same without its last column, as cuts have it."""
    return b"\n".join(line.rpartition(b",")[0] for line in msr(all_).splitlines()) + b"\n"


def spc(all_: list[Access]) -> bytes:
    """UMass: ASU,LBA,Size,Opcode,Timestamp."""
    return _lines(f"0,{a.sector},{a.sectors * SECTOR},{_letter(a).lower()},{a.at_us / 1e6:.6f}" for a in all_)


def disksim(all_: list[Access]) -> bytes:
    """DiskSim's ASCII format: milliseconds, device, block, blocks, 1 for a read."""
    return _lines(f"{a.at_us / 1e3:.3f} 0 {a.sector} {a.sectors} {int(a.is_read)}" for a in all_)


def blkparse(all_: list[Access], device: str = "259,2") -> bytes:
    """The output of blkparse: what is queued, issued and completed, and its summary."""
    lines = []
    for number, a in enumerate(all_, 1):
        for step, action in enumerate("QDC"):
            start = f"{device:>7}    0 {3 * number + step:>8} {a.at_us / 1e6 + step * 1e-7:>14.9f}  4020  {action}"
            lines.append(f"{start}  {_letter(a)}S {a.sector} + {a.sectors} [{'java' if action != 'C' else '0'}]")
    return _lines([*lines, "CPU0 (259,2):", " Reads Queued:           1,        4KiB"])


def blkparse_named(all_: list[Access]) -> bytes:
    """The output of blkparse -h."""
    return blkparse(all_, "nvme0n1")


def alibaba(all_: list[Access]) -> bytes:
    """github.com/alibaba/block-traces: device_id,opcode,offset,length,timestamp."""
    return _lines(
        f"419,{_letter(a)},{a.sector * SECTOR},{a.sectors * SECTOR},{1577808000000000 + a.at_us}" for a in all_
    )


def fiu(all_: list[Access]) -> bytes:
    """SNIA IOTTA 390: ns, pid, process, LBA, blocks, op, major, minor, MD5."""
    digest = "56f11b711d91a065a2b6458eca924523"
    return _lines(
        f"{89967404336000 + 1000 * a.at_us} 4892 syslogd {a.sector} {a.sectors} {_letter(a)} 6 0 {digest}" for a in all_
    )


def tencent(all_: list[Access]) -> bytes:
    """SNIA IOTTA 27917: Timestamp,Offset,Size,IOType,VolumeID."""
    return _lines(f"{1538323200 + a.at_us // 10**6},{a.sector},{a.sectors},{int(not a.is_read)},1283" for a in all_)


def systor(all_: list[Access]) -> bytes:
    """SNIA IOTTA 4964: Timestamp,Response,IOType,LUN,Offset,Size."""
    rows = [
        f"{UNIX + a.at_us / 1e6:.6f}000,0.000164,{_letter(a)},4,{a.sector * SECTOR},{a.sectors * SECTOR}" for a in all_
    ]
    return _lines(["Timestamp,Response,IOType,LUN,Offset,Size", *rows, f"{UNIX + 3600}.000000000,,,4,0,4096"])


def k5(all_: list[Access]) -> bytes:
    """SNIA IOTTA, FUJITSU K5: ID, Timestamp, Type, Offset, Length."""
    return _lines(f"7,{a.at_us / 1e6:.6f},{_letter(a)},{a.sector * SECTOR},{a.sectors * SECTOR}" for a in all_)


def cloudphysics(all_: list[Access]) -> bytes:
    """libCacheSim's data/cloudPhysicsIO.csv."""
    rows = [
        f"1,{5633898 + a.at_us // 10**6},{'28' if a.is_read else '2a'},{a.sectors * SECTOR},{a.sector}" for a in all_
    ]
    return _lines(["version,time,op,size,lbn", *rows])


def vscsi(all_: list[Access]) -> bytes:
    """vscsiStats, version 1: u32 sn, len, nSG; u16 cmd, ver; u64 lbn, ts."""
    return b"".join(
        struct.pack(
            "<IIIHHQQ", n, a.sectors * SECTOR, 1, 0x28 if a.is_read else 0x2A, 0x100, a.sector, 10**12 + a.at_us
        )
        for n, a in enumerate(all_)
    )


def vscsi_2(all_: list[Access]) -> bytes:
    """vscsiStats, version 2: u16 cmd, ver; u32 sn, len, nSG; u64 lbn, ts, rt."""
    return b"".join(
        struct.pack("<HHIIIQQQ", 0x88 if a.is_read else 0x8A, 0x200, n, a.sectors * SECTOR, 1, a.sector, a.at_us, 99)
        for n, a in enumerate(all_)
    )


def oracle_general(all_: list[Access]) -> bytes:
    """libCacheSim's oracleGeneral: u32 clock_time, u64 obj_id, u32 obj_size, i64 next_access_vtime."""
    following: dict[int, int] = {}
    records = []
    for number in reversed(range(len(all_))):
        a = all_[number]
        records.append(
            struct.pack("<IQIq", a.at_us // 10**6, a.sector, a.sectors * SECTOR, following.get(a.sector, -1))
        )
        following[a.sector] = number + 1
    return b"".join(reversed(records))


def fio_2(all_: list[Access]) -> bytes:
    """fio's write_iolog, version 2: waits in microseconds, each after the one before."""
    lines, before = ["fio version 2 iolog", "/dev/sdb add", "/dev/sdb open"], 0
    for a in all_:
        lines += [f"/dev/sdb wait {a.at_us - before}"] if a.at_us > before else []
        lines.append(f"/dev/sdb {_word(a).lower()} {a.sector * SECTOR} {a.sectors * SECTOR}")
        before = a.at_us
    return _lines([*lines, "/dev/sdb close"])


def fio_3(all_: list[Access]) -> bytes:
    """fio's write_iolog, version 3: a time before each action."""
    lines = ["fio version 3 iolog", "0 /dev/sdb add", "0 /dev/sdb open"]
    rows = [f"{a.at_us} /dev/sdb {_word(a).lower()} {a.sector * SECTOR} {a.sectors * SECTOR}" for a in all_]
    return _lines([*lines, *rows, f"{all_[-1].at_us} /dev/sdb close"])


def biosnoop(all_: list[Access]) -> bytes:
    """bcc's biosnoop, with a row of no medium."""
    head = "TIME(s)     COMM           PID    DISK      T SECTOR     BYTES  LAT(ms)"
    rows = [
        f"{a.at_us / 1e6:<11.6f} {'Web Content':<14} 5689   nvme0n1   {_letter(a)} {a.sector:<10} "
        f"{a.sectors * SECTOR:<7} 0.20"
        for a in all_
    ]
    return _lines([head, *rows, "99.000000   ?              0                R 18446744073709551615 0       0.10"])


def perf(all_: list[Access]) -> bytes:
    """perf script of block:block_rq_issue, with an event of another kind."""
    rows = [
        f"fio  1234 [001] {100 + a.at_us / 1e6:.6f}: block:block_rq_issue: 259,0 {_letter(a)}S {a.sectors * SECTOR} () "
        f"{a.sector} + {a.sectors} [fio]"
        for a in all_
    ]
    return _lines([*rows, "fio  1234 [001] 999.0: block:block_rq_complete: 259,0 W () 8 + 8 [0]"])


def ftrace(all_: list[Access]) -> bytes:
    """/sys/kernel/tracing/trace with its comments."""
    rows = [
        f"     kworker/0:1H-99      [000] d..1. {100 + a.at_us / 1e6:>12.6f}: block_rq_issue: 8,0 {_letter(a)} "
        f"{a.sectors * SECTOR} () {a.sector} + {a.sectors} be,0,4 [kworker/0:1H]"
        for a in all_
    ]
    return _lines(["# tracer: nop", "#", "#           TASK-PID     CPU#  |||||  TIMESTAMP  FUNCTION", *rows])


WRITERS: dict[str, tuple[Callable[[list[Access]], bytes], str]] = {
    "msr": (msr, "msr"),
    "msr without response": (msr_without_response, "msr-6"),
    "spc": (spc, "spc"),
    "disksim": (disksim, "ascii"),
    "blkparse": (blkparse, "blkparse"),
    "blkparse -h": (blkparse_named, "blkparse"),
    "alibaba": (alibaba, "alibaba"),
    "fiu": (fiu, "fiu"),
    "tencent": (tencent, "tencent"),
    "systor": (systor, "systor-17"),
    "k5": (k5, "k5cloud"),
    "cloudphysics": (cloudphysics, "cloudphysics-csv"),
    "vscsi 1": (vscsi, "vscsi"),
    "vscsi 2": (vscsi_2, "vscsi"),
    "oracleGeneral": (oracle_general, "oracle-general"),
    "fio 2": (fio_2, "fio-iolog"),
    "fio 3": (fio_3, "fio-iolog"),
    "biosnoop": (biosnoop, "biosnoop"),
    "perf": (perf, "block-rq"),
    "ftrace": (ftrace, "block-rq"),
}
"""Writer and format of each trace."""
