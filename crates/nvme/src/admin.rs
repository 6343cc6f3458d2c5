//! Administration commands (Base Specification 1.4, section 5).

use crate::device::HealthLogPage;
use crate::directives;
use crate::entry::SubmissionEntry;
use crate::facts::{ALL_NAMESPACES, NamespaceFacts, SubsystemFacts};
use crate::features;
use crate::identify::{self, IDENTIFY_BYTES};
use crate::lba_status::LbaStatusRequest;
use crate::log_pages::{self, LogRequest};
use crate::placement;
use crate::placement_features;
use crate::plan::{CommandPlan, PlanEnd, PlannedOp, PlannedRequest};
use crate::queue::DataTransfer;
use crate::status::NvmeStatus;
use crate::target::{HostController, TargetOffer};
use crate::zone_reports;

const GET_LOG_PAGE: u8 = 0x02;
const IDENTIFY: u8 = 0x06;
const ABORT: u8 = 0x08;
const SET_FEATURES: u8 = 0x09;
const GET_FEATURES: u8 = 0x0A;
pub(crate) const EVENT_REQUEST: u8 = 0x0C;
const KEEP_ALIVE: u8 = 0x18;
const GET_LBA_STATUS: u8 = 0x86;

/// Supported opcodes.
const OPCODES: [u8; 8] =
    [GET_LOG_PAGE, IDENTIFY, ABORT, SET_FEATURES, GET_FEATURES, EVENT_REQUEST, KEEP_ALIVE, GET_LBA_STATUS];
/// Those that flexible data placement needs.
const PLACEMENT_OPCODES: [u8; 2] = [directives::SEND, directives::RECEIVE];
/// Those of the discovery service.
const DISCOVERY_OPCODES: [u8; 6] =
    [GET_LOG_PAGE, IDENTIFY, SET_FEATURES, GET_FEATURES, EVENT_REQUEST, KEEP_ALIVE];

/// Features that are none of the discovery service's: those of I/O queues and of a medium.
const IO_FEATURES: [u8; 9] = [0x01, 0x02, 0x03, 0x04, 0x05, 0x06, 0x07, 0x0A, 0x15];

/// Log pages of the whole controller, of which no namespace has one of its own.
const CONTROLLER_LOGS: [u8; 7] = [
    log_pages::ERRORS,
    log_pages::HEALTH,
    log_pages::FIRMWARE,
    log_pages::CHANGED_NAMESPACES,
    log_pages::EFFECTS,
    log_pages::LBA_STATUS,
    log_pages::EXTENDED_HEALTH,
];

/// The feature I/O Command Set Profile, which combination of command sets is enabled.
const COMMAND_SETS: u8 = 0x19;

/// Longest piece of a question for lost blocks, in bytes: the answer takes time of the server, in which others wait.
const LOST_STEP: u64 = 1 << 30;

/// What a command comes to.
#[derive(Debug)]
pub(crate) enum AdminStep {
    /// The end: a result, and data.
    Done(u64, Vec<u8>),
    /// Requests to the device.
    Device(CommandPlan),
    /// An event will end it.
    Event,
}

/// Opcodes that a subsystem supports.
pub(crate) fn opcodes(facts: &SubsystemFacts) -> impl Iterator<Item = u8> + use<> {
    let further: &[u8] = if facts.placement.is_some() { &PLACEMENT_OPCODES } else { &[] };
    OPCODES.iter().chain(further).copied()
}

/// Data that a command moves; `facts` are those of its subsystem, `None` for the discovery service.
pub(crate) fn transfer(
    entry: &SubmissionEntry,
    facts: Option<&SubsystemFacts>,
) -> Result<DataTransfer, NvmeStatus> {
    let is_known = facts.map_or(DISCOVERY_OPCODES.contains(&entry.opcode()), |facts| {
        opcodes(facts).any(|known| known == entry.opcode())
    });
    if !is_known {
        return Err(NvmeStatus::INVALID_OPCODE);
    }
    let has_types = entry.dword(10) as u8 == placement_features::EVENTS && facts.is_some();
    Ok(match entry.opcode() {
        SET_FEATURES if has_types => DataTransfer::FromHost(placement_features::types_room(entry)),
        GET_FEATURES if has_types => DataTransfer::ToHost(placement_features::types_room(entry)),
        directives::RECEIVE => DataTransfer::ToHost(directives::room(entry)?),
        GET_LOG_PAGE => DataTransfer::ToHost(LogRequest::read(entry)?.length as u32),
        IDENTIFY => DataTransfer::ToHost(IDENTIFY_BYTES as u32),
        GET_LBA_STATUS => DataTransfer::ToHost(LbaStatusRequest::room(entry)? as u32),
        _ => DataTransfer::None,
    })
}

