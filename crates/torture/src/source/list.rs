//! Lists of blocks: what blkparse prints, and beside it the bytes of all writes.
//!
//! `NAME` has the lines, `NAME.data` the bytes of its writes (Q) one after another. Completions (C) end what they lie upon; a completion may end
//! several requests that were merged, or a part of one that was split. A list without any completion is read as if each request completed as it
//! came: a flush then covers all writes before it, which is the most that it can cover, so that no state is made of which a device might say that
//! its flush excluded it. Messages (m) that begin with `mark` are marks.

mod export;
mod import;

pub use export::export_list;
pub use import::history_of_list;

use outlast_workload::BlkLineReader;
use std::path::{Path, PathBuf};

/// How a message begins that is a mark.
const MARK: &str = "mark ";

/// The file with the bytes of a list's writes.
pub fn data_of(list: &Path) -> PathBuf {
    let mut name = list.as_os_str().to_owned();
    name.push(".data");
    name.into()
}

/// Whether a file that begins so may be a list: whether its first line is one of blkparse.
pub fn is_list(beginning: &[u8]) -> bool {
    let first = beginning.split(|&byte| byte == b'\n').find(|line| !line.trim_ascii().is_empty());
    first.is_some_and(|line| BlkLineReader::default().line(line).is_ok())
}
