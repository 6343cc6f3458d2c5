//! Reads with limited retry: redundancy answers for a member that gives up, nothing is rewritten, and nothing is lost that more attempts would give.

use crate::support::failing::Failing;
use crate::support::settings::{ArraySettings, array_of};
use crate::support::{Host, command, plain};
use outlast_array::Array;
use outlast_device::Op;
use outlast_settings::array::{ArrayConfig, Level};

const SECTORS: u64 = 400;

/// A written array whose members are [`Failing`], with reads as `limited_retry` says.
fn written(config: &ArrayConfig, limited_retry: bool) -> Host<Array<Failing>> {
    let config = config.clone().with(|config| {
        config.limited_retry = limited_retry;
        config.ejection.read_errors = 3;
    });
    let devices = (0..u64::from(config.members)).map(|seed| Failing::new(plain(SECTORS, seed)));
    let mut host = Host::new(Array::new(config, devices.collect(), true).unwrap());
    for lba in (0..host.capacity()).step_by(8) {
        host.submit(command(Op::Write, lba, 8));
        host.drain();
    }
    host
}

fn writes(host: &Host<Array<Failing>>, members: u16) -> Vec<u64> {
    (0..usize::from(members)).map(|column| host.device.member(column).unwrap().writes).collect()
}

fn redundant() -> Vec<ArrayConfig> {
    [(Level::Raid1, 2), (Level::Raid5, 4), (Level::Raid6, 5), (Level::Raid10, 4)]
        .map(|(level, members)| array_of(level, members))
        .to_vec()
}

#[test]
fn redundancy_answers_for_a_member_that_gives_up_and_nothing_is_rewritten() {
    for config in redundant() {
        let mut host = written(&config, true);
        let before = writes(&host, config.members);
        host.device.member_mut(0).unwrap().retries_help = true;
        assert!(host.read_all().is_empty(), "{config:?}");
        let counters = host.device.counters();
        assert!(counters.degraded_reads > 0, "{config:?}: {counters:?}");
        let untouched = (counters.read_errors, counters.sectors_repaired, counters.ejected);
        assert_eq!(untouched, (0, 0, 0), "{config:?}");
        assert_eq!(writes(&host, config.members), before, "{config:?}");
    }
}

#[test]
fn what_redundancy_cannot_give_either_is_read_with_all_means() {
    for config in redundant() {
        let mut host = written(&config, true);
        for column in 0..usize::from(config.members) {
            host.device.member_mut(column).unwrap().retries_help = true;
        }
        // As many as redundancy covers cannot be read at all, so that it cannot answer for another.
        host.device.member_mut(0).unwrap().is_unreadable = true;
        assert!(host.read_all().is_empty(), "{config:?}");
        assert_eq!(host.device.counters().sectors_lost, 0, "{config:?}");
    }
}

#[test]
fn without_redundancy_or_the_setting_no_read_is_limited() {
    for (config, limited_retry) in [(array_of(Level::Raid0, 3), true), (array_of(Level::Raid5, 4), false)] {
        let mut host = written(&config, limited_retry);
        for column in 0..usize::from(config.members) {
            host.device.member_mut(column).unwrap().retries_help = true;
        }
        assert!(host.read_all().is_empty(), "{config:?}");
        assert_eq!(host.device.counters().degraded_reads, 0);
    }
}
