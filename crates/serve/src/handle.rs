//! A server seen from other threads.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

use crate::image::Found;
use crate::net::Waker;

/// What the loop has found, to be put into JSON by whoever has asked: the loop has other things to do.
pub(crate) type Told = Box<dyn FnOnce() -> Value + Send>;

/// A question to the loop, and where its answer goes.
#[derive(Debug)]
pub(crate) struct Message {
    pub(crate) request: Value,
    /// Whether the program itself asks, for a reason of its own.
    pub(crate) is_own: bool,
    pub(crate) reply: Sender<Told>,
}

/// What a server is doing.
#[derive(Clone, Debug, PartialEq)]
pub enum Status {
    /// The machine is being built and prepared, of which so many percent are done; clients that connect wait.
    Preparing(u8),
    /// Clients are served.
    Serving(Facts),
    /// It has ended: as it was asked to, or because of an error, which is told in one line.
    Ended(Option<String>),
}

/// What is served.
#[derive(Clone, Debug, PartialEq)]
pub struct Facts {
    /// The model of the machine.
    pub model: String,
    /// Bytes that clients see.
    pub capacity: u64,
    /// Dies that a drive, or of an array the member that bears least, may still lose before it takes no more writes.
    pub dies_it_can_lose: u32,
    /// Dies that may fail before data is lost, by the parity of the drives; of an array, of the member that bears least. Absent for what is no
    /// drive.
    pub data_survives: Option<u32>,
    /// Whether it is an array, which brings data back beside that.
    pub is_array: bool,
    /// URIs of the machine, one for each place where clients come in.
    pub uris: Vec<String>,
    /// What was found in the image, if there is one.
    pub found: Option<Found>,
}

/// What the loop's thread says to others.
#[derive(Debug)]
pub(crate) struct Board {
    said: Mutex<Said>,
    changed: Condvar,
    /// Whether somebody wants the server to end.
    is_asked: AtomicBool,
}

#[derive(Debug)]
struct Said {
    status: Status,
    warnings: Vec<String>,
}

impl Board {
    pub(crate) fn new() -> Self {
        let said = Said { status: Status::Preparing(0), warnings: Vec::new() };
        Self { said: Mutex::new(said), changed: Condvar::new(), is_asked: AtomicBool::new(false) }
    }

    fn said(&self) -> MutexGuard<'_, Said> {
        self.said.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set(&self, status: Status) {
        self.said().status = status;
        self.changed.notify_all();
    }

    /// Whether somebody wants the server to end.
    pub(crate) fn is_asked(&self) -> bool {
        self.is_asked.load(Ordering::Relaxed)
    }

    pub(crate) fn warn(&self, warning: String) {
        self.said().warnings.push(warning);
        self.changed.notify_all();
    }
}

/// Speaks to a server from any thread. Cheap to copy; the server goes on without it.
#[derive(Clone, Debug)]
pub struct ServerHandle {
    pub(crate) messages: Sender<Message>,
    pub(crate) waker: Waker,
    pub(crate) board: Arc<Board>,
    pub(crate) uri: Arc<str>,
}

impl ServerHandle {
    /// Asks the server, and waits for its answer: `{"ok": …}`, or `{"error": "one line"}`. It is carried out between two turns of the
    /// loop, at the simulated time of the next. While the machine is being prepared, it waits for that.
    pub fn request(&self, request: Value) -> Value {
        self.ask(request, false)
    }

    /// Notes a mark of a program's own, such as where a recording begins: clients cannot make one that begins as these do.
    pub fn note(&self, text: &str) -> Value {
        self.ask(json!({ "do": "mark", "text": text }), true)
    }

    fn ask(&self, request: Value, is_own: bool) -> Value {
        let gone = || json!({ "error": "the server has ended" });
        let (reply, answer) = channel();
        if self.messages.send(Message { request, is_own, reply }).is_err() {
            return gone();
        }
        self.waker.wake();
        answer.recv().map_or_else(|_| gone(), |said| said())
    }

    /// The URI of the machine.
    pub fn uri(&self) -> &str {
        &self.uri
    }

    /// Has the server end: what is under way is answered, and the drive is told as by a host that shuts down. Returns at once.
    pub fn stop(&self) {
        self.board.is_asked.store(true, Ordering::Relaxed);
        let (reply, _) = channel();
        // If it has ended, all is done.
        let _ = self.messages.send(Message { request: json!({ "do": "stop" }), is_own: true, reply });
        self.waker.wake();
    }

    /// For whoever runs a [`crate::Server`]: it has ended, also where it could not say so itself.
    pub fn ended(&self, error: Option<String>) {
        if !matches!(self.status(), Status::Ended(_)) {
            self.board.set(Status::Ended(error));
        }
    }

    /// What the server is doing.
    pub fn status(&self) -> Status {
        self.board.said().status.clone()
    }

    /// Waits until the server is doing something else than `status`, has a warning, or `timeout` is over; what it does then.
    pub fn wait(&self, status: &Status, timeout: Duration) -> Status {
        let said = self.board.said();
        let is_same = |said: &mut Said| said.status == *status && said.warnings.is_empty();
        let waited = self.board.changed.wait_timeout_while(said, timeout, is_same);
        waited.unwrap_or_else(PoisonError::into_inner).0.status.clone()
    }

    /// What a person should know and has not been told yet.
    pub fn take_warnings(&self) -> Vec<String> {
        std::mem::take(&mut self.board.said().warnings)
    }
}
