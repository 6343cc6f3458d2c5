"""Many runs: each once, kept under a hash of what decides it, on processes here or on a cluster.

Figures of papers and sweeps are both made of these. A job is a resolved scenario; what it gave is a record, a small
file of its own; and since a record says nothing of when or where it was made, the order of execution never matters.
"""

from __future__ import annotations

from outlast.points.job import Job, Record, keep, kept, key_of, measure
from outlast.points.run import Outcome, run_all
from outlast.points.workers import Here, Workers

__all__ = ["Here", "Job", "Outcome", "Record", "Workers", "keep", "kept", "key_of", "measure", "run_all"]
