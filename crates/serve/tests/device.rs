//! Is a device in service what its inputs make of it, and does it say what it refuses?

use crate::support;

use outlast_device::{Op, Outcome, Tag};
use outlast_serve::{DeviceInput, PowerChange, RefusedInput, ServedDevice, parse_fault};
use outlast_ssd::DieState;
use outlast_units::{Lba, Nanos};
use support::{ARRAY, DRIVE, Host, bytes, command, scenario};

fn array() -> String {
    format!("{DRIVE}{ARRAY}")
}

#[test]
fn what_was_written_is_read_from_drives_and_arrays() {
    for text in [DRIVE.to_owned(), array()] {
        let mut host = Host::new(&text);
        assert!(host.now == Nanos::ZERO && host.device.is_up());
        assert_eq!(host.read(0, 8).unwrap(), vec![0; 4096], "preconditioning brings no bytes");
        for at in 0..64 {
            assert_eq!(host.write(at * 8, &bytes(8, at)), Outcome::Ok);
        }
        for at in 0..64 {
            assert_eq!(host.read(at * 8, 8).unwrap(), bytes(8, at));
        }
        host.device.self_check().unwrap();
    }
}

/// Who looks at a device between two inputs.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Looks {
    Never,
    AtEachEvent,
    AtEachCompletion,
}

/// When nothing asks in between, and when somebody looks at every event or completion, the same comes of the same inputs.
#[test]
fn a_device_depends_on_its_inputs_and_their_times_alone() {
    for text in [DRIVE.to_owned(), array()] {
        let scenario = scenario(&text);
        let run = |looks: Looks| {
            let mut device = ServedDevice::new(&scenario).unwrap();
            let mut done = Vec::new();
            for turn in 0..400u64 {
                let now = Nanos(turn * 40_000);
                while looks != Looks::Never
                    && let Some(at) = device.next_deadline().filter(|&at| at <= now)
                {
                    if looks == Looks::AtEachEvent {
                        device.advance(at, &mut done);
                    } else {
                        let reached = device.advance_to_completion(now, &mut done);
                        assert!((at..=now).contains(&reached) && device.now() == reached);
                    }
                }
                let command = command(Op::Write, turn * 104 % 2048, 8);
                let input = DeviceInput::Command { tag: Tag(turn as u32), command, data: &bytes(8, turn) };
                device.apply(now, &input).unwrap();
                if turn % 5 == 0 && device.members() > 0 {
                    let (tag, lba) = (Tag(1000 + turn as u32), Lba(turn * 8 % 512));
                    let read = DeviceInput::ReadMember { tag, member: turn as u8 % 4, lba, sectors: 8 };
                    device.apply(now, &read).unwrap();
                }
                if turn == 250 {
                    device.apply(now, &DeviceInput::Power(PowerChange::Cut { force: false })).unwrap();
                }
            }
            device.advance(Nanos::secs(1), &mut done);
            for done in &done {
                drop(device.take_data(done.tag));
            }
            (done, format!("{device:?}"))
        };
        let seldom = run(Looks::Never);
        for often in [run(Looks::AtEachEvent), run(Looks::AtEachCompletion)] {
            let first = seldom.0.iter().zip(&often.0).find(|(a, b)| a != b);
            assert_eq!(first, None);
            let at = seldom.1.bytes().zip(often.1.bytes()).position(|(a, b)| a != b);
            let around =
                |text: &str| at.map(|at| text[at.saturating_sub(300)..(at + 100).min(text.len())].to_owned());
            assert_eq!(around(&seldom.1), around(&often.1), "looking changes nothing");
        }
    }
}

