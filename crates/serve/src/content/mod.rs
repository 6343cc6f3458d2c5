//! A fixed content as a drive. Writes stay in memory, and may be recorded in a journal. There is no simulated time: each request is done at once.

mod overlay;
mod ranges;

use std::io;
use std::ops::Range;

use outlast_units::Bytes;

use crate::handle::ServerHandle;
use crate::instant::{self, InstantDevice};
use crate::net::ListenAddress;
use crate::protocol::{
    BlockOp, BlockReply, BlockRequest, ExportAbilities, ExportFacts, ExportSizes, FailureKind, RequestFailure,
};
use crate::server::ServeError;
use overlay::ContentOverlay;

/// Content of a drive before the first write.
pub trait BaseContent: Send {
    /// Size in bytes, a multiple of 512.
    fn size(&self) -> Bytes;

    /// Reads from byte `offset` on. The bytes of [`BaseContent::bad`] ranges are arbitrary.
    ///
    /// # Errors
    /// The content cannot be read from its storage: the server ends.
    fn read(&mut self, offset: u64, to: &mut [u8]) -> io::Result<()>;

    /// Ranges, in bytes and whole sectors, that clients cannot read until they have written them.
    fn bad(&self) -> Vec<Range<u64>>;
}

/// Recorder of changes to a content, in order of completion.
pub trait ContentJournal: Send {
    /// Records a write.
    ///
    /// # Errors
    /// The write cannot be recorded: the server ends.
    fn write(&mut self, offset: u64, data: &[u8], fua: bool) -> io::Result<()>;

    /// Records that a range reads as zeroes, by a trim or by zeroing.
    ///
    /// # Errors
    /// See [`ContentJournal::write`].
    fn zero(&mut self, range: Range<u64>, fua: bool) -> io::Result<()>;

    /// Records a flush: all changes before it would survive a loss of power.
    ///
    /// # Errors
    /// See [`ContentJournal::write`].
    fn flush(&mut self) -> io::Result<()>;

    /// Completes the recording. Called once, when no client is left.
    ///
    /// # Errors
    /// See [`ContentJournal::write`].
    fn end(&mut self) -> io::Result<()>;
}

/// Serves a content on a thread of its own. Writes stay in memory; ranges that are `bad` fail with an input/output error until they are written;
/// trimmed ranges read as zeroes.
///
/// # Errors
/// Nothing can listen at the address.
pub fn serve_content(
    listen: &ListenAddress,
    content: Box<dyn BaseContent>,
    journal: Option<Box<dyn ContentJournal>>,
) -> Result<ServerHandle, ServeError> {
    let export = ExportFacts {
        name: String::new(),
        description: "a content".to_owned(),
        size: content.size(),
        sizes: ExportSizes::default(),
        abilities: ExportAbilities::WRITE | ExportAbilities::TRIM | ExportAbilities::ZEROES,
        namespaces: Vec::new(),
        placement: None,
        reclaim_unit: Bytes(0),
        zones: None,
    };
    instant::serve(
        listen,
        export,
        ContentDevice { overlay: ContentOverlay::new(content), journal, failure: None },
    )
}

/// A content behind the loop.
struct ContentDevice {
    overlay: ContentOverlay,
    journal: Option<Box<dyn ContentJournal>>,
    /// First failure of the content or the journal, after which no reply leaves.
    failure: Option<io::Error>,
}

impl ContentDevice {
    /// Serves a request. Unreadable sectors fail the request; a failure of content or journal ends the server.
    fn serve_request(&mut self, request: &BlockRequest<'_>) -> io::Result<BlockReply> {
        let range = request.offset..request.offset + request.length.0;
        match request.op {
            BlockOp::Read { .. } => return self.read(range),
            BlockOp::Write { data, fua, .. } => {
                self.overlay.write(range.start, data)?;
                self.journal(|journal| journal.write(range.start, data, fua))?;
            }
            BlockOp::Trim { fua } | BlockOp::WriteZeroes { fua, .. } => {
                self.overlay.zero(range.clone());
                self.journal(|journal| journal.zero(range, fua))?;
            }
            BlockOp::Flush => self.journal(|journal| journal.flush())?,
            BlockOp::Prefetch
            | BlockOp::Status
            | BlockOp::LbaStatus
            | BlockOp::Health(_)
            | BlockOp::Placement
            | BlockOp::UpdateHandle(_)
            | BlockOp::Append { .. }
            | BlockOp::ManageZone(_)
            | BlockOp::ListZones(_) => {
                unreachable!("the export has none of these")
            }
        }
        Ok(BlockReply::Done)
    }

    fn read(&mut self, range: Range<u64>) -> io::Result<BlockReply> {
        if let Some(at) = self.overlay.first_bad(range.clone()) {
            return Ok(BlockReply::Failed(RequestFailure {
                kind: FailureKind::Unreadable,
                at: Some(at),
                text: "the sector cannot be read",
            }));
        }
        let mut data = vec![0; (range.end - range.start) as usize];
        self.overlay.read(range.start, &mut data)?;
        Ok(BlockReply::Data(data))
    }

    fn journal(&mut self, record: impl FnOnce(&mut dyn ContentJournal) -> io::Result<()>) -> io::Result<()> {
        let failed = |error: io::Error| io::Error::new(error.kind(), format!("the recording: {error}"));
        self.journal.as_deref_mut().map_or(Ok(()), |journal| record(journal).map_err(failed))
    }
}

impl InstantDevice for ContentDevice {
    fn reply_to(&mut self, request: &BlockRequest<'_>) -> BlockReply {
        match self.serve_request(request) {
            Ok(reply) => reply,
            Err(error) => {
                // The reply does not leave: `commit` reports the failure first, and ends the server.
                self.failure.get_or_insert(error);
                BlockReply::Failed(FailureKind::Internal.into())
            }
        }
    }

    fn commit(&mut self) -> io::Result<()> {
        self.failure.take().map_or(Ok(()), Err)
    }

    fn shut_down(&mut self) -> io::Result<()> {
        self.commit()?;
        self.journal(|journal| journal.end())
    }
}
