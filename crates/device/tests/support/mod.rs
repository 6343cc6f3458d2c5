//! Plain model of the machine of zone states, and the steps that it is compared by.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use outlast_device::ZoneError::{InvalidTransition as Refused, IsFull, IsOffline, IsReadOnly};
use outlast_device::ZoneState::{Closed, Empty, ExplicitlyOpen, Full, ImplicitlyOpen, Offline, ReadOnly};
use outlast_device::{ZoneAction, ZoneError, ZoneLayout, ZoneLimits, ZoneState, ZoneTable};
use proptest::prelude::*;

pub(crate) const LAYOUT: ZoneLayout = ZoneLayout { zones: 6, size: 64, capacity: 40, block: 8 };

pub(crate) fn table(open: u32, active: u32) -> ZoneTable {
    ZoneTable::new(LAYOUT, ZoneLimits { open, active })
}

/// The state that follows, or the refusal.
pub(crate) type Next = Result<ZoneState, ZoneError>;

/// The state machine of the specification (NVM Express Zoned Namespace Command Set 1.1, section 2.1.1): rows are states; columns the actions open, close,
/// finish, reset and offline, a write of one block, and one that fills the zone.
#[rustfmt::skip]
pub(crate) const TRANSITIONS: [(ZoneState, [Next; 5], [Next; 2]); 7] = [
    (Empty,          [Ok(ExplicitlyOpen), Err(Refused), Ok(Full),     Ok(Empty),    Err(Refused)], [Ok(ImplicitlyOpen), Ok(Full)]),
    (ImplicitlyOpen, [Ok(ExplicitlyOpen), Ok(Closed),   Ok(Full),     Ok(Empty),    Err(Refused)], [Ok(ImplicitlyOpen), Ok(Full)]),
    (ExplicitlyOpen, [Ok(ExplicitlyOpen), Ok(Closed),   Ok(Full),     Ok(Empty),    Err(Refused)], [Ok(ExplicitlyOpen), Ok(Full)]),
    (Closed,         [Ok(ExplicitlyOpen), Ok(Closed),   Ok(Full),     Ok(Empty),    Err(Refused)], [Ok(ImplicitlyOpen), Ok(Full)]),
    (Full,           [Err(Refused),       Err(Refused), Ok(Full),     Ok(Empty),    Err(Refused)], [Err(IsFull),        Err(IsFull)]),
    (ReadOnly,       [Err(Refused),       Err(Refused), Err(Refused), Err(Refused), Ok(Offline)],  [Err(IsReadOnly),    Err(IsReadOnly)]),
    (Offline,        [Err(Refused),       Err(Refused), Err(Refused), Err(Refused), Ok(Offline)],  [Err(IsOffline),     Err(IsOffline)]),
];

/// The plainest form of the rules: a list of zones, counted anew each time.
#[derive(Clone, Debug)]
pub(crate) struct Model {
    pub(crate) zones: Vec<(ZoneState, u64, u64)>,
    pub(crate) open: usize,
    pub(crate) active: usize,
    pub(crate) clock: u64,
}

impl Model {
    pub(crate) fn count(&self, is: fn(ZoneState) -> bool) -> usize {
        self.zones.iter().filter(|zone| is(zone.0)).count()
    }

    pub(crate) fn open(&mut self, zone: usize, to: ZoneState) -> Result<(), ZoneError> {
        if !self.zones[zone].0.is_active() && self.count(ZoneState::is_active) == self.active {
            return Err(ZoneError::TooManyActive);
        }
        if !self.zones[zone].0.is_open() && self.count(ZoneState::is_open) == self.open {
            let implicit = (0..self.zones.len()).filter(|&at| self.zones[at].0 == ImplicitlyOpen);
            let oldest = implicit.min_by_key(|&at| self.zones[at].2).ok_or(ZoneError::TooManyOpen)?;
            self.zones[oldest].0 = Closed;
        }
        if !self.zones[zone].0.is_open() {
            self.clock += 1;
            self.zones[zone].2 = self.clock;
        }
        self.zones[zone].0 = to;
        Ok(())
    }

    pub(crate) fn write(&mut self, zone: usize, at: u64, sectors: u64) -> Result<(), ZoneError> {
        let (state, written, _) = self.zones[zone];
        match state {
            Full => return Err(IsFull),
            ReadOnly => return Err(IsReadOnly),
            Offline => return Err(IsOffline),
            _ if at + sectors > LAYOUT.capacity => return Err(ZoneError::BoundaryError),
            _ if at != written => return Err(ZoneError::InvalidWrite),
            Empty | Closed => self.open(zone, ImplicitlyOpen)?,
            _ => {}
        }
        self.zones[zone].1 += sectors;
        if self.zones[zone].1 == LAYOUT.capacity {
            self.zones[zone].0 = Full;
        }
        Ok(())
    }

    pub(crate) fn manage(&mut self, zone: usize, action: ZoneAction) -> Result<(), ZoneError> {
        let state = self.zones[zone].0;
        let row = TRANSITIONS.iter().find(|row| row.0 == state).unwrap();
        let to = row.1[action as usize]?;
        if to == ExplicitlyOpen {
            self.open(zone, to)?;
        }
        self.zones[zone].0 = to;
        if action == ZoneAction::Reset {
            self.zones[zone].1 = 0;
        }
        Ok(())
    }
}

#[derive(Clone, Debug)]
pub(crate) enum Step {
    Write(usize, u64),
    WriteElsewhere(usize, u64, u64),
    Append(usize, u64),
    Manage(usize, ZoneAction),
    GiveUp(usize),
}

pub(crate) fn step() -> impl Strategy<Value = Step> {
    let (zone, blocks) = (0..6usize, 1..4u64);
    let action = prop::sample::select(ZoneAction::ALL[..5].to_vec());
    prop_oneof![
        8 => (zone.clone(), blocks.clone()).prop_map(|(zone, blocks)| Step::Write(zone, blocks)),
        2 => (zone.clone(), 0..6u64, blocks.clone()).prop_map(|(zone, at, blocks)| Step::WriteElsewhere(zone, at, blocks)),
        6 => (zone.clone(), blocks).prop_map(|(zone, blocks)| Step::Append(zone, blocks)),
        10 => (zone.clone(), action).prop_map(|(zone, action)| Step::Manage(zone, action)),
        1 => zone.prop_map(Step::GiveUp),
    ]
}
