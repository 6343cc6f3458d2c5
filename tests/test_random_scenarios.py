"""Do random scenarios keep the laws of conservation, and runs that must agree do so?

`make random-scenarios COUNT=5000` looks at more of them. The seeds follow from --hypothesis-seed, or are new each time.
"""

from __future__ import annotations

import random
from pathlib import Path
from typing import Any

import pytest

from conftest import Outlast, files_below
from random_scenarios import chance, differential, generate, laws, monotone, run, shrink, untimed
from random_scenarios.__main__ import EVERY, Verdict, judge, look_at
from random_scenarios.draw import Settings, at, merged
from random_scenarios.run import Broken, Ran, Refused

SCENARIOS = 60
"""Scenarios of a run of the tests: some ten seconds of processor time, comparisons included."""
FILES = 10


@pytest.fixture(scope="module")
def first_seed(request: pytest.FixtureRequest) -> int:
    """The first of the seeds: a multiple of a hundred, so that every comparison has its turn."""
    given = request.config.getoption("--hypothesis-seed", default=None)
    number = int(given) if given not in (None, "random") else random.SystemRandom().randrange(1 << 30)
    return number // 100 * 100


@pytest.fixture(scope="module")
def verdicts(first_seed: int) -> list[Verdict]:
    """Outcomes of the scenarios, each run once for all tests."""
    return [judge(seed) for seed in range(first_seed, first_seed + SCENARIOS)]


@pytest.mark.parametrize("seed", [60225, 60387, 61243])
def test_a_host_goes_on_when_a_flush_of_the_map_that_had_the_next_superblock_no_longer_wants_it(seed: int) -> None:
    """The flush had nothing left to write, and nobody asked the host again."""
    assert judge(seed).violations == []


def test_the_account_of_a_command_is_kept_until_a_host_that_stops_between_two_completions_asks_for_it() -> None:
    """An array told of an account too many, where a leg ended with completions in hand."""
    assert judge(61040).violations == []


@pytest.mark.parametrize("seed", [60696, 63449, 64644])
def test_pages_in_buffers_have_the_parity_of_a_code_that_came_later(seed: int) -> None:
    """The law took the mean share of parity of the whole run."""
    assert judge(seed).violations == []


def test_a_replacement_that_the_factory_made_unusable_is_told_and_not_a_crash() -> None:
    """The replacement has more bad blocks than spare ones by chance; other drives of the same settings are usable."""
    assert judge(63398).violations == []


def test_a_drive_without_a_victim_whose_data_finds_a_place_is_read_only() -> None:
    """Codes of several lengths: none was chosen, and the host waited for ever."""
    assert judge(63507).violations == []


def test_flash_worn_beyond_its_ecc_is_read_once_for_each_recovery_by_two_codes() -> None:
    """Recoveries within recoveries read the same pages again and again: 4.3 million operations, all in vain."""
    assert judge(3_000_556).violations == []


def test_random_scenarios_are_refused_in_one_line_or_keep_every_law(first_seed: int, verdicts: list[Verdict]) -> None:
    kinds = [verdict.kind for verdict in verdicts]
    assert [(verdict.seed, own) for verdict in verdicts for own in verdict.violations] == []
    assert kinds.count("ran") > SCENARIOS // 2, "most scenarios run"
    compared = {name for verdict in verdicts for name in verdict.compared}
    # The few whose turn it is may all be refused, as one in four is; twelve more are not.
    turns = iter(range(first_seed + 100, first_seed + 100 + 12 * EVERY["agree"], EVERY["agree"]))
    while "agree" not in compared:
        verdict = judge(next(turns))
        assert verdict.violations == []
        compared |= {*verdict.compared}


def test_the_program_refuses_what_cannot_run_with_exit_code_two_and_leaves_nothing(
    verdicts: list[Verdict], outlast: Outlast, tmp_path: Path
) -> None:
    refused = [generate.case(verdict.seed) for verdict in verdicts if verdict.kind == Refused.__name__.lower()]
    assert refused, "some scenarios are refused"
    for own in refused[:FILES]:
        place = own.write(tmp_path / str(own.seed))
        before = files_below(tmp_path)
        done = outlast("run", place, "--out", "out", "--quiet", check=False)
        assert (done.returncode, done.stdout) == (2, ""), own.seed
        assert done.stderr.count("\n") == 1 and not list(laws.refusal(done.stderr)), done.stderr
        assert files_below(tmp_path) == before, own.seed


def test_a_seed_gives_the_same_scenario_each_time() -> None:
    assert [generate.case(seed) for seed in range(50)] == [generate.case(seed) for seed in range(50)]


