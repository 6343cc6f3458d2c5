"""Configurations in the formats of MQSim, NVMeVirt and SimpleSSD, written for the tests: small drives of their own."""

from __future__ import annotations

from collections.abc import Mapping

DEVICE = {
    "Seed": 321,
    "Enabled_Preconditioning": "false",
    "Memory_Type": "FLASH",
    "HostInterface_Type": "NVME",
    "IO_Queue_Depth": 1024,
    "Queue_Fetch_Size": 128,
    "Caching_Mechanism": "ADVANCED",
    "Data_Cache_Sharing_Mode": "SHARED",
    "Data_Cache_Capacity": 1 << 20,
    "Data_Cache_DRAM_Row_Size": 8192,
    "Data_Cache_DRAM_Data_Rate": 800,
    "Data_Cache_DRAM_Data_Busrt_Size": 4,
    "Data_Cache_DRAM_tRCD": 13,
    "Data_Cache_DRAM_tCL": 13,
    "Data_Cache_DRAM_tRP": 13,
    "Address_Mapping": "PAGE_LEVEL",
    "Ideal_Mapping_Table": "true",
    "CMT_Capacity": 1 << 21,
    "CMT_Sharing_Mode": "SHARED",
    "Plane_Allocation_Scheme": "CWDP",
    "Transaction_Scheduling_Policy": "PRIORITY_OUT_OF_ORDER",
    "Overprovisioning_Ratio": 0.127,
    "GC_Exec_Threshold": 0.01,
    "GC_Block_Selection_Policy": "GREEDY",
    "Use_Copyback_for_GC": "false",
    "Preemptible_GC_Enabled": "true",
    "GC_Hard_Threshold": 0.005,
    "Dynamic_Wearleveling_Enabled": "true",
    "Static_Wearleveling_Enabled": "false",
    "Static_Wearleveling_Threshold": 100,
    "Preferred_suspend_erase_time_for_read": 700_000,
    "Preferred_suspend_erase_time_for_write": 700_000,
    "Preferred_suspend_write_time_for_read": 100_000,
    "Flash_Channel_Count": 2,
    "Flash_Channel_Width": 1,
    "Channel_Transfer_Rate": 333,
    "Chip_No_Per_Channel": 1,
    "Flash_Comm_Protocol": "NVDDR2",
}
FLASH = {
    "Flash_Technology": "MLC",
    "CMD_Suspension_Support": "ERASE",
    "Page_Read_Latency_LSB": 75_000,
    "Page_Read_Latency_CSB": 75_000,
    "Page_Read_Latency_MSB": 75_000,
    "Page_Program_Latency_LSB": 700_000,
    "Page_Program_Latency_CSB": 750_000,
    "Page_Program_Latency_MSB": 800_000,
    "Block_Erase_Latency": 3_800_000,
    "Block_PE_Cycles_Limit": 10_000,
    "Suspend_Erase_Time": 700_000,
    "Suspend_Program_Time": 100_000,
    "Die_No_Per_Chip": 1,
    "Plane_No_Per_Die": 1,
    "Block_No_Per_Plane": 1024,
    "Page_No_Per_Block": 64,
    "Page_Capacity": 4096,
    "Page_Metadat_Capacity": 448,
}
HOST = {
    "PCIe_Lane_Bandwidth": 1.0,
    "PCIe_Lane_Count": 4,
    "SATA_Processing_Delay": 400_000,
    "Enable_ResponseTime_Logging": "false",
    "ResponseTime_Logging_Period_Length": 1_000_000,
}
FLOW = {
    "Priority_Class": "HIGH",
    "Device_Level_Data_Caching_Mode": "WRITE_CACHE",
    "Channel_IDs": "0,1",
    "Chip_IDs": "0",
    "Die_IDs": "0",
    "Plane_IDs": "0",
    "Initial_Occupancy_Percentage": 50,
    "Working_Set_Percentage": 100,
    "Synthetic_Generator_Type": "QUEUE_DEPTH",
    "Read_Percentage": 0,
    "Address_Distribution": "RANDOM_UNIFORM",
    "Percentage_of_Hot_Region": 0,
    "Generated_Aligned_Addresses": "true",
    "Address_Alignment_Unit": 8,
    "Request_Size_Distribution": "FIXED",
    "Average_Request_Size": 8,
    "Variance_Request_Size": 0,
    "Seed": 798,
    "Average_No_of_Reqs_in_Queue": 16,
    "Bandwidth": 262_144,
    "Stop_Time": 1_000_000_000,
    "Total_Requests_To_Generate": 0,
}
TRACE = {
    "Priority_Class": "HIGH",
    "Device_Level_Data_Caching_Mode": "WRITE_CACHE",
    "Channel_IDs": "0,1",
    "Chip_IDs": "0",
    "Die_IDs": "0",
    "Plane_IDs": "0",
    "Initial_Occupancy_Percentage": 50,
    "File_Path": "traces/some.trace",
    "Percentage_To_Be_Executed": 100,
    "Relay_Count": 3,
    "Time_Unit": "NANOSECOND",
}
HEAD = '<?xml version="1.0" encoding="us-ascii"?>\n'


