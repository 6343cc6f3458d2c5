"""Running a sweep."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from contextlib import nullcontext
from pathlib import Path
from typing import Any

from outlast import api, memory, points
from outlast.errors import OutputError, ScenarioError
from outlast.notebook import bar
from outlast.output import check_folder, check_writable
from outlast.plain_values import jobs_of, place_of
from outlast.points.workers import Workers, local
from outlast.policies.portable import Code
from outlast.sweeps import figures
from outlast.sweeps.keys import SEARCH
from outlast.sweeps.plan import make
from outlast.sweeps.reading import SpecLike, read
from outlast.sweeps.result import CODE, FILES, Sweep, write


def sweep(
    spec: SpecLike,
    out: str | Path | None = None,
    *,
    overrides: api.Overrides | None = None,
    jobs: int | None = None,
    on: str | None = None,
    slurm: Mapping[str, Any] | None = None,
    progress: Callable[[int, int], None] | bool | None = None,
) -> Sweep:
    """Runs a sweep: a sweep file's path, or what one says as nested dictionaries.

    There values of `policies.gc` and the like may be functions and classes, too; those of the program itself or a
    notebook are pickled into the folder, which needs cloudpickle.

    Every run is kept in `out` (by default `out/` and the sweep's name) as it ends, and not made again: the same
    call goes on after a stop, and a sweep that has become larger only runs what is new. `jobs` runs at a time, one
    for each core by default; or `on` a Dask cluster (`tcp://…`) or in a queue (`slurm`, with `slurm` as options of
    `dask_jobqueue.SLURMCluster` and `jobs`, how many to submit). The outcome is the same, to the byte. `progress`
    is told how many runs of how many are done; `True` shows a bar.

    Runs that fail are tried again as often as the sweep's `retries`, then listed in the result's `failed`.
    """
    code = None
    if isinstance(spec, Mapping):
        # Code at hand is in files before runs are planned, whose keys have its bytes.
        code = Code((place_of(out) if out is not None else Path("out") / str(spec.get("name", "sweep"))) / CODE)
        spec = code.portable(spec)
    specification = read(spec)
    where = _where(on, jobs, slurm)
    folder = place_of(out) if out is not None else Path("out") / specification.name
    _check(folder)
    settings = api.override_list(overrides)
    if specification.method == SEARCH:
        from outlast.sweeps.search import search

        with code.written() if code else nullcontext(), bar.of_sweep(progress) as tell:
            plan, outcome = search(specification, settings, folder, where, tell)
    else:
        with memory.without_collector(), code.written() if code else nullcontext():
            plan = make(specification, settings)
        jobs_of_plan = [run.job for run in plan.runs]
        with bar.of_sweep(progress) as tell:
            retries = specification.retries
            kept = folder / "points"
            keep = figures.of_run
            outcome = points.run_all(jobs_of_plan, kept, where, retries=retries, progress=tell, keep=keep)
    with memory.without_collector():
        done = Sweep.of(plan, outcome)
        write(done, folder)
    return done


def _where(on: str | None, jobs: int | None, slurm: Mapping[str, Any] | None) -> Callable[[int], Workers]:
    if slurm and on != "slurm":
        raise ScenarioError(f"slurm = {dict(slurm)}: belongs to on = slurm")
    if on is None:
        count = jobs_of(jobs)
        return lambda missing: local(min(count, missing))
    if jobs is not None:
        raise ScenarioError(f"jobs = {jobs}: applies to runs on this machine; on = {on} has its own workers")
    if on != "slurm" and "://" not in on:
        raise ScenarioError(f"on = {on}: must be the address of a Dask scheduler, such as tcp://host:8786, or slurm")
    from outlast.points.cluster import connect

    return lambda _: connect(on, slurm or {})


def _check(folder: Path) -> None:
    """A folder that holds something else is not written into."""
    check_folder(folder)
    try:
        names = sorted(path.name for path in folder.iterdir()) if folder.is_dir() else []
    except OSError as error:
        raise OutputError(f"{folder}: cannot be read: {error.strerror}") from error
    others = [name for name in names if name not in (*FILES, CODE) and not name.startswith(".")]
    if others:
        raise OutputError(f"{folder}: contains {others[0]}, which is not part of a sweep; name another folder")
    check_writable(folder / "sweep.json")
