//! Checks the settings of a synthetic stream and makes the plan of a phase.

use super::address::{AddressLaw, HotZones, RequestSize, SequentialWalk, UniformDraw, threshold};
use super::alias_table::AliasTable;
use super::arrival::ArrivalPlan;
use super::generator::{PhaseLimit, PhasePlan, SizePlan};
use super::permutation::PlacePermutation;
use super::spec::{AddressPattern, ArrivalProcess, NamedMix, SizeMix, SizeWeight, SyntheticSpec};
use super::zipf::ZipfRanks;
use crate::error::bad_setting;
use crate::pass::PassSeeds;
use crate::{SizeOrPercent, WorkloadError, WorkloadTarget};
use outlast_units::{Bytes, SECTOR_BYTES, rng::SplitMix};

/// The sizes of JESD219A (enterprise), in sectors with their percentages.
const JESD219_SIZES: [(u32, f64); 12] = [
    (1, 4.0),
    (2, 1.0),
    (3, 1.0),
    (4, 1.0),
    (5, 1.0),
    (6, 1.0),
    (7, 1.0),
    (8, 67.0),
    (16, 10.0),
    (32, 7.0),
    (64, 3.0),
    (128, 3.0),
];
/// The zones of JESD219A (enterprise): share of accesses, share of addresses.
const JESD219_ZONES: [(f64, f64); 3] = [(0.50, 0.05), (0.30, 0.15), (0.20, 0.80)];
/// The largest single request: 2^32 - 1 sectors would fit the command, but nothing sensible does.
const LARGEST: Bytes = Bytes::gib(1);

/// The settings to check.
pub(super) struct SyntheticCheck<'a> {
    pub(super) spec: &'a SyntheticSpec,
    /// Dotted path of the settings, for messages.
    pub(super) path: &'a str,
    pub(super) target: &'a WorkloadTarget,
}

