//! A member of an array: a drive in full, or a light stand-in for one.

use crate::member_config::{as_new, config_of};
use outlast_array::PlainDevice;
use outlast_device::{
    Command, Completion, Device, Extent, Identity, LatencyParts, LbaRun, Notice, Peek, PowerCycle, SectorRun,
    Smart, Tag,
};
use outlast_media::{ByteStore, ConfigError};
use outlast_persist::{Damage, Persist, Reader, Restore, Writer, shape};
use outlast_scenario::{Scenario, shape_of_drive};
use outlast_settings::array::LightConfig;
use outlast_settings::drive::SsdConfig;
use outlast_ssd::Ssd;
use outlast_units::{Bytes, Lba, Nanos};
use std::sync::Arc;

/// A drive in a column of an array, or a light stand-in with latency and bandwidth but no flash. Stand-ins save memory and time where a drive
/// is too large to be simulated several times.
#[derive(Clone, Debug)]
pub(crate) enum ArrayMember {
    Drive(Box<Ssd>),
    Light(Box<PlainDevice>),
}

impl ArrayMember {
    pub(crate) fn light(config: &LightConfig, capacity: Bytes, seed: u64) -> Result<Self, ConfigError> {
        Ok(Self::Light(Box::new(PlainDevice::new(config.device(capacity), seed)?)))
    }

    /// The drive; `None` for a stand-in.
    pub(crate) fn drive(&self) -> Option<&Ssd> {
        match self {
            Self::Drive(ssd) => Some(ssd),
            Self::Light(_) => None,
        }
    }

    pub(crate) fn drive_mut(&mut self) -> Option<&mut Ssd> {
        match self {
            Self::Drive(ssd) => Some(ssd),
            Self::Light(_) => None,
        }
    }

    /// True for a drive, false for a stand-in.
    pub(crate) fn is_drive(&self) -> bool {
        matches!(self, Self::Drive(_))
    }
}

/// Settings of all drives that an array of a scenario may have, by the hash of these settings. Reading a saved drive needs them.
#[derive(Debug)]
pub(crate) struct MemberConfigs {
    configs: Vec<(u64, SsdConfig)>,
    /// Store of their contents, if not memory.
    store: Option<Arc<dyn ByteStore>>,
}

impl MemberConfigs {
    pub(crate) fn of(scenario: &Scenario, store: Option<Arc<dyn ByteStore>>) -> Self {
        // Every member as configured, and a drive from the factory, as a replacement is.
        let devices = scenario.array.iter().flat_map(|array| {
            (0..array.devices())
                .map(|index| config_of(scenario, array, index))
                .chain([as_new(scenario.device.clone())])
        });
        let mut configs: Vec<(u64, SsdConfig)> =
            devices.map(|config| (shape_of_drive(&config), config)).collect();
        configs.dedup_by_key(|(number, _)| *number);
        Self { configs, store }
    }
}

impl Persist for ArrayMember {
    const SHAPE: u64 =
        shape("Member", &[("", <Ssd as Restore>::SHAPE), ("", <PlainDevice as Persist>::SHAPE)]);

