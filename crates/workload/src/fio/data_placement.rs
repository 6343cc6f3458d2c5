//! Placement identifiers of a job's writes: the keys `fdp`, `dataplacement`, `plids`, `plid_select` and `dp_scheme`.
//!
//! Source: fio 3.41, `dataplacement.c`, `options.c` and HOWTO. Placement identifiers of flexible data placement are the indices of the list that the
//! namespace has of them, as those of `plids` are in fio: of each handle in every reclaim group.

use super::job_plan::JobPlan;
use super::rand::{RandomStream, TauswortheRng};
use super::values::ValueFault;
use outlast_device::PlacementId;

/// Most identifiers of a job, as in fio.
const MOST_IDS: usize = 128;
/// Most ranges of a scheme; fio takes no more of its file.
const MOST_RANGES: usize = 32;

/// Kind of identifiers that writes carry (`dataplacement`; `fdp=1` is the second).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum PlacementKind {
    #[default]
    None,
    /// Flexible data placement.
    Fdp,
    /// The streams directive.
    Streams,
}

impl PlacementKind {
    /// Values of `dataplacement`.
    pub(super) const NAMES: &[(&str, Self)] =
        &[("none", Self::None), ("fdp", Self::Fdp), ("streams", Self::Streams)];
}

/// How the identifier of the next write is chosen (`plid_select`).
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum IdChoice {
    Random,
    #[default]
    RoundRobin,
    /// By offset, from the file `dp_scheme`.
    Scheme,
}

impl IdChoice {
    /// Values of `plid_select`.
    pub(super) const NAMES: &[(&str, Self)] =
        &[("random", Self::Random), ("roundrobin", Self::RoundRobin), ("scheme", Self::Scheme)];
}

/// A range of offsets, in bytes from the start of the device, whose writes carry `id`.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) struct SchemeRange {
    from: u64,
    to: u64,
    id: PlacementId,
}

/// Placement of a job's writes as its keys give it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct PlacementOptions {
    pub(super) kind: PlacementKind,
    pub(super) ids: Vec<u16>,
    pub(super) choice: IdChoice,
    pub(super) scheme_file: Option<String>,
    /// What that file says, once it has been read.
    pub(super) scheme: Vec<SchemeRange>,
}

/// Checked placement of a job's writes.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(super) struct PlacementPlan {
    ids: Vec<PlacementId>,
    choice: IdChoice,
    scheme: Vec<SchemeRange>,
}

impl PlacementOptions {
    /// The plan on a device whose namespace has `handles` placement identifiers; `None` where writes carry none.
    ///
    /// # Errors
    /// Key, value and expected form of what fio would refuse.
    pub(super) fn plan(&self, handles: u16) -> Result<Option<PlacementPlan>, (&'static str, String, String)> {
        let listed = || self.ids.iter().map(|&id| PlacementId(id)).collect();
        let ids: Vec<PlacementId> = match self.kind {
            PlacementKind::None => return Ok(None),
            PlacementKind::Streams if self.ids.is_empty() => {
                let expected = "needs plids, the stream identifiers, as in fio";
                return Err(("dataplacement", "streams".into(), expected.into()));
            }
            PlacementKind::Streams => listed(),
            PlacementKind::Fdp if handles == 0 => {
                let expected = "needs device.placement: the drive has no reclaim unit handles";
                return Err(("fdp", "1".into(), expected.into()));
            }
            PlacementKind::Fdp if self.ids.is_empty() => (0..handles).map(PlacementId).collect(),
            PlacementKind::Fdp => {
                if let Some(id) = self.ids.iter().find(|&&id| id >= handles) {
                    let expected = format!("must be below the placement handles of the drive, {handles}");
                    return Err(("plids", id.to_string(), expected));
                }
                listed()
            }
        };
        if self.choice == IdChoice::Scheme && self.scheme_file.is_none() {
            return Err(("plid_select", "scheme".into(), "needs dp_scheme, the file of ranges".into()));
        }
        Ok(Some(PlacementPlan { ids, choice: self.choice, scheme: self.scheme.clone() }))
    }
}

/// The value of `plids`: numbers and ranges, separated by commas.
pub(super) fn ids(text: &str) -> Result<Vec<u16>, ValueFault> {
    let expected = || ValueFault::from("expected numbers or ranges such as 0,2-4, each below 65536");
    let number = |text: &str| text.trim().parse::<u16>().map_err(|_| expected());
    let mut ids = Vec::new();
    for part in text.split(',') {
        let (first, last) = part.split_once('-').unwrap_or((part, part));
        let (first, last) = (number(first)?, number(last)?);
        if last < first || ids.len() + usize::from(last - first) >= MOST_IDS {
            return Err(format!("must be at most {MOST_IDS} identifiers, ranges upwards"));
        }
        ids.extend(first..=last);
    }
    Ok(ids)
}

