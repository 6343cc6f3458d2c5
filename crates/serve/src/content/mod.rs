//! A content as a drive: what is written to it stays in memory, and may be recorded. No time goes by in it: each request is done when it is asked.

mod overlay;
mod ranges;

use std::io;
use std::ops::Range;

use outlast_units::Bytes;

use crate::at_once::{self, AtOnce};
use crate::handle::ServerHandle;
use crate::net::Listen;
use crate::protocol::{
    Abilities, Answer, BlockOp, BlockRequest, ExportFacts, ExportSizes, FailureKind, RequestFailure,
};
use crate::server::ServeError;
use overlay::Overlay;

/// What a drive holds before anybody has written to it.
pub trait Content: Send {
    /// How large it is; a multiple of 512 bytes.
    fn size(&self) -> Bytes;

    /// Reads from byte `offset` on. Of what is [`Content::bad`] any bytes will do.
    ///
    /// # Errors
    /// It cannot be read where it is kept: the server ends.
    fn read(&mut self, offset: u64, to: &mut [u8]) -> io::Result<()>;

    /// Bytes, in whole sectors, that no client can read until they are written again.
    fn bad(&self) -> Vec<Range<u64>>;
}

/// Is told what is done to a content, in the order of completion.
pub trait Journal: Send {
    /// A write is done.
    ///
    /// # Errors
    /// It cannot be kept: the server ends, as for what follows.
    fn write(&mut self, offset: u64, data: &[u8], fua: bool) -> io::Result<()>;

    /// A range was made zero, by a trim or as zeroes.
    ///
    /// # Errors
    /// See [`Journal::write`].
    fn zero(&mut self, range: Range<u64>, fua: bool) -> io::Result<()>;

    /// A flush is done: all before it would survive a loss of power.
    ///
    /// # Errors
    /// See [`Journal::write`].
    fn flush(&mut self) -> io::Result<()>;

    /// No client is there any more: what has been told is brought to where it is kept.
    ///
    /// # Errors
    /// See [`Journal::write`].
    fn end(&mut self) -> io::Result<()>;
}

/// Serves a content on a thread of its own. What is written lies over it in memory; what is `bad` in it fails with an input/output error;
/// a trim reads as zeroes afterwards.
///
/// # Errors
/// Nobody can listen there.
pub fn serve_content(
    listen: &Listen,
    content: Box<dyn Content>,
    journal: Option<Box<dyn Journal>>,
) -> Result<ServerHandle, ServeError> {
    let export = ExportFacts {
        name: String::new(),
        description: "a content".to_owned(),
        size: content.size(),
        sizes: ExportSizes::default(),
        abilities: Abilities::WRITE | Abilities::TRIM | Abilities::ZEROES,
    };
    at_once::serve(listen, export, Served { overlay: Overlay::new(content), journal, failure: None })
}

/// A content behind the loop.
struct Served {
    overlay: Overlay,
    journal: Option<Box<dyn Journal>>,
    /// Why nothing can be answered any more.
    failure: Option<io::Error>,
}

impl Served {
    /// Does what is asked; the first byte that cannot be read is no failure of the server.
    fn act(&mut self, request: &BlockRequest<'_>) -> io::Result<Answer> {
        let range = request.offset..request.offset + request.length.0;
        match request.op {
            BlockOp::Read => return self.read(range),
            BlockOp::Write { data, fua } => {
                self.overlay.write(range.start, data)?;
                self.tell(|journal| journal.write(range.start, data, fua))?;
            }
            BlockOp::Trim { fua } | BlockOp::WriteZeroes { fua, .. } => {
                self.overlay.zero(range.clone());
                self.tell(|journal| journal.zero(range, fua))?;
            }
            BlockOp::Flush => self.tell(|journal| journal.flush())?,
            BlockOp::Prefetch | BlockOp::Status => unreachable!("the export has neither"),
        }
        Ok(Answer::Done)
    }

    fn read(&mut self, range: Range<u64>) -> io::Result<Answer> {
        if let Some(at) = self.overlay.first_bad(range.clone()) {
            return Ok(Answer::Failed(RequestFailure {
                kind: FailureKind::Unreadable,
                at: Some(at),
                text: "the sector cannot be read",
            }));
        }
        let mut data = vec![0; (range.end - range.start) as usize];
        self.overlay.read(range.start, &mut data)?;
        Ok(Answer::Data(data))
    }

    fn tell(&mut self, what: impl FnOnce(&mut dyn Journal) -> io::Result<()>) -> io::Result<()> {
        let failed = |error: io::Error| io::Error::new(error.kind(), format!("the recording: {error}"));
        self.journal.as_deref_mut().map_or(Ok(()), |journal| what(journal).map_err(failed))
    }
}

impl AtOnce for Served {
    fn answer(&mut self, request: &BlockRequest<'_>) -> Answer {
        match self.act(request) {
            Ok(answer) => answer,
            Err(error) => {
                self.failure.get_or_insert(error);
                Answer::Failed(FailureKind::Internal.into())
            }
        }
    }

    fn commit(&mut self) -> io::Result<()> {
        self.failure.take().map_or(Ok(()), Err)
    }

    fn end(&mut self) -> io::Result<()> {
        self.commit()?;
        self.tell(|journal| journal.end())
    }
}
