//! Controllers of a target, which its queues share.

use std::collections::BTreeMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use crate::events::{ErrorLog, EventQueue};
use crate::fabrics::{self, ConnectRequest, RefusedConnect};
use crate::facts::{DISCOVERY_NQN, IO_QUEUES, PortFacts, SubsystemFacts};
use crate::features::ControllerFeatures;
use crate::lba_status::LbaStatusLog;
use crate::placement_events::PlacementEventLog;
use crate::properties::ControllerProperties;
use crate::status::NvmeStatus;

/// Highest identifier of a controller; those above are reserved.
const LAST_CONTROLLER: u16 = 0xFFEF;
/// Identifier by which a host asks for any controller.
const ANY_CONTROLLER: u16 = 0xFFFF;

/// A controller, which one host has.
#[derive(Debug)]
pub(crate) struct HostController {
    /// The subsystem; `None` for the discovery service.
    pub(crate) facts: Option<Arc<SubsystemFacts>>,
    host: String,
    host_id: [u8; 16],
    pub(crate) properties: ControllerProperties,
    pub(crate) features: ControllerFeatures,
    pub(crate) events: EventQueue,
    pub(crate) errors: ErrorLog,
    /// Connected I/O queues, as a bit map: bit n for queue n.
    pub(crate) queues: u32,
    /// Number of this controller among all that there ever were; changes when it is reset.
    pub(crate) birth: u64,
}

/// A controller, and which of those that have had its identifier.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) struct ControllerKey {
    pub(crate) id: u16,
    birth: u64,
}

#[derive(Debug, Default)]
struct TargetState {
    controllers: BTreeMap<u16, HostController>,
    births: u64,
    /// What the hosts of a subsystem share, by its name.
    shared: BTreeMap<String, SharedLogs>,
}

/// Logs of a subsystem, which all its hosts share.
#[derive(Clone, Debug, Default)]
pub(crate) struct SharedLogs {
    pub(crate) placement: PlacementEventLog,
    pub(crate) lba_status: LbaStatusLog,
}

/// Subsystems that a target offers to hosts that connect now, and where.
#[derive(Clone, Debug, Default)]
pub struct TargetOffer {
    /// Subsystems, each with a name of its own.
    pub subsystems: Arc<Vec<SubsystemFacts>>,
    /// The port at which a host has connected.
    pub port: PortFacts,
    /// Number of changes of the subsystems so far.
    pub generation: u64,
}

/// All controllers of a target. Cheap to clone; clones share them.
#[derive(Clone, Debug, Default)]
pub struct NvmeTarget(Arc<Mutex<TargetState>>);

/// A queue that Connect has made.
#[derive(Debug)]
pub(crate) struct ConnectedQueue {
    pub(crate) key: ControllerKey,
    /// The subsystem and its place in the offer; `None` for the discovery service.
    pub(crate) facts: Option<(usize, Arc<SubsystemFacts>)>,
}

impl NvmeTarget {
    /// A target without controllers.
    pub fn new() -> Self {
        Self::default()
    }

    /// Number of controllers.
    pub fn controllers(&self) -> usize {
        self.state().controllers.len()
    }

    fn state(&self) -> MutexGuard<'_, TargetState> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }

    /// Carries out a Connect.
    pub(crate) fn connect(
        &self,
        request: &ConnectRequest,
        offer: &TargetOffer,
    ) -> Result<ConnectedQueue, RefusedConnect> {
        let place = offer.subsystems.iter().position(|facts| facts.nqn == request.subsystem);
        let facts = place.map(|place| (place, Arc::new(offer.subsystems[place].clone())));
        if facts.is_none() && request.subsystem != DISCOVERY_NQN {
            return Err((NvmeStatus::CONNECT_NO_SUBSYSTEM, fabrics::SUBSYSTEM_NAME));
        }
        let mut state = self.state();
        let key = if request.queue == 0 {
            state.create(request, facts.as_ref().map(|(_, facts)| facts.clone()))?
        } else {
            state.add_queue(request, facts.as_ref().map(|(_, facts)| &**facts))?
        };
        Ok(ConnectedQueue { key, facts })
    }

