//! Energy and heat: joules are powers times the times that the drive itself counts, temperatures follow from them, and a drive that is too warm lets commands
//! in at its rate.

use crate::support::{closed_loop, command, tiny};
use outlast_device::{Completion, Device, LatencyCause, Op, PowerCycle, Tag};
use outlast_settings::drive::{
    EnergyConfig, HeatConfig, IdleState, SsdConfig, ThermalShutdown, ThrottleStep,
};
use outlast_ssd::{HeatFigures, Ssd};
use outlast_units::{ByteRate, Nanos};

const SECOND: u64 = 1_000_000_000;

fn powers() -> EnergyConfig {
    EnergyConfig {
        active_watts: 3.0,
        idle_watts: 1.0,
        die_watts: 0.0,
        channel_watts: 0.0,
        link_watts: 0.0,
        read_joules: 0.0,
        program_joules: 0.0,
        erase_joules: 0.0,
        states: Vec::new(),
    }
}

/// A drive whose controller warms up within milliseconds: 1 W makes it 20 kelvins warmer than the air of 25 °C.
fn quick() -> HeatConfig {
    HeatConfig {
        ambient: 25.0,
        controller_to_case: 10.0,
        case_to_air: 10.0,
        controller_capacity: 1e-4,
        case_capacity: 1e-4,
        every: Nanos::micros(100),
        start: None,
        throttle: Vec::new(),
        shutdown: None,
    }
}

fn drive(energy: EnergyConfig, heat: Option<HeatConfig>) -> Ssd {
    let config = SsdConfig { energy: Some(energy), heat, ..tiny() };
    Ssd::new(config, 1).unwrap()
}

fn heat_of(ssd: &Ssd, now: Nanos) -> HeatFigures {
    ssd.power_figures(now).unwrap().heat.unwrap()
}

/// Writes `count` units one after the other at a queue depth of `depth`, from `start` on; the time at which the last has completed.
fn write(ssd: &mut Ssd, start: Nanos, depth: u32, count: u32) -> Nanos {
    closed_loop(ssd, start, depth, count, |unit| command(Op::Write, 8 * u64::from(unit % 500), 8)).1
}

/// Lets time pass until `end`.
fn rest(ssd: &mut Ssd, end: Nanos) {
    let mut completions = Vec::new();
    while ssd.next_deadline().is_some_and(|due| due <= end) {
        let due = ssd.next_deadline().unwrap();
        ssd.advance(due, &mut completions);
    }
    assert!(completions.is_empty());
}

#[test]
fn energy_is_each_power_times_the_time_that_its_part_was_busy() {
    let mut ssd = drive(
        EnergyConfig {
            die_watts: 0.08,
            channel_watts: 0.2,
            read_joules: 1e-6,
            program_joules: 1e-5,
            erase_joules: 1e-4,
            ..powers()
        },
        None,
    );
    let end = write(&mut ssd, Nanos::ZERO, 8, 3000);
    let end = closed_loop(&mut ssd, end, 4, 500, |unit| command(Op::Read, 8 * u64::from(unit), 8)).1;
    rest(&mut ssd, end + Nanos(SECOND));
    let now = end + Nanos(SECOND);
    let (busy, counters) = (ssd.busy(now), ssd.counters());
    let seconds = |times: &[Nanos]| times.iter().map(|time| time.as_secs_f64()).sum::<f64>();
    let found = ssd.power_figures(now).unwrap();
    let operations = 1e-6 * counters.reads.total() as f64
        + 1e-5 * counters.programs as f64
        + 1e-4 * counters.erases as f64;
    assert!(counters.erases > 0 && counters.programs > 0);
    assert!((found.energy.dies - 0.08 * seconds(&busy.dies) - operations).abs() < 1e-9);
    assert!((found.energy.channels - 0.2 * seconds(&busy.channels)).abs() < 1e-9);
    // The host was busy until `end`, in a closed loop without a pause.
    let controller = 3.0 * end.as_secs_f64() + 1.0;
    assert!(
        (found.energy.controller - controller).abs() < 1e-6,
        "{} and {controller}",
        found.energy.controller
    );
    ssd.reset_counters(now);
    let later = now + Nanos(2 * SECOND);
    rest(&mut ssd, later);
    let anew = ssd.power_figures(later).unwrap();
    assert!((anew.energy.total() - 2.0).abs() < 1e-6 && anew.span == Nanos(2 * SECOND), "{anew:?}");
}