def test_random_scenarios_set_what_the_laws_are_about() -> None:
    cases = [generate.case(seed) for seed in range(1500)]
    for name in (
        *("workload.fio", "workload.trace", "workload.synthetic.phases", "array", "faults", "changes", "device.bytes"),
        *("device.protection.classes", "device.protection.codes", "device.scrub.reprotect", "device.repair.scheme"),
        *("device.ftl.gc.relocation", "device.ftl.gc.start_free", "device.controller.hold_back", "array.spares"),
        *("device.ftl.gc.overlap", "device.mount.checkpoint_every", "device.hazards.per_year.die", "run.ageing"),
    ):
        assert sum(at(own.settings, name) is not None for own in cases) >= 5, name


@pytest.fixture(scope="module")
def sound() -> tuple[generate.Case, Ran]:
    """A scenario and what it found, of which laws are broken by hand."""
    for own in map(generate.case, range(100)):
        plain = own.timed and own.requests and own.get("run.causes") and own.get("run.warm_up", "0s") == "0s"
        if not plain or "array" in own.settings or own.get("device.controller.coalesce"):
            continue
        found = run.outcome(own)
        if isinstance(found, Ran) and found.summary["host"]["writes"] and not laws.broken(own, found):
            return own, found
    raise AssertionError("none of a hundred scenarios has writes, causes and no warm-up")


MIXED = {"handle": 0, "isolation": "persistently-isolated", "valid_bytes": 2, "mixed_bytes": 1}

BREAKS: dict[str, tuple[str, Any]] = {
    "finite": ("throughput.iops", float("nan")),
    "not_negative": ("write_amplification.padding", -5e-17),
    "busy_at_most_always": ("queue.die_utilisation.max", 1.001),
    "reads_by_cause": ("flash.reads", 1e9),
    "programs_by_cause": ("flash.programs", 1e9),
    "amplification_adds_up": ("write_amplification.gc", 77.0),
    "amplification_at_least_one": ("write_amplification.total", 0.5),
    "littles_law": ("queue.littles_law.relative_error", 0.1),
    "causes_sum_to_latency": ("latency_us.write.mean", 1e9),
    "requests_complete": ("host.errors", 1),
    "wear_in_order": ("wear.mean_pe", 1e9),
    "latencies_in_order": ("latency_us.write.p99", 0.0),
    "bounded_work": ("flash.erases", 1e12),
    "erases_by_mode": ("slc_cache", {"cache_erases": 1e9, "native_erases": 0}),
    "handles_add_up": ("placement", {"handles": [MIXED | {"host_bytes": 0, "moved_bytes": 0}]}),
}


@pytest.mark.parametrize("law", BREAKS)
def test_a_result_that_breaks_a_law_is_found(law: str, sound: tuple[generate.Case, Ran]) -> None:
    own, found = sound
    name, value = BREAKS[law]
    changed = merged_at(found.summary, name, value)
    assert any(each.startswith(f"{law}: ") for each in laws.broken(own, Ran(changed))), law


def merged_at(summary: run.Summary, name: str, value: Any) -> run.Summary:
    """The figures with another value at a dotted name."""
    first, _, rest = name.partition(".")
    return summary | {first: merged_at(summary[first], rest, value) if rest else value}


def test_every_law_has_a_result_that_breaks_it() -> None:
    own = {law.__name__ for law in laws.LAWS} - {"no_doubt_in_notes"}
    assert own == set(BREAKS)


def test_refusals_that_name_nothing_or_take_several_lines_are_found() -> None:
    own = generate.case(1)
    assert laws.broken(own, Refused("cannot work")) != []
    assert laws.broken(own, Refused("a = 1: at least 2\nb")) != []
    assert laws.broken(own, Refused("device.ftl.streams = 0: must be between 1 and 16")) == []
    assert laws.broken(own, Broken("its process ended with -9")) == ["crash: its process ended with -9"]


def test_runs_that_disagree_are_found() -> None:
    one = {"host": {"reads": 1}, "time": {"cpu_s": 1.0}, "scenario": {"seed": 1}}
    other = {"host": {"reads": 1}, "time": {"cpu_s": 2.0}, "scenario": {"seed": 2}}
    kept = [differential.without_cost(own) for own in (one, other, {"host": {"reads": 2}})]
    assert differential.differences(kept[0], kept[1]) == []
    assert differential.differences(kept[0], kept[2]) == ["host.reads: 1 or 2"]


