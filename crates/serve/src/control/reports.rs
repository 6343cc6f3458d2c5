//! Reports of state, health and figures, as JSON.

use outlast_device::LbaRun;
use outlast_device::extended_health::ExtendedHealth;
use outlast_units::{Lba, SECTOR_BYTES};
use serde_json::{Value, json};

use super::{MAX_EVENTS, SmartFormat};
use outlast_settings::namespace::NamespaceConfig;

use crate::clock::ClockMode;
use crate::device::ServedDevice;
use crate::handle::DeferredReply;
use crate::service::DeviceService;
use crate::session::{CLIENTS_MEMORY_LIMIT, ClientSessions, ExportTarget};
use crate::statistics::NamespaceStatistics;

pub(super) fn smart(device: &ServedDevice, format: SmartFormat, column: usize) -> Result<Value, String> {
    let no_drive = || format!("device = {column}: there is no such drive");
    let log = || device.health_log(column).ok_or_else(no_drive);
    // The summary covers all drives, but a request for a drive that is not there is refused in every format.
    if column > 0 {
        log()?;
    }
    Ok(match format {
        SmartFormat::Json => json!(device.smart()),
        SmartFormat::Smartctl => json!({
            "device": { "name": "outlast", "type": "nvme", "protocol": "NVMe" },
            "model_name": device.identify().model,
            "nvme_smart_health_information_log": log()?.smartctl(),
        }),
        SmartFormat::Raw => {
            let digit = |nibble: u8| char::from_digit(nibble.into(), 16).unwrap_or_default();
            let page = log()?.page();
            json!(page.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect::<String>())
        }
        SmartFormat::Ocp => extended_health(&device.extended_health(column).ok_or_else(no_drive)?),
    })
}

/// Extended health log of a drive, by what it means.
fn extended_health(log: &ExtendedHealth) -> Value {
    json!({
        "media_bytes_written": log.media_bytes_written,
        "media_bytes_read": log.media_bytes_read,
        "bad_blocks": log.bad_blocks,
        "available_spare": log.available_spare,
        "stripe_recoveries": log.stripe_recoveries,
        "uncorrectable_reads": log.uncorrectable_reads,
        "soft_errors": log.soft_errors,
        "refreshed": log.refreshed,
        "most_cycles": log.most_cycles,
        "fewest_cycles": log.fewest_cycles,
        "free_percent": log.free_percent,
        "capacitor_health": log.capacitor_health,
    })
}

/// Runs of bytes that the drive in `column` wants written again.
pub(super) fn lba_status(
    device: &ServedDevice,
    column: usize,
    offset: u64,
    length: Option<u64>,
) -> Result<Value, String> {
    let refused = |field: &str, value: u64| {
        Err(format!("{field} = {value}: must be a multiple of {SECTOR_BYTES}, the bytes of a sector"))
    };
    if !offset.is_multiple_of(SECTOR_BYTES) {
        return refused("offset", offset);
    }
    let length = match length {
        Some(length) if !length.is_multiple_of(SECTOR_BYTES) => return refused("length", length),
        length => length.unwrap_or(u64::MAX),
    };
    let capacity = device.member_capacity().max(device.identify().capacity).0;
    if offset > capacity {
        return Err(format!("offset = {offset}: must be at most {capacity}, the bytes there are"));
    }
    let sectors = length.min(capacity - offset) / SECTOR_BYTES;
    let runs = device.lba_status(column, Lba(offset / SECTOR_BYTES), sectors);
    let runs = runs.ok_or_else(|| format!("device = {column}: there is no such drive"))?;
    let bytes = |run: &LbaRun| {
        json!({
            "offset": run.lba.0 * SECTOR_BYTES,
            "length": u64::from(run.sectors) * SECTOR_BYTES,
            "readable": run.readable,
        })
    };
    Ok(runs.iter().map(bytes).collect())
}

pub(super) fn clock_state(service: &DeviceService) -> Value {
    let (mode, speed) = match service.clock.mode() {
        ClockMode::Wall { speed } => ("wall", Some(speed)),
        ClockMode::Virtual => ("virtual", None),
    };
    json!({ "mode": mode, "speed": speed, "paused": service.clock.is_paused(), "now_ns": service.now.0 })
}

fn exports(service: &DeviceService, clients: &ClientSessions) -> Value {
    let export = |target: ExportTarget| {
        let device = &service.devices[target.device as usize].device;
        let name = service.export_name(target);
        let size = match target.member {
            None => device.identify().capacity,
            Some(_) => device.member_capacity(),
        };
        json!({
            "name": name,
            "uri": clients.uri(&name),
            "size": size.0,
            "read_only": target.member.is_some(),
            "clients": clients.clients_of(target),
            "up": device.is_up(),
        })
    };
    service.targets().map(export).collect()
}

pub(super) fn state(service: &mut DeviceService, clients: &ClientSessions) -> DeferredReply {
    let (clock, exports, clients) = (clock_state(service), exports(service, clients), clients.clients());
    let power_returns = service.power_returns.map(|(at, _)| at.0);
    let device = &service.main_device().device;
    // The device keeps more events than a report has.
    let old = device.events().count().saturating_sub(MAX_EVENTS);
    let events: Vec<_> = device.events().skip(old).cloned().collect();
    let device = device.state();
    Box::new(move || {
        json!({
            "machine": device,
            "clock": clock,
            "exports": exports,
            "clients": clients,
            "events": events,
            "power_on_at_ns": power_returns,
        })
    })
}

/// Namespaces of the main device, each with its range and what its clients have done.
fn namespaces(service: &mut DeviceService) -> Value {
    let main = service.main_device();
    let configs = &main.device.scenario().namespace;
    let mut offset = 0;
    let one = |((number, config), statistics): ((u32, &NamespaceConfig), &NamespaceStatistics)| {
        let range = offset;
        offset += config.capacity.0;
        json!({
            "namespace": number,
            "offset": range,
            "capacity": config.capacity.0,
            "block_size": config.block_size.0,
            "read_only": config.read_only,
            "placement_handles": config.placement_handles,
            "operations": statistics.commands.figures(),
        })
    };
    (1..).zip(configs).zip(&main.namespaces).map(one).collect()
}

pub(super) fn metrics(service: &mut DeviceService, clients: &ClientSessions) -> Value {
    let (held, most) = clients.memory();
    json!({
        "operations": service.main_device().statistics.figures(),
        "namespaces": namespaces(service),
        "placement": service.main_device().device.placement_report(),
        "lateness": service.lateness.figures(),
        "clock": clock_state(service),
        "exports": exports(service, clients),
        "clients": clients.clients(),
        "others_wait": clients.waiting().0,
        "turned_away": clients.waiting().1,
        "clients_memory": { "held": held, "most": most, "limit": CLIENTS_MEMORY_LIMIT },
        "loop": activity(clients),
    })
}

/// Activity of the loop: turns, and system calls on the sockets of clients.
pub(crate) fn activity(clients: &ClientSessions) -> Value {
    let calls = clients.calls();
    json!({ "turns": clients.turns, "reads": calls.reads, "writes": calls.writes })
}
