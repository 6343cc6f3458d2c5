"""Workloads: synthetic streams and phases, fio jobs, and traces that are made up line by line."""

from __future__ import annotations

from dataclasses import dataclass

from random_scenarios.draw import Draw, Row, Settings

REQUESTS = (300, 1000, 3000)

SYNTHETIC: tuple[Row, ...] = (
    ("align", 0.15, ("512B", "4KiB")),
    ("flush_every", 0.15, (1, 10, 100)),
    ("fua_percent", 0.15, (1.0, 50.0, 100.0)),
    ("span", 0.2, ("50%", "10%", "25%")),
)

JOB_LINES: tuple[Row, ...] = (
    ("rw", 1.0, ("read", "write", "randread", "randwrite", "randrw", "rw", "randtrim", "trimwrite")),
    ("bs", 1.0, ("4k", "4k", "16k", "64k", "512")),
    ("bsrange", 0.1, ("4k-32k", "512-64k")),
    ("iodepth", 0.7, (1, 4, 32)),
    ("number_ios", 1.0, (20, 100, 300)),
    ("fsync", 0.15, (1, 16)),
    ("norandommap", 0.3, (1,)),
    ("randrepeat", 0.2, (0,)),
    ("random_distribution", 0.3, ("zipf:1.2", "pareto:0.3", "normal:20", "zoned:60/10:40/90")),
    ("rwmixread", 0.3, (0, 30, 90)),
    ("rate_iops", 0.25, (500, 5000)),
    ("thinktime", 0.1, (50, 500)),
    ("size", 0.5, ("10%", "50%", "256k")),
    ("offset", 0.2, ("10%", "64k")),
    ("numjobs", 0.15, (2, 3)),
    ("loops", 0.1, (2,)),
    ("stonewall", 0.15, (1,)),
    ("bssplit", 0.1, ("4k/60:16k/40", "512/10:4k/90", "4k/0:64k/100")),
    ("percentage_random", 0.1, (50,)),
    ("verify", 0.05, ("crc32c",)),
)


@dataclass(frozen=True)
class Load:
    """`[workload]`, the files that it names, and how many requests it asks for, where that is known."""

    settings: Settings
    files: dict[str, str]
    requests: int | None


def synthetic(draw: Draw, streams: int) -> Load:
    """`[workload.synthetic]`."""
    settings = stream(draw, streams)
    if draw.chance(0.5):
        settings |= {
            "rate_iops": draw.one((500.0, 3000.0, 10000.0, 40000.0)),
            "arrival": draw.one(("poisson", "fixed")),
        }
    else:
        settings["queue_depth"] = draw.one((1, 2, 4, 16, 64, 200))
    requests: int | None = draw.one(REQUESTS)
    if draw.chance(0.1):
        settings["phases"] = [{"requests": draw.one((100, 400)), "read_percent": float(share)} for share in (0, 80)]
    if draw.chance(0.1):
        settings["bytes"], requests = draw.one(("1MiB", "20MiB")), None
    else:
        settings["requests"] = requests
    return Load({"synthetic": settings}, {}, None if "phases" in settings else requests)


def stream(draw: Draw, streams: int) -> Settings:
    """Settings of a random stream of requests."""
    pattern = draw.one(("sequential", "uniform", "uniform", "zipf", "hotcold", "jesd219"))
    settings: Settings = {"pattern": pattern}
    if pattern != "jesd219":
        reads = draw.one((0, 0, 30, 50, 70, 100))
        settings["read_percent"] = float(reads)
        if draw.chance(0.2):
            settings["trim_percent"] = float(min(100 - reads, draw.one((5, 20))))
    if pattern == "hotcold":
        settings |= {"hot_fraction": draw.one((0.1, 0.2, 0.5)), "hot_access": draw.one((0.8, 0.9))}
        if streams > 1 and draw.chance(0.7):
            settings |= {"hot_stream": 0, "cold_stream": 1}
    if pattern == "zipf":
        settings["zipf_theta"] = draw.one((0.6, 0.99, 1.2))
    if pattern in ("zipf", "hotcold") and draw.chance(0.3):
        settings["scramble"] = True
    if draw.chance(0.3):
        sizes = (draw.one(("512B", "2KiB", "4KiB")), draw.one(("16KiB", "64KiB", "128KiB")))
        settings["sizes"] = [{"size": size, "weight": 1.0} for size in sizes]
    else:
        settings["size"] = draw.one(("512B", "4KiB", "4KiB", "4KiB", "16KiB", "64KiB", "256KiB"))
    return settings | draw.fill(SYNTHETIC)


def fio(draw: Draw) -> Load:
    """`[workload.fio]`, with a job file of one to three jobs."""
    lines = ["[global]", "ioengine=libaio", "direct=1"]
    for number in range(draw.whole(1, 3)):
        lines.append(f"[job{number}]")
        lines += [f"{name}={value}" for name, value in draw.fill(JOB_LINES).items()]
    return Load({"fio": {"file": "jobs.fio"}}, {"jobs.fio": "\n".join(lines) + "\n"}, None)


def trace(draw: Draw, capacity_kib: int) -> Load:
    """`[workload.trace]`, with a file in one of three formats, within the capacity or beyond it."""
    requests, kind = draw.one(REQUESTS), draw.one(("msr", "spc", "ascii"))
    sectors = max(64, int(2 * capacity_kib * draw.one((0.3, 0.9, 1.0, 1.4))))
    now, lines = 0, []
    mean_us = draw.one((50, 500, 2000))
    for _ in range(requests):
        now += int(mean_us * 2 * draw.share())
        size = draw.one((1, 8, 8, 8, 32, 128))
        sector, reads = int(draw.share() * max(1, sectors - size)), draw.chance(0.5)
        if kind == "msr":
            way = "Read" if reads else "Write"
            lines.append(f"{128166372003061629 + 10 * now},usr,0,{way},{sector * 512},{size * 512},{1000}")
        elif kind == "spc":
            lines.append(f"0,{sector},{size * 512},{'R' if reads else 'W'},{now / 1e6:.6f}")
        else:
            lines.append(f"{now * 1000} 0 {sector} {size} {1 if reads else 0}")
    settings: Settings = {"file": "requests.trace", "format": kind}
    rows: tuple[Row, ...] = (
        ("addresses", 0.6, ("wrap", "fit", "strict")),
        draw.one((("time_scale", 0.4, (0.1, 0.5, 2.0)), ("queue_depth", 0.4, (1, 16)))),
        ("repeat", 0.15, (2,)),
        ("head", 0.15, (100,)),
        ("skip", 0.1, (10,)),
        ("align", 0.2, ("4KiB",)),
    )
    settings |= draw.fill(rows)
    return Load({"trace": settings}, {"requests.trace": "\n".join(lines) + "\n"}, None)