def test_a_process_that_dies_is_told_from_one_that_answers() -> None:
    assert run.apart(lambda: 7) == 7
    assert run.apart(lambda: [][0])[0] == "Broken"


def test_what_breaks_is_made_small() -> None:
    """The law broken here needs a trim and a write cache that is off, and nothing else."""
    seed = next(seed for seed in range(500) if breaks(generate.case(seed)))
    small = shrink.shrink(generate.case(seed), breaks)
    assert breaks(small) == ["a trim without a cache: #"]
    assert set(small.settings) <= {"name", "seed", "device", "workload"}
    assert small.get("device.ftl") is None and small.get("workload.synthetic.requests") == 20


def breaks(own: generate.Case) -> list[str]:
    """A fault that needs two settings of different tables."""
    off = own.get("device.controller.write_cache") == "off"
    trims = own.get("workload.synthetic.trim_percent") is not None and own.get("workload.synthetic.requests")
    return ["a trim without a cache: #"] if off and trims else []


def test_comparisons_have_something_to_compare() -> None:
    """A faster drive is compared for a closed loop without faults, other ways to run for any case that runs."""
    cases = map(generate.case, range(100))
    own = next(each for each in cases if monotone.plain(each) and isinstance(run.outcome(each), Ran))
    assert monotone.compared(own) is not None and differential.compared(own) is not None
    assert look_at(own.seed)(own) == laws.broken(own, run.outcome(own))


def test_runs_with_and_without_time_are_compared_where_the_difference_is_not_chance() -> None:
    """One seed in five writes the same amounts; there a tenth more is above chance."""
    compared = {seed: untimed.compared(generate.case(seed)) for seed in range(40, 60)}
    found = [seed for seed, differences in compared.items() if differences is not None]
    assert len(found) >= 4 and all(compared[seed] == [] for seed in found), compared


def test_what_may_be_chance_shrinks_with_the_victims() -> None:
    own = next(each for each in map(generate.case, range(100)) if monotone.plain(each))
    few, many = (chance.tolerance(own, {"gc": {"victims": victims, "mean_valid": 0.5}}) for victims in (400, 40_000))
    fixed = (10 * many - few) / 9
    assert few > many > fixed > chance.AGREE and chance.tolerance(own, NO_CHANCE) == pytest.approx(fixed)


NO_CHANCE = {"gc": {"victims": 1000, "mean_valid": 0.0}}
"""Victims that all are empty."""


@pytest.mark.parametrize("seed", [1000160, 1000698])
def test_a_write_that_waits_for_a_token_and_for_room_is_not_asked_again_without_end(seed: int) -> None:
    """Moved data goes among the host's. The token was there and room was not, and the drive asked again at once."""
    own = generate.case(seed)
    found = run.outcome(own)
    assert isinstance(found, Ran) and laws.broken(own, found) == []


SHAPES: tuple[Settings, ...] = (
    {},
    {"ftl": {"mapping_unit": "4KiB"}},
    {"ftl": {"one_shot": 3}},
    {"ftl": {"multi_plane": True}, "geometry": {"planes_per_die": 4, "blocks_per_plane": 20}},
    {"ftl": {"multi_plane": False}, "geometry": {"planes_per_die": 4, "blocks_per_plane": 20}},
    {"ftl": {"mapping_unit": "4KiB"}, "geometry": {"page_size": "16KiB", "blocks_per_plane": 20}},
)
"""Changes of a drive with mapping units of 32 KiB and pages of 4 KiB, by which its program units differ."""


@pytest.mark.parametrize("shape", SHAPES, ids=str)
def test_what_has_a_cause_and_was_not_programmed_are_the_program_units_that_failed(shape: Settings) -> None:
    """A die fails, and no data waits in the buffer at the end, as every write is on flash before it completes."""
    own = generate.case(30082)
    ftl = {"map_flush": None, "map_cache": None}
    plain = {"controller": {"write_cache": "off"}, "ftl": ftl, "hazards": None, "repair": None}
    settings = merged(merged(own.settings, {"device": plain}), {"device": shape})
    own = generate.Case(own.seed, settings, own.files, own.requests)
    found = run.outcome(own)
    assert isinstance(found, Ran), found
    failed = found.summary["reliability"]["program_failures"]
    assert failed > 0 and laws.unprogrammed(found.summary) == failed * laws.program_unit(own)


def test_program_units_that_failed_hold_whole_mapping_units() -> None:
    """Mapping units of eight pages; most of what a dead die did not take has been superseded in the buffer."""
    own = generate.case(30082)
    found = run.outcome(own)
    assert isinstance(found, Ran) and laws.broken(own, found) == []
