//! Random write areas of zones against a plain map: bytes, write pointers, what flash is spared, losses of power, and copies of the drive.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_device::{
    Command, Device, Op, Outcome, PowerCycle, Tag, ZoneAction, ZoneId, ZoneState, ZoneTable,
};
use outlast_media::{DieDamage, DriveFault};
use outlast_persist::{Reader, Restore, Writer, restore_foreign};
use outlast_settings::drive::{MountConfig, SsdConfig};
use outlast_settings::ftl::ProtectionConfig;
use outlast_settings::zones::{FinishCost, RandomWriteConfig};
use outlast_ssd::Ssd;
use outlast_units::{Bytes, Lba, Nanos};
use proptest::prelude::*;
use std::collections::BTreeMap;
use support::zoned::{SECTORS, UNIT, zoned};

fn config(superblocks: u32, granules: u64) -> SsdConfig {
    let mut config = zoned(6, superblocks, 4);
    let zones = config.zones.as_mut().unwrap();
    zones.random_write = Some(RandomWriteConfig {
        size: Bytes(12 * UNIT),
        granularity: Some(Bytes(granules * UNIT)),
        zones: Some(2),
    });
    config
}

/// What a host does next. Places of writes and commits are units behind the write pointer.
#[derive(Clone, Debug)]
enum Step {
    Write { zone: u32, at: u64, units: u32 },
    Commit { zone: u32, at: u64 },
    Act(u32, ZoneAction),
    Wait(usize),
    Check,
    Cut,
    Copy,
}

fn steps() -> impl Strategy<Value = Vec<Step>> {
    let actions = vec![
        ZoneAction::OpenRandom,
        ZoneAction::Close,
        ZoneAction::Finish,
        ZoneAction::Reset,
        ZoneAction::Open,
    ];
    let step = prop_oneof![
        40 => (0..6u32, 0..26u64, 1..14u32).prop_map(|(zone, at, units)| Step::Write { zone, at, units }),
        20 => (0..6u32, Just(0), 1..20u32).prop_map(|(zone, at, units)| Step::Write { zone, at, units }),
        10 => (0..6u32, 0..14u64).prop_map(|(zone, at)| Step::Commit { zone, at }),
        12 => (0..6u32).prop_map(|zone| Step::Act(zone, ZoneAction::OpenRandom)),
        8 => (0..6u32, prop::sample::select(actions)).prop_map(|(zone, action)| Step::Act(zone, action)),
        8 => (0..10usize).prop_map(Step::Wait),
        2 => Just(Step::Check),
        2 => Just(Step::Cut),
        1 => Just(Step::Copy),
    ];
    prop::collection::vec(step, 1..150)
}

/// A command that the host waits for: its units, with what they held before.
#[derive(Clone, Debug)]
struct Pending {
    expected: Outcome,
    zone: u32,
    action: Option<ZoneAction>,
    before: Vec<(u64, u64)>,
}

struct Host {
    config: SsdConfig,
    ssd: Ssd,
    now: Nanos,
    table: ZoneTable,
    /// Value of each unit that was written, by zone and place in it.
    values: BTreeMap<(u32, u64), u64>,
    pending: BTreeMap<u32, Pending>,
    next_tag: u32,
    next_value: u64,
    /// True if flash may fail for good, so that commands may, and zones be given up.
    fails: bool,
}

impl Host {
    fn new(config: SsdConfig) -> Self {
        let ssd = Ssd::new(config.clone(), 3).unwrap();
        let table = ssd.zones().unwrap().clone();
        let (values, pending) = (BTreeMap::new(), BTreeMap::new());
        Self {
            config,
            ssd,
            now: Nanos::ZERO,
            table,
            values,
            pending,
            next_tag: 0,
            next_value: 0,
            fails: false,
        }
    }

    fn start(&self, zone: u32) -> u64 {
        self.table.layout().start(ZoneId(zone)).0
    }