/// Carries a command out, as far as it needs no device.
pub(crate) fn begin(
    entry: &SubmissionEntry,
    data: &[u8],
    id: u16,
    controller: &mut HostController,
    offer: &TargetOffer,
) -> Result<AdminStep, NvmeStatus> {
    let facts = controller.facts.clone();
    match entry.opcode() {
        IDENTIFY => {
            let has_all_sets = controller.properties.has_all_sets();
            identify(entry, id, facts.as_deref(), has_all_sets).map(|page| AdminStep::Done(0, page))
        }
        GET_LOG_PAGE => log_page(entry, facts.as_deref(), controller, offer),
        // The command goes on: none is aborted.
        ABORT => Ok(AdminStep::Done(1, Vec::new())),
        directives::RECEIVE => {
            let facts = facts.ok_or(NvmeStatus::INVALID_OPCODE)?;
            directives::receive(entry, &facts).map(|page| AdminStep::Done(0, page))
        }
        directives::SEND => Err(NvmeStatus::INVALID_FIELD),
        SET_FEATURES | GET_FEATURES => feature(entry, data, facts.as_deref(), controller),
        EVENT_REQUEST => Ok(AdminStep::Event),
        KEEP_ALIVE => Ok(AdminStep::Done(0, Vec::new())),
        GET_LBA_STATUS => lba_status(entry, facts.as_deref()).map(AdminStep::Device),
        _ => Err(NvmeStatus::INVALID_OPCODE),
    }
}

/// Gets or sets a feature.
fn feature(
    entry: &SubmissionEntry,
    data: &[u8],
    facts: Option<&SubsystemFacts>,
    controller: &mut HostController,
) -> Result<AdminStep, NvmeStatus> {
    let (feature, value) = (entry.dword(10) as u8, entry.dword(11));
    let is_set = entry.opcode() == SET_FEATURES;
    let is_selected = !is_set && entry.dword(10) >> 8 & 7 != 0;
    // Selected values are none of this controller.
    if is_selected || facts.is_none() && IO_FEATURES.contains(&feature) {
        return Err(NvmeStatus::INVALID_FIELD);
    }
    let has_profile = feature == COMMAND_SETS && facts.is_some_and(SubsystemFacts::has_zones);
    let placed =
        facts.filter(|facts| facts.placement.is_some() && placement_features::NUMBERS.contains(&feature));
    if !has_profile && placed.is_none() {
        controller.features.get(feature, 0)?;
    }
    // The configuration of placement is kept in any case.
    if is_set && entry.dword(10) >> 31 != 0 && feature != placement_features::PLACEMENT {
        return Err(NvmeStatus::FEATURE_NOT_SAVEABLE);
    }
    if let Some(facts) = placed {
        return placement_features::work(entry, data, facts, is_set);
    }
    check_scope(entry, facts, is_set)?;
    let result = if has_profile {
        // There is one combination, of index 0.
        if is_set && value & 0x1FF != 0 {
            return Err(NvmeStatus::COMBINATION_REJECTED);
        }
        0
    } else if is_set && feature == features::QUEUES && controller.queues != 0 {
        // How many queues there are is settled before the first of them.
        return Err(NvmeStatus::SEQUENCE_ERROR);
    } else if is_set {
        controller.features.set(feature, value)?
    } else {
        controller.features.get(feature, value)?
    };
    Ok(AdminStep::Done(result.into(), Vec::new()))
}

/// Checks the namespace of a command on a feature: only that of error recovery is one of namespaces, and not of the controller.
fn check_scope(
    entry: &SubmissionEntry,
    facts: Option<&SubsystemFacts>,
    is_set: bool,
) -> Result<(), NvmeStatus> {
    let number = entry.namespace();
    let is_of_namespace = entry.dword(10) as u8 == features::ERROR_RECOVERY;
    let stands_for_all = number == ALL_NAMESPACES && (is_set || !is_of_namespace);
    if stands_for_all || number == 0 && !is_of_namespace {
        return Ok(());
    }
    facts.ok_or(NvmeStatus::INVALID_NAMESPACE)?.namespace(number)?;
    if is_set && !is_of_namespace { Err(NvmeStatus::FEATURE_NOT_OF_NAMESPACE) } else { Ok(()) }
}

