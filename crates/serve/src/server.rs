//! A server, from its settings to its end.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};

use outlast_engine::{EngineError, RunControl, RunProgress, Scenario};
use outlast_units::Nanos;
use thiserror::Error;

use crate::clock::{ClockMode, ServiceClock};
use crate::device::ServedDevice;
use crate::exports::check_plain;
use crate::handle::{ControlMessage, ServerFacts, ServerHandle, ServerStatus, StatusBoard};
use crate::image::{DeviceImage, ImageError, ImageOptions};
use crate::nbd::NbdProtocol;
use crate::net::{ClientListener, ListenAddress, ListenError, SocketPoller};
use crate::nvme::NvmeProtocol;
use crate::protocol::{OfferError, WireProtocol};
use crate::service::DeviceService;
use crate::service_loop::ServiceLoop;
use crate::session::{ClientSessions, ProtocolListener, SessionBackend};
use crate::store::ContentsIn;
use crate::tls::{SessionEncryption, TlsConfig, TlsError, TlsPolicy};

/// Settings of a server.
#[derive(Clone, Debug)]
pub struct ServeConfig {
    /// Drive or array, and its preparation. Its workload is not run. Optional if the image exists.
    pub scenario: Option<Scenario>,
    /// Image in which the device is kept beyond the end of the server; absent if it is not.
    pub image: Option<ImageConfig>,
    /// Storage of the device's bytes: memory, or a file in the folder of the image or of temporary files.
    pub contents: ContentsIn,
    /// Address at which the server listens.
    pub listen: ListenAddress,
    /// Address at which hosts connect by `NVMe/TCP`, too; absent if they do not.
    pub nvme: Option<ListenAddress>,
    /// Allows clients of other computers without encryption.
    pub insecure: bool,
    /// Certificates, if sessions may be encrypted.
    pub tls: Option<TlsConfig>,
    /// Course of simulated time.
    pub clock: ClockMode,
    /// Keeps the loop awake for the last microseconds before a deadline: replies are more punctual, and a processor is busy.
    pub spin: bool,
    /// Name of the export, by default that of the scenario. Also the default export of clients.
    pub export: Option<String>,
}

/// Image in which a device is kept.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageConfig {
    /// Folder of the image, created if absent.
    pub folder: PathBuf,
    /// Options of the image.
    pub options: ImageOptions,
    /// Serves the device as it was at this time, with the commands that were under way; changes are not kept.
    pub at: Option<Nanos>,
}

