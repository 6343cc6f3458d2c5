"""The README of a plan: what to run, in which order, how long it takes, and what to call what comes out."""

from __future__ import annotations

from collections.abc import Sequence
from typing import TYPE_CHECKING

if TYPE_CHECKING:
    from outlast.products.fit.plan import Job

TEXT = """\
# Measuring {target}

**The jobs of this folder overwrite all of {target}.** They take {hours:.1f} hours at most. None has been run yet.

Jobs that only read are in `reads-only/` once more. They tell tR, dies, firmware time and link, of a drive that has been
written: addresses that never were are answered without flash. To spare a drive's data, make a plan for a file on one
of its file systems: `outlast fit --plan /mnt/drive/fit.dat --size 100GB`. Its fills are shares of the file, the file
system writes beside it, and what is free is spare space, too: figures are rougher.

## Before

- Nothing else uses the drive, and its temperature is steady.
- fio 3.30 or newer, as root.
- {discard}

## In this order

| job | tells | at most | |
|---|---|---|---|
{jobs}

Each by

```sh
fio --output-format=json+ --output=NAME.json NAME.fio
```

where NAME is that of the job file, so that `04-sequential-write.fio` gives `04-sequential-write.json`. `mixed` takes
rates from the environment: `READS=2000`, and `WRITES_25`, `WRITES_50`, `WRITES_75` as 25, 50 and 75 % of the writes a
second of `uniform-100`.

A drive that takes more than {wear} minutes for three times its size is not worn in when its job ends: run it again.

## Counters

Where the table says *counters*, read what the host and the flash have written, before and after:

```sh
nvme smart-log -o json {target}          # data_units_written, in 512,000 bytes
nvme ocp smart-add-log -o json {target}  # Physical media units written, in bytes
```

The write amplification is what the second grew by over what the first grew by. It goes into `measured.toml` by the
job's name. A drive without such counters is fitted to its rates alone.

## What to write

```toml
# measured.toml
name = "what the drive is called"
capacity = "800GB"  # what the host sees
fio = "*.json"

[waf]
uniform-60 = 1.25
uniform-100 = 2.61
```

```sh
outlast fit measured.toml -o drive.toml
```
"""


def readme(target: str, plan: Sequence[Job], size: str | None, wear: int) -> str:
    """The text of the README; `wear` is how many minutes wearing in may take."""
    rows = [f"| {job.name} | {job.purpose} | {_span(job.seconds)} | {_marks(job)} |" for job in plan]
    whole = f"`blkdiscard {target}` before each `fill`, so that only what is filled holds data."
    part = "Delete the file before each `fill`, and have the file system tell the drive (`fstrim`)."
    return TEXT.format(
        target=target,
        hours=sum(job.seconds for job in plan) / 3600,
        discard=whole if size is None else part,
        jobs="\n".join(rows),
        wear=wear,
    )


def _span(seconds: float) -> str:
    return f"{seconds / 60:.0f} min" if seconds >= 60 else f"{seconds:.0f} s"


def _marks(job: Job) -> str:
    return ", ".join(["overwrites"] * job.destructive + ["counters"] * job.counted)
