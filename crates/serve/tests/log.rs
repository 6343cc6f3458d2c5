//! Does the log give back what it was given, and nothing of what it was not?
#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]

use crate::support;

use outlast_device::{Command, NamespaceId, Op, PlacementId, Tag};
use outlast_media::{ShornShare, UnitTear};
use outlast_serve::log::{LogDamage, SEGMENT_HEADER, SegmentReader};
use outlast_serve::{DeviceImage, DeviceInput, ImageOptions, InputRecorder, PowerChange, parse_fault};
use outlast_units::{Lba, Nanos};
use proptest::prelude::*;
use std::fs::{self, File};
use support::load::{folder, open};
use support::{DRIVE, bytes};

/// An input that owns its parts.
#[derive(Clone, Debug)]
enum OwnedInput {
    Command(u32, Command),
    Mark(String),
    Die(u16),
    Other(DeviceInput<'static>),
}

fn given() -> impl Strategy<Value = OwnedInput> {
    let op = prop::sample::select(vec![Op::Read, Op::Write, Op::Trim, Op::Flush, Op::LbaStatus]);
    let command = (any::<u32>(), op, any::<u64>(), 0u32..20, any::<(u32, u16)>(), any::<bool>());
    let command = command.prop_map(|(tag, op, lba, sectors, (namespace, placement), fua)| {
        OwnedInput::Command(
            tag,
            Command {
                namespace: NamespaceId(namespace),
                placement: PlacementId(placement),
                fua,
                ..Command::new(op, Lba(lba), sectors)
            },
        )
    });
    let power = prop::sample::select(vec![
        PowerChange::Cut { force: true },
        PowerChange::Off,
        PowerChange::On { force: false },
    ]);
    prop_oneof![
        6 => command,
        1 => ".*".prop_map(OwnedInput::Mark),
        1 => any::<u16>().prop_map(OwnedInput::Die),
        1 => power.prop_map(|power| OwnedInput::Other(DeviceInput::Power(power))),
        1 => (any::<u16>(), any::<bool>()).prop_map(|(member, force)| OwnedInput::Other(DeviceInput::Replace { member, force })),
        1 => prop::sample::select(vec![DeviceInput::Repair, DeviceInput::Advance]).prop_map(OwnedInput::Other),
        1 => (any::<u32>(), any::<u8>(), any::<u64>(), any::<u32>()).prop_map(|(tag, member, lba, sectors)| {
            OwnedInput::Other(DeviceInput::ReadMember { tag: Tag(tag), member, lba: Lba(lba), sectors })
        }),
        1 => tear().prop_map(|tear| OwnedInput::Other(DeviceInput::Tear(tear))),
    ]
}

fn tear() -> impl Strategy<Value = UnitTear> {
    let shorn =
        (1u16..500, 1u16..500).prop_map(|(parts, more)| ShornShare::new(parts, parts + more).unwrap());
    prop_oneof![
        Just(UnitTear::Nothing),
        shorn.prop_map(UnitTear::Shorn),
        (1u32..200).prop_map(|sectors| UnitTear::Torn { run: sectors * 512 }),
    ]
}

fn with<R>(given: &OwnedInput, use_it: impl FnOnce(&DeviceInput<'_>) -> R) -> R {
    match given {
        OwnedInput::Command(tag, command) => {
            let data =
                if command.op == Op::Write { bytes(command.sectors, (*tag).into()) } else { Vec::new() };
            use_it(&DeviceInput::Command { tag: Tag(*tag), command: *command, data: &data })
        }
        OwnedInput::Mark(text) => use_it(&DeviceInput::Mark(text)),
        OwnedInput::Die(die) => {
            let fault = parse_fault(&serde_json::json!({"kind": "die", "die": die})).unwrap();
            use_it(&DeviceInput::Fault(&fault))
        }
        OwnedInput::Other(input) => use_it(input),
    }
}

/// The inputs that can be read from a segment, and how that ended.
fn read(log: &[u8], image: u64, given: &[(u64, OwnedInput)]) -> (usize, Result<(), LogDamage>) {
    let mut reader = SegmentReader::new(log, image, 1).unwrap();
    let mut count = 0;
    loop {
        match reader.next() {
            Ok(Some(record)) => {
                let (at, own) = &given[count];
                assert_eq!(record.at, Nanos(*at));
                with(own, |input| assert_eq!(record.input(), *input));
                count += 1;
            }
            Ok(None) => return (count, Ok(())),
            Err(damage) => return (count, Err(damage)),
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(64))]
    #[test]
    fn recorded_inputs_are_read_back(
        given in prop::collection::vec((any::<u64>(), given()), 0..30),
        cut in any::<prop::sample::Index>(),
        flip in any::<(prop::sample::Index, u8)>(),
    ) {
        let to = folder("recorded");
        let (mut image, _) = open(&to, Some(DRIVE));
        let number = image.place().image;
        let mut ends = vec![SEGMENT_HEADER as u64];
        for (at, own) in &given {
            with(own, |input| image.record(Nanos(*at), input));
            ends.push(image.place().offset);
        }
        image.commit().unwrap();
        drop(image);
        #[allow(clippy::disallowed_methods, reason = "a test looks into files")]
        let log = fs::read(to.join("log/00000001")).unwrap();
        let (count, ended) = read(&log, number, &given);
        prop_assert!(count == given.len() && ended.is_ok());
        // Cut anywhere: what is whole before the cut, and nothing else.
        let cut = SEGMENT_HEADER + cut.index(log.len() - SEGMENT_HEADER + 1);
        let (count, ended) = read(&log[..cut], number, &given);
        let whole = ends.iter().filter(|&&end| end <= cut as u64).count() - 1;
        prop_assert_eq!((count, ended.is_ok()), (whole, ends.contains(&(cut as u64))));
        // Damaged anywhere: what lies before the damaged record.
        if let (false, mask @ 1..) = (given.is_empty(), flip.1) {
            let at = SEGMENT_HEADER + flip.0.index(log.len() - SEGMENT_HEADER);
            let mut damaged = log.clone();
            damaged[at] ^= mask;
            let (count, ended) = read(&damaged, number, &given);
            let sound = ends.iter().filter(|&&end| end <= at as u64).count() - 1;
            prop_assert_eq!(count, sound);
            let is_told = matches!(ended, Err(LogDamage::Record { offset }) if offset == ends[sound]);
            prop_assert!(is_told, "the damaged record is named");
        }
    }
}

/// A client may store the log of its own drive in the drive. What lies within a record is none.
#[test]
fn a_record_within_a_record_does_not_count() {
    let to = folder("within");
    let (mut image, _) = open(&to, Some(DRIVE));
    let number = image.place().image;
    image.record(Nanos(1), &DeviceInput::Mark("inner"));
    image.commit().unwrap();
    #[allow(clippy::disallowed_methods, reason = "a test looks into files")]
    let inner = fs::read(to.join("log/00000001")).unwrap();
    let record = &inner[SEGMENT_HEADER..];
    let moved = [&inner[..], record].concat();
    let mut reader = SegmentReader::new(moved.as_slice(), number, 1).unwrap();
    assert!(reader.next().unwrap().is_some());
    assert!(matches!(reader.next(), Err(LogDamage::Record { .. })), "the same record elsewhere is none");
}

/// Segments follow each other, and replay goes through all of them.
#[test]
fn a_log_of_several_segments() {
    let to = folder("segments");
    let (mut image, mut device) = open(&to, Some(DRIVE));
    let data = bytes(2048, 1);
    let command = Command::new(Op::Write, Lba(0), 2048);
    let (mut now, mut writes) = (Nanos(0), 0);
    while image.place().segment < 3 {
        let input = DeviceInput::Command { tag: Tag(0), command, data: &data };
        image.record(now, &input);
        device.apply(now, &input).unwrap();
        image.commit().unwrap();
        writes += 1;
        let mut done = Vec::new();
        while done.is_empty() {
            device.advance(device.next_deadline().unwrap(), &mut done);
        }
        now = device.now();
        image.acknowledge(now, false).unwrap();
    }
    assert!(image.written() > 128 << 20);
    image.shut_down(&mut device, now).unwrap();
    let before = format!("{device:?}");
    let (image, device) = open(&to, None);
    assert_eq!(image.opening_report().inputs, writes + 2, "and a flush, and the end");
    assert!(before == format!("{device:?}"));
    drop(image);
    // A segment that is missing its end is missing what replies have promised.
    let path = to.join("log/00000002");
    File::options().write(true).open(&path).unwrap().set_len(5000).unwrap();
    let refused =
        DeviceImage::open(&to, None, ImageOptions::default(), &mut |_| outlast_engine::RunControl::Continue);
    assert!(refused.unwrap_err().to_string().ends_with("log/00000002: is damaged at byte 28"));
    fs::remove_dir_all(&to).unwrap();
}
