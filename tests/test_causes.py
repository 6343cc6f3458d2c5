"""Is there one list of causes, and does everything that shows causes follow it?"""

from __future__ import annotations

import importlib.util
from pathlib import Path
from types import ModuleType

import pytest

import outlast
from outlast import _core, causes
from outlast.report.figure import CAUSES, amplification_by_cause
from outlast.sweeps import figures
from sample import sample_result

ROOT = Path(__file__).parent.parent


@pytest.fixture(scope="module")
def generator() -> ModuleType:
    spec = importlib.util.spec_from_file_location("make_figures", ROOT / "docs" / "make_figures.py")
    assert spec
    assert spec.loader
    module = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(module)
    return module


def test_the_reference_and_the_figures_of_sweeps_follow_the_list(generator: ModuleType) -> None:
    # `make figures` writes both.
    text = generator.METRICS.read_text(encoding="utf-8")
    assert generator.metrics(text) == text
    assert generator.figures(text) == generator.FIGURES.read_text(encoding="utf-8")


def test_every_cause_is_wherever_causes_are() -> None:
    series = sample_result().tables["timeseries"]
    columns = {name for name, _, _ in _core.time_series_columns()}
    assert set(series) == columns
    for cause in causes.PROGRAMS:
        assert f"{cause.name}_units" in columns
        assert figures.is_figure(f"flash.by_cause.{cause.name}_programs")
        assert figures.is_figure(f"write_amplification.{cause.name}") == (cause.name != "host")
        assert (cause.name in causes.AMPLIFICATION) == (cause.name != "host")
        assert CAUSES[cause.group][0] == cause.label
        # One byte of it is shown as one byte of its group.
        parts = amplification_by_cause({cause.name: 1.0})
        assert parts == dict.fromkeys(parts, 0.0) | {"host": 1.0, cause.group: 1.0}
    for name in causes.READS:
        assert name in columns
        assert figures.is_figure(f"flash.by_cause.{name}")


def test_a_run_without_writes_has_every_key(tiny: Path) -> None:
    changes = {"workload.synthetic.read_percent": 100, "workload.synthetic.duration": "5ms", "run.warm_up": "0s"}
    result = outlast.run(tiny, changes)
    assert result.host.writes == 0
    told = {name for name in figures.units() if name.startswith("write_amplification.")}
    # Of several flash cores only, where writes coalesce, and of zones.
    told -= {f"write_amplification.{name}" for name in ("by_core", "coalesced", "finish", "random_write")}
    assert {f"write_amplification.{key}" for key in result.summary["write_amplification"]} == told
    assert set(result.summary["write_amplification"].values()) == {None}
    assert result.write_amplification.parity is None
    assert result.after_host is None


def test_a_rebuild_that_outlives_the_workload_is_apart(outlived_result: Path) -> None:
    result = outlast.load(outlived_result)
    alone = outlast.run("array-raid5-5", {"workload.synthetic.duration": "1s"})
    queue, after = result.queue, result.after_host
    assert 0 < queue.die_utilisation.max <= 1
    assert max(queue.channel_utilisation) <= 1
    assert result.flash.programs == sum(result.tables["timeseries"]["flash_programs"])
    assert alone.summary["scenario"]["device"]["geometry"]["page_size"] == "16KiB"
    rebuilt = result.summary["array"]["rebuild"]["bytes_written"]
    # The workload's own part has what was rebuilt beside it, and nothing of the rest. Collection is held up, if at all.
    beside = (rebuilt - after.bytes_written) / result.host.bytes_written
    amplified = result.write_amplification
    assert alone.write_amplification.array == 1
    assert amplified.array == pytest.approx(1 + beside, rel=0.01)
    assert amplified.total == pytest.approx(1 + amplified.array + amplified.gc)
    assert amplified.gc <= alone.write_amplification.gc
    assert after.seconds > 1
    assert after.bytes_written > 0.9 * rebuilt
    assert after.flash.programs * 16 * 2**10 >= after.bytes_written - 2**21