#[test]
fn a_cut_aborts_what_is_under_way_and_a_flush_keeps_what_it_covers() {
    let mut host = Host::new(DRIVE);
    assert_eq!(host.write(0, &bytes(8, 1)), Outcome::Ok);
    assert_eq!(host.flush(), Outcome::Ok);
    assert_eq!(host.write(0, &bytes(8, 2)), Outcome::Ok);
    let input = DeviceInput::Command { tag: Tag(9), command: command(Op::Flush, 0, 0), data: &[] };
    host.device.apply(host.now, &input).unwrap();
    host.power(PowerChange::Cut { force: false });
    let done = host.wait();
    assert_eq!((done.tag, done.outcome, done.at), (Tag(9), Outcome::Aborted, host.now));
    assert_eq!(host.device.in_flight(), 0);
    assert_eq!(host.read(0, 8).unwrap(), bytes(8, 1), "what was in the volatile buffer is gone");
    host.device.self_check().unwrap();
}

/// No event of the dark hours happens in them, and none of the drive's clocks runs backwards when they are over.
#[test]
fn without_power_nothing_happens() {
    for text in [DRIVE.to_owned(), array()] {
        let mut host = Host::new(&text);
        for at in 0..32 {
            host.write(at * 8, &bytes(8, at));
        }
        host.flush();
        host.power(PowerChange::Off);
        assert!(!host.device.is_up());
        assert_eq!(host.device.next_deadline(), None);
        let input = DeviceInput::Command { tag: Tag(1), command: command(Op::Read, 0, 8), data: &[] };
        assert!(matches!(host.device.apply(host.now, &input), Err(RefusedInput::Off)));
        assert!(matches!(
            host.device.apply(host.now, &DeviceInput::Power(PowerChange::Off)),
            Err(RefusedInput::Off)
        ));
        host.now += Nanos::secs(3600);
        let on = host.device.health_log(0).unwrap().power_on;
        host.power(PowerChange::On { force: false });
        assert_eq!(
            host.device.health_log(0).unwrap().power_on,
            on,
            "hours without power are none of power-on time"
        );
        assert!(matches!(
            host.device.apply(host.now, &DeviceInput::Power(PowerChange::On { force: false })),
            Err(RefusedInput::On)
        ));
        assert!(host.device.next_deadline().is_none_or(|at| at >= host.now));
        for at in 0..32 {
            assert_eq!(host.read(at * 8, 8).unwrap(), bytes(8, at));
        }
        host.device.self_check().unwrap();
    }
}

#[test]
fn a_drive_that_mounts_says_until_when() {
    let mut host = Host::new(&format!("{DRIVE}[device.mount]\n"));
    (0..64).for_each(|at| assert_eq!(host.write(at * 8, &bytes(8, at)), Outcome::Ok));
    let ready_at = |host: &Host| host.device.state().drives[0].ready_at_ns;
    assert_eq!(ready_at(&host), None);
    host.power(PowerChange::Cut { force: false });
    let ready = ready_at(&host).unwrap();
    assert!(ready > host.now.0);
    host.read(0, 8).unwrap();
    assert!(host.now.0 > ready, "commands wait");
    assert_eq!(ready_at(&host), None);
}

#[test]
fn a_fork_is_independent_of_its_origin() {
    let mut host = Host::new(DRIVE);
    host.write(0, &bytes(8, 1));
    let mut fork = Host { device: host.device.fork(), now: host.now };
    host.write(0, &bytes(8, 2));
    fork.write(8, &bytes(8, 3));
    assert_eq!((host.read(0, 8).unwrap(), host.read(8, 8).unwrap()), (bytes(8, 2), vec![0; 4096]));
    assert_eq!((fork.read(0, 8).unwrap(), fork.read(8, 8).unwrap()), (bytes(8, 1), bytes(8, 3)));
}

