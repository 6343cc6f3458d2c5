//! Servers of one export that answer each request as it comes: no time goes by in them.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use serde_json::{Value, json};

use crate::control::{self, Outcome};
use crate::handle::{Board, Facts, ServerHandle, Status};
use crate::nbd::Nbd;
use crate::net::{Listen, Listener, Poller};
use crate::protocol::{Answer, BlockRequest, ExportFacts, Offer};
use crate::server::ServeError;
use crate::session::{Backend, Door, Front, Origin, Target};
use crate::turns::Turns;
use crate::work::Work;

/// What is behind such a server.
pub(crate) trait AtOnce: Send + 'static {
    /// A client asks.
    fn answer(&mut self, request: &BlockRequest<'_>) -> Answer;

    /// Keeps what was asked, before its answer leaves.
    ///
    /// # Errors
    /// It cannot be kept; nothing may leave.
    fn commit(&mut self) -> io::Result<()>;

    /// Nobody is there any more.
    ///
    /// # Errors
    /// What was asked cannot be kept.
    fn end(&mut self) -> io::Result<()>;
}

/// Serves `device` as `export` on a thread of its own.
///
/// # Errors
/// Nobody can listen there.
pub(crate) fn serve(
    listen: &Listen,
    export: ExportFacts,
    device: impl AtOnce,
) -> Result<ServerHandle, ServeError> {
    listen.check(false)?;
    let (listener, poller) = (Listener::bind(listen)?, Poller::new()?);
    let door = Door { listener, protocol: Box::new(Nbd::new(None)) };
    let facts = Facts {
        model: export.description.clone(),
        capacity: export.size.0,
        dies_it_can_lose: 0,
        data_survives: None,
        is_array: false,
        uris: vec![door.uri(&export.name)],
        found: None,
    };
    let (messages, inbox) = channel();
    let (board, waker) = (Arc::new(Board::new()), poller.waker());
    let handle = ServerHandle { messages, waker, board: board.clone(), uri: facts.uris[0].as_str().into() };
    let offer = Arc::new(Offer::new(vec![export])?);
    let mut front = Front::new(vec![door], None, &poller)?;
    front.offer(&offer)?;
    let work = Desk { offer, device, answers: Vec::new() };
    board.set(Status::Serving(facts));
    let mut turns = Turns { work, front, poller, messages: inbox, spins: false };
    let thread = std::thread::Builder::new().name("serve".to_owned());
    thread.spawn(move || {
        let done = turns.run(|warning| board.warn(warning));
        // What the device holds open, such as a recording, is closed when the end is told.
        drop(turns);
        board.set(Status::Ended(done.err().map(|error| error.to_string())));
    })?;
    Ok(handle)
}

/// Such a device behind the loop.
struct Desk<D> {
    offer: Arc<Offer>,
    device: D,
    answers: Vec<(Origin, Answer)>,
}

impl<D: AtOnce> Backend for Desk<D> {
    fn offer(&self) -> &Arc<Offer> {
        &self.offer
    }

    fn open(&mut self, _export: &str) -> Option<Target> {
        Some(Target::machine(0))
    }

    fn request(&mut self, _target: Target, from: Origin, request: &BlockRequest<'_>) {
        let answer = self.device.answer(request);
        self.answers.push((from, answer));
    }
}

impl<D: AtOnce> Work for Desk<D> {
    fn turn(&mut self) {}

    fn settle(&mut self) {}

    fn leap(&mut self) {}

    fn is_to_leap(&self) -> bool {
        false
    }

    fn next(&self) -> Option<Duration> {
        None
    }

    fn is_busy(&self) -> bool {
        false
    }

    fn answers(&mut self) -> &mut Vec<(Origin, Answer)> {
        &mut self.answers
    }

    fn commit(&mut self, _tells: bool) -> io::Result<()> {
        self.device.commit()
    }

    fn hear(&mut self, request: Value, _is_own: bool, front: &mut Front) -> Outcome {
        let said = json!({ "ok": { "loop": control::activity(front), "clients": front.clients() } });
        Outcome { stop: request["do"] == "stop", said: Box::new(|| said) }
    }

    fn tend(&mut self) -> Option<String> {
        None
    }

    fn hurry(&mut self) {}

    fn end(&mut self) -> io::Result<()> {
        self.device.end()
    }
}
