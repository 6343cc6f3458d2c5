//! Models of crashes: the device that loses its power, what else happens to it, and the name of that in states.

use crate::error::TortureError;
use outlast_engine::Scenario;
use outlast_media::{FaultKind, FaultSpec};
use outlast_settings::drive::FlushPolicy;
use outlast_units::Nanos;
use std::fmt;
use std::str::FromStr;

/// Delay of flushes in the model `late` without a time.
const LATE: Nanos = Nanos::millis(100);

/// The device that loses its power, and what else happens to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum CrashModel {
    /// The recorded device, and nothing else.
    Drive,
    /// A device that lies about flushes, given the same commands at the same times.
    Liar(FlushPolicy),
    /// The recorded device with a fault just before the cut: an entry of `[[faults]]`, whose time is ignored.
    Fault(Box<FaultSpec>),
    /// The recorded array, which loses a member.
    WithoutMember {
        /// Number of the member.
        member: u16,
        /// Moment of the loss, and kind of start.
        start: ArrayStart,
    },
}

/// Moment at which a member of an array fails, and how the array starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum ArrayStart {
    /// The member fails with the power; the array starts, or refuses to.
    AsItIs,
    /// The member fails with the power, and an array that refuses is forced to start; an array that does not refuse has no such state.
    Forced,
    /// The member fails after the array has started with all members and resynchronised.
    Synced,
}

impl CrashModel {
    /// Crash models that the name `model` stands for, of a device made from `scenario`. `faults` are entries of `[[faults]]` without a time; without
    /// any, `fault` breaks one die of the first drive.
    ///
    /// # Errors
    /// The model is unknown or does not fit the device, or an entry is not a fault.
    pub fn of_model(
        model: &str,
        scenario: &Scenario,
        faults: &[serde_json::Value],
    ) -> Result<Vec<Self>, TortureError> {
        match model {
            "array" => {
                let members = scenario.array.as_ref().map_or(0, |array| array.members);
                if members == 0 {
                    return Err(setting("model", model, "needs an array: there is no [array]"));
                }
                let starts = [ArrayStart::AsItIs, ArrayStart::Forced, ArrayStart::Synced];
                let of = |member| starts.map(|start| Self::WithoutMember { member, start });
                Ok((0..members).flat_map(of).collect())
            }
            "fault" if faults.is_empty() => {
                let mut die = FaultSpec::new(Nanos::ZERO, FaultKind::Die);
                (die.die, die.device) = (Some(0), scenario.array.as_ref().map(|_| 0));
                Ok(vec![Self::Fault(Box::new(die))])
            }
            "fault" => faults.iter().map(|entry| Self::of_fault(entry, scenario)).collect(),
            name => name.parse::<Self>()?.checked(scenario).map(|model| vec![model]),
        }
    }

    fn of_fault(entry: &serde_json::Value, scenario: &Scenario) -> Result<Self, TortureError> {
        let bad = |why: String| setting("faults", &entry.to_string(), &why);
        let fault = outlast_serve::parse_fault(entry).map_err(bad)?;
        if let (FaultKind::Device, Some(member)) = (fault.kind, fault.device) {
            return Self::WithoutMember { member, start: ArrayStart::AsItIs }.checked(scenario);
        }
        let model = Self::Fault(Box::new(fault));
        // A state is made again from the name of its model, so the name must tell all of the fault.
        if model.to_string().parse::<Self>().ok().as_ref() != Some(&model) {
            let limit = "must be a page, wordline, block, plane, die, chip or device that breaks, or power with shorn or torn";
            return Err(bad(limit.to_owned()));
        }
        model.checked(scenario)
    }

    /// Refuses a model that does not fit a device made from `scenario`.
    pub(super) fn checked(self, scenario: &Scenario) -> Result<Self, TortureError> {
        let limit = match &self {
            Self::Drive => return Ok(self),
            Self::Liar(policy) => {
                let mut liar = scenario.clone();
                liar.device.controller.flush = *policy;
                liar.validate().err().map(|error| error.to_string())
            }
            Self::Fault(fault) => {
                scenario.fault_target("fault", 0, fault).err().map(|error| error.to_string())
            }
            Self::WithoutMember { member, .. } => match &scenario.array {
                None => Some("needs an array: there is no [array]".to_owned()),
                Some(array) if *member < array.members => None,
                Some(array) => Some(format!("the array has {} members, counted from 0", array.members)),
            },
        };
        limit.map_or(Ok(()), |limit| Err(setting("model", &self.to_string(), &limit)))?;
        Ok(self)
    }

    /// Changes the recorded scenario to that of the device that the recording is replayed on.
    pub(super) fn apply_to(&self, scenario: &mut Scenario) {
        if let Self::Liar(policy) = self {
            scenario.device.controller.flush = *policy;
        }
    }
}

fn setting(name: &'static str, value: &str, limit: &str) -> TortureError {
    TortureError::Setting { name, value: value.to_owned(), limit: limit.to_owned() }
}

