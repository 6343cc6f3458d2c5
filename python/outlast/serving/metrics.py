"""A served machine's figures as Prometheus reads them: names follow those of results, units are seconds and bytes."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from typing import Any

from prometheus_client import CONTENT_TYPE_LATEST, CollectorRegistry, generate_latest
from prometheus_client.core import CounterMetricFamily, GaugeMetricFamily, HistogramMetricFamily, Metric
from prometheus_client.registry import Collector

COUNTS = {"read": ("reads", "bytes_read"), "write": ("writes", "bytes_written"), "trim": ("trims", "bytes_trimmed")}
"""Names of the host's counts and bytes, by operation."""

CONDITIONS = ("healthy", "resyncing", "degraded", "rebuilding", "failed")


def exposition(state: dict[str, Any], figures: dict[str, Any], smart: dict[str, Any]) -> tuple[bytes, str]:
    """The text that Prometheus scrapes, and its content type."""
    registry = CollectorRegistry()
    shared = [*of_namespaces(figures), *of_handles(figures)]
    registry.register(_Figures([*of_host(figures), *shared, *of_machine(state), *of_array(state), *of_health(smart)]))
    return generate_latest(registry), CONTENT_TYPE_LATEST


class _Figures(Collector):
    def __init__(self, families: list[Metric]) -> None:
        self._families = families

    def collect(self) -> Iterable[Metric]:
        return self._families


def gauge(name: str, text: str, rows: Iterable[tuple[dict[str, str], float]]) -> Metric:
    """A figure that goes up and down, for each set of labels."""
    return _filled(GaugeMetricFamily, name, text, rows)


def counter(name: str, text: str, rows: Iterable[tuple[dict[str, str], float]]) -> Metric:
    """A figure that only grows, for each set of labels; its name ends in `_total`."""
    return _filled(CounterMetricFamily, name, text, rows)


def _filled(
    kind: type[GaugeMetricFamily | CounterMetricFamily],
    name: str,
    text: str,
    rows: Iterable[tuple[dict[str, str], float]],
) -> Metric:
    all_ = list(rows)
    labels = list(all_[0][0]) if all_ else []
    family = kind(f"outlast_{name}", text, labels=labels)
    for values, value in all_:
        family.add_metric([values[label] for label in labels], value)
    return family


def of_host(figures: dict[str, Any]) -> Iterator[Metric]:
    """Requests of clients, and their latencies."""
    operations = {each["op"]: each for each in figures["operations"]}
    for op, (count, size) in COUNTS.items():
        yield counter(f"host_{count}", f"{op}s completed", [({}, operations[op]["count"])])
        yield counter(f"host_{size}", f"bytes of {op}s that succeeded", [({}, operations[op]["bytes"])])
    yield counter("host_flushes", "flushes completed", [({}, operations["flush"]["count"])])
    yield counter("host_errors", "requests that failed", [({}, sum(each["errors"] for each in operations.values()))])
    latency = HistogramMetricFamily(
        "outlast_latency_seconds", "simulated time of requests from arrival to completion", labels=["op"]
    )
    for op, each in operations.items():
        latency.add_metric([op], buckets(each["below"]), each["sum_us"] / 1e6)
    yield latency
    late = figures["lateness"]
    lateness = HistogramMetricFamily(
        "outlast_lateness_seconds", "real time by which replies came later than the simulated completion"
    )
    lateness.add_metric([], buckets(late["below"]), late["sum_us"] / 1e6)
    yield lateness
    yield gauge("clients", "connected clients", [({}, figures["clients"])])
    yield gauge(
        "clients_waiting",
        "1 while further clients wait for a connection to end, else 0",
        [({}, figures["others_wait"])],
    )
    yield counter(
        "clients_turned_away",
        "clients disconnected to free a connection or memory for others",
        [({}, figures["turned_away"])],
    )
    yield gauge(
        "clients_memory_bytes",
        "memory for requests and replies of all clients",
        [({}, figures["clients_memory"]["held"])],
    )
    yield counter("simulated_seconds", "simulated time that has passed", [({}, figures["clock"]["now_ns"] / 1e9)])


def of_namespaces(figures: dict[str, Any]) -> Iterator[Metric]:
    """Requests by namespace; nothing without namespaces."""
    rows = [
        ({"namespace": str(own["namespace"]), "op": each["op"]}, each)
        for own in figures["namespaces"]
        for each in own["operations"]
    ]
    if rows:
        yield counter("namespace_requests", "requests completed", [(labels, each["count"]) for labels, each in rows])
        yield counter(
            "namespace_bytes", "bytes of requests that succeeded", [(labels, each["bytes"]) for labels, each in rows]
        )
        seconds = [(labels, each["sum_us"] / 1e6) for labels, each in rows]
        yield counter("namespace_latency_seconds", "sum of latencies, simulated", seconds)