def _elements(values: Mapping[str, object]) -> str:
    return "".join(f"<{name}>{value}</{name}>\n" for name, value in values.items())


def ssdconfig(
    device: Mapping[str, object] | None = None,
    flash: Mapping[str, object] | None = None,
    host: Mapping[str, object] | None = None,
) -> str:
    """An `ssdconfig.xml` with some parameters changed."""
    return (
        f"{HEAD}<Execution_Parameter_Set>\n<Host_Parameter_Set>\n{_elements({**HOST, **(host or {})})}"
        f"</Host_Parameter_Set>\n<Device_Parameter_Set>\n{_elements({**DEVICE, **(device or {})})}"
        f"<Flash_Parameter_Set>\n{_elements({**FLASH, **(flash or {})})}</Flash_Parameter_Set>\n"
        "</Device_Parameter_Set>\n</Execution_Parameter_Set>\n"
    )


def workload(*flows: Mapping[str, object], trace: bool = False) -> str:
    """A `workload.xml` of one scenario, each flow with some parameters changed."""
    kind, usual = ("Trace_Based", TRACE) if trace else ("Synthetic", FLOW)
    name = f"IO_Flow_Parameter_Set_{kind}"
    body = "".join(f"<{name}>\n{_elements({**usual, **flow})}</{name}>\n" for flow in flows or ({},))
    return f"{HEAD}<MQSim_IO_Scenarios>\n<IO_Scenario>\n{body}</IO_Scenario>\n</MQSim_IO_Scenarios>\n"


SSD_CONFIG_H = """\
/* Two models: one of memory
   without flash, and one with. */
#define SSD_TYPE_NVM 0
#define SSD_TYPE_CONV 1
#if (BASE_SSD == SOME_MEMORY)
#define NS_SSD_TYPE_0 SSD_TYPE_NVM
#elif (BASE_SSD == SOME_DRIVE)
#define NS_SSD_TYPE_0 SSD_TYPE_CONV
#define MDTS (6)
#define CELL_MODE (2)
#define SSD_PARTITIONS (2)
#define NAND_CHANNELS (4)
#define LUNS_PER_NAND_CH (2)
#define PLNS_PER_LUN (1)
#define FLASH_PAGE_SIZE KB(16)
#if 0
#define ONESHOT_PAGE_SIZE (FLASH_PAGE_SIZE * 3)
#else /* what is built */
#define ONESHOT_PAGE_SIZE (FLASH_PAGE_SIZE * 2)
#endif
#define BLKS_PER_PLN (64)
#define NAND_CHANNEL_BANDWIDTH (800ull) //MB/s
#define PCIE_BANDWIDTH (3200ull) //MB/s
#define NAND_4KB_READ_LATENCY_LSB (35760 - 6000) //ns
#define NAND_4KB_READ_LATENCY_MSB (35760 + 6000)
#define NAND_READ_LATENCY_LSB (36013 - 6000)
#define NAND_PROG_LATENCY (185000)
#define NAND_ERASE_LATENCY (0)
#define FW_4KB_READ_LATENCY (21500)
#define FW_WBUF_LATENCY0 (4000)
#define OP_AREA_PERCENT (0.28)
#define GLOBAL_WB_SIZE (NAND_CHANNELS * LUNS_PER_NAND_CH * ONESHOT_PAGE_SIZE * 2)
#define WRITE_EARLY_COMPLETION 1
#define LBA_BITS (9)
#define LBA_SIZE (1 << LBA_BITS)
#endif
#define NS_SSD_TYPE(ns) (ns_ssd_type[ns])
"""

SIMPLESSD_CFG = """\
# A small drive.
[nvme]
PCIEGeneration = 2
PCIELane = 4
[pal]
Channel = 2
Package = 1
Die = 1
Plane = 2
Block = 64
Page = 64
PageSize = 16384
EnableMultiPlaneOperation = 1
NANDType = 1
LSBRead = 40000000   # ps
LSBWrite = 500000000
MSBRead = 65000000
MSBWrite = 1300000000
Erase = 3500000000
DMASpeed = 400
DMAWidth = 8
SuperblockSize = C
PageAllocation = CWDP
[ftl]
MappingMode = 0
OverProvisioningRatio = 0.2
EraseThreshold = 3000
EvictPolicy = 3
DChoiceParam = 5
GCThreshold = 0.05
FillRatio = 1.0
[icl]
CacheSize = 1048576
EnableReadCache = 0
EnableWriteCache = 1
[dram]
Channel = 1
"""
