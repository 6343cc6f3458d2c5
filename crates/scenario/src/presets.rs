//! The scenarios that come with the program.

/// A built-in scenario.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Preset {
    /// Name to use in `extends`.
    pub name: &'static str,
    /// Description in one line.
    pub title: &'static str,
    /// The scenario file, with the source of every number.
    pub text: &'static str,
}

macro_rules! preset {
    ($name:literal, $title:literal) => {
        preset!("", $name, $title)
    };
    ($folder:literal, $name:literal, $title:literal) => {
        Preset {
            name: $name,
            title: $title,
            text: include_str!(concat!("../../../scenarios/presets/", $folder, $name, ".toml")),
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
        "all-five",
        "Four small drives as RAID-5 with the mechanisms of all five papers; runs in seconds"
    ),
    preset!(
        "pm1643-raid5",
        "A die of one of eight PM1643 in RAID-5 fails and is repaired (Reparo), capacity scaled down"
    ),
    preset!("peers-32g", "32 GiB drive for comparing the speed of simulators, random writes"),
    preset!(
        "serve-drive",
        "A 1 GiB drive to be served: empty, volatile buffer, parity, room for a die that fails"
    ),
    preset!(
        "drives/",
        "micron-7450-max-800g",
        "Micron 7450 MAX 800 GB at full size, compared with measurements"
    ),
    preset!(
        "drives/",
        "micron-7450-pro-960g",
        "Micron 7450 PRO 960 GB at full size, compared with measurements"
    ),
    preset!(
        "drives/",
        "solidigm-p5520-1920g",
        "Solidigm D7-P5520 1.92 TB at full size, compared with measurements"
    ),
    preset!("drives/", "samsung-pm9a3-960g", "Samsung PM9A3 960 GB at full size, compared with measurements"),
    preset!(
        "drives/",
        "hynix-pe8110-960g",
        "SK hynix PE8110 960 GB at full size, compared with measurements"
    ),
    preset!("drives/", "kioxia-cm7r-3840g", "Kioxia CM7-R 3.84 TB at full size, from its data sheet"),
    preset!("drives/", "samsung-970pro-1t", "Samsung 970 PRO 1 TB with NVMeVirt's parameters"),
    preset!(
        "drives/",
        "samsung-980pro-1t",
        "A client TLC drive of 1 TB past its SLC cache, after the Samsung 980 PRO"
    ),
    preset!(
        "drives/",
        "solidigm-p5336-7680g",
        "A QLC drive of 7.68 TB with 16-KiB units, after the Solidigm D5-P5336"
    ),
    preset!(
        "client/",
        "samsung-980pro-1t-cache",
        "Samsung 980 PRO 1 TB with its small SLC cache, filled from empty, capacity scaled down"
    ),
    preset!(
        "client/",
        "adata-atom50-1t",
        "ADATA Atom 50 1 TB with its large SLC cache, filled from empty, capacity scaled down"
    ),
    preset!(
        "client/",
        "team-mp44s-1t",
        "Team MP44S 1 TB, QLC that is nearly all an SLC cache, filled from empty, capacity scaled down"
    ),
    preset!(
        "client/",
        "crucial-t500-2t",
        "Crucial T500 2 TB as predicted from the ADATA Atom 50, filled from empty, capacity scaled down"
    ),
    preset!(
        "toshiba-rc100-480g",
        "Toshiba RC100 480 GB without DRAM: a part of the mapping table in the host's memory, capacity scaled down"
    ),
    preset!(
        "drives/",
        "wd-zn540",
        "Western Digital ZN540 1 TB: a drive with zones, compared with measurements"
    ),
];

/// All presets, the demo first.
pub fn presets() -> &'static [Preset] {
    PRESETS
}
