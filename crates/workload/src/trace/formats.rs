//! Decoders of one line or record of each format. A fault names the field; the caller adds file and line.

mod blkparse;
mod block_events;
mod columns;
mod commands;
mod context;
mod etw;
mod iolog;
mod oracle_general;
mod split;
mod tables;
mod vscsi;
mod vscsi_version;

pub(crate) use blkparse::{is_device, is_named_event};
pub(crate) use block_events::{is_biosnoop_header, is_block_rq};
pub(crate) use commands::{COMMANDS, is_header as is_commands_header};
pub(crate) use context::{DecodeContext, ParsedLine, TraceRecord};
pub(crate) use etw::is_first_line as is_etw_first_line;
pub(crate) use iolog::iolog_version;
pub(crate) use oracle_general::{RECORD_BYTES as ORACLE_GENERAL_BYTES, is_oracle_general};
#[cfg(test)]
pub(crate) use split::LineWords;
pub(crate) use split::split;
pub(crate) use vscsi::detect_version as detect_vscsi_version;
pub(crate) use vscsi_version::VscsiVersion;

use super::fields::FieldFault;
use super::trace_format::TraceFormat;

impl DecodeContext {
    /// Decodes line `number` of a text format, counted from 1 without blank lines and comments.
    pub(crate) fn line(&mut self, line: &[u8], number: u64) -> Result<ParsedLine, Box<FieldFault>> {
        match self.format {
            TraceFormat::Msr => tables::msr(self, line, number),
            TraceFormat::Spc => tables::spc(self, line),
            TraceFormat::Ascii => tables::ascii(self, line),
            TraceFormat::Alibaba => tables::alibaba(self, line, number),
            TraceFormat::Blkparse => blkparse::event(self, line),
            TraceFormat::Etw => etw::event(self, line),
            TraceFormat::FioIolog | TraceFormat::FioIologV2 => iolog::action(self, line, number),
            TraceFormat::Commands => commands::command(self, line, number),
            TraceFormat::Columns
            | TraceFormat::MsrShort
            | TraceFormat::Fiu
            | TraceFormat::Tencent
            | TraceFormat::CloudPhysics
            | TraceFormat::K5
            | TraceFormat::Systor => columns::record(self, line, number),
            TraceFormat::Biosnoop => block_events::biosnoop(self, line, number),
            TraceFormat::BlockRq => block_events::block_rq(self, line),
            TraceFormat::Vscsi | TraceFormat::OracleGeneral | TraceFormat::Auto => {
                Err(super::fields::fault("format", line, "a text format"))
            }
        }
    }

    /// Bytes of a record of a binary format; `None` of the formats of text.
    pub(crate) fn record_bytes(&self) -> Option<usize> {
        match self.format {
            TraceFormat::Vscsi => Some(self.vscsi.record_bytes()),
            TraceFormat::OracleGeneral => Some(ORACLE_GENERAL_BYTES),
            _ => None,
        }
    }

    /// Decodes a record of a binary format.
    pub(crate) fn record(&mut self, bytes: &[u8]) -> Result<ParsedLine, Box<FieldFault>> {
        match self.format {
            TraceFormat::OracleGeneral => oracle_general::record(self, bytes),
            _ => vscsi::record(self, bytes),
        }
    }
}
