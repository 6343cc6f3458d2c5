//! Does a namespace hold what a plain map of blocks holds, whatever the digests, the way of data and the commands?

use proptest::prelude::*;
use proptest::sample::select;

use crate::initiator::{LinkWishes, WireCommand};
use crate::memory::{BLOCKS, MemoryTarget};

/// A command on a part of the namespace.
#[derive(Clone, Debug)]
enum MapStep {
    Write { lba: u64, blocks: u64, fill: u8, fua: bool },
    Read { lba: u64, blocks: u64 },
    Zero { lba: u64, blocks: u64, may_deallocate: bool },
    Deallocate(Vec<(u64, u32)>),
    Compare { lba: u64, blocks: u64, is_equal: bool },
    Verify { lba: u64, blocks: u64 },
    Copy { from: Vec<(u64, u16)>, to: u64 },
    Flush,
}

fn step() -> impl Strategy<Value = MapStep> {
    let range = || (0..BLOCKS, 1..300_u64);
    prop_oneof![
        4 => (range(), any::<u8>(), any::<bool>())
            .prop_map(|((lba, blocks), fill, fua)| MapStep::Write { lba, blocks, fill, fua }),
        3 => range().prop_map(|(lba, blocks)| MapStep::Read { lba, blocks }),
        1 => (range(), any::<bool>())
            .prop_map(|((lba, blocks), may_deallocate)| MapStep::Zero { lba, blocks, may_deallocate }),
        1 => proptest::collection::vec((0..BLOCKS, 0..100_u32), 1..5).prop_map(MapStep::Deallocate),
        1 => (range(), any::<bool>())
            .prop_map(|((lba, blocks), is_equal)| MapStep::Compare { lba, blocks, is_equal }),
        1 => range().prop_map(|(lba, blocks)| MapStep::Verify { lba, blocks }),
        1 => (proptest::collection::vec((0..BLOCKS, 1..100_u16), 1..4), 0..BLOCKS)
            .prop_map(|(from, to)| MapStep::Copy { from, to }),
        1 => Just(MapStep::Flush),
    ]
}

fn wishes() -> impl Strategy<Value = LinkWishes> {
    let digests = (any::<bool>(), any::<bool>(), 0..32_u8);
    (digests, select(vec![0, 512, 4096, 8192]), select(vec![0, 512, 4096, 5 * 512])).prop_map(
        |((header_digest, data_digest, alignment), in_capsule, piece)| LinkWishes {
            header_digest,
            data_digest,
            alignment,
            in_capsule,
            piece,
        },
    )
}

/// Bytes of a map that a range covers, or nothing if it is not within it.
fn part(map: &[u8], lba: u64, blocks: u64) -> Option<std::ops::Range<usize>> {
    let range = lba as usize * 512..(lba + blocks) as usize * 512;
    (range.end <= map.len()).then_some(range)
}

/// Some block lies beyond the namespace.
const BEYOND: Result<(u64, Vec<u8>), u16> = Err(0x080);

