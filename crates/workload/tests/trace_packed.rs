//! Are packed and encoded traces read as the text inside them, in bounded memory, and what cannot be read refused by name?
//!
//! The packed files that the standard libraries of others write are read in `tests/test_packed_traces.py`.
#![allow(
    clippy::unwrap_used,
    clippy::format_collect,
    reason = "tests fail by panicking and build small texts"
)]

use outlast_workload::{TraceFormat, WorkloadError, parse_bytes};
use proptest::prelude::*;
use std::io::{Cursor, Write as _};

/// A trace of `count` requests.
fn text(count: u64) -> String {
    (0..count)
        .map(|i| {
            format!("{},hm,0,Read,{},4096,0\n", 128_166_372_003_061_629 + i * 1700, i * 7919 % 4096 * 512)
        })
        .collect()
}

/// `text` in UTF-16 with a byte order mark.
fn utf16(text: &str, is_big: bool) -> Vec<u8> {
    let units = std::iter::once(0xfeff).chain(text.encode_utf16());
    units.flat_map(|unit| if is_big { unit.to_be_bytes() } else { unit.to_le_bytes() }).collect()
}

fn bzip2(text: &[u8]) -> Vec<u8> {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::fast());
    encoder.write_all(text).unwrap();
    encoder.finish().unwrap()
}

/// An archive of `files`, stored as they are.
fn zip(files: &[(&str, &[u8])]) -> Vec<u8> {
    let mut writer = zip::ZipWriter::new(Cursor::new(Vec::new()));
    let options = zip::write::SimpleFileOptions::default().compression_method(zip::CompressionMethod::Stored);
    for (name, bytes) in files {
        if let Some(folder) = name.strip_suffix('/') {
            writer.add_directory(folder, options).unwrap();
        } else {
            writer.start_file(*name, options).unwrap();
            writer.write_all(bytes).unwrap();
        }
    }
    writer.finish().unwrap().into_inner()
}

#[test]
fn packed_traces_are_the_text_inside_them() {
    let text = text(9000);
    let plain = parse_bytes(TraceFormat::Msr, text.as_bytes()).unwrap();
    let (first, second) = text.split_at(text.len() / 2);
    let folder = [("a/", &b""[..]), ("a/web.csv", text.as_bytes()), ("__MACOSX/a/._web.csv", b"Mac OS X")];
    for (name, bytes) in [
        ("bzip2", bzip2(text.as_bytes())),
        ("bzip2 of two streams", [bzip2(first.as_bytes()), bzip2(second.as_bytes())].concat()),
        ("zip", zip(&[("web.csv", text.as_bytes())])),
        ("zip with a folder", zip(&folder)),
        ("UTF-16, little end first", utf16(&text, false)),
        ("UTF-16, big end first", utf16(&text, true)),
        ("UTF-16 in zip", zip(&[("web.csv", &utf16(&text, false))])),
    ] {
        for format in [TraceFormat::Auto, TraceFormat::Msr] {
            let found = parse_bytes(format, &bytes).unwrap_or_else(|error| panic!("{name}: {error}"));
            assert_eq!(found, plain, "{name}");
        }
    }
}

#[test]
fn damage_within_what_is_packed_is_an_error() {
    let text = text(5000);
    let bytes = bzip2(text.as_bytes());
    let error = parse_bytes(TraceFormat::Msr, &bytes[..bytes.len() / 2]).unwrap_err();
    assert!(error.to_string().contains("bzip2") && error.to_string().contains("truncated"), "{error}");
    assert!(matches!(error, WorkloadError::Compressed { .. }));
    // A digit of the text becomes another: only the checksum tells.
    let mut archive = zip(&[("web.csv", text.as_bytes())]);
    let at = archive.windows(4).position(|bytes| bytes == b"4096").unwrap();
    archive[at..at + 4].copy_from_slice(b"8192");
    let error = parse_bytes(TraceFormat::Msr, &archive).unwrap_err().to_string();
    assert!(error.contains("zip") && error.contains("checksum is wrong"), "{error}");
    let mut odd = utf16(&text, false);
    odd.pop();
    let error = parse_bytes(TraceFormat::Msr, &odd).unwrap_err().to_string();
    assert!(error.contains("UTF-16") && error.contains("within a character"), "{error}");
    let half = [0xff, 0xfe, b'1', 0, 0x00, 0xdc, b'2', 0];
    let error = parse_bytes(TraceFormat::Msr, &half).unwrap_err().to_string();
    assert!(error.contains("pair of surrogates"), "{error}");
}

