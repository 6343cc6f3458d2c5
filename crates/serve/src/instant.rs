//! Servers of one export without simulated time, which reply to each request when it arrives.

use std::io;
use std::sync::Arc;
use std::sync::mpsc::channel;
use std::time::Duration;

use serde_json::{Value, json};

use crate::control::{self, ControlReply};
use crate::handle::{ServerFacts, ServerHandle, ServerStatus, StatusBoard};
use crate::loop_service::LoopService;
use crate::nbd::NbdProtocol;
use crate::net::{ClientListener, ListenAddress, SocketPoller};
use crate::protocol::{BlockReply, BlockRequest, DeviceNews, ExportFacts, ExportOffer};
use crate::server::ServeError;
use crate::service_loop::ServiceLoop;
use crate::session::{ClientSessions, ExportTarget, ProtocolListener, RequestOrigin, SessionBackend};

/// A device that replies at once.
pub(crate) trait InstantDevice: Send + 'static {
    /// The reply to a request.
    fn reply_to(&mut self, request: &BlockRequest<'_>) -> BlockReply;

    /// Keeps what requests have changed, before their replies leave.
    ///
    /// # Errors
    /// Changes cannot be kept; no reply may leave.
    fn commit(&mut self) -> io::Result<()>;

    /// Closes the device once no client is left.
    ///
    /// # Errors
    /// Changes cannot be kept.
    fn shut_down(&mut self) -> io::Result<()>;
}

/// Serves `device` as `export` on a thread of its own.
///
/// # Errors
/// Nothing can listen at the address.
pub(crate) fn serve(
    listen: &ListenAddress,
    export: ExportFacts,
    device: impl InstantDevice,
) -> Result<ServerHandle, ServeError> {
    listen.check(false)?;
    let (listener, poller) = (ClientListener::bind(listen)?, SocketPoller::new()?);
    let listener = ProtocolListener { socket: listener, protocol: Box::new(NbdProtocol::new(None)) };
    let facts = ServerFacts {
        model: export.description.clone(),
        capacity: export.size.0,
        dies_it_can_lose: 0,
        data_survives: None,
        is_array: false,
        uris: vec![listener.uri(&export.name)],
        opening: None,
    };
    let (messages, receiver) = channel();
    let (board, waker) = (Arc::new(StatusBoard::new()), poller.waker());
    let handle = ServerHandle {
        messages,
        waker,
        board: board.clone(),
        uri: facts.uris[0].as_str().into(),
        nvme_uri: None,
    };
    let offer = Arc::new(ExportOffer::new(vec![export])?);
    let mut clients = ClientSessions::new(vec![listener], None, &poller)?;
    clients.offer(&offer)?;
    let service = InstantService { offer, device, replies: Vec::new() };
    board.set(ServerStatus::Serving(facts));
    let mut service_loop =
        ServiceLoop { service, clients, poller, messages: receiver, spins: false, news: Vec::new() };
    let thread = std::thread::Builder::new().name("serve".to_owned());
    thread.spawn(move || {
        let done = service_loop.run(|warning| board.warn(warning));
        // The device may hold files open, such as a recording: they are closed before the end is reported.
        drop(service_loop);
        board.set(ServerStatus::Ended(done.err().map(|error| error.to_string())));
    })?;
    Ok(handle)
}

/// An [`InstantDevice`] behind the loop.
struct InstantService<D> {
    offer: Arc<ExportOffer>,
    device: D,
    replies: Vec<(RequestOrigin, BlockReply)>,
}

impl<D: InstantDevice> SessionBackend for InstantService<D> {
    fn offer(&self) -> &Arc<ExportOffer> {
        &self.offer
    }

    fn open(&mut self, _export: &str) -> Option<ExportTarget> {
        Some(ExportTarget::device(0))
    }

    fn request(&mut self, _target: ExportTarget, origin: RequestOrigin, request: &BlockRequest<'_>) {
        let reply = self.device.reply_to(request);
        self.replies.push((origin, reply));
    }
}

impl<D: InstantDevice> LoopService for InstantService<D> {
    fn begin_turn(&mut self) {}

    fn do_due(&mut self) {}

    fn leap(&mut self) {}

    fn needs_leap(&self) -> bool {
        false
    }

    fn next_deadline(&self) -> Option<Duration> {
        None
    }

    fn is_busy(&self) -> bool {
        false
    }

    fn replies(&mut self) -> &mut Vec<(RequestOrigin, BlockReply)> {
        &mut self.replies
    }

    fn take_news(&mut self, _news: &mut Vec<DeviceNews>) {}

    fn commit(&mut self, _has_replies: bool) -> io::Result<()> {
        self.device.commit()
    }

    fn carry_out(
        &mut self,
        request: Value,
        _is_internal: bool,
        clients: &mut ClientSessions,
    ) -> ControlReply {
        let reply = json!({ "ok": { "loop": control::activity(clients), "clients": clients.clients() } });
        ControlReply { stops_server: request["do"] == "stop", reply: Box::new(|| reply) }
    }

    fn maintain(&mut self) -> Option<String> {
        None
    }

    fn resume_time(&mut self) {}

    fn shut_down(&mut self) -> io::Result<()> {
        self.device.shut_down()
    }
}
