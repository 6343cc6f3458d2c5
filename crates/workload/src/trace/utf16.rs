//! Reads text in UTF-16, as PowerShell writes what a program prints into a file.

use std::io::{self, Read};

/// Bytes of UTF-16 that are taken at a time.
const CHUNK: usize = 1 << 14;

/// Order of the two bytes of a unit.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(crate) enum Utf16Order {
    Little,
    Big,
}

impl Utf16Order {
    /// The order that the byte order mark at the beginning of `start` tells; `None` of other texts.
    pub(crate) const fn of(start: &[u8]) -> Option<Self> {
        match start {
            [0xff, 0xfe, ..] => Some(Self::Little),
            [0xfe, 0xff, ..] => Some(Self::Big),
            _ => None,
        }
    }

    fn unit(self, pair: &[u8]) -> u16 {
        match self {
            Self::Little => u16::from_le_bytes([pair[0], pair[1]]),
            Self::Big => u16::from_be_bytes([pair[0], pair[1]]),
        }
    }
}

/// The text of a reader in UTF-16, as UTF-8 and without its byte order mark.
pub(crate) struct Utf16Reader<R> {
    inner: R,
    order: Utf16Order,
    /// Bytes of `inner`, of which the first `held` were not enough for a character.
    units: Box<[u8; CHUNK]>,
    held: usize,
    /// Text that has not been handed out, from `given` on.
    text: String,
    given: usize,
    is_start: bool,
}

impl<R: Read> Utf16Reader<R> {
    /// Reads `inner` from its byte order mark on.
    pub(crate) fn new(inner: R, order: Utf16Order) -> Self {
        let units = Box::new([0; CHUNK]);
        Self { inner, order, units, held: 0, text: String::new(), given: 0, is_start: true }
    }

    /// Decodes the next characters into `text`; leaves it empty at the end.
    fn decode_more(&mut self) -> io::Result<()> {
        let damaged =
            |why: &str| io::Error::new(io::ErrorKind::InvalidData, format!("not text in UTF-16: {why}"));
        self.given = 0;
        self.text.clear();
        while self.text.is_empty() {
            let count = self.inner.read(&mut self.units[self.held..])?;
            let filled = self.held + count;
            if count == 0 {
                return if filled == 0 { Ok(()) } else { Err(damaged("it ends within a character")) };
            }
            let mut whole = filled / 2 * 2;
            // The first half of a pair of surrogates waits for the second.
            if whole >= 2 && (0xd800..0xdc00).contains(&self.order.unit(&self.units[whole - 2..whole])) {
                whole -= 2;
            }
            for character in
                char::decode_utf16(self.units[..whole].chunks_exact(2).map(|pair| self.order.unit(pair)))
            {
                self.text.push(character.map_err(|_| damaged("half a pair of surrogates"))?);
            }
            if self.is_start && !self.text.is_empty() {
                self.is_start = false;
                if self.text.starts_with('\u{feff}') {
                    self.text.drain(..'\u{feff}'.len_utf8());
                }
            }
            self.units.copy_within(whole..filled, 0);
            self.held = filled - whole;
        }
        Ok(())
    }
}

impl<R: Read> Read for Utf16Reader<R> {
    fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
        if self.given == self.text.len() && !buffer.is_empty() {
            self.decode_more()?;
        }
        let text = &self.text.as_bytes()[self.given..];
        let count = text.len().min(buffer.len());
        buffer[..count].copy_from_slice(&text[..count]);
        self.given += count;
        Ok(count)
    }
}