/// Name of a fault in states, and the numbers that follow it, joined by dots; `None` if the name cannot tell all of the fault.
fn fault_name(fault: &FaultSpec) -> Option<(&'static str, Vec<u32>)> {
    let wide = |number: Option<u16>| number.map(u32::from);
    let (name, fields): (_, &[Option<u32>]) = match fault.kind {
        FaultKind::Page => ("page", &[wide(fault.die), wide(fault.plane), fault.block, fault.page]),
        FaultKind::Wordline => ("wordline", &[wide(fault.die), wide(fault.plane), fault.block, fault.page]),
        FaultKind::Block => ("block", &[wide(fault.die), wide(fault.plane), fault.block]),
        FaultKind::Plane => ("plane", &[wide(fault.die), wide(fault.plane)]),
        FaultKind::Die => ("die", &[wide(fault.die)]),
        FaultKind::Chip => ("chip", &[wide(fault.channel), wide(fault.chip)]),
        FaultKind::Power => match (fault.shorn, fault.torn) {
            (Some(share), None) => {
                let (new, of) = share.parts();
                return Some(("shorn", vec![new.into(), of.into()]));
            }
            (None, Some(run)) => return Some(("torn", vec![u32::try_from(run.0).ok()?])),
            _ => return None,
        },
        _ => return None,
    };
    Some((name, fields.iter().copied().collect::<Option<_>>()?))
}

/// The name in states: `drive`, `ignore`, `late` or `late:2ms`, `die3`, `page0.1.17.5` (die, plane, block, page; with an array
/// `die3-of1`: of its device 1), `shorn3.8`, `torn512`, `array1`, `array1-forced`, `array1-synced`.
impl fmt::Display for CrashModel {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Drive => to.write_str("drive"),
            Self::Liar(FlushPolicy::Late(LATE)) => to.write_str("late"),
            Self::Liar(FlushPolicy::Late(delay)) => write!(to, "late:{delay}"),
            Self::Liar(_) => to.write_str("ignore"),
            Self::Fault(fault) => {
                let Some((name, numbers)) = fault_name(fault) else { return write!(to, "{}", fault.kind) };
                let numbers: Vec<String> = numbers.iter().map(u32::to_string).collect();
                write!(to, "{name}{}", numbers.join("."))?;
                fault.device.map_or(Ok(()), |device| write!(to, "-of{device}"))
            }
            Self::WithoutMember { member, start: ArrayStart::AsItIs } => write!(to, "array{member}"),
            Self::WithoutMember { member, start: ArrayStart::Forced } => write!(to, "array{member}-forced"),
            Self::WithoutMember { member, start: ArrayStart::Synced } => write!(to, "array{member}-synced"),
        }
    }
}

impl FromStr for CrashModel {
    type Err = TortureError;

    fn from_str(text: &str) -> Result<Self, TortureError> {
        let model = match text {
            "drive" => Some(Self::Drive),
            "ignore" => Some(Self::Liar(FlushPolicy::Ignore)),
            "late" => Some(Self::Liar(FlushPolicy::Late(LATE))),
            _ => parse_late(text).or_else(|| parse_without_member(text)).or_else(|| parse_fault(text)),
        };
        model.ok_or_else(|| {
            let limit = "must be contract, drive, ignore, late (or late:2ms), fault or array";
            setting("model", text, limit)
        })
    }
}

fn parse_late(text: &str) -> Option<CrashModel> {
    let delay = text.strip_prefix("late:")?.parse().ok()?;
    Some(CrashModel::Liar(FlushPolicy::Late(delay)))
}

fn parse_without_member(text: &str) -> Option<CrashModel> {
    let member = text.strip_prefix("array").or_else(|| text.strip_prefix("member"))?;
    let (member, start) = match member.split_once('-') {
        None => (member, ArrayStart::AsItIs),
        Some((member, "forced")) => (member, ArrayStart::Forced),
        Some((member, "synced")) => (member, ArrayStart::Synced),
        Some(_) => return None,
    };
    Some(CrashModel::WithoutMember { member: member.parse().ok()?, start })
}

fn parse_fault(text: &str) -> Option<CrashModel> {
    let (text, device) = match text.split_once("-of") {
        Some((text, device)) => (text, Some(device.parse().ok()?)),
        None => (text, None),
    };
    let digits = text.find(|letter: char| letter.is_ascii_digit())?;
    let numbers: Vec<u32> = text[digits..].split('.').map(str::parse).collect::<Result<_, _>>().ok()?;
    let narrow = |number: u32| u16::try_from(number).ok();
    let mut fault = FaultSpec::new(Nanos::ZERO, FaultKind::Die);
    fault.device = device;
    match (&text[..digits], &numbers[..]) {
        (name @ ("page" | "wordline"), &[die, plane, block, page]) => {
            fault.kind = if name == "page" { FaultKind::Page } else { FaultKind::Wordline };
            (fault.die, fault.plane, fault.block, fault.page) =
                (Some(narrow(die)?), Some(narrow(plane)?), Some(block), Some(page));
        }
        ("block", &[die, plane, block]) => {
            fault.kind = FaultKind::Block;
            (fault.die, fault.plane, fault.block) = (Some(narrow(die)?), Some(narrow(plane)?), Some(block));
        }
        ("plane", &[die, plane]) => {
            fault.kind = FaultKind::Plane;
            (fault.die, fault.plane) = (Some(narrow(die)?), Some(narrow(plane)?));
        }
        ("die", &[die]) => fault.die = Some(narrow(die)?),
        ("chip", &[channel, chip]) => {
            fault.kind = FaultKind::Chip;
            (fault.channel, fault.chip) = (Some(narrow(channel)?), Some(narrow(chip)?));
        }
        ("shorn", &[new, of]) => {
            fault.kind = FaultKind::Power;
            fault.shorn = Some(outlast_media::ShornShare::new(narrow(new)?, narrow(of)?)?);
        }
        ("torn", &[run]) => {
            fault.kind = FaultKind::Power;
            fault.torn = Some(outlast_units::Bytes(run.into()));
        }
        _ => return None,
    }
    Some(CrashModel::Fault(Box::new(fault)))
}
