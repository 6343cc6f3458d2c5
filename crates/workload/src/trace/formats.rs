//! Decoding one line or record of each format. A fault names the field; the caller adds file and line.

mod blkparse;
mod context;
mod etw;
mod iolog;
mod split;
mod tables;
mod version;
mod vscsi;

pub(crate) use blkparse::is_device;
pub(crate) use context::{Context, Parsed, Record};
pub(crate) use etw::is_first as is_etw;
pub(crate) use iolog::version as iolog_version;
#[cfg(test)]
pub(crate) use split::Words;
pub(crate) use split::split;
pub(crate) use version::Version as VscsiVersion;
pub(crate) use vscsi::version as vscsi_version;

use super::fields::Fault;
use super::spec::Format;

impl Context {
    /// Decodes line `number` of a text format, counted from 1 without blank lines and comments.
    pub(crate) fn line(&mut self, line: &[u8], number: u64) -> Result<Parsed, Box<Fault>> {
        match self.format {
            Format::Msr => tables::msr(self, line, number),
            Format::Spc => tables::spc(self, line),
            Format::Ascii => tables::ascii(self, line),
            Format::Alibaba => tables::alibaba(self, line, number),
            Format::Blkparse => blkparse::event(self, line),
            Format::Etw => etw::event(self, line),
            Format::FioIolog | Format::FioIologV2 => iolog::action(self, line, number),
            Format::Vscsi | Format::Auto => Err(super::fields::fault("format", line, "a text format")),
        }
    }

    /// Decodes a record of vSCSI.
    pub(crate) fn record(&mut self, bytes: &[u8]) -> Result<Parsed, Box<Fault>> {
        vscsi::record(self, bytes)
    }
}
