//! What happens to the machine when its power fails, and its name in states.

use crate::error::TortureError;
use outlast_engine::Scenario;
use outlast_media::{FaultKind, FaultSpec};
use outlast_settings::drive::FlushPolicy;
use outlast_units::Nanos;
use std::fmt;
use std::str::FromStr;

/// How much later a liar of the model `late` carries a flush out, where nobody says.
const LATE: Nanos = Nanos::millis(100);

/// Which machine loses its power, and what else happens to it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum What {
    /// The machine that was recorded: nothing else.
    Drive,
    /// One that lies about flushes, given the same at the same times.
    Liar(FlushPolicy),
    /// The one that was recorded, and something breaks just before: an entry of `[[faults]]`, whose time does not count.
    Fault(Box<FaultSpec>),
    /// The array that was recorded, and a member is gone.
    Without {
        /// The member.
        member: u16,
        /// When.
        start: Start,
    },
}

/// When a member of an array goes, and how the array starts.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Start {
    /// With the power, and the array starts, or refuses.
    AsItIs,
    /// With the power, and where the array refuses it is forced to start; where it does not refuse there is nothing to force, and no state.
    Forced,
    /// After the array has started with all members and made its redundancy fit.
    Synced,
}

impl What {
    /// What the model `model` stands for: a name of one, or of several, of a machine made from `scenario`. `faults` are entries of `[[faults]]`
    /// without a time; without any, one die of the first drive breaks.
    ///
    /// # Errors
    /// There is no such model, it does not fit the machine, or an entry is none.
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
                let starts = [Start::AsItIs, Start::Forced, Start::Synced];
                let of = |member| starts.map(|start| Self::Without { member, start });
                Ok((0..members).flat_map(of).collect())
            }
            "fault" if faults.is_empty() => {
                let mut die = FaultSpec::new(Nanos::ZERO, FaultKind::Die);
                (die.die, die.device) = (Some(0), scenario.array.as_ref().map(|_| 0));
                Ok(vec![Self::Fault(Box::new(die))])
            }
            "fault" => faults.iter().map(|entry| Self::of_fault(entry, scenario)).collect(),
            name => name.parse::<Self>()?.checked(scenario).map(|what| vec![what]),
        }
    }

    fn of_fault(entry: &serde_json::Value, scenario: &Scenario) -> Result<Self, TortureError> {
        let bad = |why: String| setting("faults", &entry.to_string(), &why);
        let fault = outlast_serve::parse_fault(entry).map_err(bad)?;
        if let (FaultKind::Device, Some(member)) = (fault.kind, fault.device) {
            return Self::Without { member, start: Start::AsItIs }.checked(scenario);
        }
        let what = Self::Fault(Box::new(fault));
        // What has no name could not be asked for again.
        if what.to_string().parse::<Self>().ok().as_ref() != Some(&what) {
            let limit = "must be a page, wordline, block, plane, die, chip or device that breaks, or power with shorn or torn";
            return Err(bad(limit.to_owned()));
        }
        what.checked(scenario)
    }

    /// The same, if a machine made from `scenario` can do that.
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
            Self::Without { member, .. } => match &scenario.array {
                None => Some("needs an array: there is no [array]".to_owned()),
                Some(array) if *member < array.members => None,
                Some(array) => Some(format!("the array has {} members, counted from 0", array.members)),
            },
        };
        limit.map_or(Ok(()), |limit| Err(setting("model", &self.to_string(), &limit)))?;
        Ok(self)
    }

    /// What the machine that is given the recording differs in from the one that was recorded.
    pub(super) fn change(&self, scenario: &mut Scenario) {
        if let Self::Liar(policy) = self {
            scenario.device.controller.flush = *policy;
        }
    }
}

fn setting(name: &'static str, value: &str, limit: &str) -> TortureError {
    TortureError::Setting { name, value: value.to_owned(), limit: limit.to_owned() }
}

/// Numbers between dots.
fn numbers(fault: &FaultSpec) -> Option<(&'static str, Vec<u32>)> {
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

/// As it is named in a state: `drive`, `ignore`, `late` or `late:2ms`, `die3`, `page0.1.17.5` (die, plane, block, page; with an array
/// `die3-of1`: of its device 1), `shorn3.8`, `torn512`, `array1`, `array1-forced`, `array1-synced`.
impl fmt::Display for What {
    fn fmt(&self, to: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Drive => to.write_str("drive"),
            Self::Liar(FlushPolicy::Late(LATE)) => to.write_str("late"),
            Self::Liar(FlushPolicy::Late(by)) => write!(to, "late:{by}"),
            Self::Liar(_) => to.write_str("ignore"),
            Self::Fault(fault) => {
                let Some((name, numbers)) = numbers(fault) else { return write!(to, "{}", fault.kind) };
                let numbers: Vec<String> = numbers.iter().map(u32::to_string).collect();
                write!(to, "{name}{}", numbers.join("."))?;
                fault.device.map_or(Ok(()), |device| write!(to, "-of{device}"))
            }
            Self::Without { member, start: Start::AsItIs } => write!(to, "array{member}"),
            Self::Without { member, start: Start::Forced } => write!(to, "array{member}-forced"),
            Self::Without { member, start: Start::Synced } => write!(to, "array{member}-synced"),
        }
    }
}

impl FromStr for What {
    type Err = TortureError;

    fn from_str(text: &str) -> Result<Self, TortureError> {
        let found = match text {
            "drive" => Some(Self::Drive),
            "ignore" => Some(Self::Liar(FlushPolicy::Ignore)),
            "late" => Some(Self::Liar(FlushPolicy::Late(LATE))),
            _ => late(text).or_else(|| without(text)).or_else(|| fault(text)),
        };
        found.ok_or_else(|| {
            let limit = "must be contract, drive, ignore, late (or late:2ms), fault or array";
            setting("model", text, limit)
        })
    }
}

fn late(text: &str) -> Option<What> {
    let by = text.strip_prefix("late:")?.parse().ok()?;
    Some(What::Liar(FlushPolicy::Late(by)))
}

fn without(text: &str) -> Option<What> {
    let rest = text.strip_prefix("array").or_else(|| text.strip_prefix("member"))?;
    let (member, start) = match rest.split_once('-') {
        None => (rest, Start::AsItIs),
        Some((member, "forced")) => (member, Start::Forced),
        Some((member, "synced")) => (member, Start::Synced),
        Some(_) => return None,
    };
    Some(What::Without { member: member.parse().ok()?, start })
}

fn fault(text: &str) -> Option<What> {
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
            fault.shorn = Some(outlast_media::Share::new(narrow(new)?, narrow(of)?)?);
        }
        ("torn", &[run]) => {
            fault.kind = FaultKind::Power;
            fault.torn = Some(outlast_units::Bytes(run.into()));
        }
        _ => return None,
    }
    Some(What::Fault(Box::new(fault)))
}
