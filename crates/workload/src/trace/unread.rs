//! Files that are given as traces and are none: archives, binary recordings, and what a download left instead.

/// The kind of file that the first bytes name, if it is one that is not read, and what to do.
pub(super) fn packed(bytes: &[u8]) -> Option<(&'static str, &'static str)> {
    const BLKTRACE: [u8; 3] = [0x74, 0x61, 0x65];
    let starts_with = |words: &[u8]| {
        bytes.trim_ascii_start().get(..words.len()).is_some_and(|start| start.eq_ignore_ascii_case(words))
    };
    match bytes {
        _ if starts_with(b"<!doctype html") || starts_with(b"<html") => {
            Some(("a web page", "what was downloaded is not the trace itself"))
        }
        _ if starts_with(b"version https://git-lfs") => {
            Some(("a pointer of Git LFS", "git lfs pull fetches the file"))
        }
        // The end of a directory that has no entries before it.
        [b'P', b'K', 5, 6, ..] => Some(("a zip archive without a file", "pack the trace again")),
        [b'7', b'z', 0xbc, 0xaf, ..] => Some(("a 7-Zip archive", "7z x unpacks it")),
        // The magic number of a record, 0x656174 and its version, in either order of bytes.
        [version, rest @ ..] if *version < 0x20 && rest.starts_with(&BLKTRACE) => {
            Some(("binary output of blktrace", "blkparse -i makes a text of it"))
        }
        [0x65, 0x61, 0x74, version, ..] if *version < 0x20 => {
            Some(("binary output of blktrace", "blkparse -i makes a text of it"))
        }
        // The magic word of POSIX ustar stands behind the fields of the first member's header.
        bytes if bytes.get(257..262) == Some(b"ustar") => {
            Some(("a tar archive", "tar -xf unpacks it; name one of its files"))
        }
        _ => None,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_no_trace_is_named() {
        let what = |bytes: &[u8]| packed(bytes).map(|(what, _)| what);
        assert_eq!(what(b"\n<!DOCTYPE HTML><html>"), Some("a web page"));
        assert_eq!(what(b"version https://git-lfs.github.com/spec/v1\n"), Some("a pointer of Git LFS"));
        assert_eq!(what(b"PK\x05\x06\0\0\0\0"), Some("a zip archive without a file"));
        assert_eq!(what(b"\x07tae\0\0\0\0"), Some("binary output of blktrace"));
        for trace in [&b"fio version 2 iolog\n"[..], b"0,20941264,8192,W,0.551706\n", b""] {
            assert_eq!(what(trace), None);
        }
    }
}