#[test]
fn a_drive_is_as_warm_as_its_resistances_make_it() {
    let mut ssd = drive(powers(), Some(quick()));
    assert!(
        (heat_of(&ssd, Nanos::ZERO).now.controller - 45.0).abs() < 1e-9,
        "1 W over 20 K/W, for a long time"
    );
    let end = write(&mut ssd, Nanos::ZERO, 8, 2000);
    // 3 W for many time constants of a few milliseconds.
    let warm = heat_of(&ssd, end).now;
    assert!((warm.controller - 85.0).abs() < 0.01 && (warm.case - 55.0).abs() < 0.01, "{warm:?}");
    rest(&mut ssd, end + Nanos(SECOND));
    assert!((heat_of(&ssd, end).now.controller - 45.0).abs() < 0.01);
    ssd.power_cycle(end + Nanos(SECOND), end + Nanos(2 * SECOND));
    assert!((heat_of(&ssd, end).now.controller - 25.0).abs() < 0.01, "it cools while power is off");
}

#[test]
fn a_drive_that_warms_up_and_cools_throttles_again_and_again() {
    let rate = ByteRate::new(409_600).unwrap();
    let step = ThrottleStep { from: 70.0, until: 65.0, rate };
    let mut ssd = drive(powers(), Some(HeatConfig { throttle: vec![step], ..quick() }));
    let end = write(&mut ssd, Nanos::ZERO, 8, 4000);
    let heat = heat_of(&ssd, end);
    // A hundred units a second leave it idle most of the time, at 45 degrees.
    assert!(heat.throttles >= 2, "{heat:?}");
    assert!(heat.hottest >= 70.0 && heat.hottest < 85.0, "{heat:?}");
    assert!(heat.throttled > Nanos::ZERO && heat.throttled < end, "{heat:?}");
    let cold = write(&mut drive(powers(), None), Nanos::ZERO, 8, 4000);
    assert!(end > cold, "{end} with heat, {cold} without");
    ssd.self_check().unwrap();
}

#[test]
fn the_rate_of_throttling_is_that_of_the_settings() {
    // Warm for ever: an air of 60 degrees, and a step that ends below what an idle drive has.
    let rate = ByteRate::new(4_096_000).unwrap();
    let heat = HeatConfig {
        ambient: 60.0,
        throttle: vec![ThrottleStep { from: 70.0, until: 61.0, rate }],
        ..quick()
    };
    for depth in [1, 7, 200] {
        let mut ssd = drive(powers(), Some(heat.clone()));
        let mut completions = Vec::new();
        ssd.advance(Nanos::micros(150), &mut completions);
        let start = Nanos::micros(200);
        let end = write(&mut ssd, start, depth, 2000);
        // 2000 units of 4 KiB at a thousand a second; the last needs no time after it. At depth 1, a write that takes longer than its
        // millisecond, because it waits for room, leaves a turn unused.
        let took = (end - start).as_secs_f64();
        assert!(took > 1.99 && (depth == 1 || took < 2.01), "{took} s at depth {depth}");
        assert!(heat_of(&ssd, end).throttled >= Nanos(SECOND));
        ssd.self_check().unwrap();
    }
}

#[test]
fn a_drive_that_shuts_down_takes_commands_again_when_it_has_cooled() {
    let shutdown = Some(ThermalShutdown { from: 80.0, until: 50.0 });
    let mut ssd = drive(powers(), Some(HeatConfig { shutdown, ..quick() }));
    let end = write(&mut ssd, Nanos::ZERO, 8, 3000);
    let heat = heat_of(&ssd, end);
    assert!(heat.shutdowns > 0 && heat.hottest >= 80.0, "{heat:?}");
    assert!(heat.hottest < 85.0, "it is stopped before 3 W have made it 85 degrees warm");
    assert!(heat.throttled > Nanos::ZERO);
    ssd.self_check().unwrap();
}