/// Reason for which nothing can be served.
#[derive(Debug, Error)]
pub enum ServeError {
    /// The address cannot be used.
    #[error("--listen {0}")]
    Listen(#[from] ListenError),
    /// The address for `NVMe/TCP` cannot be used.
    #[error("--nvme {0}")]
    NvmeListen(ListenError),
    /// `NVMe/TCP` is not encrypted, and clients must encrypt.
    #[error(
        "--nvme: sessions of NVMe/TCP are not encrypted; with --tls-cert, add --tls offer, which allows that"
    )]
    NvmeInPlainText,
    /// Sessions cannot be encrypted.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// Failure of a system call.
    #[error("serving: {0}")]
    System(#[from] io::Error),
    /// The device cannot be built.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The image cannot be opened.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// Neither a scenario nor an image is given.
    #[error("name a scenario, or an image that is there already")]
    Nothing,
    /// The export cannot be offered.
    #[error("--export: {0}")]
    Export(#[from] OfferError),
}

/// A server that listens, and does not serve yet.
#[derive(Debug)]
pub struct DeviceServer {
    config: ServeConfig,
    export: String,
    listeners: Vec<ProtocolListener>,
    tls: Option<SessionEncryption>,
    poller: SocketPoller,
    messages: Receiver<ControlMessage>,
    board: Arc<StatusBoard>,
}

impl DeviceServer {
    /// Begins to listen. Clients that connect wait until [`DeviceServer::run`] has a device to serve.
    ///
    /// # Errors
    /// The address cannot be used, or a setting is wrong.
    pub fn new(config: ServeConfig) -> Result<(Self, ServerHandle), ServeError> {
        let policy = config.tls.as_ref().map(|tls| tls.policy);
        let protocol: Box<dyn WireProtocol> = Box::new(NbdProtocol::new(policy));
        let mut listeners = vec![(config.listen.clone(), protocol)];
        if let Some(nvme) = &config.nvme {
            nvme.check(config.insecure).map_err(ServeError::NvmeListen)?;
            listeners.push((nvme.clone(), Box::new(NvmeProtocol::default())));
        }
        Self::with_listeners(config, listeners)
    }

    /// Listens as [`DeviceServer::new`] does, at these addresses in these protocols, of which there must be at least one.
    pub(crate) fn with_listeners(
        config: ServeConfig,
        listeners: Vec<(ListenAddress, Box<dyn WireProtocol>)>,
    ) -> Result<(Self, ServerHandle), ServeError> {
        let is_secure = config.tls.as_ref().is_some_and(|tls| tls.policy == TlsPolicy::Require);
        for (listen, protocol) in &listeners {
            if is_secure && !protocol.can_encrypt() {
                return Err(ServeError::NvmeInPlainText);
            }
            listen.check(config.insecure || is_secure)?;
        }
        let tls = config.tls.as_ref().map(SessionEncryption::load).transpose()?;
        // The name must be known before the image is opened, which happens when the server runs.
        let export = match (&config.export, &config.scenario, &config.image) {
            (Some(name), _, _) => name.clone(),
            (None, Some(scenario), _) => scenario.name.clone(),
            (None, None, Some(image)) => DeviceImage::scenario(&image.folder)?.name,
            (None, None, None) => return Err(ServeError::Nothing),
        };
        check_plain("export", &export).map_err(EngineError::from)?;
        let bind = |(listen, protocol): (ListenAddress, Box<dyn WireProtocol>)| {
            let refused = if protocol.can_encrypt() { ServeError::Listen } else { ServeError::NvmeListen };
            let socket = ClientListener::bind(&listen).map_err(refused)?;
            Ok(ProtocolListener { socket, protocol })
        };
        let listeners =
            listeners.into_iter().map(bind).collect::<Result<Vec<ProtocolListener>, ServeError>>()?;
        let poller = SocketPoller::new()?;
        let (sender, messages) = channel();
        let board = Arc::new(StatusBoard::new());
        let handle = ServerHandle {
            messages: sender,
            waker: poller.waker(),
            board: board.clone(),
            uri: listeners[0].uri(&export).into(),
            // The door for NVMe/TCP comes last.
            nvme_uri: config
                .nvme
                .as_ref()
                .and_then(|_| listeners.last())
                .map(|door| door.uri(&export).into()),
        };
        Ok((Self { config, export, listeners, tls, poller, messages, board }, handle))
    }

    /// Serves on this thread until a message asks to stop.
    ///
    /// # Errors
    /// The device cannot be built, or a system call fails.
    pub fn run(self) -> Result<(), ServeError> {
        let board = self.board.clone();
        let done = self.serve();
        board.set(ServerStatus::Ended(done.as_ref().err().map(ToString::to_string)));
        done
    }

    fn serve(self) -> Result<(), ServeError> {
        let Self { config, export, listeners, tls, poller, messages, board } = self;
        let mut progress = |now: &RunProgress| {
            board.set(ServerStatus::Preparing((now.fraction.unwrap_or(0.0) * 100.0) as u8));
            if board.is_stop_requested() { RunControl::Stop } else { RunControl::Continue }
        };
        let scenario = config.scenario.as_ref();
        // Three origins of the device: an image at an earlier time, an image to be continued, or the scenario
        // alone.
        let opened = match &config.image {
            Some(ImageConfig { folder, at: Some(at), .. }) => {
                DeviceImage::device_at(folder, *at, config.contents, &mut progress)?
                    .map(|device| (None, device))
            }
            Some(ImageConfig { folder, options, at: None }) => {
                let options = ImageOptions { contents: config.contents, ..*options };
                let opened = DeviceImage::open(folder, scenario, options, &mut progress)?;
                opened.map(|(image, device)| (Some(Box::new(image)), device))
            }
            None => {
                let store = config.contents.store(&std::env::temp_dir())?;
                let mut device = ServedDevice::prepare(scenario.ok_or(ServeError::Nothing)?, &mut progress)?;
                if let (Some(device), Some(store)) = (&mut device, store) {
                    device.keep_contents_in(store);
                }
                device.map(|device| (None, device))
            }
        };
        let Some((image, device)) = opened else { return Ok(()) };
        let opening = image.as_ref().map(|image| image.opening_report());
        let start = device.now();
        let facts = ServerFacts {
            model: device.identify().model,
            capacity: device.identify().capacity.0,
            dies_it_can_lose: device.dies_it_can_lose(),
            data_survives: Some(device.data_survives()),
            is_array: device.scenario().array.is_some(),
            uris: listeners.iter().map(|door| door.uri(&export)).collect(),
            opening,
        };
        let clock = ServiceClock::new(config.clock, start);
        let service = DeviceService::new(export, device, image, clock)?;
        let mut clients = ClientSessions::new(listeners, tls, &poller)?;
        clients.offer(service.offer())?;
        board.set(ServerStatus::Serving(facts));
        ServiceLoop { service, clients, poller, messages, spins: config.spin, news: Vec::new() }
            .run(|warning| board.warn(warning))?;
        Ok(())
    }

    /// Starts [`DeviceServer::new`] and [`DeviceServer::run`] on a thread of its own.
    ///
    /// # Errors
    /// Those of [`DeviceServer::new`]; later errors are in the status of the handle.
    pub fn start(config: ServeConfig) -> Result<ServerHandle, ServeError> {
        let (server, handle) = Self::new(config)?;
        let thread = std::thread::Builder::new().name("serve".to_owned());
        thread.spawn(move || server.run().is_ok())?;
        Ok(handle)
    }
}
