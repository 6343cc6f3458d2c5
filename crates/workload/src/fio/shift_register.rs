//! fio's shift register (`random_generator=lfsr`), which gives every block of a region once without a map of them.
//!
//! Source: fio 3.33, `lib/lfsr.c`: a register of maximal length whose feedback is negated, so that all ones is the one state that it
//! never leaves. Numbers beyond the region are stepped over.

/// Bits that are fed back into a register of 3, 4, ... bits, counted from 1; the first is the register's length. They are a property of
/// the polynomial: P. Alfke, "Efficient Shift Registers, LFSR Counters, and Long Pseudo-Random Sequence Generators", Xilinx XAPP052, has
/// most of them.
const TAPS: [&[u32]; 42] = [
    &[3, 2],
    &[4, 3],
    &[5, 3],
    &[6, 5],
    &[7, 6],
    &[8, 6, 5, 4],
    &[9, 5],
    &[10, 7],
    &[11, 9],
    &[12, 6, 4, 1],
    &[13, 4, 3, 1],
    &[14, 5, 3, 1],
    &[15, 14],
    &[16, 15, 13, 4],
    &[17, 14],
    &[18, 11],
    &[19, 6, 2, 1],
    &[20, 17],
    &[21, 19],
    &[22, 21],
    &[23, 18],
    &[24, 23, 22, 17],
    &[25, 22],
    &[26, 6, 2, 1],
    &[27, 5, 2, 1],
    &[28, 25],
    &[29, 27],
    &[30, 6, 4, 1],
    &[31, 28],
    &[32, 31, 29, 1],
    &[33, 20],
    &[34, 27, 2, 1],
    &[35, 33],
    &[36, 25],
    &[37, 5, 4, 3, 2, 1],
    &[38, 6, 5, 1],
    &[39, 35],
    &[40, 38, 21, 19],
    &[41, 38],
    &[42, 41, 20, 19],
    &[43, 42, 38, 37],
    &[44, 43, 18, 17],
];

/// The taps for a region of `blocks`: of the shortest register with more states than blocks. 2^44 sectors are 8 PiB, more than any device.
fn taps(blocks: u64) -> &'static [u32] {
    TAPS.iter().copied().find(|taps| 1 << taps[0] > blocks).unwrap_or(TAPS[TAPS.len() - 1])
}

/// A register that gives the blocks of a region.
#[derive(Clone, Debug)]
pub(super) struct ShiftRegister {
    blocks: u64,
    seed: u64,
    /// The highest bit of the register, and its feedback.
    top: u64,
    feedback: u64,
    state: u64,
    /// Blocks given in this pass.
    given: u64,
    /// True until the first block of the job: fio steps twice for it.
    begins: bool,
}

impl ShiftRegister {
    pub(super) fn new(blocks: u64, seed: u64) -> Self {
        let taps = taps(blocks);
        let top = 1 << (taps[0] - 1);
        let feedback = taps.iter().map(|tap| 1 << (tap - 1)).sum();
        let mut register = Self { blocks, seed, top, feedback, state: 0, given: 0, begins: true };
        register.begin_pass();
        register
    }

    /// True if the seed makes the one state that a register never leaves.
    pub(super) fn is_stuck(blocks: u64, seed: u64) -> bool {
        let most = (1 << taps(blocks)[0]) - 1;
        seed & most == most
    }

    /// Begins another pass, which has the order of the first.
    pub(super) fn begin_pass(&mut self) {
        self.state = self.seed & (2 * self.top - 1);
        self.given = 0;
    }

    /// The next block; `None` if all were given.
    #[inline]
    pub(super) fn draw(&mut self) -> Option<u64> {
        if self.given >= self.blocks {
            return None;
        }
        self.given += 1;
        if std::mem::take(&mut self.begins) {
            self.step();
        }
        loop {
            self.step();
            if self.state < self.blocks {
                return Some(self.state);
            }
        }
    }

    fn step(&mut self) {
        let feedback = if self.state & 1 == 0 { self.feedback } else { 0 };
        self.state = ((self.state >> 1) | self.top) ^ feedback;
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pass_gives_every_block_once() {
        for blocks in (1..300).chain([4095, 4096, 100_000, (1 << 20) + 1]) {
            let mut register = ShiftRegister::new(blocks, 2);
            for _ in 0..2 {
                let mut seen = vec![false; blocks as usize];
                while let Some(block) = register.draw() {
                    assert!(!std::mem::replace(&mut seen[block as usize], true), "{block} of {blocks} twice");
                }
                assert!(seen.into_iter().all(|seen| seen), "{blocks}");
                register.begin_pass();
            }
        }
    }

    #[test]
    fn all_ones_is_the_state_that_a_register_never_leaves() {
        assert!(ShiftRegister::is_stuck(7, 0xff) && !ShiftRegister::is_stuck(8, 0xf7));
        for taps in TAPS {
            assert!(TAPS[taps[0] as usize - 3] == taps, "in order of length");
        }
    }
}
