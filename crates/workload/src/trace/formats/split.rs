//! Cutting a line into fields: eight bytes at a time, since fields are short.

/// A byte in all eight places of a word.
const fn everywhere(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// Where the first byte is that `marks` finds in eight, or else `is` alone in the last few. `marks` sets the highest bit of the first such
/// byte and of none before it.
#[inline]
fn find(text: &[u8], marks: impl Fn(u64) -> u64, is: impl Fn(u8) -> bool) -> Option<usize> {
    let (mut at, mut rest) = (0, text);
    while let Some((head, tail)) = rest.split_first_chunk::<8>() {
        let marks = marks(u64::from_le_bytes(*head)) & everywhere(0x80);
        if marks != 0 {
            return Some(at + marks.trailing_zeros() as usize / 8);
        }
        (at, rest) = (at + 8, tail);
    }
    rest.iter().position(|&byte| is(byte)).map(|place| at + place)
}

/// Where the first comma is. Subtracting 1 from a byte sets its highest bit where the byte was 0, or had it set before.
#[inline]
fn comma(text: &[u8]) -> Option<usize> {
    let marks = |word: u64| {
        let word = word ^ everywhere(b',');
        word.wrapping_sub(everywhere(1)) & !word
    };
    find(text, marks, |byte| byte == b',')
}

/// Where the first blank is, or another byte that is no more than a blank is.
#[inline]
fn low(text: &[u8]) -> Option<usize> {
    find(text, |word| word.wrapping_sub(everywhere(b' ' + 1)) & !word, |byte| byte <= b' ')
}

/// The words of a line, as blanks separate them.
#[derive(Clone, Debug)]
pub(crate) struct Words<'a>(&'a [u8]);

impl<'a> Words<'a> {
    pub(crate) fn of(line: &'a [u8]) -> Self {
        Self(line)
    }
}

impl<'a> Iterator for Words<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        let start = self.0.iter().position(|&byte| byte > b' ' || !byte.is_ascii_whitespace())?;
        let text = &self.0[start..];
        let mut end = low(text).unwrap_or(text.len());
        if text.get(end).is_some_and(|byte| !byte.is_ascii_whitespace()) {
            end = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
        }
        let (word, rest) = text.split_at(end);
        self.0 = rest;
        Some(word)
    }
}

/// The field without blanks around it.
#[inline]
fn trimmed(field: &[u8]) -> &[u8] {
    match (field.first(), field.last()) {
        (Some(first), Some(last)) if *first > b' ' && *last > b' ' => field,
        _ => field.trim_ascii(),
    }
}

/// Splits at commas or, without any, at blanks, into exactly `N` fields; more are ignored if `more`. How many there are, if they are others.
#[inline]
pub(crate) fn split<const N: usize>(line: &[u8], comma: bool, more: bool) -> Result<[&[u8]; N], usize> {
    if comma { at_commas(line, more) } else { at_blanks(line, more) }
}

#[inline]
fn at_commas<const N: usize>(line: &[u8], more: bool) -> Result<[&[u8]; N], usize> {
    let mut fields = [&[] as &[u8]; N];
    let mut rest = line;
    for (index, field) in fields.iter_mut().enumerate() {
        let Some(end) = comma(rest) else {
            *field = trimmed(rest);
            return if index + 1 == N { Ok(fields) } else { Err(index + 1) };
        };
        *field = trimmed(&rest[..end]);
        rest = &rest[end + 1..];
    }
    if more { Ok(fields) } else { Err(N + 1 + memchr::memchr_iter(b',', rest).count()) }
}

#[inline]
fn at_blanks<const N: usize>(line: &[u8], more: bool) -> Result<[&[u8]; N], usize> {
    let mut fields = [&[] as &[u8]; N];
    let mut words = Words::of(line);
    for (index, field) in fields.iter_mut().enumerate() {
        *field = words.next().ok_or(index)?;
    }
    match words.count() {
        0 => Ok(fields),
        _ if more => Ok(fields),
        others => Err(N + others),
    }
}
