//! A client of NBD as small as can be: one connection, simple replies.

use crate::asks::{Answer, Ask};
use outlast_units::SECTOR_BYTES;
use std::io::{Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;

const GO: u32 = 7;
const ACK: u32 = 1;
const INFO: u32 = 3;

pub(crate) struct Client {
    stream: UnixStream,
    bytes: u64,
}

impl Client {
    /// Opens the default export.
    pub(crate) fn connect(socket: &Path) -> Self {
        let mut stream = UnixStream::connect(socket).unwrap();
        assert!(take(&mut stream, 18).starts_with(b"NBDMAGICIHAVEOPT"));
        // Fixed newstyle without zeroes; then the export without a name, of which nothing more is to be told.
        stream
            .write_all(
                &[&3u32.to_be_bytes()[..], b"IHAVEOPT", &GO.to_be_bytes(), &6u32.to_be_bytes(), &[0; 6]]
                    .concat(),
            )
            .unwrap();
        let mut bytes = 0;
        loop {
            let head = take(&mut stream, 20);
            let (kind, length) = (number(&head[12..16]) as u32, number(&head[16..]) as usize);
            let data = take(&mut stream, length);
            match kind {
                ACK => return Self { stream, bytes },
                // The export's size comes first of what is told of it.
                INFO if data[..2] == [0, 0] => bytes = number(&data[2..10]),
                INFO => {}
                refused => panic!("option refused: {refused:#x}"),
            }
        }
    }

    /// The export's size.
    pub(crate) fn bytes(&self) -> u64 {
        self.bytes
    }

    /// Sends all of `asks`, then hears all answers.
    pub(crate) fn run(&mut self, asks: &[Ask]) -> Vec<Answer> {
        let mut sent = Vec::new();
        for (cookie, ask) in (0u64..).zip(asks) {
            let (kind, flags, lba, sectors, data): (u16, u16, u64, u64, &[u8]) = match ask {
                Ask::Read { lba, sectors } => (0, 0, *lba, *sectors, &[]),
                Ask::Write { lba, data, fua, .. } => {
                    (1, u16::from(*fua), *lba, data.len() as u64 / SECTOR_BYTES, data)
                }
                Ask::Flush => (3, 0, 0, 0, &[]),
                Ask::Trim { lba, sectors } => (4, 0, *lba, *sectors, &[]),
            };
            sent.extend(0x2560_9513u32.to_be_bytes());
            sent.extend(flags.to_be_bytes());
            sent.extend(kind.to_be_bytes());
            sent.extend(cookie.to_be_bytes());
            sent.extend((lba * SECTOR_BYTES).to_be_bytes());
            sent.extend(((sectors * SECTOR_BYTES) as u32).to_be_bytes());
            sent.extend(data);
        }
        self.stream.write_all(&sent).unwrap();
        let mut answers: Vec<Option<Answer>> = asks.iter().map(|_| None).collect();
        for _ in asks {
            let head = take(&mut self.stream, 16);
            assert_eq!(number(&head[..4]), 0x6744_6698, "a simple reply");
            let (error, cookie) = (number(&head[4..8]), number(&head[8..]) as usize);
            let answer = match (error, &asks[cookie]) {
                (0, Ask::Read { sectors, .. }) => {
                    Answer::Done(take(&mut self.stream, (sectors * SECTOR_BYTES) as usize))
                }
                (0, _) => Answer::Done(Vec::new()),
                // EINVAL; of writes ENOSPC.
                (22 | 28, _) => Answer::OutOfRange,
                // EIO.
                (5, _) => Answer::Failed,
                (error, ask) => panic!("{ask:?}: error {error}"),
            };
            assert!(answers[cookie].replace(answer).is_none(), "each command is answered once");
        }
        answers.into_iter().map(Option::unwrap).collect()
    }
}

fn take(stream: &mut UnixStream, count: usize) -> Vec<u8> {
    let mut bytes = vec![0; count];
    stream.read_exact(&mut bytes).unwrap();
    bytes
}

fn number(bytes: &[u8]) -> u64 {
    bytes.iter().fold(0, |sum, &byte| sum << 8 | u64::from(byte))
}
