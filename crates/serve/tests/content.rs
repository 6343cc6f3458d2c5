//! Is a content that is served a drive like any other, and is its recording what was done to it?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::disallowed_methods, reason = "real clients need a real server: sockets, threads and time")]

use crate::support;

use std::io;
use std::ops::Range;
use std::process::Command;
use std::sync::{Arc, Mutex};

use outlast_serve::{BaseContent, ContentJournal, ListenAddress, ServerStatus, serve_content};
use outlast_units::Bytes;
use outlast_units::rng::SplitMix;
use support::client::{Client, FLUSH, FUA, NO_HOLE, READ, TRIM, WRITE, ZEROES};
use support::patience::wait_until;
use support::raw::{StartedServer, socket};

/// No whole number of blocks.
const SIZE: u64 = 66 * 4096 + 1536;
const SECTOR: u64 = 512;

/// A content in memory with unreadable ranges.
struct MemoryContent {
    bytes: Vec<u8>,
    bad: Vec<Range<u64>>,
}

impl BaseContent for MemoryContent {
    fn size(&self) -> Bytes {
        Bytes(self.bytes.len() as u64)
    }

    fn read(&mut self, offset: u64, to: &mut [u8]) -> io::Result<()> {
        to.copy_from_slice(&self.bytes[offset as usize..][..to.len()]);
        Ok(())
    }

    fn bad(&self) -> Vec<Range<u64>> {
        self.bad.clone()
    }
}

/// One call to a journal.
#[derive(Clone, Debug, PartialEq)]
enum JournalEntry {
    Write(u64, Vec<u8>, bool),
    Zero(Range<u64>, bool),
    Flush,
    End,
}

#[derive(Clone, Default)]
struct SharedJournal {
    told: Arc<Mutex<Vec<JournalEntry>>>,
    /// From this many on, nothing can be kept.
    full: Option<usize>,
}

impl SharedJournal {
    fn note(&self, told: JournalEntry) -> io::Result<()> {
        let mut all = self.told.lock().unwrap();
        if self.full.is_some_and(|full| all.len() >= full) {
            return Err(io::Error::other("no room"));
        }
        all.push(told);
        Ok(())
    }
}

impl ContentJournal for SharedJournal {
    fn write(&mut self, offset: u64, data: &[u8], fua: bool) -> io::Result<()> {
        self.note(JournalEntry::Write(offset, data.to_vec(), fua))
    }

    fn zero(&mut self, range: Range<u64>, fua: bool) -> io::Result<()> {
        self.note(JournalEntry::Zero(range, fua))
    }

    fn flush(&mut self) -> io::Result<()> {
        self.note(JournalEntry::Flush)
    }

    fn end(&mut self) -> io::Result<()> {
        self.note(JournalEntry::End)
    }
}

fn random_bytes(rng: &mut SplitMix, length: usize) -> Vec<u8> {
    (0..length).map(|_| rng.next_u64() as u8).collect()
}

/// A range of whole sectors, short or long.
fn random_range(rng: &mut SplitMix) -> Range<u64> {
    let sectors = SIZE / SECTOR;
    let first = rng.next_u64() % sectors;
    let longest = if rng.next_u64().is_multiple_of(4) { sectors } else { 20 };
    let last = (first + 1 + rng.next_u64() % longest).min(sectors);
    first * SECTOR..last * SECTOR
}

fn serve(test: &str, content: MemoryContent, notes: Option<&SharedJournal>) -> StartedServer {
    let socket = socket(test);
    let journal = notes.map(|notes| Box::new(notes.clone()) as Box<dyn ContentJournal>);
    let handle = serve_content(&ListenAddress::Unix(socket.clone()), Box::new(content), journal).unwrap();
    StartedServer::of(handle, socket)
}

/// Has the server end, and waits until it has.
fn ended(served: &StartedServer) -> Option<String> {
    served.handle.stop();
    wait_until("at its end", || matches!(served.handle.status(), ServerStatus::Ended(_)));
    match served.handle.status() {
        ServerStatus::Ended(error) => error,
        other => panic!("it has ended, and then {other:?}"),
    }
}

