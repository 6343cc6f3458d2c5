//! Does a life end where the error rate says, and does the host write as much as going round and round gives?

use outlast_models::lifetime::{LifeEnd, WearingDrive, drive_writes_per_day};
use outlast_models::write_amplification::{effective_spare, greedy, parity_overhead, with_parity};
use outlast_models::{PageCode, PageStripe, RberModel, chip};

fn msapl() -> &'static RberModel {
    &chip("msapl").expect("a chip of the list").model
}

/// Figure 7's stripes: 8 pages, two of them parity, 8 of 65 536 bits corrected.
fn stripe(parities: u32) -> PageStripe {
    PageStripe::new(PageCode::new(65_536, 8, 1).expect("a code"), 8, parities).expect("a stripe")
}

fn drive(stripe: &PageStripe, overhead: f64) -> WearingDrive<'_> {
    WearingDrive {
        model: msapl(),
        days: 0.0,
        reads: 0.0,
        stripe,
        spare: 0.5,
        overhead,
        retired_per_cycle: 0.0,
        write_amplification: None,
    }
}

fn near(actual: f64, expected: f64, tolerance: f64) {
    assert!((actual / expected - 1.0).abs() <= tolerance, "{actual} not {expected}");
}

#[test]
fn the_end_is_where_the_target_is_met() {
    let stripe = stripe(2);
    let drive = drive(&stripe, 8.0 / 6.0);
    let mut last = 0.0;
    for target in [1e-30, 1e-18, 1e-15, 1e-9] {
        let life = drive.lifetime(target).unwrap();
        assert_eq!(life.end, LifeEnd::ErrorRate);
        assert!((life.worn.ln_uper - f64::ln(target)).abs() < 1e-8, "{life:?}");
        assert!(life.worn.cycles > last);
        last = life.worn.cycles;
        // Even wear at a write amplification that stands still.
        let waf = with_parity(0.5, 0.0, 8.0 / 6.0).unwrap();
        near(life.worn.write_amplification, waf, 1e-14);
        near(life.worn.drive_writes, life.worn.cycles * 1.5 / waf, 1e-12);
    }
}

/// mSAPL: 13.3 % less write amplification on the same wear curve is 1 / 0.867 = 1.15 times the life; the text reads 1.16 off
/// its figure.
#[test]
fn less_amplification_is_a_longer_life() {
    let stripe = stripe(2);
    let life = |waf| {
        let drive = WearingDrive { write_amplification: Some(waf), ..drive(&stripe, 1.0) };
        drive.lifetime(1e-15).unwrap().worn.drive_writes
    };
    near(life(0.867 * 3.0) / life(3.0), 1.0 / 0.867, 1e-12);
    near(life(0.867 * 3.0) / life(3.0), 1.16, 0.01);
}

/// More parity is not always a longer life: it costs wear as well.
#[test]
fn parity_pays_while_errors_rise_faster_than_wear() {
    let lives: Vec<f64> = (0..3)
        .map(|parities| {
            let stripe = stripe(parities);
            let overhead = 8.0 / f64::from(8 - parities);
            drive(&stripe, overhead).lifetime(1e-15).unwrap().worn.drive_writes
        })
        .collect();
    assert!(lives[1] > lives[0] && lives[2] < lives[1], "{lives:?}");
}

/// The process itself, one thousandth of a drive write after another: amplification of the spare space that is left, wear,
/// error rate, until the target.
#[test]
fn a_lifetime_agrees_with_a_simulation_in_small_steps() {
    let stripe = stripe(1);
    for (retired, expected_end) in [(5e-6, LifeEnd::ErrorRate), (2.4e-4, LifeEnd::SpareSpace)] {
        let drive = WearingDrive { retired_per_cycle: retired, ..drive(&stripe, 8.0 / 7.0) };
        let life = drive.lifetime(1e-12).unwrap();
        assert_eq!(life.end, expected_end);
        let (mut cycles, mut writes) = (0.0, 0.0);
        while let Ok(spare) = effective_spare(0.5, retired * cycles, 8.0 / 7.0) {
            let amplification = 8.0 / 7.0 * greedy(spare).unwrap();
            let uper = stripe.uper(msapl().rber(cycles, 0.0, 0.0)).unwrap();
            // Below a write amplification of 100, the rest of the spare space is used up at once.
            if uper >= 1e-12 || amplification > 100.0 {
                break;
            }
            writes += 1e-3;
            cycles += 1e-3 * amplification / (1.5 * (1.0 - retired * cycles));
        }
        near(life.worn.drive_writes, writes, 2e-3);
        near(life.worn.cycles, cycles, if expected_end == LifeEnd::ErrorRate { 1e-4 } else { 0.03 });
    }
}

