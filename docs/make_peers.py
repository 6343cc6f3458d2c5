"""Outlast beside MQSim on the same drive, in turns on one machine: `make bench-mqsim MQSIM=path/to/MQSim`.

MQSim (github.com/CMU-SAFARI/MQSim, `make` there) simulates the drive of `scenarios/presets/peers-32g.toml` with a
mapping table that is always in memory. Its processor time is that of a run less that of a shorter one, so that what it
does before the first request does not count. Each pair is one such difference and one run of Outlast, one after the
other; the table in docs/reference/speed.md has the medians over all pairs. Random writes with collection are left out:
MQSim's preconditioning does not end on this drive.
"""

from __future__ import annotations

import argparse
import re
import resource
import statistics
import subprocess
import tempfile
from collections.abc import Sequence
from pathlib import Path

from make_speed import PEERS, number, table, write

STOPS_S = (0.5, 6.5)
"""Simulated seconds of MQSim's two runs."""
CASES = {"mixed-70-30": 70, "random-read": 100}
"""Share of reads by case of `outlast-bench`."""

SETTINGS = {
    "Enabled_Preconditioning": "false",
    "Ideal_Mapping_Table": "true",
    "Data_Cache_Capacity": "16777216",
    "Overprovisioning_Ratio": "0.15",
    "GC_Block_Selection_Policy": "GREEDY",
    "Static_Wearleveling_Enabled": "false",
    "Chip_No_Per_Channel": "2",
    "Block_No_Per_Plane": "512",
    "Page_Capacity": "4096",
}
"""What differs from the `ssdconfig.xml` that MQSim comes with."""

LOAD = """<?xml version="1.0" encoding="us-ascii"?>
<MQSim_IO_Scenarios><IO_Scenario><IO_Flow_Parameter_Set_Synthetic>
<Priority_Class>HIGH</Priority_Class>
<Device_Level_Data_Caching_Mode>WRITE_CACHE</Device_Level_Data_Caching_Mode>
<Channel_IDs>0,1,2,3,4,5,6,7</Channel_IDs><Chip_IDs>0,1</Chip_IDs><Die_IDs>0,1</Die_IDs><Plane_IDs>0,1</Plane_IDs>
<Initial_Occupancy_Percentage>0</Initial_Occupancy_Percentage><Working_Set_Percentage>100</Working_Set_Percentage>
<Synthetic_Generator_Type>QUEUE_DEPTH</Synthetic_Generator_Type><Read_Percentage>{reads}</Read_Percentage>
<Address_Distribution>RANDOM_UNIFORM</Address_Distribution><Percentage_of_Hot_Region>0</Percentage_of_Hot_Region>
<Generated_Aligned_Addresses>true</Generated_Aligned_Addresses><Address_Alignment_Unit>8</Address_Alignment_Unit>
<Request_Size_Distribution>FIXED</Request_Size_Distribution><Average_Request_Size>8</Average_Request_Size>
<Variance_Request_Size>0</Variance_Request_Size><Seed>798</Seed>
<Average_No_of_Reqs_in_Queue>32</Average_No_of_Reqs_in_Queue><Intensity>32768</Intensity>
<Stop_Time>{stop_ns}</Stop_Time><Total_Requests_To_Generate>0</Total_Requests_To_Generate>
</IO_Flow_Parameter_Set_Synthetic></IO_Scenario></MQSim_IO_Scenarios>
"""


def cpu_s(command: Sequence[str], folder: Path) -> float:
    """Processor time of a program."""
    before = resource.getrusage(resource.RUSAGE_CHILDREN)
    subprocess.run(command, cwd=folder, stdin=subprocess.DEVNULL, capture_output=True, check=True)
    after = resource.getrusage(resource.RUSAGE_CHILDREN)
    return after.ru_utime + after.ru_stime - before.ru_utime - before.ru_stime


def mqsim(program: Path, reads: int, folder: Path) -> float:
    """Requests of MQSim in a second of processor time."""
    device = (program.parent / "ssdconfig.xml").read_text()
    for name, value in SETTINGS.items():
        device = re.sub(rf"(<{name}>)[^<]*", rf"\g<1>{value}", device)
    (folder / "device.xml").write_text(device)
    spent, served = [], []
    for stop_s in STOPS_S:
        (folder / "load.xml").write_text(LOAD.format(reads=reads, stop_ns=round(stop_s * 1e9)))
        spent.append(cpu_s([str(program), "-i", "device.xml", "-w", "load.xml"], folder))
        said = (folder / "load_scenario_1.xml").read_text()
        served.append(sum(map(int, re.findall(r"<Request_Count>(\d+)<", said))))
    return (served[1] - served[0]) / (spent[1] - spent[0])


def outlast(program: str, case: str) -> float:
    """Requests of Outlast in a second of processor time."""
    done = subprocess.run([program, case], capture_output=True, text=True, check=True)
    rows = (line.split() for line in done.stdout.splitlines())
    return next(float(row[2]) for row in rows if row and row[0] == case)


def main() -> None:
    """Measures in pairs and writes the table."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("mqsim", type=Path)
    parser.add_argument("bench")
    parser.add_argument("--pairs", type=int, default=5)
    arguments = parser.parse_args()
    rows = []
    with tempfile.TemporaryDirectory() as folder:
        for case, reads in CASES.items():
            pairs = []
            for _ in range(arguments.pairs):
                theirs = mqsim(arguments.mqsim.resolve(), reads, Path(folder))
                pairs.append((outlast(arguments.bench, case), theirs))
                print(f"{case}: {pairs[-1][0]:,.0f} and {theirs:,.0f} requests per CPU-second", flush=True)
            ratios = sorted(own / other for own, other in pairs)
            own, other = (statistics.median(side) for side in zip(*pairs, strict=True))
            span = f"{statistics.median(ratios):.0f} ({ratios[0]:.0f} to {ratios[-1]:.0f})"
            rows.append([PEERS[case], number(own), number(other), span])
    write({"mqsim": table(["case", "Outlast", "MQSim", "times, by pairs"], rows)})


if __name__ == "__main__":
    main()