proptest! {
    #![proptest_config(ProptestConfig { cases: 48, ..ProptestConfig::default() })]

    #[test]
    fn a_namespace_is_a_map(wishes in wishes(), steps in proptest::collection::vec(step(), 1..60)) {
        let target = MemoryTarget::new();
        let admin = target.admin(wishes);
        let mut io = target.io(&admin, 1, wishes);
        let mut map = vec![0_u8; BLOCKS as usize * 512];
        let done = Ok((0, Vec::new()));
        for step in steps {
            let (outcome, expected) = match step {
                MapStep::Write { lba, blocks, fill, fua } => {
                    let data: Vec<u8> = (0..blocks * 512).map(|at| (at % 251) as u8 ^ fill).collect();
                    let expected = part(&map, lba, blocks).map_or(BEYOND, |range| {
                        map[range].copy_from_slice(&data);
                        done.clone()
                    });
                    (io.run(WireCommand::write(lba, data, fua)), expected)
                }
                MapStep::Read { lba, blocks } => {
                    let expected = part(&map, lba, blocks).map_or(BEYOND, |range| Ok((0, map[range].to_vec())));
                    (io.run(WireCommand::read(lba, blocks)), expected)
                }
                MapStep::Zero { lba, blocks, may_deallocate } => {
                    let expected = part(&map, lba, blocks).map_or(BEYOND, |range| {
                        map[range].fill(0);
                        done.clone()
                    });
                    (io.run(WireCommand::write_zeroes(lba, blocks, may_deallocate)), expected)
                }
                MapStep::Deallocate(ranges) => {
                    let parts: Option<Vec<_>> =
                        ranges.iter().map(|&(lba, blocks)| part(&map, lba, blocks.into())).collect();
                    let expected = parts.map_or(BEYOND, |parts| {
                        for range in parts {
                            map[range].fill(0);
                        }
                        done.clone()
                    });
                    (io.run(WireCommand::deallocate(&ranges)), expected)
                }
                MapStep::Compare { lba, blocks, is_equal } => {
                    let mut data = part(&map, lba, blocks).map_or(vec![0; blocks as usize * 512], |range| map[range].to_vec());
                    *data.last_mut().unwrap() ^= u8::from(!is_equal);
                    let expected = part(&map, lba, blocks)
                        .map_or(BEYOND, |_| if is_equal { done.clone() } else { Err(0x285) });
                    (io.run(WireCommand::compare(lba, data)), expected)
                }
                MapStep::Verify { lba, blocks } => {
                    let expected = part(&map, lba, blocks).map_or(BEYOND, |_| done.clone());
                    (io.run(WireCommand::verify(lba, blocks)), expected)
                }
                MapStep::Copy { from, to } => {
                    let parts: Option<Vec<_>> =
                        from.iter().map(|&(lba, blocks)| part(&map, lba, blocks.into())).collect();
                    let data = parts.map(|parts| parts.into_iter().flat_map(|range| map[range].to_vec()).collect::<Vec<u8>>());
                    let place = data.as_ref().and_then(|data| part(&map, to, data.len() as u64 / 512));
                    let expected = match (data, place) {
                        (Some(data), Some(place)) => {
                            map[place].copy_from_slice(&data);
                            done.clone()
                        }
                        _ => BEYOND,
                    };
                    (io.run(WireCommand::copy(&from, to)), expected)
                }
                MapStep::Flush => (io.run(WireCommand::flush()), done.clone()),
            };
            prop_assert!(outcome == expected, "{:?} instead of {:?}", outcome.map(|one| one.1.len()), expected.map(|one| one.1.len()));
        }
        prop_assert!(target.device.borrow().bytes == map);
        prop_assert_eq!(io.wire.connection.held(), 0);
    }
}

#[test]
fn what_a_command_says_reaches_the_device() {
    let target = MemoryTarget::new();
    let mut admin = target.admin(LinkWishes::default());
    let mut io = target.io(&admin, 1, LinkWishes::default());
    io.run(WireCommand::range(0x02, 0, 1, 1 << 31).returning(512)).unwrap();
    assert_eq!(target.device.borrow().limited, 1, "limited retry");
    io.run(WireCommand::range(0x02, 0, 1, 1 << 30).returning(512)).unwrap();
    assert_eq!(target.device.borrow().flushes, 1, "a forced read flushes before");
    io.run(WireCommand::write(0, vec![1; 512], false)).unwrap();
    assert_eq!(target.device.borrow().forced, 0);
    admin.run(WireCommand::set_feature(6, 0)).unwrap();
    io.run(WireCommand::write(0, vec![1; 512], false)).unwrap();
    assert_eq!(target.device.borrow().forced, 1, "without a write cache, every write is forced");
    target.device.borrow_mut().lost[9] = true;
    assert_eq!(io.run(WireCommand::read(8, 4)).unwrap_err(), 0x281, "unrecovered read error");
    assert_eq!(io.run(WireCommand::verify(8, 4)).unwrap_err(), 0x281);
    assert_eq!(io.run(WireCommand::copy(&[(8, 4)], 100)).unwrap_err(), 0x281);
    let too_long = WireCommand::range(0x02, 0, 2049, 0).returning(2049 * 512);
    assert_eq!(io.run(too_long).unwrap_err(), 0x002, "longer than MDTS");
    let elsewhere = WireCommand::new(0x02, 2, [0; 6]).returning(512);
    assert_eq!(io.run(elsewhere).unwrap_err(), 0x00B);
    let attributes_only = WireCommand {
        entry: {
            let mut entry = WireCommand::deallocate(&[(0, 1)]).entry;
            entry[44] = 0;
            entry
        },
        ..WireCommand::deallocate(&[(0, 1)])
    };
    io.run(attributes_only).unwrap();
    assert_eq!(io.run(WireCommand::read(0, 1)).unwrap().1, vec![1; 512], "a hint deallocates nothing");
}
