//! When code of the user's says when and how a failed die is repaired: is that what is done, and nothing else?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_array::{Array, ArrayCondition, ArrayEvent, ArrayEventKind, PlainDevice, RepairStep};
use outlast_decisions::{DieRepairQuestion, RepairDecision, RepairWay};
use outlast_device::NoticeKind;
use outlast_settings::array::Level;
use outlast_units::Nanos;
use support::life::{Life, SECTORS, WAYS, failed, filled, life, pass, small, strided, tell_at, written};
use support::policies::{PolicyReply, decided};
use support::settings::ArraySettings;
use support::{Host, array, plain};

const DELAY: Nanos = Nanos::millis(3);

/// Later twice, then `way`.
fn hesitates(
    way: RepairWay,
) -> impl Fn(&DieRepairQuestion, u32) -> PolicyReply<DieRepairQuestion> + Send + Sync + 'static {
    move |failure, _| {
        let later = RepairDecision::Later(DELAY);
        Ok(Some(if failure.asked < 2 { later } else { RepairDecision::Now(way) }))
    }
}

fn steps(host: &Host<Array<PlainDevice>>) -> Vec<(u16, RepairStep)> {
    let step = |event: &ArrayEvent| match event.kind {
        ArrayEventKind::Repair { die, step, .. } => Some((die, step)),
        _ => None,
    };
    host.device.events().iter().filter_map(step).collect()
}

#[test]
fn a_policy_that_repeats_the_setting_changes_nothing() {
    for (level, spares) in [(Level::Raid5, 2), (Level::Raid6, 1), (Level::Raid1, 2)] {
        for (index, way) in WAYS.into_iter().enumerate() {
            // The setting is another one, and is not asked.
            let other = small(level, 4, WAYS[(index + 1) % 3]).with_spares(spares);
            let setting = small(level, 4, way).with_spares(spares);
            let (own, log) = decided(&other, move |_, _| Ok(Some(RepairDecision::Now(way))));
            let (silent, _) = decided(&setting, |_, _| Ok(None));
            for seed in 0..2 {
                let expected = life(&setting, seed);
                for config in [&own, &silent] {
                    let own = life(config, seed);
                    assert_eq!(own.deeds(), expected.deeds(), "{level:?} {way:?} {seed}");
                    assert!(written(&own.host.device) == written(&expected.host.device));
                    assert!(own.host.device.policy_failure().is_none());
                }
            }
            assert!(log.lock().unwrap().len() > 6, "it was asked");
        }
    }
}

#[test]
fn a_deferred_repair_begins_at_its_time() {
    for way in WAYS {
        let config = small(Level::Raid5, 4, RepairWay::Die).with_spares(1);
        let (config, log) = decided(&config, hesitates(way));
        let mut host = filled(array(config, SECTORS));
        let told = host.now + Nanos::micros(777);
        tell_at(&mut host, told, 2, failed(5), &strided(0, 4, 16));
        pass(&mut host, told + DELAY + DELAY - Nanos(1));
        let repair = &host.device.repairs()[0];
        assert_eq!((repair.noticed_at, repair.started_at, repair.way), (told, None, RepairWay::Die));
        assert_eq!(host.device.condition(), ArrayCondition::Degraded, "nothing is done about it");
        pass(&mut host, told + DELAY + DELAY);
        let repair = &host.device.repairs()[0];
        assert_eq!((repair.started_at, repair.way), (Some(told + DELAY + DELAY), way));
        host.drain();
        assert!(host.device.repairs()[0].finished_at.is_some());
        let asked: Vec<_> =
            log.lock().unwrap().iter().map(|failure| (failure.now_ns, failure.asked)).collect();
        assert_eq!(asked, [(told, 0), (told + DELAY, 1), (told + DELAY + DELAY, 2)]);
        assert_eq!(host.read_all(), [0; 0]);
        assert_eq!(host.device.condition(), ArrayCondition::Healthy);
    }
}

