//! Reading, block by block.

use crate::writer::{BLOCK, checksum};
use crate::{Damage, Extents, Persist};
use std::any::Any;
use std::io::Read;

/// Reads what a [`Writer`](crate::Writer) wrote. It holds one block at a time, and hands nothing out before its checksum is right.
pub struct Reader<'a> {
    from: &'a mut dyn Read,
    block: Vec<u8>,
    at: usize,
    blocks: u64,
    /// What has been made of bytes that several refer to.
    shared: Vec<Box<dyn Any>>,
    context: &'a dyn Any,
    extents: Extents,
}

impl<'a> Reader<'a> {
    /// Reads from `from`, which need not be buffered.
    pub fn new(from: &'a mut dyn Read) -> Self {
        Self::within(from, &())
    }

    /// As [`Reader::new`]; what is made while reading finds `context` with [`Reader::context`].
    pub fn within(from: &'a mut dyn Read, context: &'a dyn Any) -> Self {
        Self {
            from,
            block: Vec::new(),
            at: 0,
            blocks: 0,
            shared: Vec::new(),
            context,
            extents: Extents::UNLIMITED,
        }
    }

    /// The context, if it is of this type.
    pub fn context<T: 'static>(&self) -> Option<&'a T> {
        self.context.downcast_ref()
    }

    /// How far the numbers reach that are read now.
    #[inline]
    pub fn extents(&self) -> &Extents {
        &self.extents
    }

    /// From now on, numbers reach as far as `extents` says. Returns what held before.
    pub fn set_extents(&mut self, extents: Extents) -> Extents {
        std::mem::replace(&mut self.extents, extents)
    }

    /// The next `N` bytes.
    ///
    /// # Errors
    /// There are not so many.
    #[inline]
    pub fn take<const N: usize>(&mut self) -> Result<[u8; N], Damage> {
        if let Some(bytes) = self.block.get(self.at..).and_then(<[u8]>::first_chunk) {
            self.at += N;
            return Ok(*bytes);
        }
        let mut bytes = [0; N];
        self.fill(&mut bytes)?;
        Ok(bytes)
    }

    /// Fills `to` with the bytes that follow.
    ///
    /// # Errors
    /// There are not so many.
    pub fn fill(&mut self, mut to: &mut [u8]) -> Result<(), Damage> {
        loop {
            let count = to.len().min(self.block.len() - self.at);
            let (own, rest) = to.split_at_mut(count);
            own.copy_from_slice(&self.block[self.at..self.at + count]);
            self.at += count;
            if rest.is_empty() {
                return Ok(());
            }
            to = rest;
            if !self.next_block()? {
                return Err(Damage::Ended);
            }
        }
    }

    /// The next `count` bytes, which are made room for as they come.
    ///
    /// # Errors
    /// There are not so many.
    pub fn take_bytes(&mut self, count: u64) -> Result<Vec<u8>, Damage> {
        let mut bytes = Vec::new();
        let mut left = count;
        while left != 0 {
            let (now, before) = (left.min(BLOCK as u64), bytes.len());
            bytes.resize(before + now as usize, 0);
            self.fill(&mut bytes[before..])?;
            left -= now;
        }
        Ok(bytes)
    }

    /// How many entries follow.
    ///
    /// # Errors
    /// Nothing more can be read.
    #[inline]
    pub fn count(&mut self) -> Result<u64, Damage> {
        Ok(u64::from_le_bytes(self.take()?))
    }

    /// Reads a count, and gives `keep` so many values.
    ///
    /// # Errors
    /// What was read is no such value, or nothing more can be read.
    pub fn each<T: Persist>(&mut self, mut keep: impl FnMut(T)) -> Result<(), Damage> {
        for _ in 0..self.count()? {
            keep(T::read(self)?);
        }
        Ok(())
    }

    /// Reads how many entries of `what` follow, which must be `expected`.
    ///
    /// # Errors
    /// They are not so many.
    pub fn expect_count(&mut self, what: &'static str, expected: usize) -> Result<(), Damage> {
        let (found, expected) = (self.count()?, expected as u64);
        if found == expected { Ok(()) } else { Err(Damage::Count { what, found, expected }) }
    }

    /// What `make` makes of the bytes that [`Writer::shared`](crate::Writer::shared) wrote; of those of one place it is asked once, and others
    /// get a clone.
    ///
    /// # Errors
    /// A reference to what has not been read.
    pub fn shared<T: Clone + 'static>(&mut self, make: impl FnOnce(&[u8]) -> T) -> Result<T, Damage> {
        let (number, next) = (self.count()?, self.shared.len() as u64);
        if number == next {
            let count = self.count()?;
            let bytes = self.take_bytes(count)?;
            let made = make(&bytes);
            self.shared.push(Box::new(made.clone()));
            return Ok(made);
        }
        let made = self.shared.get(number as usize).and_then(|made| made.downcast_ref::<T>());
        made.cloned().ok_or(Damage::Value { what: "shared unit", value: number })
    }

    /// Ends reading, where everything ends that can be read.
    ///
    /// # Errors
    /// There is more, or no end.
    pub fn end(mut self) -> Result<(), Damage> {
        if self.at != self.block.len() || self.next_block()? || self.from.read(&mut [0])? != 0 {
            return Err(Damage::Trailing);
        }
        Ok(())
    }

    /// Reads the next block; false: it was the last, empty one.
    fn next_block(&mut self) -> Result<bool, Damage> {
        let mut head = [0; 8];
        self.exactly_head(&mut head)?;
        let [length, sum] = [[head[0], head[1], head[2], head[3]], [head[4], head[5], head[6], head[7]]];
        let length = u32::from_le_bytes(length) as usize;
        if length > BLOCK {
            return Err(Damage::Block(self.blocks));
        }
        self.block.resize(length, 0);
        self.at = 0;
        ended(self.from.read_exact(&mut self.block))?;
        if u32::from_le_bytes(sum) != checksum(self.blocks, &self.block) {
            return Err(Damage::Block(self.blocks));
        }
        self.blocks += 1;
        Ok(length != 0)
    }

    fn exactly_head(&mut self, head: &mut [u8; 8]) -> Result<(), Damage> {
        ended(self.from.read_exact(head))
    }
}

/// That a file is too short is told in the words of this room.
fn ended(read: std::io::Result<()>) -> Result<(), Damage> {
    read.map_err(|error| match error.kind() {
        std::io::ErrorKind::UnexpectedEof => Damage::Ended,
        _ => Damage::Read(error),
    })
}