#[test]
fn archives_of_none_or_several_files_are_refused() {
    let text = text(10);
    for (files, says) in [
        (&[][..], "0 files"),
        (&[("a.csv", text.as_bytes()), ("b.csv", text.as_bytes())][..], "2 files; unzip it"),
    ] {
        let mut archive = zip(files);
        if files.is_empty() {
            // An empty archive has no local header by which it could be recognised.
            archive.splice(0..0, *b"PK\x03\x04");
        }
        let error = parse_bytes(TraceFormat::Auto, &archive).unwrap_err().to_string();
        assert!(error.contains(says) && !error.contains('\n'), "{error}");
    }
}

/// A file that unpacks to very many bytes is no trace, which its first line tells; nothing holds all of it at once.
#[test]
fn a_bomb_ends_at_its_first_line() {
    let mut encoder = bzip2::write::BzEncoder::new(Vec::new(), bzip2::Compression::best());
    for _ in 0..1 << 16 {
        encoder.write_all(&[b'0'; 1 << 12]).unwrap();
    }
    let bomb = encoder.finish().unwrap();
    assert!(bomb.len() < 1 << 14);
    let error = parse_bytes(TraceFormat::Msr, &bomb).unwrap_err().to_string();
    assert!(error.contains("at most 65536 bytes in a line"), "{error}");
}

/// A dictionary of xz as large as the format allows is not allocated.
#[test]
fn xz_with_a_huge_dictionary_is_refused() {
    // Stream header without a checksum, and a block header whose LZMA2 filter has the dictionary 2^32 - 1 (coded as 40).
    let mut bytes = vec![0xfd, b'7', b'z', b'X', b'Z', 0, 0, 0];
    bytes.extend(crc32fast::hash(&bytes[6..8]).to_le_bytes());
    let block = [2, 0, 0x21, 1, 40, 0, 0, 0];
    bytes.extend(block);
    bytes.extend(crc32fast::hash(&block).to_le_bytes());
    bytes.extend([0; 64]);
    let error = parse_bytes(TraceFormat::Msr, &bytes).unwrap_err().to_string();
    assert!(error.contains("xz") && error.contains("memory"), "{error}");
}

/// Beginnings of all that is told by its first bytes.
const MAGICS: [&[u8]; 8] = [
    &[0x1f, 0x8b, 8],
    &[0x28, 0xb5, 0x2f, 0xfd],
    b"BZh9",
    b"BZh91AY&SY",
    &[0xfd, b'7', b'z', b'X', b'Z', 0],
    b"PK\x03\x04",
    &[0xff, 0xfe],
    &[0xfe, 0xff],
];

proptest! {
    #[test]
    fn no_packed_bytes_panic(magic in prop::sample::select(MAGICS.to_vec()), bytes in prop::collection::vec(any::<u8>(), 0..400)) {
        let all = [magic, &bytes].concat();
        if let Err(error) = parse_bytes(TraceFormat::Auto, &all) { prop_assert!(!error.to_string().contains('\n')); }
    }

    #[test]
    fn no_damage_of_an_archive_panics(damage in prop::collection::vec((any::<prop::sample::Index>(), any::<u8>()), 1..6)) {
        let mut archive = zip(&[("a/", b""), ("a/web.csv", text(20).as_bytes())]);
        for (at, byte) in damage { let at = at.index(archive.len()); archive[at] = byte; }
        if let Err(error) = parse_bytes(TraceFormat::Msr, &archive) { prop_assert!(!error.to_string().contains('\n')); }
    }

    /// Characters beyond the first plane are two units, which a buffer may part.
    #[test]
    fn any_text_in_utf16_is_read_as_in_utf8(comment in "\\PC{0,12000}", is_big in any::<bool>()) {
        let text = format!("# {}\n{}", comment.replace('\n', " "), text(3));
        prop_assert_eq!(
            parse_bytes(TraceFormat::Msr, &utf16(&text, is_big)).unwrap(),
            parse_bytes(TraceFormat::Msr, text.as_bytes()).unwrap()
        );
    }
}
