"""The words of data sheets, shops and arrays for settings of a plan."""

from __future__ import annotations

from outlast.suggestions import table_of

WORDS = table_of(
    {
        "name": "title label",
        "years": "lifetime service_life period horizon term mission_time duration",
        "simulated": "simulated_s simulation_time runtime sim_time seconds run_time",
        "energy_price": "electricity kwh kwh_price power_price price_kwh electricity_price energy_cost",
        "drives": "drive disks ssds ssd disk members devices",
        "layout": "layouts raid raids arrays array levels choices options",
        "workload": "load write_load work io host",
        "drives.preset": "model device scenario_of_drive drive_model base extends",
        "drives.count": "n quantity drives number members bays disks devices raid_devices",
        "drives.capacity": "size capacity_tb drive_capacity capacity_bytes usable_capacity",
        "drives.price": "cost unit_price price_usd drive_price usd eur",
        "drives.tbw": "terabytes_written total_bytes_written endurance rated_writes pbw",
        "drives.dwpd": "drive_writes_per_day drive_writes rating",
        "drives.warranty_years": "warranty guarantee warranty_period",
        "drives.mttf_hours": "mttf mtbf mtbf_hours afr annual_failure_rate failure_rate",
        "drives.uber": "ure ber bit_error_rate uncorrectable_bit_error_rate",
        "drives.watts": "power watt power_watts active_power tdp",
        "workload.written_per_day": "writes_per_day write_per_day daily_writes gb_per_day tb_per_day bytes_per_day "
        "ingest host_writes writes written",
        "workload.read_percent": "rwmixread read_ratio read_share reads read_pct read_percentage rw_mix",
        "workload.size": "bs block_size request_size io_size blocksize",
        "workload.pattern": "rw access distribution random_distribution",
        "workload.active_hours": "hours busy_hours hours_per_day duty_cycle active",
        "workload.scenario": "file fio trace preset",
    }
)
