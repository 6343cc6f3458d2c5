//! Is each field of the extended health log where version 2.0 of the OCP Datacenter `NVMe` SSD Specification has it?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use outlast_device::extended_health::ExtendedHealth;

const LOG: ExtendedHealth = ExtendedHealth {
    media_bytes_written: 0x0102_0304_0506_0708,
    media_bytes_read: 2,
    bad_blocks: 3,
    available_spare: 4,
    stripe_recoveries: 5,
    uncorrectable_reads: 6,
    soft_errors: 7,
    refreshed: 8,
    most_cycles: 9,
    fewest_cycles: 1,
    free_percent: 11,
    capacitor_health: 100,
};

#[test]
fn every_field_of_the_page_is_where_the_specification_has_it() {
    let page = LOG.page();
    let number = |from: usize, bytes: usize| {
        page[from..from + bytes].iter().rev().fold(0_u128, |sum, &byte| sum << 8 | u128::from(byte))
    };
    // First byte and length of each field.
    let fields = [
        (0, 16, 0x0102_0304_0506_0708),
        (16, 16, 2),
        (32, 6, 3),
        (38, 2, 4),
        (48, 8, 5),
        (56, 8, 6),
        (64, 8, 7),
        (81, 7, 8),
        (88, 4, 9),
        (92, 4, 1),
        (120, 1, 11),
        (128, 2, 100),
        (494, 2, 3),
        (496, 16, 0xAFD5_14C9_7C6F_4F9C_A4F2_BFEA_2810_AFC5),
    ];
    for (from, bytes, value) in fields {
        assert_eq!(number(from, bytes), value, "byte {from}");
    }
    let is_field = |at: usize| fields.iter().any(|&(from, bytes, _)| (from..from + bytes).contains(&at));
    assert!(page.iter().enumerate().all(|(at, &byte)| byte == 0 || is_field(at)));
    assert_eq!(page[496..500], [0xC5, 0xAF, 0x10, 0x28], "the lowest byte first");
}

#[test]
fn figures_of_several_drives_are_sums_and_the_worst() {
    let other =
        ExtendedHealth { available_spare: 90, most_cycles: 3, fewest_cycles: 0, free_percent: 5, ..LOG };
    let both = LOG.with(other);
    assert_eq!((both.media_bytes_read, both.bad_blocks, both.soft_errors), (4, 6, 14));
    assert_eq!((both.available_spare, both.most_cycles, both.fewest_cycles, both.free_percent), (4, 9, 0, 5));
}
