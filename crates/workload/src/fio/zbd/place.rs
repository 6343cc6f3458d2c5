//! Place of a request in the zones (`zbd_adjust_block` of fio 3.33 and its callees). Where fio blocks, the search stops and is taken up again later.

use super::{HostZones, ZbdPlan};
use crate::fio::job_options::AccessPlan;
use crate::fio::offsets::{ByteRange, READ, TRIM, WRITE};

/// Where the search for the place of a request goes on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::fio) enum PlaceStage {
    /// From the beginning.
    Begin,
    /// Another zone than `zone` is to be opened, of `left` that may still be tried; `held`: the job holds `zone` until then.
    OpenOther { zone: u32, left: u64, held: bool },
    /// Nothing of the job is in flight: `zone`, which the job holds, is reset if anything is written of it.
    Reset { zone: u32 },
    /// `zone`, which the job holds, has been reset.
    Write { zone: u32 },
}

/// What becomes of a request.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(in crate::fio) enum Placed {
    /// It goes there, and the job holds its zone, unless it reads beyond write pointers.
    At(ByteRange),
    /// Once nothing of the job is in flight, the search goes on.
    Drain(PlaceStage),
    /// Another job holds a zone: once nothing of this one is in flight and the other has let it go, the search goes on.
    Held(PlaceStage),
    /// The zone is reset by a command, and the search goes on.
    Reset(u32),
    /// The region has nothing for it: the file ends.
    End,
}

/// A request, and the job that makes it.
#[derive(Clone, Copy)]
pub(in crate::fio) struct Asked<'a> {
    pub(in crate::fio) job: u32,
    pub(in crate::fio) access: &'a AccessPlan,
    pub(in crate::fio) plan: &'a ZbdPlan,
    pub(in crate::fio) ddir: usize,
    pub(in crate::fio) range: ByteRange,
}

impl Asked<'_> {
    fn least(&self) -> u64 {
        self.access.sizes[self.ddir].least
    }
}

impl HostZones {
    /// The place of a request; `stage` is where the search goes on.
    pub(in crate::fio) fn place(&mut self, asked: &Asked<'_>, stage: PlaceStage) -> Placed {
        match stage {
            PlaceStage::Begin => self.begin(asked),
            PlaceStage::OpenOther { zone, left, held } => {
                if held {
                    self.let_go(zone);
                }
                self.open_other(asked, zone, left)
            }
            PlaceStage::Reset { zone } if self.written[zone as usize] == 0 => self.write(asked, zone),
            PlaceStage::Reset { zone } if self.is_zoned => Placed::Reset(zone),
            PlaceStage::Reset { zone } => {
                self.was_reset(zone);
                self.write(asked, zone)
            }
            PlaceStage::Write { zone } => self.write(asked, zone),
        }
    }

    fn begin(&mut self, asked: &Asked<'_>) -> Placed {
        let zone = self.zone_of(asked.range.offset);
        if asked.ddir == READ && asked.plan.read_beyond_wp {
            return Placed::At(asked.range);
        }
        if self.is_held_from(asked.job, zone) {
            return self.wait(asked, PlaceStage::Begin);
        }
        match asked.ddir {
            READ => self.read(asked, zone),
            WRITE => self.begin_write(asked, zone),
            _ => self.trim(asked, zone),
        }
    }

    /// `asked` waits for a zone that another job holds.
    fn wait(&mut self, asked: &Asked<'_>, stage: PlaceStage) -> Placed {
        if !self.waiting.contains(&asked.job) {
            self.waiting.push(asked.job);
        }
        Placed::Held(stage)
    }

    fn read(&mut self, asked: &Asked<'_>, first: u32) -> Placed {
        let (least, bytes, random) = (asked.least(), asked.range.bytes, asked.access.random);
        let (mut zone, mut offset) = (first, asked.range.offset);
        let end = |own: &Self, zone: u32| own.start(zone) + own.written[zone as usize];
        let written = self.written[zone as usize];
        if written < least || (!random && offset + least > end(self, zone)) {
            zone = match self.find_written(asked, least, first) {
                Ok(Some(zone)) => zone,
                Ok(None) => return Placed::End,
                Err(wait) => return wait,
            };
            if !random {
                offset = self.start(zone);
            }
        }
        let written = self.written[zone as usize];
        if written <= bytes {
            offset = self.start(zone);
        } else if random {
            let within = asked.range.offset - self.start(first);
            offset = self.start(zone) + within % (written - bytes) / least * least;
        }
        let bytes = bytes.min(end(self, zone).saturating_sub(offset)) / least * least;
        if bytes == 0 {
            return Placed::End;
        }
        self.hold(asked.job, zone);
        Placed::At(ByteRange { offset, bytes })
    }

    /// The next zone behind `from` with at least `bytes` written, or the nearest on either side for random requests (fio's `zbd_find_zone`).
    fn find_written(&mut self, asked: &Asked<'_>, bytes: u64, from: u32) -> Result<Option<u32>, Placed> {
        let (first, end) = (asked.plan.first_zone, asked.plan.end_zone);
        for step in 1..=end - first {
            let after = Some(from + step).filter(|&zone| zone < end);
            if after.is_none() && !asked.access.random {
                break;
            }
            let before = from.checked_sub(step).filter(|&zone| zone >= first && asked.access.random);
            for zone in [after, before].into_iter().flatten() {
                if self.is_held_from(asked.job, zone) {
                    return Err(self.wait(asked, PlaceStage::Begin));
                }
                if self.written[zone as usize] >= bytes {
                    return Ok(Some(zone));
                }
            }
        }
        Ok(None)
    }

