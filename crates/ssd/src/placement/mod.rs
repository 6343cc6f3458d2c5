//! To which class of protection a unit that the host writes belongs.
//!
//! A placement decides by one thing that a write shows: its stream hint, its address, its size and the heat of its place. The placements
//! are asked in the order of the list below, and the first that has an answer decides. A new one is a new file and a line in the list.

use outlast_device::Command;
use outlast_settings::drive::SsdConfig;
use outlast_settings::ftl::ClassConfig;
use outlast_units::SECTOR_BYTES;

/// A unit of a command of the host, as placements see it.
#[derive(Clone, Copy, Debug)]
struct Write {
    /// The command's stream hint.
    hint: u16,
    /// The unit's first sector.
    sector: u64,
    /// Bytes of the whole command.
    bytes: u64,
}

/// One way to choose a class.
trait Placement: Sized {
    /// From the settings of all classes, in order of class, for a drive of `sectors` sectors. `None` where no class asks for this placement.
    fn new(classes: &[ClassConfig], sectors: u64) -> Option<Self>;

    /// The class of a unit; `None` leaves it to the placements that come after.
    fn class_of(&self, write: Write) -> Option<u8>;

    /// The unit that begins at `sector` is being written.
    fn note(&mut self, _sector: u64) {}

    /// Bytes of its tables on a drive of `sectors` sectors.
    fn bytes_over(&self, _sectors: u64) -> u64 {
        0
    }
}

macro_rules! placements {
    ($($file:ident::$Type:ident;)+) => {
        $(mod $file;)+

        /// The rules of `device.protection.classes`.
        #[derive(Clone, Debug, outlast_persist::Persist)]
        pub(crate) struct Classifier {
            $($file: Option<$file::$Type>,)+
            #[persist(fixed)]
            default_class: u8,
            #[persist(fixed)]
            classes: u8,
        }

        impl Classifier {
            fn of(classes: &[ClassConfig], default_class: u8, sectors: u64) -> Self {
                assert!(usize::from(default_class) < classes.len(), "the default class is one of the classes");
                Self {
                    $($file: Placement::new(classes, sectors),)+
                    default_class,
                    classes: classes.len() as u8,
                }
            }

            fn first_answer(&self, write: Write) -> Option<u8> {
                $(if let Some(class) = self.$file.as_ref().and_then(|own| own.class_of(write)) {
                    return Some(class);
                })+
                None
            }

            /// The unit that begins at `sector` is being written: how hot its place is may depend on it.
            pub(crate) fn note(&mut self, sector: u64) {
                $(if let Some(own) = &mut self.$file {
                    own.note(sector);
                })+
            }

            /// Bytes of all tables on a drive of `sectors` sectors.
            pub(crate) fn bytes_over(&self, sectors: u64) -> u64 {
                0 $(+ self.$file.as_ref().map_or(0, |own| own.bytes_over(sectors)))+
            }
        }
    };
}

// In the order in which they are asked.
placements! {
    by_hint::ByHint;
    by_address::ByAddress;
    by_size_and_heat::BySizeAndHeat;
}

impl Classifier {
    /// Of a drive of `sectors` sectors; `None` where there is one class only.
    pub(crate) fn new(config: &SsdConfig, sectors: u64) -> Option<Self> {
        let protection = config.protection.as_ref().filter(|own| own.classes.len() > 1)?;
        Some(Self::of(&protection.classes, protection.default_class, sectors))
    }