/// Carries Identify out. Without `has_all_sets`, namespaces of other command sets than NVM are not there.
fn identify(
    entry: &SubmissionEntry,
    id: u16,
    facts: Option<&SubsystemFacts>,
    has_all_sets: bool,
) -> Result<Vec<u8>, NvmeStatus> {
    let (structure, command_set) = (entry.dword(10) as u8, entry.dword(11) >> 24);
    let Some(facts) = facts else {
        let page = identify::discovery_controller(id, crate::facts::DISCOVERY_NQN, crate::FIRMWARE);
        return if structure == 1 { Ok(page) } else { Err(NvmeStatus::INVALID_FIELD) };
    };
    let (has_zones, is_hidden) = (facts.has_zones(), facts.has_zones() && !has_all_sets);
    let namespace = |page: fn(&NamespaceFacts) -> Vec<u8>| {
        if is_hidden {
            return Err(NvmeStatus::INVALID_COMMAND_SET);
        }
        facts.namespace(entry.namespace()).map(page)
    };
    let list = |after: u32, last: u32| {
        // There is no namespace after the last numbers, and none may be asked for.
        if after >= ALL_NAMESPACES - 1 {
            Err(NvmeStatus::INVALID_NAMESPACE)
        } else {
            Ok(identify::namespace_list(after, last))
        }
    };
    match structure {
        0x00 => namespace(identify::namespace),
        0x01 => Ok(identify::io_controller(id, facts)),
        0x02 => list(entry.namespace(), if is_hidden { 0 } else { facts.last_namespace() }),
        0x03 => namespace(identify::namespace_identifiers),
        // Structures and lists of a command set.
        0x05 if command_set == identify::NVM_COMMAND_SET => namespace(|_| vec![0; IDENTIFY_BYTES]),
        0x06 if command_set == identify::NVM_COMMAND_SET => Ok(identify::nvm_command_set()),
        0x07 if command_set == identify::NVM_COMMAND_SET => {
            list(entry.namespace(), if has_zones { 0 } else { facts.last_namespace() })
        }
        0x05 if has_zones && command_set == identify::ZONED_COMMAND_SET => namespace(zone_reports::namespace),
        0x06 if has_zones && command_set == identify::ZONED_COMMAND_SET => Ok(zone_reports::controller()),
        0x07 if has_zones && command_set == identify::ZONED_COMMAND_SET => {
            list(entry.namespace(), if is_hidden { 0 } else { facts.last_namespace() })
        }
        0x1C if has_zones => Ok(identify::command_sets()),
        0x19 if facts.placement.is_some() => Ok(identify::endurance_groups(entry.dword(11) & 0xFFFF)),
        _ => Err(NvmeStatus::INVALID_FIELD),
    }
}

fn log_page(
    entry: &SubmissionEntry,
    facts: Option<&SubsystemFacts>,
    controller: &mut HostController,
    offer: &TargetOffer,
) -> Result<AdminStep, NvmeStatus> {
    let request = LogRequest::read(entry)?;
    if CONTROLLER_LOGS.contains(&request.page) && !matches!(entry.namespace(), 0 | ALL_NAMESPACES) {
        return Err(if facts.is_some() { NvmeStatus::INVALID_FIELD } else { NvmeStatus::INVALID_LOG_PAGE });
    }
    let page = match (request.page, facts) {
        (log_pages::DISCOVERY, None) => {
            log_pages::discovery(&offer.subsystems, &offer.port, offer.generation)
        }
        (log_pages::ERRORS, Some(_)) => controller.errors.page(),
        (log_pages::HEALTH | log_pages::EXTENDED_HEALTH, Some(_)) => {
            let is_extended = request.page == log_pages::EXTENDED_HEALTH;
            let log = if is_extended { HealthLogPage::Extended } else { HealthLogPage::Smart };
            let requests = [PlannedRequest::whole(PlannedOp::Health(log))];
            let cost = request.length as u64;
            return Ok(AdminStep::Device(CommandPlan::new(requests, PlanEnd::Health(request), cost)));
        }
        (log_pages::FIRMWARE, Some(facts)) => log_pages::firmware(&facts.firmware),
        // Namespaces neither come nor go, nor do they change.
        (log_pages::CHANGED_NAMESPACES, Some(_)) => vec![0; 4096],
        (log_pages::LBA_STATUS, Some(facts)) => {
            let questions =
                facts.namespaces.iter().flat_map(|one| lost_questions(one.offset, one.offset + one.bytes()));
            let (end, cost) = (PlanEnd::LbaStatusLog(request), request.length as u64);
            return Ok(AdminStep::Device(CommandPlan::new(questions, end, cost)));
        }
        (log_pages::EFFECTS, Some(facts)) => log_pages::effects(facts, request.command_set)?,
        (_, Some(facts)) => match placement::log_page(request, facts)? {
            Ok(page) => page,
            Err(plan) => return Ok(AdminStep::Device(plan)),
        },
        _ => return Err(NvmeStatus::INVALID_LOG_PAGE),
    };
    Ok(AdminStep::Done(0, request.part(&page)?))
}

fn lba_status(entry: &SubmissionEntry, facts: Option<&SubsystemFacts>) -> Result<CommandPlan, NvmeStatus> {
    let namespace = facts.ok_or(NvmeStatus::INVALID_NAMESPACE)?.namespace(entry.namespace())?;
    let request = LbaStatusRequest::read(entry, namespace)?;
    let block = u64::from(namespace.block_bytes);
    let from = namespace.offset + request.first * block;
    let end = from + request.blocks * block;
    let room = request.room;
    Ok(CommandPlan::new(lost_questions(from, end), PlanEnd::ListLost { room }, room as u64))
}

/// Questions for lost blocks among the device's bytes `from` to `end`.
fn lost_questions(from: u64, end: u64) -> impl Iterator<Item = PlannedRequest> {
    (from..end).step_by(LOST_STEP as usize).map(move |at| PlannedRequest {
        offset: at,
        length: LOST_STEP.min(end - at),
        op: PlannedOp::LostBlocks,
    })
}
