"""A Dask cluster whose workers are jobs of a SLURM queue."""

from __future__ import annotations

import difflib
import inspect
import re
import shlex
import shutil
import subprocess
from collections.abc import Iterable, Iterator, Mapping
from contextlib import contextmanager, suppress
from typing import Any

from outlast import log
from outlast.errors import ScenarioError
from outlast.points.dask_client import needed, told

DEFAULTS: dict[str, Any] = {"cores": 1, "processes": 1, "memory": "2GB", "jobs": 1}
"""One worker of one core for each job of the queue."""
WHOLE = ("jobs", "cores", "processes", "job_cpu")
MOST = 100_000
"""More jobs, cores or processes than any machine has."""
DIGITS = re.compile(r"[0-9]{1,9}", re.ASCII)
LISTS = (
    "worker_extra_args",
    "job_extra_directives",
    "job_script_prologue",
    "job_directives_skip",
    *("extra", "job_extra", "env_extra", "header_skip"),  # their earlier names
)
OBJECTS = ("security", "scheduler_options")
"""Options that only Python can give."""
LEAST_MEMORY = 1024
PROTOCOLS = ("tcp", "tls", "ws", "wss")
NOT_OPTIONS = {
    *("self", "loop", "asynchronous", "job_cls", "scheduler", "scheduler_cls", "n_workers"),
    *("host", "dashboard_address"),  # of scheduler_options
    "silence_logs",
}
"""Parameters of SLURMCluster that are decided here, or that it refuses itself."""


def options_of(given: Iterable[tuple[str, Any]]) -> dict[str, Any]:
    """Options of `SLURMCluster`, and `jobs`, each checked. Values may be text, as the command line has them.

    Text stays text, unless an option is a number, a truth or a list; one that is a list may be given repeatedly.
    """
    known = _known()
    options: dict[str, Any] = {}
    for name, value in given:
        if name not in known:
            near = difflib.get_close_matches(name, known, n=1)
            hint = f'did you mean "{near[0]}"?' if near else f"there are {', '.join(sorted(known))}"
            raise ScenarioError(f"slurm.{name} = {value}: is no option of dask_jobqueue.SLURMCluster; {hint}")
        checked = _checked(name, value)
        is_more = name in LISTS and isinstance(value, str)
        options[name] = [*options.get(name, []), *checked] if is_more else checked
    cores, processes = ((DEFAULTS | options)[name] for name in ("cores", "processes"))
    if cores is not None and processes is not None and processes > cores:
        raise ScenarioError(f"slurm.processes = {processes}: must be at most slurm.cores = {cores}")
    return options


def _known() -> set[str]:
    jobqueue = needed("dask_jobqueue", "slurm")
    takers = [kind.__init__ for one in (jobqueue.SLURMCluster, jobqueue.slurm.SLURMJob) for kind in one.__mro__[:2]]
    names = {name for taker in takers for name, each in inspect.signature(taker).parameters.items() if _is_named(each)}
    return (names | {"jobs"}) - NOT_OPTIONS


def _is_named(parameter: inspect.Parameter) -> bool:
    return parameter.kind not in (parameter.VAR_POSITIONAL, parameter.VAR_KEYWORD)


def _checked(name: str, value: Any) -> Any:
    """A value of the option's type; `None` stands for the default that Dask's configuration has."""

    def refused(limit: str) -> ScenarioError:
        return ScenarioError(f"slurm.{name} = {value}: must be {limit}")

    if value is None and name != "jobs":
        return None
    if name in WHOLE:
        number = int(value) if isinstance(value, str) and DIGITS.fullmatch(value) else value
        if isinstance(number, bool) or not isinstance(number, int) or not 1 <= number <= MOST:
            raise refused(f"a whole number from 1 to {MOST}")
        return number
    if name in LISTS:
        lines = [value] if isinstance(value, str) else value
        if not isinstance(lines, (list, tuple)) or not all(isinstance(line, str) for line in lines):
            raise refused("a list of texts")
        return list(lines)
    if name == "memory" and not _is_memory(value):
        raise refused("a size of at least 1 KiB, such as 2GB")
    if name == "protocol" and str(value).removesuffix("://") not in PROTOCOLS:
        raise refused(f"one of {', '.join(PROTOCOLS)}")
    if name == "config_name" and needed("dask.config", "slurm").get("jobqueue", {}).get(str(value)) is None:
        raise refused("a section of jobqueue in Dask's configuration")
    if name == "nanny":
        truth = {"true": True, "false": False}.get(value, value) if isinstance(value, str) else value
        if not isinstance(truth, bool):
            raise refused("true or false")
        return truth
    if isinstance(value, str) and name in OBJECTS:
        raise refused("an object of Python, by outlast.sweep")
    if isinstance(value, str) and (len(value.splitlines()) != 1 or not value.strip()):
        raise refused("one line of text")
    return value


