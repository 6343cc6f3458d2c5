//! A client of NBD over a Unix socket, in the protocol's plainest form.

use super::patience::PATIENCE;
use std::collections::BTreeMap;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

pub(crate) const READ: u16 = 0;
pub(crate) const WRITE: u16 = 1;
pub(crate) const FLUSH: u16 = 3;
pub(crate) const TRIM: u16 = 4;
pub(crate) const ZEROES: u16 = 6;
pub(crate) const FUA: u16 = 1;
pub(crate) const NO_HOLE: u16 = 2;

/// What came of a request: the error, 0 where there is none, and the bytes of a read.
pub(crate) type NbdReply = (u32, Vec<u8>);

/// A client with any number of requests under way.
pub(crate) struct Client {
    stream: UnixStream,
    /// Bytes that each request under way is to return, by its cookie.
    open: BTreeMap<u64, usize>,
    next: u64,
    /// What came of those that have been answered, by cookie: numbers from 0 in the order of asking.
    pub(crate) answers: BTreeMap<u64, NbdReply>,
    /// Bytes of the export.
    pub(crate) size: u64,
}

impl Client {
    /// Connects, and opens `export`.
    pub(crate) fn open(socket: &Path, export: &str) -> Self {
        let stream = UnixStream::connect(socket).unwrap();
        stream.set_read_timeout(Some(PATIENCE)).unwrap();
        let mut client = Self { stream, open: BTreeMap::new(), next: 0, answers: BTreeMap::new(), size: 0 };
        client.take::<18>();
        let mut hello = 3u32.to_be_bytes().to_vec();
        hello.extend(b"IHAVEOPT");
        let name = export.len() as u32;
        for word in [7, name + 6, name] {
            hello.extend(word.to_be_bytes());
        }
        hello.extend(export.as_bytes());
        hello.extend([0; 2]);
        client.stream.write_all(&hello).unwrap();
        loop {
            let head = client.take::<20>();
            let word = |at: usize| u32::from_be_bytes(head[at..at + 4].try_into().unwrap());
            let data = client.take_bytes(word(16) as usize);
            match word(12) {
                1 => return client,
                // Of what is told, the kind 0 is size and flags.
                3 if data[..2] == [0, 0] => client.size = u64::from_be_bytes(data[2..10].try_into().unwrap()),
                3 => {}
                refused => panic!("{export} is not opened: {refused:#x}"),
            }
        }
    }

    fn take<const N: usize>(&mut self) -> [u8; N] {
        let mut bytes = [0; N];
        self.stream.read_exact(&mut bytes).unwrap();
        bytes
    }

    fn take_bytes(&mut self, count: usize) -> Vec<u8> {
        let mut bytes = vec![0; count];
        self.stream.read_exact(&mut bytes).unwrap();
        bytes
    }

    /// Asks; `data` is what a write has. Returns the number of the request.
    pub(crate) fn ask(&mut self, command: u16, flags: u16, offset: u64, length: u32, data: &[u8]) -> u64 {
        let cookie = self.next;
        self.next += 1;
        let mut bytes = 0x2560_9513u32.to_be_bytes().to_vec();
        bytes.extend(flags.to_be_bytes());
        bytes.extend(command.to_be_bytes());
        bytes.extend(cookie.to_be_bytes());
        bytes.extend(offset.to_be_bytes());
        bytes.extend(length.to_be_bytes());
        bytes.extend(data);
        self.stream.write_all(&bytes).unwrap();
        self.open.insert(cookie, if command == READ { length as usize } else { 0 });
        cookie
    }

    /// Requests that are not answered.
    pub(crate) fn under_way(&self) -> usize {
        self.open.len()
    }

    /// Waits for an answer.
    pub(crate) fn wait(&mut self) {
        let head = self.take::<16>();
        let word = |at: usize| u32::from_be_bytes(head[at..at + 4].try_into().unwrap());
        assert_eq!(word(0), 0x6744_6698, "a simple reply");
        let cookie = u64::from_be_bytes(head[8..].try_into().unwrap());
        let length = self.open.remove(&cookie).expect("what was asked is answered once");
        let data = if word(4) == 0 { self.take_bytes(length) } else { Vec::new() };
        self.answers.insert(cookie, (word(4), data));
    }

    /// Waits for all answers.
    pub(crate) fn drain(&mut self) {
        while self.under_way() > 0 {
            self.wait();
        }
    }
}