#[test]
fn a_drive_at_rest_draws_little_and_wakes_slowly() {
    let states = vec![
        IdleState { after: Nanos::micros(10_000), watts: 0.1, exit: Nanos::micros(1000) },
        IdleState { after: Nanos(SECOND), watts: 0.01, exit: Nanos::micros(8000) },
    ];
    let mut ssd = drive(EnergyConfig { states, ..powers() }, None);
    ssd.split_latencies();
    let now = Nanos(3 * SECOND);
    rest(&mut ssd, now);
    // A hundredth of a second at 1 W, then 0.99 s at 0.1 W, then 2 s at 0.01 W.
    let joules = ssd.power_figures(now).unwrap().energy.total();
    assert!((joules - (0.01 + 0.099 + 0.02)).abs() < 1e-9, "{joules}");
    let read = |ssd: &mut Ssd, at| {
        let mut completions: Vec<Completion> = Vec::new();
        ssd.submit(at, command(Op::Read, 0, 8), Tag(0));
        ssd.advance_to_completion(Nanos::MAX, &mut completions);
        let parts = ssd.take_parts(Tag(0)).unwrap();
        assert_eq!(parts.total(), (completions[0].at - at).0);
        (completions[0].at, parts[LatencyCause::Throttle])
    };
    let (end, waited) = read(&mut ssd, now);
    assert_eq!(waited, 8_000_000, "from the deeper state");
    let (end, waited) = read(&mut ssd, end + Nanos::micros(9_999));
    assert_eq!(waited, 0, "a short pause");
    let (end, waited) = read(&mut ssd, end + Nanos::micros(10_001));
    assert_eq!(waited, 1_000_000);
    assert_eq!(ssd.power_figures(end).unwrap().wakes, 2);
    ssd.self_check().unwrap();
}

#[test]
fn a_warm_drive_goes_on_from_a_snapshot_as_it_was() {
    let rate = ByteRate::new(40_960_000).unwrap();
    let step = ThrottleStep { from: 70.0, until: 65.0, rate };
    let config = SsdConfig {
        energy: Some(powers()),
        heat: Some(HeatConfig { throttle: vec![step], ..quick() }),
        ..tiny()
    };
    let mut ssd = Ssd::new(config.clone(), 1).unwrap();
    let middle = write(&mut ssd, Nanos::ZERO, 8, 2500);
    let mut copy = crate::snapshot::read(&config, 1, &crate::snapshot::written(&ssd)).unwrap();
    let ends = [write(&mut ssd, middle, 8, 2500), write(&mut copy, middle, 8, 2500)];
    assert_eq!(ends[0], ends[1]);
    assert_eq!(ssd.power_figures(ends[0]), copy.power_figures(ends[1]));
    assert!(heat_of(&ssd, ends[0]).throttles > 0);
}

/// A drive that is shut down for weeks is not looked at every tenth of a millisecond: the command that waits is served in the end.
#[test]
fn a_shut_down_of_weeks_takes_a_bounded_number_of_looks() {
    let shutdown = Some(ThermalShutdown { from: 80.0, until: 50.0 });
    let slow = HeatConfig { case_to_air: 1e3, case_capacity: 1e3, start: Some(1000.0), shutdown, ..quick() };
    let mut ssd = drive(EnergyConfig { idle_watts: 0.0, ..powers() }, Some(slow));
    rest(&mut ssd, Nanos::micros(200));
    let end = write(&mut ssd, Nanos::micros(200), 1, 1);
    // From 975 kelvins above the air to 25: ln 39 time constants of a million seconds.
    let expected = 39f64.ln() * 1e6;
    assert!((end.as_secs_f64() / expected - 1.0).abs() < 1e-3, "{} s", end.as_secs_f64());
    ssd.self_check().unwrap();
}
