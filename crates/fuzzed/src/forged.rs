//! State that somebody has forged: a number in it is another one, and the checksums around it are right.

use outlast_persist::{Damage, Reader, Restore, Writer, restore_foreign};
use outlast_units::rng::SplitMix;

/// Variable with the number of seeds, from that of property tests on, by which numbers are forged in place of fixed ones: what nightly runs try.
const DRAWN: &str = "OUTLAST_FORGED_SEEDS";

/// Seeds to forge by, each with what to forge: the `fixed` ones, so that one run is like another, or with [`DRAWN`] so many for each of `all`.
///
/// # Panics
/// Where the variable is no number.
pub fn forged_by<K: Copy>(fixed: &[(u64, K)], all: &[K]) -> Vec<(u64, K)> {
    let Some(count) = std::env::var_os(DRAWN) else { return fixed.to_vec() };
    let count: u64 = count.to_string_lossy().parse().expect("the number of seeds is a number");
    let seeds = crate::drawn()..crate::drawn() + count;
    // Kinds differ in their seeds, too.
    seeds.flat_map(|seed| (seed..).zip(all.iter().copied())).collect()
}

/// Outcomes of forgeries.
#[derive(Clone, Copy, Debug, Default)]
pub struct ForgeryCounts {
    /// Forgeries that were refused.
    pub refused: u64,
    /// Forgeries that were taken for state, and went on.
    pub went_on: u64,
}

impl ForgeryCounts {
    /// Counts a forgery, which `is_taken` for state or refused.
    pub fn count(&mut self, is_taken: bool) {
        *(if is_taken { &mut self.went_on } else { &mut self.refused }) += 1;
    }

    /// Requires that forgeries were of both kinds: else what is forged is never looked at, or all of it refused unseen. At least one in 40 is far below
    /// what any seed gives, one in ten or more.
    ///
    /// # Panics
    /// If they were not.
    pub fn require_both(self) {
        let least = (self.refused + self.went_on) / 40;
        assert!(self.refused > least && self.went_on > least, "{self:?}");
    }
}

/// Bytes in front of the blocks of a snapshot or a checkpoint: what it is, and its format.
pub const HEAD: usize = 12;

/// What blocks hold, without their lengths and checksums.
///
/// # Panics
/// Where they end within one.
pub fn content(mut blocks: &[u8]) -> Vec<u8> {
    let mut content = Vec::new();
    while let Some((head, rest)) = blocks.split_first_chunk::<8>() {
        let (own, rest) = rest.split_at(u32::from_le_bytes([head[0], head[1], head[2], head[3]]) as usize);
        content.extend_from_slice(own);
        blocks = rest;
    }
    content
}

/// The blocks that hold `content`.
///
/// # Panics
/// Never: memory can be written.
pub fn blocks(content: &[u8]) -> Vec<u8> {
    let mut blocks = Vec::new();
    let mut writer = Writer::new(&mut blocks);
    writer.bytes(content);
    writer.end().expect("memory can be written");
    blocks
}

/// The state of a part by itself.
///
/// # Panics
/// Never.
pub fn state_of(part: &impl Restore) -> Vec<u8> {
    let mut blocks = Vec::new();
    let mut writer = Writer::new(&mut blocks);
    part.save(&mut writer);
    writer.end().expect("memory can be written");
    content(&blocks)
}

/// Has `part` take over state, all of it.
///
/// # Errors
/// It is refused.
pub fn take_over(part: &mut impl Restore, state: &[u8]) -> Result<(), Damage> {
    let blocks = blocks(state);
    let mut from = &blocks[..];
    let mut reader = Reader::new(&mut from);
    restore_foreign(part, &mut reader)?;
    reader.end()
}

/// Places where numbers are, and not what is stored: most bytes of numbers are 0 or 255. Nor in the middle of what is all alike, as most of
/// tables is.
pub fn places(state: &[u8]) -> Vec<usize> {
    let is_number = |&at: &usize| {
        let around = &state[at.saturating_sub(8)..(at + 8).min(state.len())];
        let plain = around.iter().filter(|&&byte| byte == 0 || byte == u8::MAX).count();
        plain >= around.len() / 2 && around.iter().any(|&byte| byte != around[0])
    };
    (0..state.len()).filter(is_number).collect()
}

/// Makes a byte another one, or a number of four or eight bytes one that somebody would try, at one of `places`. Returns where, and what is there
/// now, in words.
pub fn forge(state: &mut [u8], places: &[usize], rng: &mut SplitMix) -> String {
    const TRIED: [u64; 10] = [0, 1, 3, 64, 1 << 16, 1 << 31, u32::MAX as u64, 1 << 40, 1 << 63, u64::MAX];
    let at = places[rng.below(places.len() as u64) as usize];
    let own = u64::from_le_bytes(std::array::from_fn(|byte| state.get(at + byte).copied().unwrap_or(0)));
    let tried = match rng.below(14) {
        10 => own.wrapping_add(1),
        11 => own.wrapping_sub(1),
        12 => own ^ 1 << rng.below(8),
        13 => rng.next_u64(),
        known => TRIED[known as usize],
    };
    let width = [1, 1, 4, 8][rng.below(4) as usize];
    state[at..].iter_mut().zip(tried.to_le_bytes()).take(width).for_each(|(own, new)| *own = new);
    format!("byte {at} of {}: {width} of {tried:#x} instead of {own:#x}", state.len())
}
