//! How likely the lines of a unit, its stripe and its block, are to fail with it. All probabilities are natural logarithms.

use super::places::{block_and_row, broken_units};
use outlast_ftl::{CodeAxis, Ftl, LineMember};
use outlast_media::reliability::ReadLadder;
use outlast_media::{DieFaults, FlashCells};
use outlast_units::{Nanos, Pu};

/// A flash core whose flash errs, at a moment.
#[derive(Clone, Copy)]
pub(super) struct LineOdds<'a> {
    pub(super) ftl: &'a Ftl,
    pub(super) cells: &'a FlashCells,
    pub(super) faults: Option<&'a DieFaults>,
    pub(super) ladder: &'a ReadLadder,
    /// Most re-reads.
    pub(super) limit: Option<u32>,
    pub(super) at: Nanos,
}

impl LineOdds<'_> {
    /// ln of the probability that unit `unit` of program unit `pu`, itself unreadable, can be rebuilt neither from its stripe nor from its
    /// block: in each of them, more other members are unreadable than it has parities to spare. The members' error rates are taken as they
    /// are; given these, members fail independently.
    pub(super) fn ln_fail(self, pu: Pu, unit: u32) -> f64 {
        let needs = |axis: CodeAxis| self.ftl.parity().line_needs(pu, axis);
        match (needs(CodeAxis::Dies), needs(CodeAxis::Block)) {
            (Some(across), Some(within)) => {
                let bound = self.ln_line_fails(pu, unit, CodeAxis::Dies, across).min(self.ln_line_fails(
                    pu,
                    unit,
                    CodeAxis::Block,
                    within,
                ));
                self.ln_product_fails(pu, unit).min(bound)
            }
            (Some(across), None) => self.ln_line_fails(pu, unit, CodeAxis::Dies, across),
            (None, Some(within)) => self.ln_line_fails(pu, unit, CodeAxis::Block, within),
            (None, None) => 0.0,
        }
    }

    /// ln of the probability that so many members of the line of a unit, other than it, are unreadable that fewer than `needed` are left.
    fn ln_line_fails(self, pu: Pu, unit: u32, axis: CodeAxis, needed: u32) -> f64 {
        let (mut others, mut members) = (0u32, [Pu(0); MOST_MEMBERS]);
        let mut on_flash = 0;
        for member in self.ftl.parity().line_of(pu, axis) {
            let pu = match member {
                LineMember::Gone => continue,
                LineMember::Empty | LineMember::Buffered(_) => {
                    others += 1;
                    continue;
                }
                LineMember::OnFlash(pu) => pu,
            };
            if self.is_broken(pu, unit) {
                continue;
            }
            others += 1;
            members[on_flash] = pu;
            on_flash += 1;
            self.prefetch(pu, unit);
        }
        match others.checked_sub(needed) {
            None => 0.0,
            Some(spare) => {
                ln_more_than(spare as usize, members[..on_flash].iter().map(|&pu| self.ln_fails(pu, unit)))
            }
        }
    }

    /// Has what [`LineOdds::ln_fails`] looks up brought into the processor's cache: members are nowhere near each other.
    fn prefetch(self, pu: Pu, unit: u32) {
        let layout = self.ftl.layout();
        let (place, group) = layout.place_and_group(pu);
        let (block, _) = block_and_row(self.ftl, &place, layout.pages_of_unit(unit).start);
        self.cells.prefetch(block, group);
    }

    /// With parity along both axes what is lost with the unit is lost in a rectangle: as many others of its stripe as there are
    /// parities, one other row of its block, and the same members there. The sum over all rectangles is the probability up to terms
    /// of the next order in the members' own, which peeling would need; that of each axis alone is to cap it.
    fn ln_product_fails(self, pu: Pu, unit: u32) -> f64 {
        let lanes = self.ftl.layout().lanes().len() as u32;
        let parity = usize::from(self.ftl.parity().code_of_pu(pu).parity);
        let of = |pu: Pu| if self.is_broken(pu, unit) { 0.0 } else { self.ln_fails(pu, unit) };
        let on_flash = |member: LineMember| match member {
            LineMember::OnFlash(pu) => Some((pu, of(pu))),
            LineMember::Gone | LineMember::Empty | LineMember::Buffered(_) => None,
        };
        let row: Vec<(Pu, f64)> =
            self.ftl.parity().line_of(pu, CodeAxis::Dies).filter_map(on_flash).collect();
        let mut total = f64::NEG_INFINITY;
        for (below, ln_below) in self.ftl.parity().line_of(pu, CodeAxis::Block).filter_map(on_flash) {
            // The same lanes, in the row of `below`.
            let offset = Pu(below.0 / lanes * lanes);
            let pairs: Vec<f64> =
                row.iter().map(|&(right, ln_right)| ln_right + of(offset + right.0 % lanes)).collect();
            total = ln_add(total, ln_below + ln_products(&pairs, parity));
        }
        total
    }

    fn is_broken(self, pu: Pu, unit: u32) -> bool {
        broken_units(self.ftl, self.faults, pu, 1 << unit) != 0
    }

    /// ln of the probability that a unit cannot be read.
    fn ln_fails(self, pu: Pu, unit: u32) -> f64 {
        let layout = self.ftl.layout();
        let (place, group) = layout.place_and_group(pu);
        layout.pages_of_unit(unit).fold(f64::NEG_INFINITY, |sum, page| {
            let (block, row) = block_and_row(self.ftl, &place, page);
            let ln_rber = self.cells.ln_rber(block, row, group, self.at);
            ln_or(sum, self.ladder.log_p_fail_after(ln_rber, self.limit))
        })
    }
}

