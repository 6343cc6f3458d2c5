"""Fitted numbers: one table, a line for each number of a drive that black-box measurements can tell."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

from outlast.products.fit.table import RATES, SIZES, TIMES, quantity

Theta = dict[str, Any]
"""The numbers of a drive by name, in seconds, bytes and bytes a second; `policy` and `pacing` are texts,
`suspends` is yes or no."""


@dataclass(frozen=True)
class Parameter:
    """A number that is fitted, on a logarithmic scale."""

    name: str
    title: str
    setting: str
    """The setting that it decides, by dotted name."""
    start: float
    low: float
    high: float
    show: Callable[[float], Any]
    """Name in scenario files."""
    assumed: str
    """Reason why the start value stands where nothing identifies it."""


def time(seconds: float) -> str:
    """A time to the nanosecond."""
    return f"{round(seconds * 1e9)}ns"


def rate(bytes_per_s: float) -> str:
    """A bandwidth to the kB/s."""
    return f"{round(bytes_per_s / 1e3)}kB/s"


def size(bytes_: float) -> str:
    """A size in whole KiB."""
    return f"{round(bytes_ / 1024)}KiB"


def factor(value: float) -> str:
    """A plain number."""
    return f"{value:.4f}"


def both_ways(seconds: float) -> dict[str, str]:
    """A latency of the host's side: an eighth on the way there, as a doorbell takes beside an interrupt."""
    return {"submit": time(seconds / 8), "complete": time(seconds - seconds / 8)}


PARAMETERS = (
    Parameter("host", "host latency", "device.controller.host_latency", 8e-6, 1e-7, 1e-3, both_ways,
              "8 us; enterprise drives show 8 to 13 us for a write"),
    Parameter("command", "firmware time of a command", "device.controller.master_cost", 5e-7, 1e-8, 1e-4, time,
              "bounds the drive at 2 M requests a second"),
    Parameter("read", "tR", "device.timing.read", 6e-5, 1e-6, 1e-3, time, "60 us, TLC"),
    Parameter("dies", "dies", "device.geometry", 32, 1, 4096, factor, "32 dies"),
    Parameter("link", "link", "device.controller.link", 6.5e9, 1e7, 1e11, rate, "PCIe 4.0 x4"),
    Parameter("program", "tPROG", "device.timing.program", 7e-4, 1e-5, 2e-2, time, "700 us, TLC"),
    Parameter("effective", "effective flash", "device.geometry", 0, 0, 0, size, "7 % more than the capacity"),
    Parameter("metadata", "constant factor of the write amplification", "", 1.0, 1.0, 1.5, factor,
              "1: the drive writes no data of its own"),
    Parameter("buffer", "write buffer", "device.controller.write_buffer", 16 << 20, 1 << 16, 1 << 34, size,
              "16 MiB"),
    Parameter("overhead", "suspension", "device.timing.suspend.overhead", 4e-5, 1e-6, 1e-3, time, "40 us"),
    Parameter("progress", "least progress between suspensions", "device.timing.suspend.least_progress", 1e-4, 1e-6,
              2e-2, time, "100 us"),
)  # fmt: skip
BY_NAME: Mapping[str, Parameter] = {each.name: each for each in PARAMETERS}


@dataclass(frozen=True)
class Stage:
    """A step of the fit: what it finds, and of which figures."""

    name: str
    title: str
    finds: tuple[str, ...]
    loads: str
    """Figures that it uses, in words."""
    missing: str
    """Measurement to make where there is nothing to use."""


STAGES = (
    Stage("link", "link", ("link",), "rate of sequential reads", "sequential reads, 128 KiB at depth 32"),
    Stage("host", "host floor", ("host",), "median latency of random writes at depth 1",
          "random 4-KiB writes at depth 1"),
    Stage("read", "tR", ("read",), "median latency of random reads at depth 1", "random 4-KiB reads at depth 1"),
    Stage("dies", "dies", ("dies", "command"), "rate of random reads over depth",
          "random 4-KiB reads at three depths or more, up to 256"),
    Stage("program", "tPROG", ("program",), "rate of sequential writes", "sequential writes, 128 KiB at depth 32"),
    Stage("waf", "effective flash", ("effective", "metadata"),
          "write amplification, or rate, of uniform random writes at several fills",
          "uniform random writes at two fills or more, with the drive's counters"),
    Stage("policy", "collection policy", ("policy",), "write amplification of skewed writes",
          "random writes under skew: two-zone or zipf"),
    Stage("buffer", "write buffer", ("buffer",), "rate of bursts after a pause",
          "bursts of several sizes after a pause"),
    Stage("suspend", "suspension", ("overhead", "progress"),
          "90th and 99th percentile of random reads beside writes", "random reads beside writes at 25, 50 and 75 % of "
          "the highest rate, with percentiles of 90 and 99"),
    Stage("pacing", "pacing of writes", ("pacing",), "median and 99th percentile of random writes over their rate",
          "random writes at 25, 50 and 75 % of the highest rate, with percentiles"),
)  # fmt: skip


def stage_named(name: str) -> Stage:
    """The stage of that name."""
    return next(each for each in STAGES if each.name == name)


def known_numbers(known: Mapping[str, Any], channels: int) -> dict[str, float]:
    """The numbers that settings decide which are known."""
    units: dict[Callable[[float], Any], Mapping[str, float]] = {time: TIMES, rate: RATES, size: SIZES}
    found: dict[str, float] = {}
    for each in PARAMETERS:
        value = known.get(each.setting)
        if isinstance(value, dict):
            found[each.name] = sum(quantity(f"known: {each.setting}", part, TIMES) for part in value.values())
        elif value is not None and each.show in units:
            found[each.name] = quantity(f"known: {each.setting}", value, units[each.show])
    of_channel = [known.get(f"device.geometry.{name}") for name in ("chips_per_channel", "dies_per_chip")]
    if any(of_channel):
        chips, dies = (int(value or 1) for value in of_channel)
        found["dies"] = float(channels * chips * dies)
    return found
