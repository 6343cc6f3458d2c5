"""A plan file: drives, layouts, what is written, and for how many years."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import asdict, dataclass, field
from pathlib import Path
from typing import Any, TypeAlias

from outlast import foreign
from outlast.plain_values import path_of, plain
from outlast.planning.fields import FieldReader, PlanError
from outlast.printable import printable
from outlast.why.quantity import bytes_of, nanos

PlanLike: TypeAlias = str | Path | Mapping[str, Any]
"""The path of a plan file, or what one says as nested dictionaries."""

REDUNDANCY = {"raid1": None, "raid10": None, "raid4": 1, "raid5": 1, "raid6": 2}
"""Levels that a plan compares, with their parities; mirrors have copies. RAID-0 has no rebuild."""
MTTF_HOURS = 1.5e6
"""Mean time to failure of a drive in hours, where the plan says none: the default of `run.member_mttf_hours`."""
UBER = 1e-16
"""Unreadable bits for each bit read, where the plan says none: as for arrays whose flash has no error model."""
MOST_DRIVES = 64
MOST_TBW = 1e20
"""Bytes that a data sheet allows at the most: ten thousand times the largest capacity."""
LEAST_WRITES = 10
"""Writes of the host in the simulated time: with fewer there is nothing to measure."""


@dataclass(frozen=True)
class DriveOffer:
    """Drives as they are sold, all alike."""

    preset: str
    """Preset or scenario file whose drive they behave like."""
    count: int
    capacity: float
    """Bytes of each."""
    price: float | None = None
    """Price of one, in `currency`."""
    currency: str = "USD"
    tbw: float | None = None
    """Bytes that the data sheet allows the host to write to one."""
    dwpd: float | None = None
    """The same in capacities a day, over the warranty."""
    warranty_years: float = 5.0
    mttf_hours: float = MTTF_HOURS
    uber: float = UBER
    watts: float | None = None
    """Mean power of one under this load, from its data sheet or from a measurement."""

    @property
    def rated_bytes(self) -> float | None:
        """Bytes that the data sheet allows, whichever way it says so."""
        if self.tbw is not None:
            return self.tbw
        return None if self.dwpd is None else self.dwpd * self.capacity * 365.0 * self.warranty_years


@dataclass(frozen=True)
class LayoutChoice:
    """A layout that the plan compares."""

    name: str
    level: str
    spares: int
    settings: Mapping[str, Any] = field(default_factory=dict)
    """Other settings of `[array]`, such as `chunk`, `copies` or `background.max_rate`."""

    @property
    def copies(self) -> int | None:
        """Copies of mirrors; `None` of layouts with parity."""
        return None if REDUNDANCY[self.level] is not None else int(self.settings.get("copies", 2))


@dataclass(frozen=True)
class PlannedLoad:
    """Work of the array."""

    written_per_day: float | None
    """Bytes that the host writes a day; `None` where `scenario` says what runs."""
    scenario: str | None
    """Scenario whose workload runs, at its own rate."""
    read_percent: float = 70.0
    size: int = 4096
    pattern: str = "uniform"
    active_hours: float = 24.0
    """Hours of a day in which all that happens."""


@dataclass(frozen=True)
class PlanSpec:
    """A whole plan."""

    name: str
    years: float
    drives: DriveOffer
    layouts: tuple[LayoutChoice, ...]
    load: PlannedLoad
    simulated_s: float = 10.0
    """Seconds that each layout is simulated, healthy and again beside a rebuild."""
    energy_price: float | None = None
    """Price of a kWh, in the currency of the drives."""
    folder: Path = Path()

    def to_dict(self) -> dict[str, Any]:
        """The plan with every default, as JSON has it."""
        found = asdict(self)
        del found["folder"]
        return found | {"layouts": [asdict(each) | {"settings": dict(each.settings)} for each in self.layouts]}


def read(spec: PlanLike) -> PlanSpec:
    """Reads a plan file, or takes what one would say."""
    if isinstance(spec, Mapping):
        return _PlanReader("plan", Path.cwd(), "plan").spec(plain(spec))
    path = path_of(spec, "a plan is a path or a table", PlanError)
    try:
        content = foreign.read(path, foreign.toml_of)
    except OSError as error:
        raise PlanError(f"{path}: cannot be read: {error.strerror}") from error
    except ValueError as error:
        raise PlanError(f"{path}: not valid TOML: {error}") from error
    return _PlanReader(str(path), path.resolve().parent, path.stem).spec(content)


class _PlanReader(FieldReader):
    """Turns tables into a `PlanSpec`, refusing what cannot be."""

    def __init__(self, source: str, folder: Path, stem: str) -> None:
        super().__init__(source)
        self._folder, self._stem = folder, stem

    def spec(self, content: Mapping[str, Any]) -> PlanSpec:
        known = ("name", "years", "simulated", "energy_price", "drives", "layout", "workload")
        self._known(content, known, "")
        drives = self._drives(self._table(content, "drives"))
        if "energy_price" in content and drives.watts is None:
            raise self._refusal("energy_price", content["energy_price"], "has no effect without drives.watts")
        rows = content.get("layout", [{"level": level} for level in ("raid5", "raid6", "raid10")])
        if not isinstance(rows, list) or not rows or not all(isinstance(row, Mapping) for row in rows):
            raise self._refusal("layout", rows, "must be one or more tables, each headed [[layout]]")
        layouts = tuple(self._layout(f"layout[{index}].", row, drives) for index, row in enumerate(rows))
        names = [layout.name for layout in layouts]
        if twice := next((name for name in names if names.count(name) > 1), None):
            raise self._refusal("layout name", twice, "must be unique; give each [[layout]] a name of its own")
        load = self._load(self._table(content, "workload"))
        simulated_s = self._quantity(content, "", "simulated", nanos, 10e9, least=1e8, most=3.6e12) / 1e9
        if load.written_per_day is not None:
            writes = load.written_per_day / (load.active_hours * 3600.0) / load.size * simulated_s
            if writes < LEAST_WRITES:
                said = self._table(content, "workload")["written_per_day"]
                limit = f"is {writes:.2g} writes within the {simulated_s:g} s that are simulated, and must be at least "
                raise self._refusal(
                    "workload.written_per_day", said, f"{limit}{LEAST_WRITES}; set a longer `simulated`"
                )
        return PlanSpec(
            name=self._text(content, "", "name", self._stem),
            years=self._number(content, "", "years", 5.0),
            drives=drives,
            layouts=layouts,
            load=load,
            simulated_s=simulated_s,
            energy_price=self._optional(content, "", "energy_price"),
            folder=self._folder,
        )

    def _drives(self, table: Mapping[str, Any]) -> DriveOffer:
        place = "drives."
        self._known(table, tuple(DriveOffer.__dataclass_fields__), place)
        if "tbw" in table and "dwpd" in table:
            raise self._refusal(f"{place}dwpd", table["dwpd"], "cannot stand beside tbw: give one of the two")
        for name, needs in (("warranty_years", "dwpd"), ("currency", "price")):
            if name in table and needs not in table:
                raise self._refusal(place + name, table[name], f"has no effect without drives.{needs}")
        preset = self._text(table, place, "preset", None)
        capacity = self._quantity(table, place, "capacity", bytes_of, None, least=1e9, most=1e16)
        # Drives that may be written less than once are none: a number without its unit.
        tbw = (
            self._quantity(table, place, "tbw", bytes_of, None, least=capacity, most=MOST_TBW)
            if "tbw" in table
            else None
        )
        return DriveOffer(
            preset=preset,
            count=self._whole(table, place, "count", None, 2, MOST_DRIVES),
            capacity=capacity,
            price=self._optional(table, place, "price"),
            currency=self._text(table, place, "currency", "USD"),
            tbw=tbw,
            dwpd=self._optional(table, place, "dwpd"),
            warranty_years=self._number(table, place, "warranty_years", 5.0),
            mttf_hours=self._number(table, place, "mttf_hours", MTTF_HOURS),
            uber=self._number(table, place, "uber", UBER),
            watts=self._optional(table, place, "watts"),
        )

    def _layout(self, place: str, table: Mapping[str, Any], drives: DriveOffer) -> LayoutChoice:
        level = self._text(table, place, "level", None)
        if level not in REDUNDANCY:
            raise self._refusal(f"{place}level", level, f"must be one of {', '.join(REDUNDANCY)}")
        settings = {key: value for key, value in table.items() if key not in ("name", "level", "spares")}
        for key, value in settings.items():
            self._check_wholes(place + printable(str(key), keep=""), value)
        if "members" in settings:
            raise self._refusal(
                f"{place}members", settings["members"], "cannot be set: it is drives.count minus the spares"
            )
        spares = self._whole(table, place, "spares", 0, 0, drives.count - 2)
        if "copies" in settings:
            if level != "raid10":
                raise self._refusal(f"{place}copies", settings["copies"], f"has no effect on {level}, only on raid10")
            self._whole(settings, place, "copies", None, 2, drives.count - spares)
        parities = REDUNDANCY[level]
        least = 2 if parities is None else parities + 2
        if drives.count - spares < least:
            raise self._refusal("drives.count", drives.count, f"{level} needs {least} beside {spares} spares")
        name = self._text(table, place, "name", level.upper().replace("RAID", "RAID-"))
        return LayoutChoice(name, level, spares, settings)

    def _load(self, table: Mapping[str, Any]) -> PlannedLoad:
        place = "workload."
        self._known(table, tuple(PlannedLoad.__dataclass_fields__), place)
        scenario = self._text(table, place, "scenario", None) if "scenario" in table else None
        if scenario is None and "written_per_day" not in table:
            raise self._refusal("workload", None, "needs written_per_day, or the scenario whose workload runs")
        clash = [
            key
            for key in ("written_per_day", "read_percent", "size", "pattern")
            if key in table and scenario is not None
        ]
        if clash:
            raise self._refusal(
                place + clash[0], table[clash[0]], "cannot stand beside workload.scenario, which has its own"
            )
        read_percent = self._number(table, place, "read_percent", 70.0)
        if read_percent >= 100.0:
            raise self._refusal(f"{place}read_percent", 100, "must be below 100: the load is a rate of writes")
        written = None
        if scenario is None:
            written = self._quantity(table, place, "written_per_day", bytes_of, None, least=1e3, most=1e18)
        return PlannedLoad(
            written_per_day=written,
            scenario=scenario,
            read_percent=read_percent,
            size=int(self._quantity(table, place, "size", bytes_of, 4096, least=512, most=2**30, whole=True)),
            pattern=self._text(table, place, "pattern", "uniform"),
            active_hours=self._number(table, place, "active_hours", 24.0),
        )
