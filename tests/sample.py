"""A made-up but plausible result, so that reports can be tested without a simulation."""

from __future__ import annotations

from typing import Any

import numpy as np

from outlast.causes import AMPLIFICATION, PROGRAMS, READS, SHARED
from outlast.result import Result

UNIT_BYTES = 4096
DIES = 16
BLOCKS_PER_DIE = 64


def _latency(count: int, scale_us: float) -> dict[str, Any] | None:
    if count == 0:
        return None
    factors = {"p50": 1.0, "p90": 2.1, "p95": 3.0, "p99": 7.5, "p99_9": 21.0, "p99_99": 44.0, "max": 61.0}
    figures: dict[str, Any] = {"count": count, "mean": 1.4 * scale_us, "min": 0.6 * scale_us}
    return figures | {name: factor * scale_us for name, factor in factors.items()}


def _timeseries(rng: np.random.Generator, windows: int) -> dict[str, Any]:
    start = np.arange(windows) * 0.1
    wave = 1.0 + 0.15 * np.sin(start * 1.7) + 0.05 * rng.standard_normal(windows)
    reads = np.asarray(4200 * wave, dtype=np.uint64)
    writes = np.asarray(1800 * wave, dtype=np.uint64)
    gc_units = np.asarray(writes * (1.3 + 0.12 * rng.standard_normal(windows)), dtype=np.uint64)
    zeros = np.zeros(windows, dtype=np.uint64)
    padding = np.asarray(writes * 0.03, dtype=np.uint64)
    leveling = np.asarray(writes * 0.02, dtype=np.uint64)
    columns: dict[str, Any] = {
        "start_s": start,
        "end_s": start + 0.1,
        "reads": reads,
        "writes": writes,
        "trims": zeros,
        "flushes": zeros,
        "errors": zeros,
        "read_mib": reads * UNIT_BYTES / 2**20,
        "write_mib": writes * UNIT_BYTES / 2**20,
        "iops": (reads + writes) / 0.1,
        "in_flight_mean": 31.0 * wave,
        "write_amplification": 1.0 + (gc_units + padding + leveling) / writes,
        "programmed_bytes": (writes + gc_units + padding + leveling) * UNIT_BYTES,
        "host_write_bytes": writes * UNIT_BYTES,
        **{f"{cause.name}_units": zeros for cause in PROGRAMS},
        "host_units": writes,
        "gc_units": gc_units,
        "padding_units": padding,
        "wear_leveling_units": leveling,
        "parity_units": zeros,
        "partial_write_bytes": zeros,
        **dict.fromkeys(READS, zeros),
        "host_reads": reads,
        "gc_reads": gc_units,
        "flash_reads": reads + gc_units,
        "flash_programs": writes + gc_units,
        "flash_erases": np.asarray(gc_units / 200, dtype=np.uint64),
        "free_superblocks": np.asarray(6 + rng.integers(0, 4, windows), dtype=np.uint64),
        "uncorrectable_reads": zeros,
        **{f"rber_{level}": np.zeros(windows) for level in ("mean", "p50", "p99", "max")},
    }
    for op, scale in (("read", 90.0), ("write", 24.0)):
        noise = 1.0 + 0.1 * np.abs(rng.standard_normal(windows))
        columns[f"{op}_mean_us"] = 1.4 * scale * noise
        columns[f"{op}_p50_us"] = scale * noise
        columns[f"{op}_p99_us"] = 7.5 * scale * noise
        columns[f"{op}_max_us"] = 40.0 * scale * noise * noise
    return columns


def _distribution(op: str, count: int, scale_us: float) -> dict[str, Any]:
    quantile = 1.0 - np.logspace(0.0, -5.5, 220)
    return {
        "op": [op] * len(quantile),
        "stream": ["all"] * len(quantile),
        "latency_us": scale_us * (0.6 - 5.0 * np.log10(1.0 - quantile + 1e-9) ** 1 * (0.5 + quantile)),
        "quantile": quantile,
        "count": np.asarray(quantile * count, dtype=np.uint64),
    }


