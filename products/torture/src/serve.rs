//! Serving a crash state as a block device, to inspect it or to record what a recovery writes.

use crate::error::TortureError;
use crate::history::CommandHistory;
use crate::recording::OpenRecording;
use crate::source::log_writes::LogWritesRecorder;
use crate::state::CrashState;
use outlast_serve::{BaseContent, ContentJournal, ListenAddress, ServerHandle, serve_content};
use outlast_units::{Bytes, SECTOR_BYTES};
use std::io;
use std::ops::Range;
use std::path::Path;
use std::sync::Arc;

/// Serves a state of `recording` on a thread of its own. Writes stay in memory; unreadable sectors fail until they are written.
///
/// With `record`, a log of dm-log-writes at that path begins with the content of the state, a flush, and the mark `outlast:begin`; the commands of
/// clients follow in the order of completion. It can be read when the server has ended.
///
/// # Errors
/// A state that a device does not start with; the address cannot be listened on; the log cannot be written.
pub fn serve_state(
    recording: &Arc<OpenRecording>,
    state: CrashState,
    listen: &ListenAddress,
    record: Option<&Path>,
) -> Result<ServerHandle, TortureError> {
    if let Some(why) = &state.refused {
        return Err(TortureError::state(&state.id, &format!("nothing can be served: {why}")));
    }
    let journal =
        record.map(|path| LogWritesRecorder::begin(path, recording.history(), &state)).transpose()?;
    let journal = journal.map(|journal| Box::new(journal) as Box<dyn ContentJournal>);
    let content = ServedState { recording: recording.clone(), state };
    Ok(serve_content(listen, Box::new(content), journal)?)
}

/// A crash state with the recording that has its bytes.
struct ServedState {
    recording: Arc<OpenRecording>,
    state: CrashState,
}

impl ServedState {
    fn history(&self) -> &CommandHistory {
        self.recording.history()
    }
}

impl BaseContent for ServedState {
    fn size(&self) -> Bytes {
        Bytes(self.history().capacity * SECTOR_BYTES)
    }

    fn read(&mut self, offset: u64, to: &mut [u8]) -> io::Result<()> {
        self.state.read(self.history(), offset, to)
    }

    fn bad(&self) -> Vec<Range<u64>> {
        let bytes = |sector: u64| sector * SECTOR_BYTES;
        self.state.bad.iter().map(|run| bytes(run.lba.0)..bytes(run.lba.0 + run.sectors)).collect()
    }
}