#[test]
fn a_failed_die_is_reported_at_once() {
    let mut host = Host::new(&array());
    assert!(host.device.dies_it_can_lose() >= 1);
    for at in 0..32 {
        host.write(at * 8, &bytes(8, at));
    }
    let fault = parse_fault(&serde_json::json!({"kind": "die", "die": 3, "device": 1})).unwrap();
    host.device.apply(host.now, &DeviceInput::Fault(&fault)).unwrap();
    for at in 0..32 {
        assert_eq!(host.read(at * 8, 8).unwrap(), bytes(8, at), "the array gives what the die had");
    }
    let state = host.device.state();
    let dies = |drive: usize| state.drives[drive].dies.iter().map(|die| die.state).collect::<Vec<_>>();
    assert_eq!((dies(1)[3], dies(0)[3]), (DieState::GivenUp, DieState::Good));
    let array = state.array.unwrap();
    assert_eq!((array.level, array.members.len(), state.powered), ("raid5", 4, true));
    let told: Vec<_> = host.device.events().map(|event| event.text.clone()).collect();
    assert_eq!(told[0], "die device 1, die 3");
}

/// As many dies as it says can fail, and the drive takes writes all the same; one more, and it may not.
#[test]
fn a_drive_knows_how_many_dies_it_can_lose() {
    let mut host = Host::new(DRIVE);
    let bears = host.device.dies_it_can_lose();
    assert!((1..8).contains(&bears), "{bears}");
    let sectors = host.device.identify().capacity.0 / 512;
    let kill = |host: &mut Host, die: u32| {
        let fault = parse_fault(&serde_json::json!({"kind": "die", "die": die})).unwrap();
        host.device.apply(host.now, &DeviceInput::Fault(&fault)).unwrap();
        (0..sectors / 8 * 2).all(|at| host.write(at * 8 % sectors, &bytes(8, at)) == Outcome::Ok)
    };
    assert!((0..bears).all(|die| kill(&mut host, die)));
    assert!(!kill(&mut host, bears), "a drive that bears {bears} bears one more");
}

/// A state that was asked for before a die failed does not answer for the drive after it.
#[test]
fn the_state_says_at_every_time_how_many_dies_a_drive_can_lose() {
    let mut host = Host::new(DRIVE);
    let mut seen = Vec::new();
    for die in 0..3 {
        for _ in 0..2 {
            let said = host.device.state().drives[0].takes_writes_after;
            assert_eq!(said, host.device.dies_it_can_lose(), "before die {die}");
            seen.push(said);
        }
        let fault = parse_fault(&serde_json::json!({"kind": "die", "die": die})).unwrap();
        host.device.apply(host.now, &DeviceInput::Fault(&fault)).unwrap();
    }
    assert!(seen[0] == seen[1] && seen[2] + 1 == seen[0], "{seen:?}");
}

#[test]
fn refusals_say_what_is_wrong() {
    let mut host = Host::new(DRIVE);
    let mut say = |input: &DeviceInput<'_>| host.device.apply(Nanos(5), input).unwrap_err().to_string();
    let write = command(Op::Write, 0, 8);
    assert_eq!(
        say(&DeviceInput::Command { tag: Tag(0), command: write, data: &[1] }),
        "the command comes with 1 bytes and needs 4096"
    );
    assert!(say(&DeviceInput::Repair).contains("only an array"));
    let fault = parse_fault(&serde_json::json!({"kind": "die", "die": 8})).unwrap();
    assert_eq!(say(&DeviceInput::Fault(&fault)), "fault.die = 8: must be less than 8, the number there are");
    assert!(
        parse_fault(&serde_json::json!({"kind": "die", "at": "1s"})).unwrap_err().contains("must be absent")
    );
    assert!(parse_fault(&serde_json::json!(3)).unwrap_err().contains("must be an object"));
    assert!(parse_fault(&serde_json::json!({"kind": "flood"})).unwrap_err().contains("flood"));
    let read = DeviceInput::Command { tag: Tag(0), command: command(Op::Read, 0, 8), data: &[] };
    host.device.apply(Nanos(6), &read).unwrap();
    assert!(matches!(host.device.apply(Nanos(6), &read), Err(RefusedInput::TagInUse(Tag(0)))));
    let latest = host.device.latest();
    let beyond = host.device.apply(latest + Nanos::secs(3 * 86_400), &DeviceInput::Advance);
    assert!(matches!(beyond, Err(RefusedInput::BeyondHorizon { .. })));
}