    fn step(&mut self, step: &Step) {
        match *step {
            Step::Write { zone, at, units } => self.write(zone, at, units),
            Step::Commit { zone, at } => {
                let place = self.table.written(ZoneId(zone)) + at * u64::from(SECTORS);
                let lba = Lba(self.start(zone) + place);
                // Behind the last zone is nothing.
                if lba.0 < self.table.layout().sectors() {
                    self.act(ZoneAction::Commit, lba);
                }
            }
            Step::Act(zone, action) => self.act(action, Lba(self.start(zone))),
            Step::Wait(left) => self.advance(left),
            Step::Check => self.check(),
            Step::Cut => self.cut(),
            Step::Copy => self.copy(),
        }
    }

    fn submit(&mut self, command: Command, pending: Pending, data: &[u8]) {
        let tag = self.next_tag;
        self.next_tag += 1;
        self.pending.insert(tag, pending);
        self.ssd.submit_data(self.now, command, Tag(tag), data);
    }

    /// Learns which zones the drive has given up.
    fn look_again(&mut self) {
        if self.fails {
            self.table = self.ssd.zones().unwrap().clone();
        }
    }

    fn write(&mut self, zone: u32, at: u64, units: u32) {
        self.look_again();
        let has_area = self.table.has_area(ZoneId(zone));
        let first = self.table.written(ZoneId(zone)) / u64::from(SECTORS) + if has_area { at } else { 0 };
        let lba = Lba(self.start(zone) + first * u64::from(SECTORS));
        if lba.0 + u64::from(units * SECTORS) > self.start(zone) + self.table.layout().size {
            return;
        }
        // What of two writes under way to one block is there in the end is nobody's promise.
        let range = first..first + u64::from(units);
        let overlaps =
            |own: &Pending| own.zone == zone && own.before.iter().any(|(unit, _)| range.contains(unit));
        if self.pending.values().any(overlaps) {
            self.advance(0);
        }
        let moved = self.table.write(Op::Write, lba, units * SECTORS);
        let (mut data, mut before) = (Vec::new(), Vec::new());
        for unit in range {
            self.next_value += 1;
            data.extend(self.next_value.to_le_bytes());
            data.resize(data.len() + UNIT as usize - 8, 0);
            if moved.is_ok() {
                before.push((unit, self.values.insert((zone, unit), self.next_value).unwrap_or(0)));
            }
        }
        let expected = moved.map_or_else(Outcome::Zone, |_| Outcome::Ok);
        let command = Command::new(Op::Write, lba, units * SECTORS);
        self.submit(command, Pending { expected, zone, action: None, before }, &data);
    }

    fn act(&mut self, action: ZoneAction, lba: Lba) {
        self.look_again();
        let zone = self.table.layout().place(lba).0.0;
        let moved = self.table.manage(action, lba);
        if moved.is_ok() && action == ZoneAction::Reset {
            self.values.retain(|&(own, _), _| own != zone);
        }
        let expected = moved.map_or_else(Outcome::Zone, |_| Outcome::Ok);
        let command = Command::manage_zone(action, lba);
        self.submit(command, Pending { expected, zone, action: Some(action), before: Vec::new() }, &[]);
    }

    fn advance(&mut self, left: usize) {
        let mut done = Vec::new();
        while self.pending.len() > left {
            self.now = self.ssd.advance_to_completion(Nanos::MAX, &mut done);
            assert!(!done.is_empty(), "{:?} never complete", self.pending);
            for completion in done.drain(..) {
                let pending = self.pending.remove(&completion.tag.0).unwrap();
                let may_fail = self.fails
                    && matches!(
                        completion.outcome,
                        Outcome::ReadOnly | Outcome::MediumError | Outcome::Zone(_)
                    );
                assert!(
                    may_fail || completion.outcome == pending.expected,
                    "{pending:?}: {:?}",
                    completion.outcome
                );
            }
        }
    }

    /// What all units of `zone` hold.
    fn read(&mut self, zone: u32) -> Vec<u64> {
        assert!(self.pending.is_empty());
        let sectors = u32::try_from(self.table.layout().size).unwrap();
        let tag = self.next_tag;
        let pending = Pending { expected: Outcome::Ok, zone, action: None, before: Vec::new() };
        self.submit(Command::new(Op::Read, Lba(self.start(zone)), sectors), pending, &[]);
        self.advance(0);
        let bytes = self.ssd.take_data(Tag(tag)).unwrap();
        bytes.chunks(UNIT as usize).map(|unit| u64::from_le_bytes(unit[..8].try_into().unwrap())).collect()
    }