/// HRM: 28 % of over-provisioning is 20 % beside one parity for 15 pages, and 12 % beside one for 7.
#[test]
fn spare_space_beside_parity() {
    near(effective_spare(0.28, 0.0, 16.0 / 15.0).unwrap(), 0.2, 1e-12);
    near(effective_spare(0.28, 0.0, 8.0 / 7.0).unwrap(), 0.12, 1e-12);
    near(parity_overhead(&[(1.0, 8, 1)]).unwrap(), 8.0 / 7.0, 1e-15);
    // mSAPL's classes: a third each with none, one and two parities of 8.
    let third = 1.0 / 3.0;
    let classes = [(third, 8, 0), (third, 8, 1), (third, 8, 2)];
    near(parity_overhead(&classes).unwrap(), (1.0 + 8.0 / 7.0 + 8.0 / 6.0) / 3.0, 1e-14);
    near(with_parity(0.28, 0.0, 8.0 / 7.0).unwrap(), 8.0 / 7.0 * greedy(0.12).unwrap(), 1e-12);
    near(with_parity(0.28, 0.0, 1.0).unwrap(), greedy(0.28).unwrap(), 1e-12);
    assert!(effective_spare(0.1, 0.0, 8.0 / 7.0).unwrap_err().to_string().contains("spare space left"));
    assert!(parity_overhead(&[(0.5, 8, 1)]).is_err() && parity_overhead(&[(1.0, 8, 8)]).is_err());
    assert!(effective_spare(0.1, 1.0, 1.0).is_err() && effective_spare(0.1, 0.0, 0.9).is_err());
}

/// Reparo: at utilisation 0.9, "when U increases by 6.7%, the WAF value can be increased by 166%" in its drive; uniform random
/// writes and large blocks give 144 %. One die of 512 shared by all cores costs 2 %.
#[test]
fn a_lost_die_in_the_closed_form() {
    let waf = |utilisation: f64| greedy(1.0 / utilisation - 1.0).unwrap();
    near(waf(0.9 * 16.0 / 15.0) / waf(0.9), 2.44, 0.01);
    near(waf(0.9 * 512.0 / 511.0) / waf(0.9), 1.02, 0.003);
    let by_share = greedy(effective_spare(1.0 / 0.9 - 1.0, 1.0 / 16.0, 1.0).unwrap()).unwrap();
    near(by_share, waf(0.9 * 16.0 / 15.0), 1e-12);
}

#[test]
fn arguments_outside_the_domain_are_refused() {
    let stripe = stripe(0);
    let says = |drive: WearingDrive<'_>, target: f64, part: &str| {
        let error = drive.lifetime(target).unwrap_err().to_string();
        assert!(error.contains(part), "{error}");
    };
    says(drive(&stripe, 1.0), 0.0, "target = 0");
    says(drive(&stripe, 1.6), 1e-15, "spare space left");
    says(WearingDrive { days: -1.0, ..drive(&stripe, 1.0) }, 1e-15, "days = -1");
    says(
        WearingDrive { write_amplification: Some(0.5), ..drive(&stripe, 1.0) },
        1e-15,
        "write_amplification = 0.5",
    );
    says(
        WearingDrive { retired_per_cycle: f64::NAN, ..drive(&stripe, 1.0) },
        1e-15,
        "retired_per_cycle = NaN",
    );
    let never = PageStripe::new(PageCode::new(64, 64, 1).unwrap(), 4, 1).unwrap();
    says(drive(&never, 1.0), 1e-15, "target = 1e-15");
    // Above the target from the start.
    assert!(drive(&stripe, 1.0).lifetime(1e-40).unwrap().worn.drive_writes.abs() < 1e-300);
    near(drive_writes_per_day(1825.0, 5.0).unwrap(), 1.0, 1e-15);
    assert!(drive_writes_per_day(1.0, 0.0).is_err());
}