def of_handles(figures: dict[str, Any]) -> Iterator[Metric]:
    """Reclaim unit handles; nothing without flexible data placement."""
    if (placement := figures["placement"]) is None:
        return
    rows = [({"handle": str(at)}, own) for at, own in enumerate(placement["handles"])]
    for name, text in (
        ("host_bytes", "bytes that the host wrote through the handle"),
        ("moved_bytes", "bytes of the handle that collection moved"),
    ):
        yield counter(f"handle_{name}", text, [(labels, own[name]) for labels, own in rows])
    left = [(labels, own["remaining_bytes"]) for labels, own in rows]
    yield gauge("handle_remaining_bytes", "bytes that still fit into the reclaim unit of the handle", left)


def buckets(below: list[int]) -> list[tuple[str, float]]:
    """Counts of what took at most 1, 2, 4, … microseconds, the last all, with their limits in seconds."""
    limits = [repr(2**power / 1e6) for power in range(len(below) - 1)]
    return list(zip([*limits, "+Inf"], map(float, below), strict=True))


def of_machine(state: dict[str, Any]) -> Iterator[Metric]:
    """The drives."""
    machine = state["machine"]
    yield gauge(
        "info",
        "name and model of the served device; always 1",
        [({"name": machine["name"], "model": machine["model"]}, 1)],
    )
    yield gauge("capacity_bytes", "capacity that clients see", [({}, machine["capacity"])])
    yield gauge("powered", "1 if the power is on, else 0", [({}, machine["powered"])])
    drives = [(str(drive["device"]), drive) for drive in machine["drives"] if drive["device"] is not None]

    def each(name: str, key: str) -> list[tuple[dict[str, str], float]]:
        return [({"device": at, name: kind}, value) for at, drive in drives for kind, value in drive[key].items()]

    def one(*path: str) -> list[tuple[dict[str, str], float]]:
        return [({"device": at}, _within(drive, path)) for at, drive in drives]

    yield counter("units_programmed", "mapping units programmed, by cause", each("cause", "units"))
    yield counter("pages_read", "pages read, by cause", each("cause", "reads"))
    yield counter("erases", "blocks erased", one("erases"))
    yield counter(
        "blocked_seconds",
        "time that host writes waited for collection, summed over flash cores",
        [(labels, value / 1e9) for labels, value in one("blocked_ns")],
    )
    states = [
        ({"device": at, "state": name}, sum(die["state"] == name for die in drive["dies"]))
        for at, drive in drives
        for name in DIES
    ]
    yield gauge("dies", "dies by state", states)
    yield counter(
        "die_busy_seconds",
        "time that the die was busy",
        [
            ({"device": at, "die": str(die)}, figures["busy_ns"] / 1e9)
            for at, drive in drives
            for die, figures in enumerate(drive["dies"])
        ],
    )
    yield gauge(
        "pe_cycles",
        "P/E cycles, mean over blocks",
        [({"device": at}, sum(die["pe_cycles"] for die in drive["dies"]) / len(drive["dies"])) for at, drive in drives],
    )
    yield gauge(
        "superblocks",
        "superblocks by state",
        [row for row in each("state", "superblocks") if row[0]["state"] != "total"],
    )
    yield gauge("buffer_bytes", "size of the write buffer", one("buffer", "bytes"))
    yield gauge("buffer_used_bytes", "host data in the write buffer", one("buffer", "used"))
    yield gauge("lost_units", "mapping units whose data is lost", one("lost_units"))
    yield counter("power_cuts", "losses of power", one("power_cuts"))


DIES = ("good", "failing", "failed", "given-up")


def _within(drive: dict[str, Any], path: tuple[str, ...]) -> float:
    value: Any = drive
    for key in path:
        value = value[key]
    return float(value)


def of_array(state: dict[str, Any]) -> Iterator[Metric]:
    """The array, if it is one."""
    array = state["machine"]["array"]
    if array is None:
        return
    yield gauge(
        "array_condition",
        "1 for the condition that the array is in, else 0",
        [({"condition": name}, name == array["condition"]) for name in CONDITIONS],
    )
    members = list(enumerate(array["members"]))
    yield gauge(
        "array_member_in_sync",
        "1 if all of the member can be read, else 0",
        [({"member": str(at)}, member["in_sync"]) for at, member in members],
    )
    yield gauge("array_spares", "spare devices", [({}, array["spares"])])
    yield gauge("array_lost_sectors", "sectors whose data is lost", [({}, array["lost_sectors"])])
    yield counter(
        "array_write_holes", "stripes with wrong parity that were needed to restore data", [({}, array["write_holes"])]
    )
    run = array["pass"] or {"done": 0, "total": 0}
    yield gauge(
        "array_pass_done_bytes",
        "bytes of each member done by the current rebuild, repair or scrub",
        [({}, run["done"])],
    )
    yield gauge(
        "array_pass_total_bytes",
        "bytes of each member that the current rebuild, repair or scrub covers; 0 without one",
        [({}, run["total"])],
    )


def of_health(smart: dict[str, Any]) -> Iterator[Metric]:
    """The fields of the health log that are numbers."""
    for name, value in smart.items():
        if isinstance(value, (bool, int, float)):
            yield gauge(f"smart_{name}", f"{name.replace('_', ' ')}, from the health log", [({}, value)])
