//! Control requests to a running server, in JSON.

mod power;
mod reports;
mod span;

use outlast_media::{FaultKind, FaultSpec, ShornShare};
use outlast_units::Bytes;
use serde::Deserialize;
use serde_json::{Value, json};

use crate::clock::ClockMode;
use crate::exports::check_plain;
use crate::fields::{FieldKind, RequestField, check_fields, check_word};
use crate::handle::DeferredReply;
use crate::input::{DeviceInput, parse_fault};
use crate::service::DeviceService;
use crate::session::ClientSessions;
pub(crate) use reports::activity;
use span::RequestedSpan;

/// A request, such as `{"do": "power", "action": "cut", "for": "2s"}`.
#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
enum ControlRequest {
    /// State of the server and of its main device.
    State {},
    /// Health: a summary of the whole device, or the log page of one drive.
    Smart {
        #[serde(default)]
        format: SmartFormat,
        #[serde(default)]
        device: usize,
    },
    /// Sectors that a drive wants written again, such as those of a failed die.
    LbaStatus {
        #[serde(default)]
        device: usize,
        /// First byte asked for.
        #[serde(default)]
        offset: u64,
        /// Number of bytes asked for; to the end of the drive by default.
        length: Option<u64>,
    },
    /// A failure: an entry of `[[faults]]` without its time.
    Fault { fault: Value },
    /// Loss or return of power.
    Power {
        action: PowerAction,
        /// Time after which power returns by itself.
        #[serde(rename = "for")]
        span: Option<RequestedSpan>,
        #[serde(default)]
        force: bool,
        /// Damage to data being programmed, as in a `[[faults]]` entry of kind `power`.
        shorn: Option<ShornShare>,
        torn: Option<Bytes>,
    },
    /// A remark in the log.
    Mark { text: String },
    /// Export of a copy of the main device.
    Fork {
        export: String,
        #[serde(default)]
        cut: bool,
    },
    /// Change of the clock.
    Clock {
        speed: Option<f64>,
        mode: Option<RequestedClock>,
        pause: Option<bool>,
        advance: Option<RequestedSpan>,
    },
    /// Scrub of the array: all of it is read, and redundancy corrected.
    Repair {},
    /// Replacement of a member of the array by a new drive.
    Replace {
        member: u16,
        #[serde(default)]
        force: bool,
    },
    /// Counters and quantiles.
    Metrics {},
    /// End of the server, with a shutdown of the device.
    Stop {},
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum PowerAction {
    Cut,
    Off,
    On,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum SmartFormat {
    /// Outlast's own names.
    #[default]
    Json,
    /// Format of `smartctl -j`.
    Smartctl,
    /// Log page of `NVMe`, in hexadecimal.
    Raw,
    /// Extended health log of the Open Compute Project.
    Ocp,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum RequestedClock {
    Wall,
    Virtual,
}

/// Fields of requests. A name means the same in all of them.
const FIELDS: [RequestField; 18] = [
    RequestField::new("do", FieldKind::Text),
    RequestField::new("format", FieldKind::Text),
    RequestField::new("device", FieldKind::Whole(u64::MAX)),
    RequestField::new("offset", FieldKind::Whole(u64::MAX)),
    RequestField::nullable("length", FieldKind::Whole(u64::MAX)),
    RequestField::new("action", FieldKind::Text),
    RequestField::nullable("for", FieldKind::Time),
    RequestField::new("force", FieldKind::Flag),
    RequestField::nullable("shorn", FieldKind::Share),
    RequestField::nullable("torn", FieldKind::Size),
    RequestField::new("text", FieldKind::Text),
    RequestField::new("export", FieldKind::Text),
    RequestField::new("cut", FieldKind::Flag),
    RequestField::nullable("speed", FieldKind::Number(ClockMode::SPEEDS)),
    RequestField::nullable("mode", FieldKind::Text),
    RequestField::nullable("pause", FieldKind::Flag),
    RequestField::nullable("advance", FieldKind::Time),
    RequestField::new("member", FieldKind::Whole(65_535)),
];

/// Longest remark, in bytes.
const MAX_MARK_BYTES: usize = 4096;
/// Prefix of marks that only the program itself may record.
const INTERNAL_MARK_PREFIX: &str = "outlast:";
/// Number of latest events in a state report.
const MAX_EVENTS: usize = 64;
/// Most forks at a time.
const MAX_FORKS: usize = 64;

/// Answer to a control request.
pub(crate) struct ControlReply {
    /// JSON `{"ok": …}` or `{"error": "one line"}`.
    pub(crate) reply: DeferredReply,
    /// Set if the server is to end.
    pub(crate) stops_server: bool,
}

/// Carries out a request at the time of the turn.
pub(crate) fn handle_request(
    request: Value,
    is_internal: bool,
    service: &mut DeviceService,
    clients: &mut ClientSessions,
) -> ControlReply {
    let parsed = parse(request).and_then(|request| check_names(&request, is_internal).map(|()| request));
    let stops_server = matches!(parsed, Ok(ControlRequest::Stop {}));
    let reply: DeferredReply = match parsed.and_then(|request| execute(request, service, clients)) {
        Ok(value) => Box::new(move || json!({ "ok": value() })),
        Err(error) => {
            Box::new(move || json!({ "error": error.split_whitespace().collect::<Vec<_>>().join(" ") }))
        }
    };
    ControlReply { reply, stops_server }
}

/// Reads a request.
fn parse(request: Value) -> Result<ControlRequest, String> {
    let Some(fields) = request.as_object() else {
        return Err("a request must be a JSON object, such as {\"do\": \"state\"}".to_owned());
    };
    check_fields(fields, &FIELDS, "")?;
    check_word::<SmartFormat>(fields, "format", "")?;
    check_word::<PowerAction>(fields, "action", "")?;
    check_word::<RequestedClock>(fields, "mode", "")?;
    // What is left are fields that are missing or unknown, which are named, and an unknown word for `do`.
    ControlRequest::deserialize(request).map_err(|error| {
        let told = error.to_string();
        if told.starts_with("unknown variant") { format!("do: {told}") } else { told }
    })
}

/// Refuses names with forbidden characters, and marks with the prefix reserved for the program itself.
fn check_names(request: &ControlRequest, is_internal: bool) -> Result<(), String> {
    let (field, text) = match request {
        ControlRequest::Mark { text } => ("text", text),
        ControlRequest::Fork { export, .. } => ("export", export),
        _ => return Ok(()),
    };
    if field == "text" && !is_internal && text.starts_with(INTERNAL_MARK_PREFIX) {
        return Err(format!(
            "text = {}: marks that begin with {INTERNAL_MARK_PREFIX} are Outlast's own",
            text.escape_debug()
        ));
    }
    if field == "export" && text.is_empty() {
        // Clients that name no export must go on finding the main device.
        return Err(
            "export = \"\": must be a name, since the empty one stands for the main device".to_owned()
        );
    }
    check_plain(field, text).map_err(|error| error.to_string())
}

fn execute(
    request: ControlRequest,
    service: &mut DeviceService,
    clients: &mut ClientSessions,
) -> Result<DeferredReply, String> {
    let now = service.now;
    let apply = |service: &mut DeviceService, input: &DeviceInput<'_>| {
        service.main_device().apply(now, input).map_err(|refused| refused.to_string())?;
        Ok(json!({ "now_ns": now.0 }))
    };
    let value = match request {
        ControlRequest::State {} => return Ok(reports::state(service, clients)),
        ControlRequest::Smart { format, device: column } => {
            reports::smart(&service.main_device().device, format, column)
        }
        ControlRequest::LbaStatus { device: column, offset, length } => {
            reports::lba_status(&service.main_device().device, column, offset, length)
        }
        ControlRequest::Fault { fault } => apply(service, &DeviceInput::Fault(&parse_fault(&fault)?)),
        ControlRequest::Power { action, span, force, shorn, torn } => {
            let fault = FaultSpec { shorn, torn, ..FaultSpec::new(now, FaultKind::Power) };
            let back = span.map(|span| span.end("for", service)).transpose()?;
            power::tear(service, action, &fault)?;
            power::switch(service, clients, action, back, force)
        }
        ControlRequest::Mark { text } if text.len() > MAX_MARK_BYTES => {
            Err(format!("text has {} bytes; at most {MAX_MARK_BYTES} are kept", text.len()))
        }
        ControlRequest::Mark { text } => apply(service, &DeviceInput::Mark(&text)),
        ControlRequest::Fork { export, cut } => fork(service, clients, &export, cut),
        ControlRequest::Clock { speed, mode, pause, advance } => clock(service, speed, mode, pause, advance),
        ControlRequest::Repair {} => apply(service, &DeviceInput::Repair),
        ControlRequest::Replace { member, force } => apply(service, &DeviceInput::Replace { member, force }),
        ControlRequest::Metrics {} => Ok(reports::metrics(service, clients)),
        ControlRequest::Stop {} => Ok(json!({ "now_ns": now.0 })),
    }?;
    Ok(Box::new(|| value))
}

fn fork(
    service: &mut DeviceService,
    clients: &mut ClientSessions,
    export: &str,
    cut: bool,
) -> Result<Value, String> {
    if service.devices.len() > MAX_FORKS {
        return Err(format!("there are {MAX_FORKS} forks, and no more at a time"));
    }
    // The fork counts only if every protocol can express its name.
    service.fork(export, cut, |offer| clients.offer(offer))?;
    Ok(json!({ "now_ns": service.now.0, "uri": clients.uri(export) }))
}

fn clock(
    service: &mut DeviceService,
    speed: Option<f64>,
    mode: Option<RequestedClock>,
    pause: Option<bool>,
    advance: Option<RequestedSpan>,
) -> Result<Value, String> {
    let leap = advance.map(|span| span.end("advance", service)).transpose()?;
    match (mode, speed) {
        (Some(RequestedClock::Virtual), Some(_)) => {
            return Err("speed = is for the wall clock; a virtual clock has no speed".to_owned());
        }
        (Some(RequestedClock::Virtual), None) => service.clock.set_virtual(),
        (Some(RequestedClock::Wall), speed) => service.clock.set_speed(speed.unwrap_or(1.0)),
        (None, Some(speed)) => service.clock.set_speed(speed),
        (None, None) => {}
    }
    if let Some(pause) = pause {
        service.clock.pause(pause);
    }
    if let Some(end) = leap {
        service.leap_to(end);
    }
    Ok(reports::clock_state(service))
}