def _wear(rng: np.random.Generator) -> dict[str, Any]:
    rows = DIES * BLOCKS_PER_DIE
    die = np.repeat(np.arange(DIES, dtype=np.uint64), BLOCKS_PER_DIE)
    return {
        "core": np.zeros(rows, dtype=np.uint64),
        "die": die,
        "channel": die // 2,
        "plane": np.tile(np.arange(BLOCKS_PER_DIE, dtype=np.uint64) // 32, DIES),
        "block": np.tile(np.arange(BLOCKS_PER_DIE, dtype=np.uint64) % 32, DIES),
        "cycles": np.asarray(rng.poisson(14, rows), dtype=np.uint64),
        "bad": np.asarray(rng.random(rows) < 0.01, dtype=np.uint64),
    }


def _reliability() -> dict[str, Any]:
    """Figures on errors of a drive without any."""
    health = ("by_reads", "by_age", "by_expected_errors", "by_rereads", "by_patrol")
    reasons = ("superblocks", "again", *health, "by_exposed", "by_code", "by_dies", "by_evacuation")
    return {
        "uber_exact": None,
        "exact": None,
        "uncorrectable_reads": 0,
        "rereads_per_read": 0.0,
        "corrected_by": {"ecc": 650_000, "reread": 0, "block": 0, "stripe": 0},
        "medium_errors": 0,
        "stripe_recovery": {"attempts": 0, "failures": 0},
        "scrub_pages": 0,
        "scrubbed": dict.fromkeys(reasons, 0),
        "data_loss_bytes": 0,
        "lost_bytes": 0,
        "program_failures": 0,
        "erase_failures": 0,
        "faults": 0,
        "rber": None,
        "twin": None,
    }


def sample_summary(name: str = "sample", *, partial: bool = False) -> dict[str, Any]:
    """The summary of the made-up result."""
    reads, writes = 420_000, 180_000
    return {
        "schema": "outlast-result/1",
        "version": "0.1.0",
        "name": name,
        "seed": 7,
        "partial": partial,
        "notes": ["times of the trace were taken as microseconds"],
        "host": {
            "reads": reads,
            "writes": writes,
            "trims": 0,
            "flushes": 0,
            "bytes_read": reads * UNIT_BYTES,
            "bytes_written": writes * UNIT_BYTES,
            "bytes_trimmed": 0,
            "errors": 0,
            "unmapped_reads": 12,
        },
        "time": {
            "simulated_s": 10.0,
            "warm_up_s": 1.0,
            "wall_s": 0.61,
            "cpu_s": 0.58,
            "precondition_cpu_s": 1.9,
            "precondition_wall_s": 2.0,
        },
        "throughput": {
            "iops": 60_000.0,
            "read_iops": 42_000.0,
            "write_iops": 18_000.0,
            "read_mib_s": 164.06,
            "write_mib_s": 70.31,
            "requests_per_cpu_s": 1_034_000.0,
        },
        "latency_us": {
            "read": _latency(reads, 90.0),
            "write": _latency(writes, 24.0),
            "trim": None,
            "flush": None,
            "by_stream": [{"stream": 0, "read": _latency(reads, 90.0), "write": _latency(writes, 24.0)}],
        },
        "write_amplification": {
            **dict.fromkeys(AMPLIFICATION, 0.0),
            "total": 2.35,
            "gc": 1.3,
            "padding": 0.03,
            "wear_leveling": 0.02,
        },
        "flash": {
            "reads": 654_000,
            "programs": 423_000,
            "erases": 1_640,
            "multi_plane_programs": 180_000,
            "suspends": 950,
            "by_cause": {
                **dict.fromkeys(READS, 0),
                **{f"{cause.name}_programs": 0.0 for cause in PROGRAMS},
                **{f"{group}_programs": 0.0 for group in SHARED},
                "host_reads": 420_000,
                "gc_reads": 230_000,
                "wear_leveling_reads": 4_000,
                "host_programs": 180_000,
                "gc_programs": 234_000,
                "padding_programs": 5_400,
                "wear_leveling_programs": 3_600,
            },
        },
        "after_host": None,
        "gc": {"victims": 1_630, "mean_valid": 0.565, "blocked_s": 0.02},
        "reliability": _reliability(),
        "protection": None,
        "wear": {"mean_pe": 14.0, "max_pe": 27, "min_pe": 4, "bad_blocks": 9, "spare_blocks_left": 23},
        "queue": {
            "mean_in_flight": 31.2,
            "max_in_flight": 32,
            "littles_law": {"l": 31.2, "lambda_w": 31.19, "relative_error": 0.0003},
            "channel_utilisation": [0.61, 0.6, 0.62, 0.59, 0.61, 0.6, 0.6, 0.61],
            "die_utilisation": {"mean": 0.83, "min": 0.79, "max": 0.88},
            "utilisation_by_die": [0.79, 0.88] + [0.83] * 14,
            "host_queue_depth": 32,
        },
        "steady_state": {
            "precondition": {
                "reached": True,
                "drive_writes": 3.4,
                "write_amplification": 2.36,
                "rounds": 24,
            },
            "measured": {"reached": not partial, "why": "the write amplification moved by 0.8 % over the run"},
        },
        "closed_form": {
            "greedy_waf": 2.41,
            "spare_factor": 0.125,
            "note": "uniform random writes of one unit under greedy collection",
        },
        "device": {
            "model": "Sample 4G",
            "capacity_bytes": 4 * 2**30,
            "raw_bytes": 4_831_838_208,
            "mapping_unit": UNIT_BYTES,
            "units": 2**20,
            "superblocks": 64,
            "units_per_superblock": 18_432,
            "spare_factor": 0.125,
            "effective_spare_factor": 0.12,
        },
        "memory": {"mapping_bytes_per_unit": 9.1, "peak_rss_mib": 74.0},
        "scenario": {
            "name": name,
            "seed": 7,
            "device": {"model": "Sample 4G", "ftl": {"gc": {"victim": "greedy"}}},
            "workload": {"synthetic": {"pattern": "uniform", "read_percent": 70.0, "queue_depth": 32}},
        },
    }


def sample_result(name: str = "sample", *, seed: int = 1, partial: bool = False, windows: int = 100) -> Result:
    """A made-up result of 70 % reads over 10 s on a small drive."""
    rng = np.random.default_rng(seed)
    read, write = _distribution("read", 420_000, 90.0), _distribution("write", 180_000, 24.0)
    latency = {
        key: read[key] + write[key] if isinstance(read[key], list) else np.concatenate([read[key], write[key]])
        for key in read
    }
    rounds = np.arange(1, 25)
    tables = {
        "timeseries": _timeseries(rng, windows),
        "latency": latency,
        "wear": _wear(rng),
        "precondition": {
            "round": rounds.astype(np.uint64),
            "drive_writes": 1.0 + 0.1 * rounds,
            "write_amplification": 2.36 - 1.4 * np.exp(-rounds / 4.0) + 0.004 * rng.standard_normal(24),
        },
    }
    scenario_toml = f'name = "{name}"\nseed = 7\n\n[workload.synthetic]\npattern = "uniform"\n'
    return Result(sample_summary(name, partial=partial), tables, scenario_toml)


def with_errors(result: Result, *, seed: int = 1) -> Result:
    """The made-up result as if its flash had erred, with exact tails beyond what floats hold."""
    rng = np.random.default_rng(seed)
    summary = dict(result.summary)
    tables: dict[str, dict[str, Any]] = {name: dict(columns) for name, columns in result.tables.items()}
    ecc = {"data_bits": 4096, "parity_bits": 0, "strength": 40}
    device = summary["scenario"]["device"] | {"reliability": {"chip": "tlc-72-layer", "ecc": ecc}}
    summary["scenario"] = summary["scenario"] | {"device": device}
    summary["write_amplification"] = summary["write_amplification"] | {"scrub": 0.2, "gc_parity": 0.3, "total": 2.85}
    tails = {"after_ecc": -6.2, "after_rereads": -17.4, "after_stripe": -352.8}
    exact = {name: {"per_unit": 32768 * 10.0**log, "uber": 10.0**log, "log10_uber": log} for name, log in tails.items()}
    summary["reliability"] = _reliability() | {
        "uber_exact": 10.0**-352.8,
        "exact": {"units_read": 420_000, **exact},
        "uncorrectable_reads": 3,
        "rereads_per_read": 0.08,
        "corrected_by": {"ecc": 600_000, "reread": 49_000, "block": 0, "stripe": 1_000},
        "medium_errors": 3,
        "scrubbed": _reliability()["scrubbed"] | {"superblocks": 41, "again": 2, "by_age": 41},
        "lost_bytes": 8192,
        "faults": 1,
        "rber": {"mean": 7e-3, "p50": 6.9e-3, "p99": 9e-3, "max": 1e-2, "fresh_errors": 20.0, "saturated_reads": 5},
        "twin": {
            "read_us": _latency(420_000, 80.0),
            "write_us": _latency(180_000, 24.0),
            "write_amplification": 2.2,
            "read_mean_ratio": 1.125,
            "read_p99_9_ratio": 1.125,
            "write_mean_ratio": 1.0,
            "mean_ratio": 1.1,
        },
    }
    series = tables["timeseries"]
    windows = len(series["start_s"])
    series["rereads"] = np.asarray(series["reads"] * 0.08, dtype=np.uint64)
    series["stripe_reads"] = np.asarray(rng.poisson(3, windows), dtype=np.uint64)
    series["scrub_units"] = series["host_parity_units"] = series["parity_units"] = np.asarray(
        series["writes"] * 0.2, dtype=np.uint64
    )
    for level, rate in (("mean", 7e-3), ("p50", 6.9e-3), ("p99", 9e-3), ("max", 1e-2)):
        series[f"rber_{level}"] = rate * (1.0 + 0.001 * np.arange(windows))
    bits = np.arange(60, dtype=np.uint64)
    tables["errors"] = {"wrong_bits": bits, "codewords": np.asarray(3e5 * np.exp(-((bits - 28.0) ** 2) / 60)).round()}
    moved = 9_000
    tables["decisions"] = {
        "at_s": np.sort(rng.uniform(0, 10, moved)),
        "core": np.zeros(moved, dtype=np.uint64),
        "superblock": np.asarray(rng.integers(0, 64, moved), dtype=np.uint64),
        "reason": ["age" if index % 200 == 0 else "space" for index in range(moved)],
        "valid_units": np.asarray(rng.integers(0, 18_432, moved), dtype=np.uint64),
        "rereads": np.asarray(rng.poisson(40, moved), dtype=np.uint64),
        "expected_errors": rng.normal(28, 3, moved),
        "protected": np.ones(moved, dtype=np.uint64),
        "will_be_protected": np.ones(moved, dtype=np.uint64),
    }
    return Result(summary, tables, result.scenario_toml)


def with_array(result: Result) -> Result:
    """The made-up result as if of a RAID-5 of three drives, one of which failed and was rebuilt."""
    summary = dict(result.summary)
    member = {
        "present": True,
        "in_sync": True,
        "mean_pe": 320.0,
        "max_pe": 330,
        "percentage_used": 10,
        "parity_percent": 100 / 3,
        "bytes_written": 2**30,
        "programs": 70_000,
        "write_amplification": 4.2,
        "rber": 1.9e-3,
        "log10_uber": -27.0,
        "read_errors": 0,
        "bad_sectors": 0,
    }
    summary["array"] = {
        "level": "raid5",
        "members": 3,
        "spares_left": 0,
        "chunk_bytes": 65_536,
        "state": "clean",
        "read_only": False,
        "time_s": {"clean": 6.0, "degraded": 4.0, "failed": 0.0},
        "degraded_s": 4.0,
        "rebuild": {
            "member": 1,
            "started_s": 3.0,
            "finished_s": 7.0,
            "bytes_read": 2 * 2**30,
            "bytes_written": 2**30,
            "rate_mib_s": 256.0,
            "done": 1.0,
            "left_s": None,
        },
        "rebuilds": 1,
        "power_cuts": 0,
        "write_hole_repairs": 0,
        "write_holes": 0,
        "mismatches": 0,
        "scrubs": 0,
        "ejected": 0,
        "read_errors": 0,
        "sectors_repaired": 0,
        "degraded_reads": 5_000,
        "lost_bytes": 0,
        "bad_sectors": 0,
        "writes": {"full": 200, "delta": 700, "complete": 100, "decoded": 0, "full_stripe_share": 0.2},
        "member_commands": {"reads": 600_000, "writes": 400_000, "log_writes": 0},
        "age_differential": 1.5,
        "stripes_to_move": 0,
        "wear": [{"device": device} | member for device in range(3)],
        "data_loss": {
            "per_year": 1.2e-9,
            "mttdl_hours": 7.3e12,
            "repair_hours": 0.6,
            "repair_measured": True,
            "repair_limit": None,
            "read_failure": 2.8e-17,
            "read_failure_measured": True,
        },
        "data_loss_after_failures": {"failures": 1, "oldest": 2.6e-17, "any": 2.8e-17},
        "latency_us_by_state": {
            "healthy": {"read": _latency(5_000, 90.0), "write": _latency(2_000, 24.0)},
            "degraded": {"read": None, "write": None},
            "rebuilding": {"read": _latency(1_000, 190.0), "write": _latency(500, 60.0)},
            "resyncing": {"read": None, "write": None},
            "failed": {"read": None, "write": None},
        },
        "status": "raid5 [3/3] [UUU]",
    }
    summary["write_amplification"] = summary["write_amplification"] | {"array": 1.0, "total": 3.35}
    tables: dict[str, dict[str, Any]] = {name: dict(columns) for name, columns in result.tables.items()}
    tables["array_events"] = {
        "at_s": np.asarray([3.0, 3.0, 7.0]),
        "event": ["member failed", "rebuild started", "rebuilt"],
        "member": np.asarray([1.0, 1.0, 1.0]),
        "detail": ["", "", ""],
    }
    tables["array_states"] = {
        "start_s": np.asarray([0.0, 3.0, 7.0]),
        "end_s": np.asarray([3.0, 7.0, 10.0]),
        "state": ["clean", "degraded", "clean"],
    }
    tables["array_lost"] = {"first_sector": np.zeros(0, dtype=np.uint64), "sectors": np.zeros(0, dtype=np.uint64)}
    wear = tables["wear"]
    wear["device"] = np.asarray(wear["die"] % 3, dtype=np.uint64)
    return Result(summary, tables, result.scenario_toml)


def with_classes(result: Result) -> Result:
    """The made-up result as if its drive had two classes of data, one of which was given another code."""
    summary = dict(result.summary)
    parity = {"host_parity": 0.2, "gc_parity": 0.1, "parity": 0.3, "partial_parity": 0.05, "reencode": 0.4}
    total = summary["write_amplification"]["total"] + 0.75
    summary["write_amplification"] = summary["write_amplification"] | parity | {"total": total}
    classes = [
        {"class": 0, "k": 8, "m": 0, "block": None, "pages": 4_000, "unprotected_page_seconds": 0.0},
        {"class": 1, "k": 6, "m": 2, "block": 31, "pages": 9_000, "unprotected_page_seconds": 12.5},
    ]
    changes = [
        {"at_s": 1.0, "what": "class 1 gets (6, 2)", "refused": None},
        {"at_s": 2.0, "what": "class 0 gets (90, 9)", "refused": "a stripe has <too> many members"},
    ]
    summary["protection"] = {
        "by_class": classes,
        "partial_parity_moved_pages": 3.0,
        "superblocks": 60,
        "outdated_superblocks": 7,
        "changes": changes,
    }
    return Result(summary, result.tables, result.scenario_toml)