impl SyntheticCheck<'_> {
    fn field(&self, name: &str) -> String {
        format!("{}.{name}", self.path)
    }

    fn check_range(
        &self,
        name: &str,
        value: Option<f64>,
        default: f64,
        limits: (f64, f64),
    ) -> Result<f64, WorkloadError> {
        let value = value.unwrap_or(default);
        if (limits.0..=limits.1).contains(&value) {
            return Ok(value);
        }
        Err(bad_setting(self.field(name), value, format!("must be {} to {}", limits.0, limits.1)))
    }

    /// Checks that a size is of whole sectors, within 1..=[`LARGEST`], and counts them.
    fn check_sectors(&self, name: &str, size: Bytes) -> Result<u32, WorkloadError> {
        if size.0 == 0 || size > LARGEST || !size.0.is_multiple_of(SECTOR_BYTES) {
            let limit = format!("must be a whole number of {SECTOR_BYTES}-byte sectors, at most {LARGEST}");
            return Err(bad_setting(self.field(name), size, limit));
        }
        Ok((size.0 / SECTOR_BYTES) as u32)
    }

    /// First sector and length of the region, both in sectors.
    fn region(&self) -> Result<(u64, u64), WorkloadError> {
        let capacity = self.target.capacity.0 / SECTOR_BYTES;
        let whole_sectors = |name: &str, extent: SizeOrPercent| match extent {
            SizeOrPercent::Size(bytes) if !bytes.0.is_multiple_of(SECTOR_BYTES) => Err(bad_setting(
                self.field(name),
                bytes,
                format!("must be a whole number of {SECTOR_BYTES}-byte sectors"),
            )),
            _ => Ok(extent.sectors(capacity)),
        };
        let offset = self.spec.offset.map_or(Ok(0), |extent| whole_sectors("offset", extent))?;
        if offset >= capacity {
            let limit = format!("must be below the capacity of {}", self.target.capacity);
            return Err(bad_setting(
                self.field("offset"),
                self.spec.offset.unwrap_or(SizeOrPercent::Percent(0.0)),
                limit,
            ));
        }
        let Some(span) = self.spec.span else { return Ok((offset, capacity - offset)) };
        let length = whole_sectors("span", span)?;
        if length == 0 || length > capacity - offset {
            let most = Bytes((capacity - offset) * SECTOR_BYTES);
            return Err(bad_setting(
                self.field("span"),
                span,
                format!("must be at least one sector and at most the {most} left"),
            ));
        }
        Ok((offset, length))
    }

    /// The sizes in sectors with their weights, and the default alignment.
    fn sizes(&self) -> Result<(Vec<(u32, f64)>, u32), WorkloadError> {
        let list = match (&self.spec.size, &self.spec.sizes) {
            (Some(_), Some(_)) => {
                return Err(WorkloadError::Conflict {
                    first: self.field("size"),
                    second: self.field("sizes"),
                    why: "every request has one size, or sizes are drawn from a mix",
                });
            }
            (size, None) => vec![(self.check_sectors("size", size.unwrap_or(Bytes::kib(4)))?, 1.0)],
            (None, Some(SizeMix::Named(NamedMix::Jesd219))) => return Ok((JESD219_SIZES.to_vec(), 8)),
            (None, Some(SizeMix::List(list))) => {
                let check = |(i, item): (usize, &SizeWeight)| {
                    if !item.weight.is_finite() || item.weight <= 0.0 {
                        return Err(bad_setting(
                            self.field(&format!("sizes[{i}].weight")),
                            item.weight,
                            "must be more than 0",
                        ));
                    }
                    Ok((self.check_sectors(&format!("sizes[{i}].size"), item.size)?, item.weight))
                };
                list.iter().enumerate().map(check).collect::<Result<_, _>>()?
            }
        };
        match list.iter().map(|item| item.0).min() {
            Some(smallest) => Ok((list, smallest)),
            None => Err(bad_setting(self.field("sizes"), "[]", "must name at least one size")),
        }
    }

    fn arrival(&self) -> Result<ArrivalPlan, WorkloadError> {
        let Some(rate) = self.spec.rate_iops else {
            if self.spec.arrival.is_some() {
                let needed = "arrival says how requests arrive in an open loop, which needs a rate".into();
                return Err(WorkloadError::Missing { field: self.field("rate_iops"), needed });
            }
            return Ok(ArrivalPlan::Closed);
        };
        if self.spec.queue_depth.is_some() {
            return Err(WorkloadError::Conflict {
                first: self.field("rate_iops"),
                second: self.field("queue_depth"),
                why: "a rate is an open loop, a queue depth a closed one",
            });
        }
        // From about one request a day to one each nanosecond, the resolution of the clock.
        if !(1e-5..=1e9).contains(&rate) {
            return Err(bad_setting(self.field("rate_iops"), rate, "must be 1e-5 to 1e9"));
        }
        Ok(match self.spec.arrival.unwrap_or_default() {
            ArrivalProcess::Poisson => ArrivalPlan::Poisson(1e9 / rate),
            ArrivalProcess::Fixed => ArrivalPlan::Fixed(1e9 / rate),
        })
    }

    fn limit(&self) -> Result<PhaseLimit, WorkloadError> {
        let spec = self.spec;
        if spec.requests == Some(0) || spec.bytes == Some(Bytes(0)) {
            let name = if spec.requests == Some(0) { "requests" } else { "bytes" };
            return Err(bad_setting(self.field(name), 0, "must be at least 1"));
        }
        if spec.duration.is_some_and(|duration| duration.0 == 0) {
            return Err(bad_setting(self.field("duration"), "0", "must be more than 0"));
        }
        Ok(PhaseLimit {
            requests: spec.requests.unwrap_or(u64::MAX),
            sectors: spec.bytes.map_or(u64::MAX, |bytes| bytes.0.div_ceil(SECTOR_BYTES)),
            duration: spec.duration.map_or(u64::MAX, |duration| duration.0),
        })
    }

    /// Checks all settings; `seeds` are those of the phase. Also returns the sectors of the region.
    pub(super) fn plan(&self, seeds: PassSeeds) -> Result<(PhasePlan, std::ops::Range<u64>), WorkloadError> {
        let spec = self.spec;
        let (start, region) = self.region()?;
        let (list, smallest) = self.sizes()?;
        let align = u64::from(spec.align.map_or(Ok(smallest), |align| self.check_sectors("align", align))?);
        let mut sizes = Vec::with_capacity(list.len());
        for &(sectors, _) in &list {
            sizes.push(RequestSize::new(sectors, region, align).ok_or_else(|| {
                let size = Bytes(u64::from(sectors) * SECTOR_BYTES);
                let region = Bytes(region * SECTOR_BYTES);
                bad_setting(self.field("size"), size, format!("must not exceed the region of {region}"))
            })?);
        }
        let sizes = match sizes[..] {
            [one] => SizePlan::One(one),
            _ => SizePlan::Mix(
                AliasTable::new(&list.iter().map(|item| item.1).collect::<Vec<_>>()),
                sizes.into(),
            ),
        };
        let read = self.check_range("read_percent", spec.read_percent, 0.0, (0.0, 100.0))?;
        let trim = self.check_range("trim_percent", spec.trim_percent, 0.0, (0.0, 100.0 - read))?;
        let fua = self.check_range("fua_percent", spec.fua_percent, 0.0, (0.0, 100.0))?;
        if spec.flush_every == Some(0) {
            return Err(bad_setting(
                self.field("flush_every"),
                0,
                "must be at least 1; leave it out for none",
            ));
        }
        // Addresses are drawn over the places at which at least one sector fits.
        let places = (region - 1) / align + 1;
        let stream = spec.stream.unwrap_or_default();
        let plan = PhasePlan {
            start,
            align,
            address: self.address_law(places, seeds.layout)?,
            read: threshold(read / 100.0),
            // Cumulated, so that one draw decides between read, trim and write.
            trim: threshold((read + trim) / 100.0),
            sizes: [sizes.clone(), sizes.clone(), sizes],
            arrival: self.arrival()?,
            flush_every: spec.flush_every.unwrap_or(0),
            fua: threshold(fua / 100.0),
            hot: spec.hot_stream.unwrap_or(stream),
            cold: spec.cold_stream.unwrap_or(stream),
            limit: self.limit()?,
            seed: seeds.chance,
        };
        Ok((plan, start..start + region))
    }

    fn address_law(&self, places: u64, layout: u64) -> Result<AddressLaw, WorkloadError> {
        let spec = self.spec;
        let pattern = spec.pattern.unwrap_or_default();
        let zoned = matches!(pattern, AddressPattern::Hotcold | AddressPattern::Jesd219);
        let hint = [("hot_stream", spec.hot_stream), ("cold_stream", spec.cold_stream)];
        if let Some((name, Some(value))) = hint.into_iter().find(|(_, value)| value.is_some() && !zoned) {
            return Err(bad_setting(self.field(name), value.0, "needs pattern = \"hotcold\" or \"jesd219\""));
        }
        let scramble = spec.scramble.unwrap_or(false);
        if scramble && pattern == AddressPattern::Sequential {
            return Err(bad_setting(
                self.field("scramble"),
                true,
                "a sequential stream that is scrambled is pattern = \"uniform\"",
            ));
        }
        let scramble =
            scramble.then(|| PlacePermutation::new(places, &mut SplitMix::new(layout, "scramble")));
        let jumps = self.check_range("random_percent", spec.random_percent, 0.0, (0.0, 100.0))?;
        if spec.random_percent.is_some() && pattern != AddressPattern::Sequential {
            return Err(bad_setting(self.field("random_percent"), jumps, "needs pattern = \"sequential\""));
        }
        // Checked whatever the pattern, so that a wrong value is found when it is written.
        let theta = self.check_range("zipf_theta", spec.zipf_theta, 0.99, (1e-3, 10.0))?;
        let fraction = self.check_range("hot_fraction", spec.hot_fraction, 0.2, (1e-9, 1.0 - 1e-9))?;
        let access = self.check_range("hot_access", spec.hot_access, 0.8, (0.0, 1.0))?;
        Ok(match pattern {
            AddressPattern::Sequential => AddressLaw::Sequential(SequentialWalk::with_jumps(jumps / 100.0)),
            AddressPattern::Uniform => AddressLaw::Uniform(UniformDraw),
            AddressPattern::Zipf => AddressLaw::Zipf(ZipfRanks::new(places, theta), scramble),
            AddressPattern::Hotcold => AddressLaw::Zones(HotZones::new(
                places,
                &[(access, fraction), (1.0 - access, 1.0 - fraction)],
                scramble,
            )),
            AddressPattern::Jesd219 => AddressLaw::Zones(HotZones::new(places, &JESD219_ZONES, scramble)),
        })
    }
}