/// What a client does to a plain map, and to the server; the sectors that cannot be read are kept by number.
fn step(client: &mut Client, rng: &mut SplitMix, plain: &mut [u8], bad: &mut [bool]) -> Option<JournalEntry> {
    let range = random_range(rng);
    let (offset, length) = (range.start, (range.end - range.start) as u32);
    let bytes = range.start as usize..range.end as usize;
    let sectors = bytes.start / 512..bytes.end / 512;
    let fua = rng.next_u64().is_multiple_of(3);
    let flags = if fua { FUA } else { 0 };
    let told = match rng.next_u64() % 8 {
        0 => (FLUSH, 0, JournalEntry::Flush),
        1 => (TRIM, flags, JournalEntry::Zero(range, fua)),
        2 => (ZEROES, flags | NO_HOLE, JournalEntry::Zero(range, fua)),
        3 | 4 => (WRITE, flags, JournalEntry::Write(offset, random_bytes(rng, bytes.len()), fua)),
        _ => {
            let cookie = client.ask(READ, 0, offset, length, &[]);
            client.drain();
            let expected =
                if bad[sectors].contains(&true) { (5, Vec::new()) } else { (0, plain[bytes].to_vec()) };
            assert!(client.answers[&cookie] == expected, "{offset} + {length}");
            return None;
        }
    };
    let (command, flags, told) = told;
    let cookie = match &told {
        JournalEntry::Write(_, data, _) => {
            plain[bytes].copy_from_slice(data);
            bad[sectors].fill(false);
            client.ask(command, flags, offset, length, data)
        }
        JournalEntry::Zero(..) => {
            plain[bytes].fill(0);
            bad[sectors].fill(false);
            client.ask(command, flags, offset, length, &[])
        }
        _ => client.ask(command, flags, 0, 0, &[]),
    };
    client.drain();
    assert_eq!(client.answers[&cookie].0, 0);
    Some(told)
}

#[test]
fn a_content_that_is_served_is_a_plain_map_and_its_recording_is_what_was_done() {
    for seed in 0..20 {
        let mut rng = SplitMix::new(seed, "content");
        let mut plain = random_bytes(&mut rng, SIZE as usize);
        let bad: Vec<Range<u64>> = (0..4).map(|_| random_range(&mut rng)).collect();
        let bad: Vec<Range<u64>> = bad.into_iter().map(|own| own.start..own.start + SECTOR).collect();
        let mut is_bad = vec![false; (SIZE / SECTOR) as usize];
        for range in &bad {
            is_bad[(range.start / SECTOR) as usize] = true;
        }
        let notes = SharedJournal::default();
        let served = serve(&format!("map-{seed}"), MemoryContent { bytes: plain.clone(), bad }, Some(&notes));
        let mut client = Client::open(&served.socket, "");
        assert_eq!(client.size, SIZE);
        let mut expected: Vec<JournalEntry> =
            (0..150).filter_map(|_| step(&mut client, &mut rng, &mut plain, &mut is_bad)).collect();
        drop(client);
        assert_eq!(ended(&served), None);
        expected.push(JournalEntry::End);
        assert!(*notes.told.lock().unwrap() == expected, "seed {seed}");
    }
}

#[test]
fn a_sector_that_cannot_be_read_is_bad_until_it_is_written() {
    let content = MemoryContent { bytes: vec![7; 16384], bad: vec![4096..4608, 5120..6144] };
    let served = serve("bad", content, None);
    let mut client = Client::open(&served.socket, "");
    let read = |client: &mut Client, offset: u64, length: u32| {
        let cookie = client.ask(READ, 0, offset, length, &[]);
        client.drain();
        client.answers[&cookie].clone()
    };
    assert_eq!(read(&mut client, 0, 4096), (0, vec![7; 4096]));
    assert_eq!(read(&mut client, 4096, 512), (5, Vec::new()));
    assert_eq!(read(&mut client, 4608, 512), (0, vec![7; 512]));
    assert_eq!(read(&mut client, 4608, 1024), (5, Vec::new()));
    client.ask(WRITE, 0, 5120, 512, &[1; 512]);
    assert_eq!(read(&mut client, 4608, 1024), (0, [[7; 512], [1; 512]].concat()));
    assert_eq!(read(&mut client, 5632, 512), (5, Vec::new()), "its neighbour is as bad as before");
    client.ask(TRIM, 0, 4096, 4096, &[]);
    assert_eq!(read(&mut client, 4096, 4096), (0, vec![0; 4096]));
}

#[test]
fn a_recording_that_cannot_be_kept_ends_the_server_before_the_answer() {
    let notes = SharedJournal { full: Some(1), ..SharedJournal::default() };
    let served = serve("full", MemoryContent { bytes: vec![0; 8192], bad: Vec::new() }, Some(&notes));
    let mut client = Client::open(&served.socket, "");
    client.ask(WRITE, 0, 0, 512, &[1; 512]);
    client.drain();
    client.ask(WRITE, 0, 512, 512, &[2; 512]);
    let outcome = std::panic::catch_unwind(std::panic::AssertUnwindSafe(|| client.drain()));
    assert!(outcome.is_err(), "the connection is closed, and nothing was answered");
    assert_eq!(ended(&served).as_deref(), Some("the recording: no room"));
}

#[test]
fn nbdcopy_has_the_content() {
    if Command::new("nbdcopy").arg("--version").output().is_err() {
        eprintln!("skipped: no nbdcopy here (Debian: libnbd-bin)");
        return;
    }
    let bytes = random_bytes(&mut SplitMix::new(1, "copy"), SIZE as usize);
    let served = serve("copy", MemoryContent { bytes: bytes.clone(), bad: Vec::new() }, None);
    let copy = served.socket.with_file_name("copy");
    let uri = format!("nbd+unix:///?socket={}", served.socket.display());
    let done = Command::new("nbdcopy").args([&uri, copy.to_str().unwrap()]).output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    assert!(std::fs::read(&copy).unwrap() == bytes);
}
