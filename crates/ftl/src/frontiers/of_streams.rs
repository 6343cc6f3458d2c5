//! Frontiers of all streams.

use super::WriteFrontier;
use outlast_units::{IndexVec, Ppn, Stream, to_count};
use std::ops::{Index, IndexMut};

/// The frontiers of all streams.
#[derive(Clone, Debug, outlast_persist::Persist)]
pub(crate) struct StreamFrontiers(IndexVec<Stream, WriteFrontier>);

impl StreamFrontiers {
    /// Frontiers of `streams` streams without an open superblock.
    pub(crate) fn new(streams: usize) -> Self {
        Self(IndexVec::filled(WriteFrontier::default(), streams))
    }

    /// Number of streams.
    pub(crate) fn len(&self) -> u32 {
        to_count(self.0.len())
    }

    pub(crate) fn streams(&self) -> impl ExactSizeIterator<Item = Stream> + use<> {
        self.0.indices()
    }

    /// Free superblocks promised to any stream.
    pub(crate) fn promised(&self) -> u32 {
        self.0.iter().map(|frontier| u32::from(frontier.promised)).sum()
    }

    /// Free superblocks promised to streams other than `stream`.
    pub(crate) fn promised_beside(&self, stream: Stream) -> u32 {
        let others = self.0.iter_indexed().filter(|&(other, _)| other != stream);
        others.map(|(_, frontier)| u32::from(frontier.promised)).sum()
    }

    /// Takes back all promises.
    pub(crate) fn forget_promises(&mut self) {
        self.0.iter_mut().for_each(|frontier| frontier.promised = false);
    }

    /// Checks that frontiers lie within their superblocks, of `slots` slots, and that the room of each is `room`: its data slots counted one by one.
    ///
    /// # Errors
    /// The first frontier that does not.
    pub(crate) fn check(&self, slots: u32, units: u32, room: impl Fn(Stream) -> u32) -> Result<(), String> {
        for (stream, frontier) in self.0.iter_indexed().filter(|(_, frontier)| !frontier.is_full()) {
            let first = Ppn(frontier.superblock.0 * slots);
            if frontier.next < first || frontier.end > first + slots || frontier.next > frontier.end {
                return Err(format!(
                    "stream {}: slot {} lies outside the superblock",
                    stream.0, frontier.next
                ));
            }
            if frontier.left_in_pu() == 0 || frontier.left_in_pu() > units {
                return Err(format!("stream {}: {} slots left of {units}", stream.0, frontier.left_in_pu()));
            }
            let counted = room(stream);
            if counted != frontier.room() {
                return Err(format!(
                    "stream {}: room for {counted} units, kept as {}",
                    stream.0,
                    frontier.room()
                ));
            }
        }
        Ok(())
    }

    /// Checks that a free superblock is promised only to streams that each have a victim of their class, as `has_victim` says: any other promise would stand
    /// for ever, and keep the superblock from all streams.
    ///
    /// # Errors
    /// The first stream without one.
    pub(crate) fn check_promises(&self, has_victim: impl Fn(Stream) -> bool) -> Result<(), String> {
        let mut promised = self.0.iter_indexed().filter(|(_, frontier)| frontier.promised);
        match promised.find(|&(stream, _)| !has_victim(stream)) {
            Some((stream, _)) => Err(format!("stream {} is promised a superblock for no victim", stream.0)),
            None => Ok(()),
        }
    }
}

impl Index<Stream> for StreamFrontiers {
    type Output = WriteFrontier;

    #[inline]
    fn index(&self, stream: Stream) -> &WriteFrontier {
        &self.0[stream]
    }
}

impl IndexMut<Stream> for StreamFrontiers {
    #[inline]
    fn index_mut(&mut self, stream: Stream) -> &mut WriteFrontier {
        &mut self.0[stream]
    }
}
