//! What every device promises, held against each of them by the same tests: a plain device, a drive, devices in service, and the same devices
//! behind a socket.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

mod asks;
mod client;
mod disks;
mod suite;
#[path = "../support/mod.rs"]
mod support;

/// The suite for the disk that an expression makes, in a module of that name.
macro_rules! conforms {
    ($($name:ident: $disk:expr;)+) => {
        $(mod $name {
            use crate::{disks, suite};

            #[test]
            fn reads_zeroes_where_nothing_was_written() {
                suite::reads_zeroes_where_nothing_was_written(&mut $disk);
            }

            #[test]
            fn gives_what_was_written_last() {
                suite::gives_what_was_written_last(&mut $disk);
            }

            #[test]
            fn refuses_what_lies_beyond_its_end_and_changes_nothing() {
                suite::refuses_what_lies_beyond_its_end_and_changes_nothing(&mut $disk);
            }

            #[test]
            fn keeps_what_was_flushed_or_forced_when_power_fails() {
                suite::keeps_what_was_flushed_or_forced_when_power_fails(&mut $disk);
            }

            #[test]
            fn never_gives_wrong_bytes_when_it_breaks() {
                suite::never_gives_wrong_bytes_when_it_breaks(&mut $disk);
            }
        })+
    };
}

conforms! {
    plain_device: disks::plain();
    drive: disks::drive();
    machine_of_a_drive: disks::InProcessDevice::drive();
    machine_of_an_array: disks::InProcessDevice::array();
    served_drive: disks::DeviceBehindSocket::drive();
    served_array: disks::DeviceBehindSocket::array();
}