    fn check(&mut self) {
        self.advance(0);
        self.ssd.self_check().unwrap();
        self.look_again();
        for zone in 0..if self.fails { 0 } else { 6 } {
            assert_eq!(
                self.ssd.zones().unwrap().descriptor(ZoneId(zone)),
                self.table.descriptor(ZoneId(zone))
            );
            for (unit, found) in self.read(zone).into_iter().enumerate() {
                let value = self.values.get(&(zone, unit as u64)).copied().unwrap_or(0);
                assert_eq!(found, value, "unit {unit} of zone {zone}");
            }
            self.check_peek(zone);
        }
    }

    /// Answers without time are those of reads.
    fn check_peek(&mut self, zone: u32) {
        let mut peeks = Vec::new();
        self.ssd.peek(Lba(self.start(zone)), self.table.layout().size, &mut peeks);
        for peek in peeks {
            let unit = (peek.lba.0 - self.start(zone)) / u64::from(SECTORS);
            let found = match peek.held {
                outlast_device::Held::Bytes { memory, from } => {
                    u64::from_le_bytes(memory[from..from + 8].try_into().unwrap())
                }
                _ => 0,
            };
            assert_eq!(
                found,
                self.values.get(&(zone, unit)).copied().unwrap_or(0),
                "peek of {unit} of {zone}"
            );
        }
    }

    /// The drive is written and read, and the copy goes on.
    fn copy(&mut self) {
        let mut bytes = Vec::new();
        let mut writer = Writer::new(&mut bytes);
        self.ssd.save(&mut writer);
        writer.end().unwrap();
        let mut ssd = Ssd::new(self.config.clone(), 3).unwrap();
        let mut from = bytes.as_slice();
        let mut reader = Reader::new(&mut from);
        restore_foreign(&mut ssd, &mut reader).unwrap();
        reader.end().unwrap();
        self.ssd = ssd;
    }

    fn cut(&mut self) {
        let before = self.table.clone();
        let pending = std::mem::take(&mut self.pending);
        self.ssd.power_cycle(self.now, self.now);
        let after = self.ssd.zones().unwrap().clone();
        assert_eq!(after.open(), 0, "a zone is open after a loss of power");
        self.table = after.clone();
        if self.fails {
            return self.check();
        }
        let granule = after.random_write().unwrap().granularity;
        for zone in 0..6 {
            let id = ZoneId(zone);
            let own = |pending: &&Pending| pending.zone == zone && pending.expected == Outcome::Ok;
            let is_reset = pending.values().filter(own).any(|own| own.action == Some(ZoneAction::Reset));
            let found = self.read(zone);
            if is_reset {
                // What was there before may be there still, or again.
                self.values.retain(|&(own, _), _| own != zone);
                let held = found.iter().enumerate().filter(|&(_, &value)| value != 0);
                self.values.extend(held.map(|(unit, &value)| ((zone, unit as u64), value)));
                continue;
            }
            if after.has_area(id) {
                assert!(after.written(id).is_multiple_of(granule), "a write pointer stands at a granule");
            }
            let unsure: BTreeMap<u64, u64> =
                pending.values().filter(own).flat_map(|own| own.before.iter().copied()).collect();
            // Without an area a write is lost with one before it.
            let lost_from =
                if before.has_area(id) { u64::MAX } else { unsure.keys().copied().min().unwrap_or(u64::MAX) };
            for (unit, &value) in found.iter().enumerate() {
                let unit = unit as u64;
                let expected = self.values.get(&(zone, unit)).copied().unwrap_or(0);
                let may_be_old = unsure.get(&unit) == Some(&value) || (unit >= lost_from && value == 0);
                assert!(
                    value == expected || may_be_old,
                    "unit {unit} of zone {zone} holds {value}, not {expected}"
                );
                if value == 0 {
                    self.values.remove(&(zone, unit));
                } else {
                    self.values.insert((zone, unit), value);
                }
            }
            if !pending.values().any(|pending| own(&pending)) {
                assert_eq!(after.written(id), before.written(id), "nothing of zone {zone} was under way");
                assert_eq!(after.state(id) == ZoneState::Full, before.state(id) == ZoneState::Full);
            }
        }
        self.check();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(96))]

    /// Every random life gives what a map gives, with losses of power and with copies of the drive in between.
    #[test]
    fn areas_are_maps(
        steps in steps(), superblocks in 1..3u32, granules in prop::sample::select(vec![1u64, 2, 4]),
        parity in any::<bool>(), cores in 1..3u16, free in any::<bool>(), mount in any::<bool>(),
    ) {
        let mut config = config(superblocks, granules);
        config.controller.flash_cores = cores;
        config.mount = mount.then(MountConfig::default);
        if parity && cores == 1 {
            config.protection = Some(ProtectionConfig { data: 3, parity: 1, ..ProtectionConfig::default() });
        }
        if free {
            config.zones.as_mut().unwrap().finish = FinishCost::Free;
        }
        let mut host = Host::new(config);
        for step in steps {
            host.step(&step);
        }
        host.check();
    }
}

