//! The scenarios that come with the program.

/// A built-in scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    /// The name by which it is extended.
    pub name: &'static str,
    /// What it is, in a line.
    pub title: &'static str,
    /// The scenario file, with the source of every number.
    pub text: &'static str,
}

macro_rules! preset {
    ($name:literal, $title:literal) => {
        Preset {
            name: $name,
            title: $title,
            text: include_str!(concat!("../../../../scenarios/presets/", $name, ".toml")),
        }
    };
}

const PRESETS: &[Preset] = &[
    preset!("demo", "A small TLC drive under a uniform 70/30 mix; runs in seconds"),
    preset!("hrm-200g", "200 GiB drive of the HRM paper (FAST 2019), 70/30 at 2000 IOPS for an hour"),
    preset!("msapl-128g", "128 GiB drive of the mSAPL paper (Electronics 2020)"),
    preset!("flexible-8cards", "Eight flash cards under one host, of the Flexible paper (HotDep 2009)"),
    preset!("x25m-80g", "Intel X25-M 80 GB as in the Diff-RAID paper (EuroSys 2010)"),
    preset!("array-raid5-5", "Five small drives as RAID-5 with a hot spare; runs in seconds"),
    preset!("diffraid-x25m", "Diff-RAID (80, 5, 5, 5, 5) over five Intel X25-M 80 GB, ages converged"),
    preset!("pm1643-4t", "Samsung PM1643 4 TB of the Reparo paper (TOS 2021), capacity scaled down"),
    preset!(
        "die-repair",
        "Eight small drives as RAID-5; a die fails and is repaired in place; runs in seconds"
    ),
    preset!(
        "pm1643-raid5",
        "A die of one of eight PM1643 in RAID-5 fails and is repaired (Reparo), capacity scaled down"
    ),
    preset!("peers-32g", "32 GiB drive on which other simulators were measured, random writes"),
    preset!(
        "serve-drive",
        "A 1 GiB drive to be served: empty, volatile buffer, parity, room for a die that fails"
    ),
];

/// All presets, the demo first.
pub fn presets() -> &'static [Preset] {
    PRESETS
}