def _is_memory(value: Any) -> bool:
    try:
        return bool(needed("dask.utils", "slurm").parse_bytes(value) >= LEAST_MEMORY)
    except Exception:  # whatever the reader of sizes stumbles over is none
        return False


def cluster_of(options: Mapping[str, Any]) -> Any:
    """A Dask cluster without workers, which knows the script of its jobs. Its scheduler runs in this process."""
    jobqueue = needed("dask_jobqueue", "slurm")
    settings = {"silence_logs": "critical"} | DEFAULTS | options_of(options.items())
    del settings["jobs"]
    if (interface := settings.get("interface")) is not None:
        try:
            needed("distributed.utils", "slurm").get_ip_interface(interface)
        except ValueError as error:
            raise ScenarioError(f"slurm.interface = {interface}: {told(error)}") from error
    try:
        return jobqueue.SLURMCluster(**settings)
    except Exception as error:
        # What Dask is given is the options: each way in which it fails is one of their values. It stumbles over what
        # it could not start, too, and that error then hides the first one.
        first: BaseException = error
        while first.__context__ is not None:
            first = first.__context__
        raise ScenarioError(f"slurm = {dict(options)}: {told(first)}") from error


@contextmanager
def queued(options: Mapping[str, Any]) -> Iterator[Any]:
    """Context of a Dask cluster whose workers are jobs of the queue, submitted before its body, cancelled after it.

    Jobs are submitted here and not by the cluster, which does it in a task that nobody waits for: a refusal would be
    lost there, and the sweep wait for ever.
    """
    if shutil.which("sbatch") is None:
        raise ScenarioError("on = slurm: there is no sbatch on this machine; call this where jobs are submitted")
    count = (DEFAULTS | options_of(options.items()))["jobs"]
    cluster = cluster_of(options)
    submitted: list[str] = []
    try:
        for number in range(count):
            submitted.append(_submit(cluster, number, f"job {number + 1} of {count}"))
        yield cluster
    finally:
        if submitted:
            _cancel([*shlex.split(cluster.job_cls.cancel_command), *submitted], submitted)
        with suppress(Exception):
            cluster.close()


def _submit(cluster: Any, number: int, which: str) -> str:
    """Submits a job and returns its number in the queue."""
    (spec,) = cluster.new_worker_spec().values()
    address = getattr(cluster.scheduler, "contact_address", None) or cluster.scheduler_address
    job = spec["cls"](address, name=f"{cluster.name}-{number}", **spec["options"])
    try:
        with job.job_file() as script:
            command = [*shlex.split(job.submit_command), script]
            done = subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, text=True, errors="replace")
    except OSError as error:
        raise ScenarioError(f"on = slurm: sbatch cannot be run: {error.strerror}") from error
    said = " ".join((done.stderr.strip() or done.stdout).split())
    if done.returncode != 0:
        reason = said or f"exit code {done.returncode}"
        raise ScenarioError(f"on = slurm: sbatch refuses {which}: {reason}")
    found = re.search(job.job_id_regexp, done.stdout)
    if found is None:
        raise ScenarioError(f"on = slurm: sbatch gives no number to {which}: {said or 'it prints nothing'}")
    return found["job_id"]


def _cancel(command: list[str], jobs: list[str]) -> None:
    """Takes jobs back. A job that has ended already is refused, which does not matter."""
    try:
        # In a session of its own, since a second Ctrl-C must not leave them in the queue.
        subprocess.run(command, stdin=subprocess.DEVNULL, capture_output=True, start_new_session=True)
    except OSError as error:
        text = f"{command[0]} cannot be run ({error.strerror}): these jobs stay in the queue: {', '.join(jobs)}"
        log.say(text, level=log.WARNING)
