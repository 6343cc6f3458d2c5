//! P/E cycles of blocks at one moment.

use outlast_ssd::Ssd;

/// Blocks by P/E cycles: `counts[i]` blocks have `least + i` cycles.
#[derive(Clone, Debug, Default, PartialEq)]
pub(super) struct CycleCounts {
    pub(super) least: u64,
    pub(super) counts: Vec<u64>,
}

impl CycleCounts {
    pub(super) fn of(drives: &[(u64, &Ssd)]) -> Self {
        let all = || drives.iter().flat_map(|(_, ssd)| ssd.cycles()).map(u64::from);
        let Some((least, most)) = all().map(|each| (each, each)).reduce(|a, b| (a.0.min(b.0), a.1.max(b.1)))
        else {
            return Self::default();
        };
        let mut counts = vec![0; (most - least) as usize + 1];
        all().for_each(|each| counts[(each - least) as usize] += 1);
        Self { least, counts }
    }

    pub(super) fn most(&self) -> u64 {
        self.least + self.counts.len().saturating_sub(1) as u64
    }
}