/// ln of the sum, over all choices of `count` of them, of the product of what `lns` are the logarithms of.
fn ln_products(lns: &[f64], count: usize) -> f64 {
    if count > MOST_PARITIES {
        return f64::NEG_INFINITY;
    }
    let mut sums = [f64::NEG_INFINITY; MOST_PARITIES + 1];
    sums[0] = 0.0;
    for &ln in lns {
        for chosen in (1..=count).rev() {
            sums[chosen] = ln_add(sums[chosen], sums[chosen - 1] + ln);
        }
    }
    sums[count]
}

/// Members of a stripe at most.
const MOST_MEMBERS: usize = 255;
/// Parities of a stripe at most.
const MOST_PARITIES: usize = 16;

/// ln(1 − (1 − e^a)(1 − e^b)): that at least one of two independent things happens.
pub(super) fn ln_or(a: f64, b: f64) -> f64 {
    let (less, more) = if a < b { (a, b) } else { (b, a) };
    if less == f64::NEG_INFINITY {
        more
    } else if more >= 0.0 {
        0.0
    } else {
        // e^a + e^b − e^(a+b), with the greater one taken out.
        (more + ((less - more).exp() * (1.0 - more.exp())).ln_1p()).min(0.0)
    }
}

/// ln P(more than `spare` of independent things happen), given ln of the probability of each. Sums of products of
/// probabilities and nothing else: no digits are lost however small they are.
fn ln_more_than(spare: usize, ln_each: impl Iterator<Item = f64>) -> f64 {
    if spare >= MOST_PARITIES {
        return f64::NEG_INFINITY;
    }
    // ln P(so many so far), and ln P(more than `spare` so far).
    let mut exactly = [f64::NEG_INFINITY; MOST_PARITIES];
    exactly[0] = 0.0;
    let mut more = f64::NEG_INFINITY;
    for ln_p in ln_each.filter(|&ln_p| ln_p > f64::NEG_INFINITY) {
        let not = if ln_p >= 0.0 { f64::NEG_INFINITY } else { (-ln_p.exp()).ln_1p() };
        more = ln_add(more, exactly[spare] + ln_p);
        for count in (0..=spare).rev() {
            let from = if count == 0 { f64::NEG_INFINITY } else { exactly[count - 1] + ln_p };
            exactly[count] = ln_add(exactly[count] + not, from);
        }
    }
    more.min(0.0)
}

/// ln(e^a + e^b).
pub(super) fn ln_add(a: f64, b: f64) -> f64 {
    let (less, more) = if a < b { (a, b) } else { (b, a) };
    if less == f64::NEG_INFINITY { more } else { more + (less - more).exp().ln_1p() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn either_of_two_keeps_its_digits_when_tiny() {
        for (a, b) in
            [(-800.0, -900.0), (-1.0f64, -2.0f64), (-0.1, -1e-3), (f64::NEG_INFINITY, -5.0), (-3.0, 0.0)]
        {
            let expected = if b < -700.0 {
                // e^-800 dominates: ln(1 + e^-100) is nothing.
                a
            } else {
                (1.0 - (1.0 - f64::exp(a)) * (1.0 - f64::exp(b))).ln()
            };
            assert!((ln_or(a, b) - expected).abs() < 1e-12, "{a} {b}");
        }
    }

    #[test]
    fn products_of_a_choice_agree_with_counting_all_choices() {
        let p: [f64; 5] = [0.3, 1e-4, 2.0, 0.5, 1e-9];
        let lns: Vec<f64> = p.iter().map(|p| p.ln()).collect();
        for count in 0..=5 {
            let choices = (0u32..32).filter(|choice| choice.count_ones() as usize == count);
            let of = |choice: u32| (0..5).filter(|i| choice >> i & 1 == 1).map(|i| p[i]).product::<f64>();
            let expected: f64 = choices.map(of).sum();
            assert!((ln_products(&lns, count) - expected.ln()).abs() < 1e-12);
        }
        assert!(ln_products(&lns, 6).is_infinite());
    }

    #[test]
    fn too_many_of_a_few_agrees_with_counting_all_cases() {
        let p = [0.3, 0.01, 0.2, 1e-9, 0.5, 1.0];
        let ln_each: Vec<f64> = p.iter().map(|p: &f64| p.ln()).collect();
        for members in 0..=p.len() {
            for spare in 0..4 {
                let all = 0u32..1 << members;
                let cases = all.filter(|case| case.count_ones() as usize > spare);
                let of = |case: u32, i: usize| if case >> i & 1 == 1 { p[i] } else { 1.0 - p[i] };
                let expected: f64 =
                    cases.map(|case| (0..members).map(|i| of(case, i)).product::<f64>()).sum();
                let found = ln_more_than(spare, ln_each[..members].iter().copied()).exp();
                assert!(
                    (found - expected).abs() <= 1e-12 * expected,
                    "{members} {spare}: {found} {expected}"
                );
            }
        }
        // Far below the range of numbers: three of four, each e^-500, are 4 e^-1500.
        assert!((ln_more_than(2, [-500.0; 4].into_iter()) - (4f64.ln() - 1500.0)).abs() < 1e-10);
    }
}
