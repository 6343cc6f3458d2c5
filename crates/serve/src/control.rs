//! What a server can be asked and told while it serves: JSON in, JSON out.

mod power;

use outlast_engine::check_name;
use outlast_media::{FaultKind, FaultSpec, Share};
use outlast_units::{Bytes, Nanos};
use serde::Deserialize;
use serde_json::{Value, json};

use crate::clock::ClockMode;
use crate::handle::Told;
use crate::input::{Input, fault_of};
use crate::machine::Machine;
use crate::service::Service;
use crate::session::{CLIENTS_MEMORY, Front, Target};

/// One request. `{"do": "power", "action": "cut", "for": "2s"}`.
#[derive(Debug, Deserialize)]
#[serde(tag = "do", rename_all = "snake_case", deny_unknown_fields)]
enum Request {
    /// What is served and how it is.
    State {},
    /// The health log: of the whole, or as a controller returns it, of the drive or of one in an array.
    Smart {
        #[serde(default)]
        format: SmartFormat,
        #[serde(default)]
        device: usize,
    },
    /// Something breaks: an entry of `[[faults]]` without its time.
    Fault { fault: Value },
    /// The power fails or comes back.
    Power {
        action: Action,
        /// Until it is back by itself.
        #[serde(rename = "for")]
        span: Option<Nanos>,
        #[serde(default)]
        force: bool,
        /// What it leaves of what is being programmed, as a `[[faults]]` entry of kind `power` has it.
        shorn: Option<Share>,
        torn: Option<Bytes>,
    },
    /// A remark in the log.
    Mark { text: String },
    /// A copy becomes an export of its own.
    Fork {
        export: String,
        #[serde(default)]
        cut: bool,
    },
    /// How time goes.
    Clock { speed: Option<f64>, mode: Option<Mode>, pause: Option<bool>, advance: Option<Nanos> },
    /// The array reads all of itself and makes redundancy fit.
    Repair {},
    /// A member is exchanged for a new drive.
    Replace {
        member: u16,
        #[serde(default)]
        force: bool,
    },
    /// Counts and quantiles.
    Metrics {},
    /// The server ends, as a host that shuts its drive down.
    Stop {},
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Action {
    Cut,
    Off,
    On,
}

#[derive(Clone, Copy, Debug, Default, Deserialize)]
#[serde(rename_all = "lowercase")]
enum SmartFormat {
    /// Our own names.
    #[default]
    Json,
    /// The shape of `smartctl -j`.
    Smartctl,
    /// The log page of `NVMe`, in hexadecimal digits.
    Raw,
}

#[derive(Clone, Copy, Debug, Deserialize)]
#[serde(rename_all = "lowercase")]
enum Mode {
    Wall,
    Virtual,
}

/// Bytes of a remark.
const MARK_MAX: usize = 4096;
/// How marks begin that a recorder makes of its own accord.
const OWN_MARKS: &str = "outlast:";
/// Events that are told, the latest.
const EVENTS: usize = 64;
/// Forks at a time.
const FORKS: usize = 64;

/// What a request came to.
pub(crate) struct Outcome {
    /// `{"ok": …}` or `{"error": "one line"}`.
    pub(crate) said: Told,
    /// Whether the server is to end.
    pub(crate) stop: bool,
}

/// Does what is asked, at the time of the turn.
pub(crate) fn answer(request: Value, is_own: bool, service: &mut Service, front: &mut Front) -> Outcome {
    let asked = Request::deserialize(request).map_err(|error| error.to_string());
    let asked = asked.and_then(|asked| check(&asked, is_own).map(|()| asked));
    let stop = matches!(asked, Ok(Request::Stop {}));
    let said: Told = match asked.and_then(|asked| carry_out(asked, service, front)) {
        Ok(said) => Box::new(move || json!({ "ok": said() })),
        Err(error) => {
            Box::new(move || json!({ "error": error.split_whitespace().collect::<Vec<_>>().join(" ") }))
        }
    };
    Outcome { said, stop }
}

/// Refuses text that names cannot have, and marks that only the recorder itself makes.
fn check(asked: &Request, is_own: bool) -> Result<(), String> {
    let (field, text) = match asked {
        Request::Mark { text } => ("text", text),
        Request::Fork { export, .. } => ("export", export),
        _ => return Ok(()),
    };
    if field == "text" && !is_own && text.starts_with(OWN_MARKS) {
        return Err(format!(
            "text = {}: marks that begin with {OWN_MARKS} are Outlast's own",
            text.escape_debug()
        ));
    }
    check_name(field, text).map_err(|error| error.to_string())
}

fn carry_out(asked: Request, service: &mut Service, front: &mut Front) -> Result<Told, String> {
    let now = service.now;
    let given = |service: &mut Service, input: &Input<'_>| {
        service.main().apply(now, input).map_err(|refused| refused.to_string())?;
        Ok(json!({ "now_ns": now.0 }))
    };
    let value = match asked {
        Request::State {} => return Ok(state(service, front)),
        Request::Smart { format, device } => smart(&service.main().machine, format, device),
        Request::Fault { fault } => given(service, &Input::Fault(&fault_of(&fault)?)),
        Request::Power { action, span, force, shorn, torn } => {
            let fault = FaultSpec { shorn, torn, ..FaultSpec::new(now, FaultKind::Power) };
            power::tear(service, action, &fault)?;
            power::switch(service, front, action, span, force)
        }
        Request::Mark { text } if text.len() > MARK_MAX => {
            Err(format!("text has {} bytes; at most {MARK_MAX} are kept", text.len()))
        }
        Request::Mark { text } => given(service, &Input::Mark(&text)),
        Request::Fork { export, cut } => fork(service, front, &export, cut),
        Request::Clock { speed, mode, pause, advance } => clock(service, speed, mode, pause, advance),
        Request::Repair {} => given(service, &Input::Repair),
        Request::Replace { member, force } => given(service, &Input::Replace { member, force }),
        Request::Metrics {} => Ok(metrics(service, front)),
        Request::Stop {} => Ok(json!({ "now_ns": now.0 })),
    }?;
    Ok(Box::new(|| value))
}