    fn trim(&mut self, asked: &Asked<'_>, first: u32) -> Placed {
        let mut zone = first;
        if asked.access.random && self.written[zone as usize] == 0 {
            zone = match self.find_written(asked, 1, first) {
                Ok(Some(zone)) => zone,
                Ok(None) => return Placed::End,
                Err(wait) => return wait,
            };
        }
        debug_assert!(asked.ddir == TRIM, "neither a read nor a write");
        self.hold(asked.job, zone);
        Placed::At(ByteRange { offset: self.start(zone), bytes: self.size })
    }

    fn begin_write(&mut self, asked: &Asked<'_>, zone: u32) -> Placed {
        if self.try_open(asked.job, zone, asked.plan) {
            return self.reset_or_write(asked, zone);
        }
        self.convert(asked)
    }

    /// An open zone takes the place of the one that was asked for (fio's `zbd_convert_to_open_zone`).
    fn convert(&mut self, asked: &Asked<'_>) -> Placed {
        let (first, end) = (asked.plan.first_zone, asked.plan.end_zone);
        let is_limited = self.max_open != 0 || asked.plan.job_max_open != 0;
        let picked = self.picked(asked.access, asked.range.offset);
        let mut zone = if is_limited {
            // fio's list has zeroes behind its end.
            self.open.get(picked).copied().unwrap_or(0)
        } else {
            self.zone_of(asked.range.offset)
        };
        zone = zone.clamp(first, end - 1);
        loop {
            if self.is_held_from(asked.job, zone) {
                return self.wait(asked, PlaceStage::Begin);
            }
            if !is_limited {
                break;
            }
            if self.open.is_empty() {
                return self.before_opening(asked, zone);
            }
            let picked = self.picked(asked.access, asked.range.offset);
            let of_job = |at: &usize| (first..end).contains(&self.open[*at]);
            let turns = (picked..self.open.len()).chain(0..picked.min(self.open.len()));
            let Some(at) = turns.into_iter().find(of_job) else { return Placed::End };
            if self.open[at] == zone {
                break;
            }
            zone = self.open[at];
        }
        if !self.lacks(zone, asked.least()) {
            return self.reset_or_write(asked, zone);
        }
        self.before_opening(asked, zone)
    }

    /// Another zone than `zone` is to be opened: where a limit is reached, once those in flight may have been closed.
    fn before_opening(&mut self, asked: &Asked<'_>, zone: u32) -> Placed {
        let (plan, open) = (asked.plan, self.open.len());
        let left = asked.access.length / self.size;
        let waits = open == (plan.end_zone - plan.first_zone) as usize
            || (self.max_open != 0 && open == self.max_open as usize)
            || (plan.job_max_open != 0 && self.opened_by[asked.job as usize] == plan.job_max_open);
        if waits {
            self.hold(asked.job, zone);
            return Placed::Drain(PlaceStage::OpenOther { zone, left, held: true });
        }
        self.open_other(asked, zone, left)
    }

    fn open_other(&mut self, asked: &Asked<'_>, mut zone: u32, left: u64) -> Placed {
        let (first, end) = (asked.plan.first_zone, asked.plan.end_zone);
        for left in (0..left).rev() {
            let next = if zone + 1 < end { zone + 1 } else { first };
            if self.is_held_from(asked.job, next) {
                return self.wait(asked, PlaceStage::OpenOther { zone, left: left + 1, held: false });
            }
            zone = next;
            if !self.is_open(zone) && self.try_open(asked.job, zone, asked.plan) {
                return self.reset_or_write(asked, zone);
            }
        }
        for at in 0..self.open.len() {
            let zone = self.open[at];
            if !(first..end).contains(&zone) {
                continue;
            }
            if self.is_held_from(asked.job, zone) {
                return self.wait(asked, PlaceStage::OpenOther { zone: first, left: 0, held: false });
            }
            if !self.lacks(zone, asked.least()) {
                return self.reset_or_write(asked, zone);
            }
        }
        Placed::End
    }

    /// A write goes to `zone`, which is reset before if it is full, or if more is written than `zone_reset_threshold` says and its turn has come.
    fn reset_or_write(&mut self, asked: &Asked<'_>, zone: u32) -> Placed {
        let plan = asked.plan;
        if plan.reset_frequency > 0.0
            && self.with_data as f64 >= asked.access.length as f64 * plan.reset_threshold
        {
            self.writes_left = self.writes_left.saturating_sub(1);
            if self.writes_left == 0 {
                self.count_writes_anew(plan);
                self.to_reset[zone as usize] = true;
            }
        }
        self.hold(asked.job, zone);
        if self.to_reset[zone as usize] || self.lacks(zone, asked.least()) {
            self.to_reset[zone as usize] = false;
            return Placed::Drain(PlaceStage::Reset { zone });
        }
        self.write(asked, zone)
    }

    /// The write goes to the write pointer of `zone`, which the job holds.
    fn write(&mut self, asked: &Asked<'_>, zone: u32) -> Placed {
        let least = asked.least();
        let written = self.written[zone as usize];
        let bytes = asked.range.bytes.min(self.capacity - written) / least * least;
        if bytes == 0 {
            self.let_go(zone);
            return Placed::End;
        }
        let offset = self.start(zone) + written;
        Placed::At(ByteRange { offset, bytes })
    }
}