/// The ranges of a scheme: lines `from,to,id`, up to the first line of another form, as fio reads them; at most [`MOST_RANGES`].
pub(super) fn scheme(text: &str) -> Vec<SchemeRange> {
    let range = |line: &str| {
        let mut parts = line.split(',');
        let (from, to, id) = (parts.next()?, parts.next()?, parts.next()?);
        let number = |text: &str| text.trim().parse::<u64>().ok();
        let id = PlacementId(number(id)?.try_into().ok()?);
        Some(SchemeRange { from: number(from)?, to: number(to)?, id })
    };
    text.lines().map_while(range).take(MOST_RANGES).collect()
}

/// Placement of the writes of a running job.
#[derive(Debug)]
pub(super) struct WritePlacement {
    plan: PlacementPlan,
    /// The identifier of the next write, round and round.
    next: usize,
    random: TauswortheRng,
}

impl WritePlacement {
    /// Placement of the writes of `plan`; `None` where they carry no identifier.
    pub(super) fn of(plan: &JobPlan) -> Option<Self> {
        plan.placement.as_ref().map(|own| Self::new(own, plan.seeds.of(RandomStream::Placement)))
    }

    fn new(plan: &PlacementPlan, seed: u64) -> Self {
        Self { plan: plan.clone(), next: 0, random: TauswortheRng::new(seed, false) }
    }

    /// The identifier of the next write, which goes to `offset`.
    pub(super) fn id(&mut self, offset: u64) -> PlacementId {
        let PlacementPlan { ids, choice, scheme } = &self.plan;
        match choice {
            IdChoice::RoundRobin => {
                self.next %= ids.len();
                self.next += 1;
                ids[self.next - 1]
            }
            IdChoice::Random => ids[self.random.below(ids.len() as u64) as usize],
            IdChoice::Scheme => {
                let found = scheme.iter().find(|range| (range.from..range.to).contains(&offset));
                found.map_or(PlacementId(0), |range| range.id)
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn placed(options: &PlacementOptions, handles: u16, offsets: &[u64]) -> Vec<u16> {
        let plan = options.plan(handles).unwrap().unwrap();
        let mut placement = WritePlacement::new(&plan, 1);
        offsets.iter().map(|&offset| placement.id(offset).0).collect()
    }

    #[test]
    fn identifiers_come_round_and_round_by_range_or_by_chance() {
        let fdp = PlacementOptions { kind: PlacementKind::Fdp, ..PlacementOptions::default() };
        assert_eq!(placed(&fdp, 3, &[0; 5]), [0, 1, 2, 0, 1]);
        let some = PlacementOptions { ids: ids("4,1-2").unwrap(), ..fdp.clone() };
        assert_eq!(placed(&some, 5, &[0; 4]), [4, 1, 2, 4]);
        let text = "0,4096,2\n4096, 8192, 1\nanything\n8192,9000,4";
        let choice = IdChoice::Scheme;
        let scheme_file = Some("scheme".to_owned());
        let ranged = PlacementOptions { choice, scheme_file, scheme: scheme(text), ..fdp.clone() };
        assert_eq!(placed(&ranged, 8, &[0, 4095, 4096, 8191, 8192, 8500]), [2, 2, 1, 1, 0, 0]);
        let drawn = PlacementOptions { choice: IdChoice::Random, ..fdp };
        let drawn = placed(&drawn, 4, &vec![0; 4000]);
        for id in 0..4 {
            // A thousand of each; a standard deviation of 27.
            let count = drawn.iter().filter(|&&own| own == id).count();
            assert!((840..1160).contains(&count), "{id}: {count}");
        }
    }

    #[test]
    fn what_fio_refuses_is_refused_with_value_and_limit() {
        let fdp =
            PlacementOptions { kind: PlacementKind::Fdp, ids: vec![0, 7], ..PlacementOptions::default() };
        let refusal = |options: &PlacementOptions, handles| options.plan(handles).unwrap_err();
        assert_eq!(refusal(&fdp, 0).0, "fdp");
        let (key, value, expected) = refusal(&fdp, 7);
        assert_eq!((key, value.as_str()), ("plids", "7"));
        assert!(expected.ends_with(", 7"), "{expected}");
        let streams = PlacementOptions { kind: PlacementKind::Streams, ..PlacementOptions::default() };
        assert_eq!(refusal(&streams, 9).0, "dataplacement");
        for bad in ["", "a", "3-1", "0-128", "65536", "1,,2"] {
            assert!(ids(bad).is_err(), "{bad}");
        }
    }
}