#[test]
fn the_question_describes_the_array() {
    let config = small(Level::Raid6, 5, RepairWay::Die).with_spares(1);
    let (mut config, log) = decided(&config, |failure, _| {
        Ok((failure.member == 2).then_some(RepairDecision::Later(Nanos::secs(3600))))
    });
    // It takes the spare, and is never filled.
    config.background.max_rate = outlast_units::ByteRate::new(1);
    let devices = (0..6).map(|seed| plain(SECTORS, seed).pre_worn(31.0)).collect();
    let mut host = filled(Array::new(config, devices, true).unwrap());
    let at = host.now + Nanos::millis(1);
    tell_at(&mut host, at, 2, failed(7), &[1]);
    pass(&mut host, at + Nanos(1));
    host.device.fail_member(at + Nanos(2), 0).unwrap();
    host.device.add_spare(at + Nanos(2), plain(SECTORS, 9)).unwrap();
    tell_at(&mut host, at + Nanos(3), 1, failed(3), &strided(0, 8, 16));
    tell_at(&mut host, at + Nanos(5), 2, failed(8), &[2]);
    pass(&mut host, at + Nanos(6));
    let seen = log.lock().unwrap().clone();
    let expected = DieRepairQuestion {
        now_ns: at,
        told_ns: at,
        member: 2,
        die: 7,
        percent_used: 32.0,
        dies: 1,
        missing: 0,
        repairing: 0,
        spares: 1,
        host_active: 0,
        last_host_ns: seen[0].last_host_ns,
        asked: 0,
    };
    assert_eq!(seen[0], expected);
    assert!(seen[0].last_host_ns.is_some_and(|served| served < at && served > Nanos::ZERO));
    let time = |nanos| (at + Nanos(nanos), at + Nanos(nanos));
    let third = DieRepairQuestion { die: 8, dies: 2, missing: 1, repairing: 1, ..expected };
    assert_eq!(seen[2], DieRepairQuestion { now_ns: time(5).0, told_ns: time(5).1, ..third });
    assert_eq!((seen.len(), seen[1].member, seen[1].dies, seen[1].repairing), (3, 1, 1, 0));
}

/// A repair that waits ends with its member: where that leaves, is beyond repair, or is replaced for another die.
#[test]
fn a_deferred_repair_ends_with_its_member() {
    let begin = |second: RepairWay| {
        let config = small(Level::Raid5, 4, RepairWay::Die).with_spares(1);
        let (config, log) = decided(&config, move |failure, _| {
            let later = RepairDecision::Later(Nanos::secs(3600));
            Ok(Some(if failure.die == 1 { later } else { RepairDecision::Now(second) }))
        });
        let mut host = filled(array(config, SECTORS));
        let now = host.now + Nanos(1);
        tell_at(&mut host, now, 1, failed(1), &strided(0, 4, 16));
        pass(&mut host, now);
        (host, log)
    };
    for way in WAYS {
        let (mut host, _) = begin(way);
        let now = host.now + Nanos::millis(1);
        tell_at(&mut host, now, 1, failed(2), &strided(8, 4, 16));
        pass(&mut host, now + Nanos::secs(100));
        let (first, second) = (&host.device.repairs()[0], &host.device.repairs()[1]);
        assert!(second.finished_at.is_some() && !second.abandoned);
        assert_eq!(first.abandoned, way != RepairWay::Die);
        // What is recovered in place covers both dies, but the first is still to be decided.
        assert_eq!(first.finished_at.is_some(), way != RepairWay::Die);
        let expected = if way == RepairWay::Die { ArrayCondition::Degraded } else { ArrayCondition::Healthy };
        assert_eq!(host.device.condition(), expected);
    }
    let (mut host, log) = begin(RepairWay::Die);
    let now = host.now + Nanos::millis(1);
    tell_at(&mut host, now, 1, NoticeKind::BeyondRepair { die: 1 }, &[]);
    host.drain();
    assert_eq!(log.lock().unwrap().len(), 1, "there is nothing to decide");
    assert_eq!(host.device.repairs()[1].way, RepairWay::Assist);
    assert!(steps(&host).contains(&(1, RepairStep::Abandoned)));
    for replaced in [false, true] {
        let (mut host, log) = begin(RepairWay::Die);
        if replaced {
            host.device.replace(host.now, 1, plain(SECTORS, 9), false).unwrap();
        } else {
            host.device.fail_member(host.now, 1).unwrap();
        }
        host.drain();
        assert!(host.device.repairs()[0].abandoned);
        assert_eq!(log.lock().unwrap().len(), 1);
        assert_eq!(host.read_all(), [0; 0]);
    }
}