fn smart(machine: &Machine, format: SmartFormat, device: usize) -> Result<Value, String> {
    let none = || format!("device = {device}: there is no drive");
    let log = || machine.health_log(device).ok_or_else(none);
    // Our own format tells of all drives together, which is no reason to answer for one that is not there.
    if device > 0 {
        log()?;
    }
    Ok(match format {
        SmartFormat::Json => json!(machine.smart()),
        SmartFormat::Smartctl => json!({
            "device": { "name": "outlast", "type": "nvme", "protocol": "NVMe" },
            "model_name": machine.identify().model,
            "nvme_smart_health_information_log": log()?.smartctl(),
        }),
        SmartFormat::Raw => {
            let digit = |nibble: u8| char::from_digit(nibble.into(), 16).unwrap_or_default();
            let page = log()?.page();
            json!(page.iter().flat_map(|byte| [digit(byte >> 4), digit(byte & 15)]).collect::<String>())
        }
    })
}

fn fork(service: &mut Service, front: &mut Front, export: &str, cut: bool) -> Result<Value, String> {
    if service.machines.len() > FORKS {
        return Err(format!("there are {FORKS} forks, and no more at a time"));
    }
    service.fork(export, cut, |offer| front.offer(offer))?;
    Ok(json!({ "now_ns": service.now.0, "uri": front.uri(export) }))
}

fn clock(
    service: &mut Service,
    speed: Option<f64>,
    mode: Option<Mode>,
    pause: Option<bool>,
    advance: Option<Nanos>,
) -> Result<Value, String> {
    let speeds = ClockMode::SPEEDS;
    if let Some(speed) = speed
        && !speeds.contains(&speed)
    {
        return Err(format!("speed = {speed}: must be within {} to {}", speeds.start(), speeds.end()));
    }
    match (mode, speed) {
        (Some(Mode::Virtual), Some(_)) => {
            return Err("speed = belongs to the wall clock; a virtual clock leaps".to_owned());
        }
        (Some(Mode::Virtual), None) => service.clock.set_virtual(),
        (Some(Mode::Wall), speed) => service.clock.set_speed(speed.unwrap_or(1.0)),
        (None, Some(speed)) => service.clock.set_speed(speed),
        (None, None) => {}
    }
    if let Some(pause) = pause {
        service.clock.pause(pause);
    }
    if let Some(span) = advance {
        service.skip(span);
    }
    Ok(clock_state(service))
}

fn clock_state(service: &Service) -> Value {
    let (mode, speed) = match service.clock.mode() {
        ClockMode::Wall { speed } => ("wall", Some(speed)),
        ClockMode::Virtual => ("virtual", None),
    };
    json!({ "mode": mode, "speed": speed, "paused": service.clock.is_paused(), "now_ns": service.now.0 })
}

fn exports(service: &Service, front: &Front) -> Value {
    let export = |target: Target| {
        let machine = &service.machines[target.machine as usize].machine;
        let name = service.name_of(target);
        let size = match target.member {
            None => machine.identify().capacity,
            Some(_) => machine.member_capacity(),
        };
        json!({
            "name": name,
            "uri": front.uri(&name),
            "size": size.0,
            "read_only": target.member.is_some(),
            "clients": front.clients_of(target),
            "up": machine.is_up(),
        })
    };
    service.targets().map(export).collect()
}

fn state(service: &mut Service, front: &Front) -> Told {
    let (clock, exports, clients) = (clock_state(service), exports(service, front), front.clients());
    let power_on = service.power_on.map(|(at, _)| at.0);
    let machine = &service.main().machine;
    let old = machine.events().count().saturating_sub(EVENTS);
    let events: Vec<_> = machine.events().skip(old).cloned().collect();
    let machine = machine.state();
    Box::new(move || {
        json!({
            "machine": machine,
            "clock": clock,
            "exports": exports,
            "clients": clients,
            "events": events,
            "power_on_at_ns": power_on,
        })
    })
}

fn metrics(service: &mut Service, front: &Front) -> Value {
    let (held, most) = front.memory();
    json!({
        "operations": service.main().operations.figures(),
        "lateness": service.lateness.figures(),
        "clock": clock_state(service),
        "exports": exports(service, front),
        "clients": front.clients(),
        "others_wait": front.waiting().0,
        "turned_away": front.waiting().1,
        "clients_memory": { "held": held, "most": most, "limit": CLIENTS_MEMORY },
        "loop": activity(front),
    })
}

/// What the loop has done: turns, and system calls on the sockets of clients.
pub(crate) fn activity(front: &Front) -> Value {
    let calls = front.calls();
    json!({ "turns": front.turns, "reads": calls.reads, "writes": calls.writes })
}