    /// Writes a drive as the hash of its settings, its seed and its state: reading builds it anew from the former two.
    fn write(&self, to: &mut Writer<'_>) {
        self.is_drive().write(to);
        match self {
            Self::Drive(ssd) => {
                (shape_of_drive(ssd.config()), ssd.seed()).write(to);
                ssd.save(to);
            }
            Self::Light(plain) => plain.write(to),
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damage> {
        if !bool::read(from)? {
            return Persist::read(from).map(Self::Light);
        }
        let (value, seed) = Persist::read(from)?;
        let member_configs = from.context::<MemberConfigs>();
        let configs = member_configs.map_or(&[][..], |member_configs| &member_configs.configs);
        let Some((_, config)) = configs.iter().find(|(number, _)| *number == value) else {
            return Err(Damage::Value { what: "drive of the array", value });
        };
        let mut ssd = Ssd::new(config.clone(), seed).map_err(|error| Damage::Machine(error.to_string()))?;
        if let Some(store) = member_configs.and_then(|member_configs| member_configs.store.as_ref()) {
            ssd.keep_contents_in(store);
        }
        ssd.restore(from)?;
        Ok(Self::Drive(Box::new(ssd)))
    }
}

impl Device for ArrayMember {
    #[inline]
    fn submit(&mut self, now: Nanos, command: Command, tag: Tag) {
        match self {
            Self::Drive(ssd) => ssd.submit(now, command, tag),
            Self::Light(plain) => plain.submit(now, command, tag),
        }
    }

    fn submit_data(&mut self, now: Nanos, command: Command, tag: Tag, data: &[u8]) {
        match self {
            Self::Drive(ssd) => ssd.submit_data(now, command, tag, data),
            Self::Light(plain) => plain.submit_data(now, command, tag, data),
        }
    }

    fn take_data(&mut self, tag: Tag) -> Option<Vec<u8>> {
        match self {
            Self::Drive(ssd) => ssd.take_data(tag),
            Self::Light(plain) => plain.take_data(tag),
        }
    }

    fn take_lba_status(&mut self, tag: Tag) -> Option<Vec<LbaRun>> {
        match self {
            Self::Drive(ssd) => ssd.take_lba_status(tag),
            Self::Light(plain) => plain.take_lba_status(tag),
        }
    }

    fn take_parts(&mut self, tag: Tag) -> Option<LatencyParts> {
        match self {
            Self::Drive(ssd) => ssd.take_parts(tag),
            Self::Light(plain) => plain.take_parts(tag),
        }
    }

    fn take_failed(&mut self, tag: Tag) -> Option<Vec<SectorRun>> {
        match self {
            Self::Drive(ssd) => ssd.take_failed(tag),
            Self::Light(plain) => plain.take_failed(tag),
        }
    }

    fn peek(&self, lba: Lba, sectors: u64, to: &mut Vec<Peek>) {
        match self {
            Self::Drive(ssd) => ssd.peek(lba, sectors, to),
            Self::Light(plain) => plain.peek(lba, sectors, to),
        }
    }

    fn extents(&self, lba: Lba, sectors: u64) -> Vec<Extent> {
        match self {
            Self::Drive(ssd) => ssd.extents(lba, sectors),
            Self::Light(plain) => plain.extents(lba, sectors),
        }
    }

    #[inline]
    fn take_notice(&mut self) -> Option<Notice> {
        match self {
            Self::Drive(ssd) => ssd.take_notice(),
            Self::Light(plain) => plain.take_notice(),
        }
    }

    #[inline]
    fn next_deadline(&self) -> Option<Nanos> {
        match self {
            Self::Drive(ssd) => ssd.next_deadline(),
            Self::Light(plain) => plain.next_deadline(),
        }
    }

    #[inline]
    fn advance(&mut self, now: Nanos, completions: &mut Vec<Completion>) {
        match self {
            Self::Drive(ssd) => ssd.advance(now, completions),
            Self::Light(plain) => plain.advance(now, completions),
        }
    }

    #[inline]
    fn advance_to_completion(&mut self, limit: Nanos, completions: &mut Vec<Completion>) -> Nanos {
        match self {
            Self::Drive(ssd) => ssd.advance_to_completion(limit, completions),
            Self::Light(plain) => plain.advance_to_completion(limit, completions),
        }
    }

    fn hint(&self, upcoming: &[Command]) {
        if let Self::Drive(ssd) = self {
            ssd.hint(upcoming);
        }
    }

    fn identify(&self) -> Identity {
        match self {
            Self::Drive(ssd) => ssd.identify(),
            Self::Light(plain) => plain.identify(),
        }
    }

    fn smart(&self) -> Smart {
        match self {
            Self::Drive(ssd) => ssd.smart(),
            Self::Light(plain) => plain.smart(),
        }
    }

    fn under_way(&self) -> Option<Vec<(Tag, Option<u32>)>> {
        match self {
            Self::Drive(ssd) => ssd.under_way(),
            Self::Light(plain) => plain.under_way(),
        }
    }

    fn self_check(&self) -> Result<(), String> {
        match self {
            Self::Drive(ssd) => ssd.self_check(),
            Self::Light(plain) => plain.self_check(),
        }
    }
}

impl PowerCycle for ArrayMember {
    fn power_cycle(&mut self, off: Nanos, on: Nanos) {
        match self {
            Self::Drive(ssd) => ssd.power_cycle(off, on),
            Self::Light(plain) => plain.power_cycle(off, on),
        }
    }
}
