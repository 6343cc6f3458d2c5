//! A server from its settings to its end.

use std::io;
use std::path::PathBuf;
use std::sync::Arc;
use std::sync::mpsc::{Receiver, channel};

use outlast_engine::{EngineError, RunControl, RunProgress, Scenario, check_name};
use outlast_units::Nanos;
use thiserror::Error;

use crate::clock::{Clock, ClockMode};
use crate::handle::{Board, Facts, Message, ServerHandle, Status};
use crate::image::{Image, ImageError, ImageOptions};
use crate::machine::Machine;
use crate::nbd::Nbd;
use crate::net::{Listen, ListenError, Listener, Poller};
use crate::protocol::{OfferError, WireProtocol};
use crate::service::Service;
use crate::session::{Backend, Door, Front};
use crate::store::ContentsIn;
use crate::tls::{Encryption, TlsConfig, TlsError, TlsPolicy};
use crate::turns::Turns;

/// What to serve and how.
#[derive(Clone, Debug)]
pub struct ServeConfig {
    /// The drive or array, and how it is prepared. What its workload asks is not run. May be absent where the image is there already.
    pub scenario: Option<Scenario>,
    /// Where the machine is kept beyond the server's end; absent: nowhere.
    pub image: Option<ImageConfig>,
    /// Where the machine's bytes are: if on disk, in the folder of its image, or of the system's temporary files.
    pub contents: ContentsIn,
    /// Where clients come in.
    pub listen: Listen,
    /// Whether others than this machine may come in although they need not encrypt.
    pub insecure: bool,
    /// What sessions are encrypted with, if they may be.
    pub tls: Option<TlsConfig>,
    /// How time goes.
    pub clock: ClockMode,
    /// Whether the loop stays awake for the last microseconds before something is due: later by less, at the cost of a processor.
    pub spin: bool,
    /// The name of the export, by default the scenario's; clients that give none get it, too.
    pub export: Option<String>,
}

/// Where a machine is kept, and how.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ImageConfig {
    /// The folder of the image, which is made if there is none.
    pub folder: PathBuf,
    /// How it is opened.
    pub options: ImageOptions,
    /// Serves the machine as it was then, with what was under way; nothing is kept of what becomes of it, and the image stays as it is.
    pub at: Option<Nanos>,
}

