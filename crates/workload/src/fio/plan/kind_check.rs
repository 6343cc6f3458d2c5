//! Checks of what goes with a file within the device, with pairs of trims and writes, and with a shift register.

use super::RefusedOption;
use super::job_check::JobCheck;
use crate::SizeOrPercent;
use crate::fio::job_options::{AccessPlan, BlockSource, LawSpec};
use crate::fio::rand::{JobSeeds, RandomStream};
use crate::fio::shift_register::ShiftRegister;
use outlast_units::Bytes;

impl JobCheck<'_> {
    /// First byte and length of the region of a job with `filesize`: what of the file lies behind `start`. As in fio `size` then says
    /// how much of it a pass covers, not where.
    pub(super) fn region_of_file(&self, start: u64, file: u64) -> Result<(u64, u64), RefusedOption> {
        let options = self.options;
        if file > self.target.capacity.0 || file <= start {
            let limit = format!("must be above the offset and at most {}", self.target.capacity);
            return Err(("filesize", Bytes(file).to_string(), limit));
        }
        match options.size {
            Some(SizeOrPercent::Percent(percent)) if percent < 100.0 => {
                Err(("size", format!("{percent}%"), "must be in bytes beside filesize".into()))
            }
            _ if options.zbd.is_on => {
                Err(("filesize", Bytes(file).to_string(), "needs zonemode=none: give size".into()))
            }
            _ => Ok((start, file - start)),
        }
    }

    /// Checks what goes with pairs of trims and writes, and with a shift register.
    pub(super) fn check_kinds(&self, access: &AccessPlan, seeds: &JobSeeds) -> Result<(), RefusedOption> {
        let options = self.options;
        if access.trims_first {
            if options.fsync != 0 || options.fdatasync != 0 {
                let limit = "needs another rw than trimwrite: fio 3.33 itself leaves these flushes out";
                let key = if options.fsync != 0 { "fsync" } else { "fdatasync" };
                return Err((key, "given".into(), limit.into()));
            }
            // Of these fio 3.33 makes other requests than its manual says, and later versions others again.
            let is_plain = options.skip == 0 && options.every == 1 && access.law == LawSpec::Uniform;
            let is_random = access.random_percent.iter().all(|&percent| percent == 100);
            let is_sized = !access.random || access.sizes.iter().all(|sizes| sizes.least == sizes.most);
            if !(is_plain && is_random && is_sized) {
                let limit = "needs one size for each direction, no number behind rw, no percentage_random and no random_distribution: make a trim job and a write job";
                return Err(("rw", "trimwrite".into(), limit.into()));
            }
            if options.zbd.is_on {
                let limit = "needs zonemode=none: make a trim job and a write job";
                return Err(("rw", "trimwrite".into(), limit.into()));
            }
        }
        if access.source == Some(BlockSource::Lfsr) && access.random {
            if matches!(access.law, LawSpec::Zoned(..)) || options.zbd.is_on {
                let limit = "needs one region: a shift register runs through all of it; use tausworthe";
                return Err(("random_generator", "lfsr".into(), limit.into()));
            }
            let seed = seeds.of(RandomStream::Block);
            if ShiftRegister::is_stuck(access.length / access.smallest(), seed) {
                let limit =
                    "cannot begin at this seed, at which fio fails: give another randseed, or use tausworthe";
                return Err(("random_generator", "lfsr".into(), limit.into()));
            }
        }
        Ok(())
    }

    /// Checks that `bytes` are whole blocks of the job's namespace.
    pub(super) fn check_blocks(&self, bytes: impl IntoIterator<Item = u64>) -> Result<(), RefusedOption> {
        match self.space.as_ref().and_then(|space| space.partial(bytes)) {
            None => Ok(()),
            Some((bytes, block)) => {
                let expected =
                    format!("must be of whole blocks of the namespace, {block}, and so must offset");
                Err(("bs", format!("{bytes} bytes"), expected))
            }
        }
    }
}