/// Eight dies of one plane with parity, so that a stripe bears the loss of one.
fn striped() -> SsdConfig {
    let mut config = config(1, 2);
    config.geometry.channels = 4;
    config.geometry.planes_per_die = 1;
    config.geometry.blocks_per_plane = 54;
    config.ftl.spare_blocks = 6;
    config.protection = Some(ProtectionConfig { data: 7, parity: 1, ..ProtectionConfig::default() });
    config
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// A die fails while areas are written, committed and lost power beside: nothing that was acknowledged is lost.
    #[test]
    fn areas_outlive_a_die(before in steps(), after in steps(), die in 0..8u16) {
        let mut host = Host::new(striped());
        for step in before {
            host.step(&step);
        }
        host.ssd.inject(host.now, DriveFault { die, damage: DieDamage::Die });
        for step in after {
            host.step(&step);
        }
        host.check();
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Blocks fail until none is left, with areas open, commits under way, losses of power and copies: every command ends, and the drive's invariants hold.
    #[test]
    fn areas_on_a_drive_that_wears_out_never_stop_it(lives in prop::collection::vec(steps(), 6), cores in 1..3u16) {
        let mut config = striped();
        config.protection = None;
        config.controller.flash_cores = cores;
        config.hazards.program_failure = 2e-3;
        config.hazards.erase_failure = 0.5;
        let mut host = Host::new(config);
        host.fails = true;
        for step in lives.iter().flatten() {
            host.step(step);
        }
        for turn in 0..400 {
            let zone = turn % 6;
            let start = Lba(host.start(zone));
            host.act(ZoneAction::Reset, start);
            host.act(ZoneAction::OpenRandom, start);
            host.write(zone, 0, 20);
            host.write(zone, 8, 16);
            host.advance(4);
        }
        host.check();
    }
}

/// What is written again within the area costs no program until it is committed, and then one for each unit.
#[test]
fn what_is_written_again_in_an_area_costs_flash_nothing() {
    let mut host = Host::new(config(1, 4));
    host.act(ZoneAction::OpenRandom, Lba(host.start(0)));
    for _ in 0..200 {
        host.write(0, 0, 12);
        host.advance(0);
    }
    let programmed = |host: &Host| host.ssd.written().total();
    assert_eq!(programmed(&host), 0, "nothing is on flash");
    host.act(ZoneAction::Commit, Lba(host.start(0) + 11 * u64::from(SECTORS)));
    host.check();
    let counts = *host.ssd.zones_view().unwrap().counts();
    assert_eq!((counts.area_bytes, counts.committed_bytes), (200 * 12 * UNIT, 12 * UNIT));
    // A write behind the area commits what lies in front of it, by whole granules.
    host.write(0, 13, 1);
    host.check();
    let counts = *host.ssd.zones_view().unwrap().counts();
    assert_eq!((counts.implicit_commits, counts.committed_bytes), (1, 16 * UNIT));
    assert_eq!(host.table.written(ZoneId(0)), 16 * u64::from(SECTORS));
}
