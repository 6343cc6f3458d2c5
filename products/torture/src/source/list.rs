//! Lists of blkparse, with a second file that has the bytes of all writes.
//!
//! `NAME` has the lines, `NAME.data` the bytes of its writes (Q) one after another. A completion (C) ends the requests that it overlaps:
//! several if they were merged, a part of one if it was split. In a list without completions each request completes on arrival: a flush then covers
//! all writes before it, which is the most that it can cover, so that no state is made that a correct device would exclude. Messages (m) that begin with `mark` are marks.

mod export;
mod import;

pub use export::export_list;
pub use import::history_of_list;

use outlast_workload::BlkLineReader;
use std::path::{Path, PathBuf};

/// Prefix of messages that are marks.
const MARK: &str = "mark ";

/// Path of the file with the bytes of a list's writes.
pub fn payload_path(list: &Path) -> PathBuf {
    let mut name = list.as_os_str().to_owned();
    name.push(".data");
    name.into()
}

/// True if a file with this beginning may be a list: its first line is one of blkparse.
pub fn is_list(beginning: &[u8]) -> bool {
    let first = beginning.split(|&byte| byte == b'\n').find(|line| !line.trim_ascii().is_empty());
    first.is_some_and(|line| BlkLineReader::default().line(line).is_ok())
}
