//! Tests of what is refused of an account that was read.

use super::*;
use outlast_settings::drive::ThrottleStep;

#[test]
fn an_account_that_does_not_follow_from_the_settings_is_refused() {
    let energy = EnergyConfig {
        active_watts: 3.0,
        idle_watts: 1.0,
        die_watts: 0.0,
        channel_watts: 0.0,
        link_watts: 0.0,
        read_joules: 0.0,
        program_joules: 0.0,
        erase_joules: 0.0,
        states: Vec::new(),
    };
    let rate = ByteRate::new(4096).unwrap();
    let heat = HeatConfig {
        ambient: 25.0,
        controller_to_case: 10.0,
        case_to_air: 10.0,
        controller_capacity: 1.0,
        case_capacity: 1.0,
        every: Nanos::millis(10),
        start: None,
        throttle: vec![ThrottleStep { from: 70.0, until: 65.0, rate }],
        shutdown: None,
    };
    let with = |change: fn(&mut HeatWatch)| {
        let mut watch = PowerWatch::new(Some(&energy), Some(&heat)).unwrap();
        change(watch.heat.as_mut().unwrap());
        watch.check_restored(Some(&heat))
    };
    assert_eq!([with(|_| ()), with(|heat| heat.steps = 1)], [Ok(()), Ok(())]);
    assert!(with(|heat| heat.steps = 2).unwrap_err().contains("2 steps of throttling have begun, of 1"));
    assert!(with(|heat| heat.now.case = f64::NAN).unwrap_err().contains("degrees"));
    let cold = PowerWatch::new(Some(&energy), None).unwrap();
    assert_eq!(cold.check_restored(None), Ok(()));
    assert!(cold.check_restored(Some(&heat)).is_err());
}
