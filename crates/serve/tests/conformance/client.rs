//! Asks and answers over a socket.

use crate::asks::{Ask, AskOutcome};
use crate::support::client::{Client, FLUSH, FUA, READ, TRIM, WRITE};
use outlast_units::SECTOR_BYTES;

/// Sends all of `asks`, then hears all answers.
pub(crate) fn run(client: &mut Client, asks: &[Ask]) -> Vec<AskOutcome> {
    let send = |ask: &Ask| {
        let (kind, flags, lba, sectors) = match *ask {
            Ask::Read { lba, sectors } => (READ, 0, lba, sectors),
            Ask::Write { lba, ref data, fua, .. } => {
                (WRITE, if fua { FUA } else { 0 }, lba, data.len() as u64 / SECTOR_BYTES)
            }
            Ask::Trim { lba, sectors } => (TRIM, 0, lba, sectors),
            Ask::Flush => (FLUSH, 0, 0, 0),
        };
        client.ask(kind, flags, lba * SECTOR_BYTES, (sectors * SECTOR_BYTES) as u32, ask.data())
    };
    let cookies: Vec<u64> = asks.iter().map(send).collect();
    client.drain();
    cookies
        .iter()
        .map(|cookie| match client.answers.remove(cookie).expect("each command is answered") {
            (0, data) => AskOutcome::Done(data),
            // EINVAL; of writes ENOSPC.
            (22 | 28, _) => AskOutcome::OutOfRange,
            // EIO.
            (5, _) => AskOutcome::Failed,
            (error, _) => panic!("error {error}"),
        })
        .collect()
}