/// A member is not given up while another one lacks rows of which nobody has said what becomes of them.
#[test]
fn a_member_with_a_deferred_repair_is_kept_for_others() {
    let config = small(Level::Raid5, 4, RepairWay::Rebuild).with_spares(2);
    let (config, _) = decided(&config, |failure, _| {
        let die = RepairDecision::Now(RepairWay::Die);
        let later = RepairDecision::Later(Nanos::millis(50));
        Ok(match failure.member {
            1 if failure.asked == 0 => Some(later),
            1 => Some(die),
            _ => None,
        })
    });
    let mut host = filled(array(config, SECTORS));
    let at = host.now + Nanos::millis(1);
    tell_at(&mut host, at, 1, failed(1), &strided(0, 4, 16));
    tell_at(&mut host, at + Nanos::millis(1), 2, failed(2), &strided(0, 4, 16));
    host.drain();
    let repairs = host.device.repairs();
    assert!(repairs[1].started_at >= repairs[0].finished_at, "{repairs:?}");
    assert_eq!(repairs[1].way, RepairWay::Rebuild);
}

#[test]
fn power_may_fail_while_a_repair_is_deferred() {
    for (off, on) in [(1, 2), (1, 5), (4, 6)] {
        let config = small(Level::Raid5, 4, RepairWay::Die);
        let (config, log) = decided(&config, hesitates(RepairWay::Die));
        let mut host = filled(array(config, SECTORS));
        let told = host.now + Nanos::micros(5);
        tell_at(&mut host, told, 0, failed(5), &strided(0, 4, 16));
        pass(&mut host, told + Nanos::millis(off));
        host.device.power_failure_until(told + Nanos::millis(off), told + Nanos::millis(on));
        host.device.power_on(told + Nanos::millis(on), false).unwrap();
        host.now = told + Nanos::millis(on);
        host.drain();
        // Questions that were due without power are asked when it is back.
        let first = told + DELAY.max(if off < 3 { Nanos::millis(on) } else { DELAY });
        let second = (first + DELAY).max(told + Nanos::millis(on));
        let asked: Vec<_> = log.lock().unwrap().iter().map(|failure| failure.now_ns).collect();
        assert_eq!(asked, [told, first, second], "off {off}, on {on}");
        assert_eq!(host.device.repairs()[0].started_at, Some(second));
        assert_eq!(host.device.repairs()[0].resumed, 0);
        assert_eq!(host.read_all(), [0; 0]);
    }
}

/// Lives that are forked or written and read at random moments, with repairs that wait: the policy's answers follow from the question, and in a
/// fork from how many questions it has had, too.
#[test]
fn forks_and_restored_arrays_continue_alike() {
    let way = |number: u32| WAYS[number as usize % 3];
    let config = small(Level::Raid6, 5, RepairWay::Die).with_spares(2);
    let (by_question, _) = decided(&config, move |failure, _| {
        let later = RepairDecision::Later(Nanos::micros(700 * u64::from(failure.asked + 1)));
        Ok(Some(if failure.asked < 3 { later } else { RepairDecision::Now(way(failure.die.into())) }))
    });
    let (by_count, _) = decided(&config, move |_, had| {
        Ok(Some(if had % 4 < 3 { RepairDecision::Later(DELAY) } else { RepairDecision::Now(way(had)) }))
    });
    let waits = |life: &Life| {
        let mut repairs = life.host.device.repairs().iter();
        repairs.any(|repair| repair.started_at.is_none() && repair.finished_at.is_none())
    };
    let (mut read_while_waiting, mut forked_while_waiting) = (0, 0);
    for seed in 0..12 {
        let mut lives = [Life::new(&by_question, seed), Life::new(&by_question, seed)];
        for (life, stops) in lives.iter_mut().zip([false, true]) {
            for _ in 0..6 {
                life.go_on(80);
                if stops {
                    read_while_waiting += u32::from(waits(life));
                    life.is_written_and_read();
                }
            }
            life.host.drain();
        }
        assert_eq!(lives[0].deeds(), lives[1].deeds());
        assert!(written(&lives[0].host.device) == written(&lives[1].host.device));

        let mut whole = Life::new(&by_count, seed);
        whole.go_on(200);
        let mut fork = whole.clone();
        forked_while_waiting += u32::from(waits(&fork));
        whole.go_on(200);
        whole.host.drain();
        fork.go_on(200);
        fork.host.drain();
        assert_eq!(whole.deeds(), fork.deeds());
    }
    assert!(
        read_while_waiting > 10 && forked_while_waiting > 2,
        "{read_while_waiting} {forked_while_waiting}"
    );
}
