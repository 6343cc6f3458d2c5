//! A server with nothing behind it, which answers at once: what the loop and the protocol cost by themselves.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use outlast_nbd::{BlockSizes, Contexts, Export, Features, Limits, Op, Request, Server as Offer, Tls};
use outlast_units::Bytes;
use serde_json::{Value, json};

use crate::control::{self, Outcome};
use crate::handle::{Board, Facts, ServerHandle, Status};
use crate::net::{Listen, Listener, Poller};
use crate::server::ServeError;
use crate::session::{Answer, Backend, Front, Origin, Target};
use crate::turns::Turns;
use crate::work::Work;

/// Serves `size` bytes of zeroes, which forget what is written, on a thread of its own: for measurements.
///
/// # Errors
/// Nobody can listen there.
pub fn serve_without_device(listen: &Listen, size: Bytes) -> Result<ServerHandle, ServeError> {
    listen.check(false)?;
    let export = Export {
        name: String::new(),
        description: "nothing".to_owned(),
        size,
        blocks: BlockSizes::default(),
        features: Features::FLUSH | Features::FUA | Features::MULTI_CONN | Features::TRIM,
        contexts: Contexts::NONE,
        tls_only: false,
    };
    let work = Nothing {
        offer: Arc::new(Offer::new(vec![export], Tls::Off, Limits::default())?),
        answers: Vec::new(),
    };
    let (listener, poller) = (Listener::bind(listen, false)?, Poller::new()?);
    let (messages, inbox) = channel();
    let (board, waker) = (Arc::new(Board::new()), poller.waker());
    let handle = ServerHandle { messages, waker, board: board.clone(), uri: listener.uri("").into() };
    let front = Front::new(listener, None, &poller)?;
    let facts = Facts {
        model: "nothing".to_owned(),
        capacity: size.0,
        dies_it_can_lose: 0,
        uris: vec![handle.uri().to_owned()],
        found: None,
    };
    board.set(Status::Serving(facts));
    let mut turns = Turns { work, front, poller, messages: inbox, spins: false };
    let thread = std::thread::Builder::new().name("serve".to_owned());
    thread.spawn(move || {
        let done = turns.run(|warning| board.warn(warning));
        board.set(Status::Ended(done.err().map(|error| error.to_string())));
    })?;
    Ok(handle)
}

/// What is behind the loop then.
struct Nothing {
    offer: Arc<Offer>,
    answers: Vec<(Origin, Answer)>,
}

impl Backend for Nothing {
    fn server(&self) -> &Arc<Offer> {
        &self.offer
    }

    fn open(&mut self, _export: &str) -> Option<Target> {
        Some(Target::machine(0))
    }

    fn request(&mut self, _target: Target, from: Origin, request: &Request<'_>) {
        let answer = match request.op {
            Op::Read => Answer::Data(vec![0; request.length.0 as usize]),
            _ => Answer::Done,
        };
        self.answers.push((from, answer));
    }
}

impl Work for Nothing {
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
        Ok(())
    }

    fn hear(&mut self, request: Value, front: &mut Front) -> Outcome {
        let said = json!({ "ok": { "loop": control::activity(front), "clients": front.clients() } });
        Outcome { stop: request["do"] == "stop", said: Box::new(|| said) }
    }

    fn tend(&mut self) -> Option<String> {
        None
    }

    fn hurry(&mut self) {}

    fn end(&mut self) -> io::Result<()> {
        Ok(())
    }
}
