//! Probabilities of several failures together, in logarithms.

use crate::sensing::beyond_hope;
use outlast_ftl::{Ftl, Member};
use outlast_media::reliability::ReadLadder;
use outlast_media::{Cells, Faults};
use outlast_units::Nanos;

/// ln of the probability that so many members of the stripe of unit `unit` of program unit `pu`, other than it, cannot be had with
/// at most `limit` re-reads that the stripe does not give the unit. Members share nothing but what their error rates share.
#[allow(clippy::too_many_arguments, reason = "what the flash is, what it has been through, which unit, when")]
pub(crate) fn ln_stripe_fails(
    ftl: &Ftl,
    cells: &Cells,
    faults: Option<&Faults>,
    ladder: &ReadLadder,
    limit: Option<u32>,
    pu: u32,
    unit: u32,
    at: Nanos,
) -> f64 {
    let Some(needed) = ftl.stripe_needs(pu) else { return 0.0 };
    let layout = ftl.layout();
    let (mut others, mut chances) = (0u32, [f64::NEG_INFINITY; MOST_MEMBERS]);
    let mut on_flash = 0;
    for member in ftl.stripe_of(pu) {
        let pu = match member {
            Member::Gone => continue,
            Member::Empty | Member::Buffered(_) => {
                others += 1;
                continue;
            }
            Member::OnFlash(pu) => pu,
        };
        if beyond_hope(ftl, faults, pu, 1 << unit) != 0 {
            continue;
        }
        others += 1;
        let (place, group) = (layout.place(pu), layout.group_of_pu(pu));
        for page in layout.pages_of_unit(unit) {
            let (plane, row) = layout.page_place(place, page);
            let block = ftl.block_index(place.superblock, place.lane.local_die, plane);
            let ln_rber = cells.ln_rber(block, row, group, at);
            chances[on_flash] = ln_or(chances[on_flash], ladder.log_p_fail_after(ln_rber, limit));
        }
        on_flash += 1;
    }
    match others.checked_sub(needed) {
        None => 0.0,
        Some(spare) => ln_more_than(spare as usize, &chances[..on_flash]),
    }
}

/// Members of a stripe at most.
const MOST_MEMBERS: usize = 255;
/// Parities of a stripe at most.
const MOST_PARITIES: usize = 16;

/// ln(1 − (1 − e^a)(1 − e^b)): that at least one of two independent things happens.
pub(crate) fn ln_or(a: f64, b: f64) -> f64 {
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
fn ln_more_than(spare: usize, chances: &[f64]) -> f64 {
    if spare >= MOST_PARITIES {
        return f64::NEG_INFINITY;
    }
    // ln P(so many so far), and ln P(more than `spare` so far).
    let mut exactly = [f64::NEG_INFINITY; MOST_PARITIES];
    exactly[0] = 0.0;
    let mut more = f64::NEG_INFINITY;
    for &chance in chances.iter().filter(|&&chance| chance > f64::NEG_INFINITY) {
        let not = if chance >= 0.0 { f64::NEG_INFINITY } else { (-chance.exp()).ln_1p() };
        more = ln_add(more, exactly[spare] + chance);
        for count in (0..=spare).rev() {
            let from = if count == 0 { f64::NEG_INFINITY } else { exactly[count - 1] + chance };
            exactly[count] = ln_add(exactly[count] + not, from);
        }
    }
    more.min(0.0)
}

/// ln(e^a + e^b).
fn ln_add(a: f64, b: f64) -> f64 {
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
    fn too_many_of_a_few_agrees_with_counting_all_cases() {
        let p = [0.3, 0.01, 0.2, 1e-9, 0.5, 1.0];
        let chances: Vec<f64> = p.iter().map(|p: &f64| p.ln()).collect();
        for members in 0..=p.len() {
            for spare in 0..4 {
                let all = 0u32..1 << members;
                let cases = all.filter(|case| case.count_ones() as usize > spare);
                let of = |case: u32, i: usize| if case >> i & 1 == 1 { p[i] } else { 1.0 - p[i] };
                let expected: f64 =
                    cases.map(|case| (0..members).map(|i| of(case, i)).product::<f64>()).sum();
                let found = ln_more_than(spare, &chances[..members]).exp();
                assert!(
                    (found - expected).abs() <= 1e-12 * expected,
                    "{members} {spare}: {found} {expected}"
                );
            }
        }
        // Far below the range of numbers: three of four, each e^-500, are 4 e^-1500.
        assert!((ln_more_than(2, &[-500.0; 4]) - (4f64.ln() - 1500.0)).abs() < 1e-10);
    }
}
