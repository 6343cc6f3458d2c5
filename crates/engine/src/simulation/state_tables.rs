//! State of a drive or an array between two steps, as tables.

use super::{BuiltDevice, Simulation};
use crate::drives::AsDriveSet;
use crate::summary::wear_table;
use crate::table::{ResultColumn, ResultTable};
use outlast_decisions::SuperblockState;
use outlast_ftl::{Ftl, StreamCause};
use outlast_ssd::Ssd;
use outlast_units::{Nanos, SECTOR_BYTES, SuperblockId};

/// Equal ranges into which the address space is divided for the table of mapped bytes.
const RANGES: u64 = 256;

impl Simulation {
    /// Tables by name: dies, superblocks, wear of blocks, mapped share of the address space; at a cost proportional to the drive. In an array
    /// they cover all present drives; the column `device` numbers them as faults do.
    pub fn state(&self) -> Vec<(String, ResultTable)> {
        let now = self.status().map_or(Nanos::ZERO, |status| status.now);
        let drives = self.drives_by_column();
        let mut tables = vec![
            ("dies".to_owned(), dies(&drives, now)),
            ("superblocks".to_owned(), superblocks(&drives)),
            ("mapping".to_owned(), mapping(&drives)),
        ];
        let all = either!(&self.built, device => device.as_drives());
        tables.extend(wear_table(&all).map(|wear| ("wear".to_owned(), wear)));
        tables
    }

    /// The present drives with their columns in the array.
    fn drives_by_column(&self) -> Vec<(u64, &Ssd)> {
        match &self.built {
            BuiltDevice::Drive(ssd) => vec![(0, ssd)],
            BuiltDevice::Array(volume) => {
                let members = u64::from(volume.array.config().members);
                let drive_in = |column| Some((column, volume.array.member(column as usize)?.drive()?));
                (0..members).filter_map(drive_in).collect()
            }
        }
    }
}

/// One row for each die.
fn dies(drives: &[(u64, &Ssd)], now: Nanos) -> ResultTable {
    let views: Vec<_> = drives
        .iter()
        .flat_map(|&(device, ssd)| {
            ssd.die_views(now).into_iter().enumerate().map(move |(die, view)| (device, ssd, die, view))
        })
        .collect();
    let per_channel = |ssd: &Ssd| u64::from(ssd.config().geometry.dies() / ssd.config().geometry.channels);
    let mut table = ResultTable::default();
    table.counts("device", views.iter().map(|&(device, ..)| device));
    table.counts("channel", views.iter().map(|&(_, ssd, die, _)| die as u64 / per_channel(ssd)));
    table.counts("die", views.iter().map(|&(_, _, die, _)| die as u64));
    table.push("state", ResultColumn::Text(views.iter().map(|(.., view)| name_of(&view.state)).collect()));
    table.counts("busy_ns", views.iter().map(|(.., view)| view.busy_ns));
    table.measures("pe_cycles", views.iter().map(|(.., view)| view.pe_cycles));
    table.counts("bad_blocks", views.iter().map(|(.., view)| view.bad_blocks));
    table
}

/// Name of an enum value, as in results.
fn name_of(value: &impl serde::Serialize) -> String {
    let json = serde_json::to_value(value).unwrap_or_default();
    json.as_str().unwrap_or_default().to_owned()
}

/// A superblock with its drive and flash core; one row of the table.
struct SuperblockRow<'a> {
    device: u64,
    core: u64,
    ftl: &'a Ftl,
    id: SuperblockId,
}

impl SuperblockRow<'_> {
    fn state(&self) -> SuperblockState {
        self.ftl.superblock(self.id).state()
    }

    /// True if it holds data, so that it has a stream and a class.
    fn is_in_use(&self) -> bool {
        !matches!(self.state(), SuperblockState::Free | SuperblockState::Retired)
    }

    fn cause(&self) -> &'static str {
        let cause = self.is_in_use().then(|| self.ftl.streams().cause(self.ftl.superblock(self.id).stream()));
        match cause {
            None => "",
            Some(StreamCause::Host) => "host",
            Some(StreamCause::Gc | StreamCause::Fold) => "gc",
            Some(StreamCause::WearLeveling) => "wear-leveling",
            Some(StreamCause::Scrub) => "scrub",
            Some(StreamCause::Reencode) => "reencode",
            Some(StreamCause::Partial) => "partial",
            Some(StreamCause::Map) => "map",
        }
    }

    /// Valid units; 0 for one that is being collected.
    fn valid(&self) -> u64 {
        let counted = matches!(self.state(), SuperblockState::Open | SuperblockState::Sealed);
        if counted { u64::from(self.ftl.superblock(self.id).valid()) } else { 0 }
    }

    fn class(&self) -> u64 {
        if self.is_in_use() { u64::from(self.ftl.superblock(self.id).class()) } else { 0 }
    }

    /// Units that the host has written since it was sealed; NaN if it is not sealed.
    fn age(&self) -> f64 {
        self.ftl.superblock(self.id).age().map_or(f64::NAN, |age| age as f64)
    }
}

const fn state_name(state: SuperblockState) -> &'static str {
    match state {
        SuperblockState::Free => "free",
        SuperblockState::Open => "open",
        SuperblockState::Sealed => "sealed",
        SuperblockState::Collecting => "collecting",
        SuperblockState::Retired => "retired",
    }
}

/// One row for each superblock.
fn superblocks(drives: &[(u64, &Ssd)]) -> ResultTable {
    let mut all = Vec::new();
    for &(device, ssd) in drives {
        for (core, ftl) in (0..).zip(ssd.ftls()) {
            let ids = (0..ftl.layout().superblocks()).map(SuperblockId);
            all.extend(ids.map(|id| SuperblockRow { device, core, ftl, id }));
        }
    }
    let states = all.iter().map(|place| state_name(place.state()).to_owned());
    let causes = all.iter().map(|place| place.cause().to_owned());
    let mut table = ResultTable::default();
    table.counts("device", all.iter().map(|place| place.device));
    table.counts("core", all.iter().map(|place| place.core));
    table.counts("superblock", all.iter().map(|place| u64::from(place.id.0)));
    table.push("state", ResultColumn::Text(states.collect()));
    table.push("cause", ResultColumn::Text(causes.collect()));
    table.counts("class", all.iter().map(SuperblockRow::class));
    table.counts("valid_units", all.iter().map(SuperblockRow::valid));
    table.counts("units", all.iter().map(|place| u64::from(place.ftl.layout().units_per_superblock())));
    table.counts("erase_count", all.iter().map(|place| u64::from(place.ftl.superblock(place.id).cycles())));
    table.measures("age_units", all.iter().map(SuperblockRow::age));
    table
}

/// One row for each range of addresses of a drive.
fn mapping(drives: &[(u64, &Ssd)]) -> ResultTable {
    let mut columns: [Vec<u64>; 4] = Default::default();
    for &(device, ssd) in drives {
        let unit = u64::from(ssd.sectors_per_unit()) * SECTOR_BYTES;
        let mut first = 0;
        for (units, mapped) in ssd.mapped_by_range(RANGES) {
            let row = [device, first * unit, units * unit, mapped * unit];
            columns.iter_mut().zip(row).for_each(|(column, value)| column.push(value));
            first += units;
        }
    }
    let mut table = ResultTable::default();
    for (name, column) in ["device", "offset", "bytes", "mapped_bytes"].into_iter().zip(columns) {
        table.push(name, ResultColumn::U64(column));
    }
    table
}
