//! The formats of traces, by name.

use outlast_units::JsonSchema;
use serde::{Deserialize, Serialize};
use std::fmt;

/// The format of a trace file. Compression (gzip, zstd, bzip2, xz, a zip archive of one file, none) and UTF-16 are
/// recognised by the file's first bytes, whatever its name.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "kebab-case")]
pub enum TraceFormat {
    /// Recognised from the file's beginning.
    #[default]
    Auto,
    /// MSR Cambridge: `timestamp,host,disk,Read|Write,offset,size,response`; time in FILETIME ticks of 100 ns, addresses in
    /// bytes. A row index in front is accepted.
    Msr,
    /// SPC / `UMass` repository: `ASU,LBA,size,opcode,timestamp`; 512-byte LBAs, size in bytes, time in seconds. Commas or
    /// blanks.
    Spc,
    /// `MQSim`, `DiskSim` and `SSDSim`: `time device address size op` with op 1 = read, 0 = write.
    Ascii,
    /// The default text output of blkparse.
    Blkparse,
    /// fio's I/O log, version 2 or 3.
    FioIolog,
    /// fio's I/O log, version 2: times as `wait` actions. To write; to read, `fio-iolog` serves both.
    FioIologV2,
    /// `CloudPhysics` vscsiStats, binary, version 1 or 2.
    Vscsi,
    /// Alibaba block traces: `device_id,opcode,offset,length,timestamp`; bytes and microseconds.
    Alibaba,
    /// Disk events of Event Tracing for Windows as text, from xperf's dumper or SNIA IOTTA's Microsoft production servers:
    /// `DiskRead, TimeStamp, Process Name ( PID), ThreadID, IrpPtr, ByteOffset, IOSize, ElapsedTime, DiskNum, ...`; microseconds and bytes. The
    /// file's own header says which column is which.
    Etw,
    /// One command in each line, those to zones included: `time,command,place,size,handle`; seconds and bytes. A place may be one in a zone, such as `4z+65536`.
    Commands,
    /// A table with one request in each line, whose columns `columns` names.
    Columns,
    /// MSR Cambridge without response times: the columns of `msr` but the last.
    #[serde(rename = "msr-6")]
    MsrShort,
    /// FIU (`SRCMap`): `time pid process LBA size op major minor MD5`; nanoseconds and sectors.
    Fiu,
    /// Tencent cloud block storage: `time,offset,size,0|1,volume`; seconds and sectors, 0 = read.
    Tencent,
    /// Systor '17: `Timestamp,Response,IOType,LUN,Offset,Size`; seconds and bytes. Lines whose type is neither R nor W are left out.
    #[serde(rename = "systor-17")]
    Systor,
    /// Fujitsu's K5 cloud: `volume,time,R|W,offset,size`; seconds and bytes.
    #[serde(rename = "k5cloud")]
    K5,
    /// A `CloudPhysics` trace as libCacheSim has it in CSV: `version,time,op,size,lbn`; seconds, SCSI's numbers of commands, bytes and sectors.
    #[serde(rename = "cloudphysics-csv")]
    CloudPhysics,
    /// libCacheSim's `oracleGeneral`, binary. All its requests are reads: a cache's trace does not tell.
    OracleGeneral,
    /// bcc's biosnoop: `TIME(s) COMM PID DISK T SECTOR BYTES LAT(ms)`.
    Biosnoop,
    /// The tracepoint `block_rq_issue` of Linux, as `perf script` or ftrace print it. Other events are left out.
    BlockRq,
}

impl TraceFormat {
    /// The names that a user may write, for messages.
    pub(crate) const NAMES: &'static str = "msr, spc, ascii, blkparse, fio-iolog, vscsi, alibaba, etw, msr-6, fiu, tencent, systor-17, k5cloud, \
                                            cloudphysics-csv, oracle-general, biosnoop, block-rq, commands, or columns for a table of your own";

    /// The names of those that can be written.
    pub(crate) const WRITTEN: &'static str =
        "msr, spc, ascii, blkparse, fio-iolog, fio-iolog-v2, vscsi, alibaba, etw, commands";

    /// True if traces can be written in this format.
    pub(crate) const fn is_written(self) -> bool {
        !matches!(
            self,
            Self::Auto
                | Self::Columns
                | Self::MsrShort
                | Self::Fiu
                | Self::Tencent
                | Self::Systor
                | Self::K5
                | Self::CloudPhysics
                | Self::OracleGeneral
                | Self::Biosnoop
                | Self::BlockRq
        )
    }

    /// Its spelling in a scenario.
    pub const fn name(self) -> &'static str {
        match self {
            Self::Auto => "auto",
            Self::Msr => "msr",
            Self::Spc => "spc",
            Self::Ascii => "ascii",
            Self::Blkparse => "blkparse",
            Self::FioIolog => "fio-iolog",
            Self::FioIologV2 => "fio-iolog-v2",
            Self::Vscsi => "vscsi",
            Self::Alibaba => "alibaba",
            Self::Etw => "etw",
            Self::Columns => "columns",
            Self::Commands => "commands",
            Self::MsrShort => "msr-6",
            Self::Fiu => "fiu",
            Self::Tencent => "tencent",
            Self::Systor => "systor-17",
            Self::K5 => "k5cloud",
            Self::CloudPhysics => "cloudphysics-csv",
            Self::OracleGeneral => "oracle-general",
            Self::Biosnoop => "biosnoop",
            Self::BlockRq => "block-rq",
        }
    }
}

impl fmt::Display for TraceFormat {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(self.name())
    }
}