    /// Calls `work` with a controller; `None` if it is gone or was reset.
    pub(crate) fn with<T>(
        &self,
        key: ControllerKey,
        work: impl FnOnce(&mut HostController) -> T,
    ) -> Option<T> {
        let mut state = self.state();
        state.controllers.get_mut(&key.id).filter(|controller| controller.birth == key.birth).map(work)
    }

    /// Calls `work` with the logs of a controller's subsystem; `None` if the controller is gone or was reset.
    pub(crate) fn with_logs<T>(
        &self,
        key: ControllerKey,
        work: impl FnOnce(&mut SharedLogs) -> T,
    ) -> Option<T> {
        let mut state = self.state();
        let controller = state.controllers.get(&key.id).filter(|controller| controller.birth == key.birth)?;
        let name = controller.facts.as_ref()?.nqn.clone();
        Some(work(state.shared.entry(name).or_default()))
    }

    /// Gives a controller that a host has reset another birth, so that its I/O queues are those of no controller any more.
    pub(crate) fn reset(&self, key: ControllerKey) -> ControllerKey {
        let mut state = self.state();
        state.births += 1;
        let birth = state.births;
        if let Some(controller) = state.controllers.get_mut(&key.id).filter(|one| one.birth == key.birth) {
            controller.birth = birth;
            controller.queues = 0;
            controller.features = ControllerFeatures::new(controller.features.keep_alive());
            controller.events = EventQueue::default();
        }
        ControllerKey { id: key.id, birth }
    }

    /// Notes that a queue is gone; the controller goes with its admin queue.
    pub(crate) fn leave(&self, key: ControllerKey, queue: u16) {
        if queue == 0 {
            let mut state = self.state();
            if state.controllers.get(&key.id).is_some_and(|controller| controller.birth == key.birth) {
                state.controllers.remove(&key.id);
            }
        } else {
            self.with(key, |controller| controller.queues &= !(1 << queue));
        }
    }
}

impl TargetState {
    /// Makes a controller for a host that connects an admin queue.
    fn create(
        &mut self,
        request: &ConnectRequest,
        facts: Option<Arc<SubsystemFacts>>,
    ) -> Result<ControllerKey, RefusedConnect> {
        // Controllers are dynamic: which one a host gets is not its choice.
        if request.controller != ANY_CONTROLLER {
            return Err(fabrics::wrong(fabrics::CONTROLLER_ID));
        }
        let id = (1..=LAST_CONTROLLER).find(|id| !self.controllers.contains_key(id));
        let id = id.ok_or((NvmeStatus::INTERNAL, 0))?;
        self.births += 1;
        let controller = HostController {
            facts,
            host: request.host.clone(),
            host_id: request.host_id,
            properties: ControllerProperties::default(),
            features: ControllerFeatures::new(request.keep_alive),
            events: EventQueue::default(),
            errors: ErrorLog::default(),
            queues: 0,
            birth: self.births,
        };
        self.controllers.insert(id, controller);
        Ok(ControllerKey { id, birth: self.births })
    }

    /// Adds an I/O queue to the controller that its host has.
    fn add_queue(
        &mut self,
        request: &ConnectRequest,
        facts: Option<&SubsystemFacts>,
    ) -> Result<ControllerKey, RefusedConnect> {
        let controller = self
            .controllers
            .get_mut(&request.controller)
            .ok_or_else(|| fabrics::wrong(fabrics::CONTROLLER_ID))?;
        let own = controller.facts.as_ref().map(|own| &own.nqn);
        if own.is_none() || own != facts.map(|facts| &facts.nqn) {
            return Err(fabrics::wrong(fabrics::SUBSYSTEM_NAME));
        }
        if controller.host != request.host {
            return Err(fabrics::wrong(fabrics::HOST_NAME));
        }
        if controller.host_id != request.host_id {
            return Err(fabrics::wrong(fabrics::HOST_ID));
        }
        if request.queue > IO_QUEUES {
            return Err(fabrics::wrong(fabrics::QUEUE_ID));
        }
        if !controller.properties.is_ready() {
            return Err((NvmeStatus::SEQUENCE_ERROR, 0));
        }
        if controller.queues & (1 << request.queue) != 0 {
            return Err((NvmeStatus::SEQUENCE_ERROR, 0));
        }
        controller.queues |= 1 << request.queue;
        Ok(ControllerKey { id: request.controller, birth: controller.birth })
    }
}
