"""Many runs: each once, kept under a hash of what decides it, on processes here or on a cluster.

Figures of papers and sweeps are both made of these. A job is a resolved scenario; what it gave is a record, a small
file of its own; and since a record says nothing of when or where it was made, the order of execution never matters.

The hash is of settings, simulator, and the content of every file that a job reads (`Scenario::input_files` is the one
list of them), and is checked again before and after each run, wherever it takes place. Workers (this process, others,
a Dask cluster) take a job and return a record or an error; only the caller writes. Reproductions and sweeps are lists
of jobs and an evaluation of their records. All points of a sweep are resolved and validated before the first run, and
the data set is assembled in the order of the plan.
"""

from __future__ import annotations

from outlast.points.job import Job, Record, key_of, measure, store_record, stored_record
from outlast.points.run import Outcome, run_all
from outlast.points.workers import Here, Workers

__all__ = [
    "Here",
    "Job",
    "Outcome",
    "Record",
    "Workers",
    "key_of",
    "measure",
    "run_all",
    "store_record",
    "stored_record",
]