/// Why nothing can be served.
#[derive(Debug, Error)]
pub enum ServeError {
    /// Nobody can listen there.
    #[error(transparent)]
    Listen(#[from] ListenError),
    /// Nothing can be encrypted.
    #[error(transparent)]
    Tls(#[from] TlsError),
    /// What the system says.
    #[error("serving: {0}")]
    System(#[from] io::Error),
    /// The machine cannot be built.
    #[error(transparent)]
    Engine(#[from] EngineError),
    /// The image cannot be opened.
    #[error(transparent)]
    Image(#[from] ImageError),
    /// Neither a scenario nor an image.
    #[error("name a scenario, or an image that is there already")]
    Nothing,
    /// The export cannot be one.
    #[error("--export: {0}")]
    Export(#[from] OfferError),
}

/// A server that listens and does not serve yet.
#[derive(Debug)]
pub struct Server {
    config: ServeConfig,
    export: String,
    doors: Vec<Door>,
    tls: Option<Encryption>,
    poller: Poller,
    messages: Receiver<Message>,
    board: Arc<Board>,
}

impl Server {
    /// Listens: who connects waits until [`Server::run`] has a machine to serve.
    ///
    /// # Errors
    /// Nobody can listen there.
    pub fn new(config: ServeConfig) -> Result<(Self, ServerHandle), ServeError> {
        let policy = config.tls.as_ref().map(|tls| tls.policy);
        let protocol: Box<dyn WireProtocol> = Box::new(Nbd::new(policy));
        let doors = vec![(config.listen.clone(), protocol)];
        Self::with_doors(config, doors)
    }

    /// Listens as [`Server::new`] does, at these places in these protocols, at least one.
    pub(crate) fn with_doors(
        config: ServeConfig,
        doors: Vec<(Listen, Box<dyn WireProtocol>)>,
    ) -> Result<(Self, ServerHandle), ServeError> {
        let is_secure = config.tls.as_ref().is_some_and(|tls| tls.policy == TlsPolicy::Require);
        for (listen, _) in &doors {
            listen.check(config.insecure || is_secure)?;
        }
        let tls = config.tls.as_ref().map(Encryption::load).transpose()?;
        let export = match (&config.export, &config.scenario, &config.image) {
            (Some(name), _, _) => name.clone(),
            (None, Some(scenario), _) => scenario.name.clone(),
            (None, None, Some(image)) => Image::scenario(&image.folder)?.name,
            (None, None, None) => return Err(ServeError::Nothing),
        };
        check_name("export", &export).map_err(EngineError::from)?;
        let bind = |(listen, protocol)| Ok(Door { listener: Listener::bind(&listen)?, protocol });
        let doors = doors.into_iter().map(bind).collect::<Result<Vec<Door>, ListenError>>()?;
        let poller = Poller::new()?;
        let (sender, messages) = channel();
        let board = Arc::new(Board::new());
        let handle = ServerHandle {
            messages: sender,
            waker: poller.waker(),
            board: board.clone(),
            uri: doors[0].uri(&export).into(),
        };
        Ok((Self { config, export, doors, tls, poller, messages, board }, handle))
    }

    /// Serves until it is told to stop, on this thread.
    ///
    /// # Errors
    /// The machine cannot be built, or the system fails.
    pub fn run(self) -> Result<(), ServeError> {
        let board = self.board.clone();
        let done = self.serve();
        board.set(Status::Ended(done.as_ref().err().map(ToString::to_string)));
        done
    }

    fn serve(self) -> Result<(), ServeError> {
        let Self { config, export, doors, tls, poller, messages, board } = self;
        let mut progress = |now: &RunProgress| {
            board.set(Status::Preparing((now.fraction.unwrap_or(0.0) * 100.0) as u8));
            if board.is_asked() { RunControl::Stop } else { RunControl::Continue }
        };
        let scenario = config.scenario.as_ref();
        let opened = match &config.image {
            Some(ImageConfig { folder, at: Some(at), .. }) => {
                Image::as_it_was(folder, *at, config.contents, &mut progress)?.map(|machine| (None, machine))
            }
            Some(ImageConfig { folder, options, at: None }) => {
                let options = ImageOptions { contents: config.contents, ..*options };
                let opened = Image::open(folder, scenario, options, &mut progress)?;
                opened.map(|(image, machine)| (Some(Box::new(image)), machine))
            }
            None => {
                let store = config.contents.store(&std::env::temp_dir())?;
                let mut machine = Machine::prepare(scenario.ok_or(ServeError::Nothing)?, &mut progress)?;
                if let (Some(machine), Some(store)) = (&mut machine, store) {
                    machine.keep_contents_in(store);
                }
                machine.map(|machine| (None, machine))
            }
        };
        let Some((image, machine)) = opened else { return Ok(()) };
        let found = image.as_ref().map(|image| image.found());
        let start = machine.now();
        let facts = Facts {
            model: machine.identify().model,
            capacity: machine.identify().capacity.0,
            dies_it_can_lose: machine.dies_it_can_lose(),
            data_survives: Some(machine.data_survives()),
            is_array: machine.scenario().array.is_some(),
            uris: doors.iter().map(|door| door.uri(&export)).collect(),
            found,
        };
        let clock = Clock::new(config.clock, start);
        let work = Service::new(export, machine, image, clock)?;
        let mut front = Front::new(doors, tls, &poller)?;
        front.offer(work.offer())?;
        board.set(Status::Serving(facts));
        Turns { work, front, poller, messages, spins: config.spin }.run(|warning| board.warn(warning))?;
        Ok(())
    }

    /// As [`Server::new`] and [`Server::run`] on a thread of its own.
    ///
    /// # Errors
    /// Those of [`Server::new`]; what comes later is in the handle's status.
    pub fn start(config: ServeConfig) -> Result<ServerHandle, ServeError> {
        let (server, handle) = Self::new(config)?;
        let thread = std::thread::Builder::new().name("serve".to_owned());
        thread.spawn(move || server.run().is_ok())?;
        Ok(handle)
    }
}
