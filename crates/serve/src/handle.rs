//! A server, as other threads see it.

use std::sync::atomic::{AtomicBool, Ordering};
use std::sync::mpsc::{Sender, channel};
use std::sync::{Arc, Condvar, Mutex, MutexGuard, PoisonError};
use std::time::Duration;

use serde_json::{Value, json};

use crate::image::OpeningReport;
use crate::net::LoopWaker;

/// Answer of the loop, turned into JSON by the thread that asked, since the loop must not be held up.
pub(crate) type DeferredReply = Box<dyn FnOnce() -> Value + Send>;

/// A request to the loop, with the way back for its answer.
#[derive(Debug)]
pub(crate) struct ControlMessage {
    pub(crate) request: Value,
    /// Set for requests of the program itself, which may do more than those of users.
    pub(crate) is_internal: bool,
    pub(crate) reply: Sender<DeferredReply>,
}

/// Stage of a server.
#[derive(Clone, Debug, PartialEq)]
pub enum ServerStatus {
    /// The device is being built and prepared, done to this percentage; clients that connect wait.
    Preparing(u8),
    /// Clients are served.
    Serving(ServerFacts),
    /// The server has ended: as requested, or with this error of one line.
    Ended(Option<String>),
}

/// Facts about the main device.
#[derive(Clone, Debug, PartialEq)]
pub struct ServerFacts {
    /// Model name.
    pub model: String,
    /// Capacity that clients see, in bytes.
    pub capacity: u64,
    /// Number of dies that a drive, or the worst member of an array, may still lose before it becomes read-only.
    pub dies_it_can_lose: u32,
    /// Number of dies that may fail before data is lost, by the parity of the drive, or of the worst member of an array. Absent for a server without
    /// a drive.
    pub data_survives: Option<u32>,
    /// True for an array, which has redundancy beyond that of its drives.
    pub is_array: bool,
    /// URIs of the device, one for each listener.
    pub uris: Vec<String>,
    /// Facts about the image when it was opened, if there is one.
    pub opening: Option<OpeningReport>,
}

/// Status of the loop for other threads.
#[derive(Debug)]
pub(crate) struct StatusBoard {
    posted: Mutex<PostedStatus>,
    changed: Condvar,
    /// Set once the server is asked to end.
    stop_requested: AtomicBool,
}

#[derive(Debug)]
struct PostedStatus {
    status: ServerStatus,
    warnings: Vec<String>,
}

impl StatusBoard {
    pub(crate) fn new() -> Self {
        let posted = PostedStatus { status: ServerStatus::Preparing(0), warnings: Vec::new() };
        Self { posted: Mutex::new(posted), changed: Condvar::new(), stop_requested: AtomicBool::new(false) }
    }

    fn posted(&self) -> MutexGuard<'_, PostedStatus> {
        self.posted.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(crate) fn set(&self, status: ServerStatus) {
        self.posted().status = status;
        self.changed.notify_all();
    }

    /// True if the server is asked to end.
    pub(crate) fn is_stop_requested(&self) -> bool {
        self.stop_requested.load(Ordering::Relaxed)
    }

    pub(crate) fn warn(&self, warning: String) {
        self.posted().warnings.push(warning);
        self.changed.notify_all();
    }
}

/// Access to a server from any thread. Cheap to clone; dropping it does not stop the server.
#[derive(Clone, Debug)]
pub struct ServerHandle {
    pub(crate) messages: Sender<ControlMessage>,
    pub(crate) waker: LoopWaker,
    pub(crate) board: Arc<StatusBoard>,
    pub(crate) uri: Arc<str>,
    /// URI of the main device for `NVMe/TCP`, if it is served so.
    pub(crate) nvme_uri: Option<Arc<str>>,
}

impl ServerHandle {
    /// Sends a request and waits for the answer, `{"ok": …}` or `{"error": "one line"}`. The loop carries it out between two turns, at the simulated
    /// time of the next; while the device is being prepared, the request waits.
    pub fn request(&self, request: Value) -> Value {
        self.ask(request, false)
    }

    /// Records a mark of the program itself, such as the start of a recording. Users cannot record marks with the same prefix.
    pub fn note(&self, text: &str) -> Value {
        self.ask(json!({ "do": "mark", "text": text }), true)
    }

    fn ask(&self, request: Value, is_internal: bool) -> Value {
        let ended_reply = || json!({ "error": "the server has ended" });
        let (reply, answer) = channel();
        if self.messages.send(ControlMessage { request, is_internal, reply }).is_err() {
            return ended_reply();
        }
        self.waker.wake();
        answer.recv().map_or_else(|_| ended_reply(), |reply| reply())
    }

    /// URI of the main device.
    pub fn uri(&self) -> &str {
        &self.uri
    }

    /// URI of the main device for `NVMe/TCP`, if it is served so.
    pub fn nvme_uri(&self) -> Option<&str> {
        self.nvme_uri.as_deref()
    }

    /// Asks the server to end: requests under way are answered, and the device is shut down as by a host. Returns at once.
    pub fn stop(&self) {
        // The flag stops a preparation, the message a running loop.
        self.board.stop_requested.store(true, Ordering::Relaxed);
        let (reply, _) = channel();
        // Sending fails if the server has ended, which is what was asked for.
        let _ =
            self.messages.send(ControlMessage { request: json!({ "do": "stop" }), is_internal: true, reply });
        self.waker.wake();
    }

    /// Reports the end of a server that could not do so itself, such as after a panic. Called by the thread that runs a [`crate::DeviceServer`].
    pub fn ended(&self, error: Option<String>) {
        if !matches!(self.status(), ServerStatus::Ended(_)) {
            self.board.set(ServerStatus::Ended(error));
        }
    }

    /// Stage of the server.
    pub fn status(&self) -> ServerStatus {
        self.board.posted().status.clone()
    }

    /// Waits until the stage differs from `status`, there is a warning, or `timeout` has passed; returns the stage.
    pub fn wait(&self, status: &ServerStatus, timeout: Duration) -> ServerStatus {
        let posted = self.board.posted();
        let is_same = |posted: &mut PostedStatus| posted.status == *status && posted.warnings.is_empty();
        let waited = self.board.changed.wait_timeout_while(posted, timeout, is_same);
        waited.unwrap_or_else(PoisonError::into_inner).0.status.clone()
    }

    /// New warnings for the user, each once.
    pub fn take_warnings(&self) -> Vec<String> {
        std::mem::take(&mut self.board.posted().warnings)
    }
}
