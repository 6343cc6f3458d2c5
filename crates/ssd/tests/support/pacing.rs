//! Collection and pacing of every kind, for random drives.

use outlast_settings::drive::{SsdConfig, WriteCache};
use outlast_settings::ftl::{GcReads, GcRelocation, Pacing, TokenConfig, TokenRate};
use outlast_units::{Bytes, Nanos};
use proptest::prelude::*;

/// Superblocks beyond any that tests of random drives hold back: there may be three tasks, with two each.
const BEYOND_HELD_BACK: u32 = 6;

/// How collection works, and how host writes are paced beside it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Paced {
    reads: GcReads,
    overlap: bool,
    relocation: GcRelocation,
    pacing: Pacing,
    /// The high mark over the greatest low one, and the host's share below it.
    marks: Option<(u32, f64)>,
    token: Option<TokenConfig>,
}

impl Paced {
    /// The same, with victims that are moved into the host's stream.
    pub(crate) fn mixed(self) -> Self {
        Self { overlap: false, relocation: GcRelocation::Host, ..self }
    }

    /// The same, with victims that are read while the last one is erased.
    pub(crate) fn overlapping(self) -> Self {
        Self { overlap: true, ..self }
    }

    /// Paces the host of `config`, whose capacity and write cache are set; where collection has a high mark the drive gets as many superblocks more.
    pub(crate) fn set(self, config: &mut SsdConfig) {
        let gc = &mut config.ftl.gc;
        (gc.pacing, gc.token, gc.reads) = (self.pacing, self.token, self.reads);
        gc.overlap = self.overlap && config.controller.write_cache == WriteCache::Protected;
        if !gc.overlap
            && config.protection.is_none()
            && config.controller.write_cache == WriteCache::Protected
        {
            gc.relocation = self.relocation;
        }
        if gc.overlap {
            // A superblock more is held back for each of three tasks, and another waits for its erasure.
            config.geometry.blocks_per_plane += 6;
        }
        if let Some((over, share)) = self.marks {
            (gc.stop_free, gc.host_share) = (Some(BEYOND_HELD_BACK + over), Some(share));
            config.geometry.blocks_per_plane += BEYOND_HELD_BACK + over;
        }
    }
}

pub(crate) fn pacings() -> impl Strategy<Value = Paced> {
    let marks = (1u32..6, prop::sample::select(vec![0.0, 0.3, 1.0]));
    let token = (1u64..2000, prop::sample::select(vec![0.1, 0.95, 1.5]), 1u64..40).prop_map(
        |(window, factor, units)| TokenConfig {
            window: Nanos::micros(10 * window),
            factor,
            depth: Bytes::kib(16 * units),
            ..TokenConfig::default()
        },
    );
    let pacing = prop::sample::select(Pacing::ALL.to_vec());
    let relocation = prop::sample::select(vec![GcRelocation::Own, GcRelocation::Host]);
    let reads = prop::sample::select(vec![GcReads::MultiPlane, GcReads::Page]);
    (pacing, prop::option::of(marks), prop::option::of(token), reads, any::<bool>(), relocation).prop_map(
        |(pacing, marks, token, reads, overlap, relocation)| Paced {
            reads,
            overlap,
            relocation,
            pacing,
            marks: match pacing {
                Pacing::Smooth | Pacing::None => None,
                Pacing::Burst => Some(marks.unwrap_or((3, 0.5))),
                Pacing::Token => marks,
            },
            token: token.filter(|_| pacing == Pacing::Token).map(|own| TokenConfig {
                rate: if marks.is_some() && overlap { TokenRate::Burst } else { TokenRate::Window },
                ..own
            }),
        },
    )
}