    /// The class of the unit that begins at `sector`, written by `command`.
    pub(crate) fn class(&self, command: &Command, sector: u64) -> u8 {
        let bytes = u64::from(command.sectors) * SECTOR_BYTES;
        let class = self.first_answer(Write { hint: command.placement.0, sector, bytes });
        let class = class.unwrap_or(self.default_class);
        debug_assert!(class < self.classes, "class {class} of {}", self.classes);
        class
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use outlast_settings::ftl::RangeConfig;
    use outlast_units::Bytes;
    use proptest::prelude::*;

    const MIB: u64 = 1 << 20;

    fn command(hint: u16, sector: u64, sectors: u32) -> Command {
        let lba = outlast_units::Lba(sector);
        let placement = outlast_device::PlacementId(hint);
        Command { placement, ..Command::new(outlast_device::Op::Write, lba, sectors) }
    }

    /// The first class that asks for the hint; else the one whose range holds the address; else the first whose bounds the size meets.
    fn plainly(classes: &[ClassConfig], default_class: u8, hint: u16, sector: u64, sectors: u32) -> u8 {
        let first = |fits: &dyn Fn(&ClassConfig) -> bool| classes.iter().position(fits).map(|at| at as u8);
        let (at, bytes) = (sector * SECTOR_BYTES, u64::from(sectors) * SECTOR_BYTES);
        first(&|own| own.hints.contains(&hint))
            .or_else(|| first(&|own| own.ranges.iter().any(|range| (range.from.0..range.to.0).contains(&at))))
            .or_else(|| {
                first(&|own| {
                    (own.at_least.is_some() || own.at_most.is_some())
                        && own.at_least.is_none_or(|least| least.0 <= bytes)
                        && own.at_most.is_none_or(|most| bytes <= most.0)
                })
            })
            .unwrap_or(default_class)
    }

    fn arbitrary_class(number: u64) -> impl Strategy<Value = ClassConfig> {
        let size = || prop::option::of((1u64..64).prop_map(|sectors| Bytes(sectors * SECTOR_BYTES)));
        // Each class has hints and ranges of its own: what two ask for is refused.
        let hints = prop::collection::vec(Just(number as u16 + 256), 0..2);
        let range = |slot: u64| {
            prop::option::of((0u64..50, 50u64..100).prop_map(move |(from, to)| {
                let start = (4 * slot + number) * 100;
                RangeConfig {
                    from: Bytes((start + from) * SECTOR_BYTES),
                    to: Bytes((start + to) * SECTOR_BYTES),
                }
            }))
        };
        (hints, range(0), range(1), size(), size()).prop_map(|(hints, first, second, at_least, at_most)| {
            ClassConfig {
                hints,
                ranges: first.into_iter().chain(second).collect(),
                at_least,
                at_most,
                ..ClassConfig::default()
            }
        })
    }

    proptest! {
        #[test]
        fn hints_go_before_addresses_and_addresses_before_sizes(
            classes in (arbitrary_class(0), arbitrary_class(1), arbitrary_class(2), arbitrary_class(3)),
            default_class in 0u8..4,
            writes in prop::collection::vec((prop_oneof![0u16..6, 254u16..262], 0u64..1000, 1u32..80), 1..50),
        ) {
            let classes: [ClassConfig; 4] = classes.into();
            let own = Classifier::of(&classes, default_class, 1000);
            for (hint, sector, sectors) in writes {
                let expected = plainly(&classes, default_class, hint, sector, sectors);
                prop_assert_eq!(own.class(&command(hint, sector, sectors), sector), expected);
            }
        }
    }

    #[test]
    fn a_hot_place_counts_only_for_writes_of_the_size_that_its_class_asks_for() {
        let hot = ClassConfig { hot: Some(4.0), at_most: Some(Bytes(4096)), ..ClassConfig::default() };
        let mut own = Classifier::of(&[ClassConfig::default(), hot], 0, 100 * MIB / SECTOR_BYTES);
        let place = 7 * MIB / SECTOR_BYTES;
        own.note(0);
        assert_eq!(own.class(&command(0, place, 8), place), 0);
        for _ in 0..1000 {
            own.note(place);
        }
        assert_eq!(own.class(&command(0, place, 8), place), 1);
        assert_eq!(own.class(&command(0, place, 9), place), 0);
        assert_eq!(own.class(&command(0, place + MIB / SECTOR_BYTES, 8), place + MIB / SECTOR_BYTES), 0);
        // Four bytes for each megabyte.
        assert_eq!(own.bytes_over(100 * MIB / SECTOR_BYTES), 400);
    }
}
