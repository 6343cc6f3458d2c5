//! Splits a line into fields, eight bytes at a time: fields are too short for longer vectors.

/// A word with `byte` in all eight bytes.
const fn everywhere(byte: u8) -> u64 {
    u64::from_le_bytes([byte; 8])
}

/// Index of the first byte that `marks` finds in words of eight, or `is` in the last few bytes. `marks` sets the highest bit of the first
/// such byte and of none before it.
#[inline]
fn find(text: &[u8], marks: impl Fn(u64) -> u64, is: impl Fn(u8) -> bool) -> Option<usize> {
    let (mut at, mut remaining) = (0, text);
    while let Some((head, tail)) = remaining.split_first_chunk::<8>() {
        let marks = marks(u64::from_le_bytes(*head)) & everywhere(0x80);
        if marks != 0 {
            return Some(at + marks.trailing_zeros() as usize / 8);
        }
        (at, remaining) = (at + 8, tail);
    }
    remaining.iter().position(|&byte| is(byte)).map(|index| at + index)
}

/// Index of the first comma. Subtracting 1 from a byte sets its highest bit if the byte was 0, or if it was set before.
#[inline]
fn first_comma(text: &[u8]) -> Option<usize> {
    let marks = |word: u64| {
        let word = word ^ everywhere(b',');
        word.wrapping_sub(everywhere(1)) & !word
    };
    find(text, marks, |byte| byte == b',')
}

/// Index of the first byte up to the blank: white space and control characters.
#[inline]
fn first_low_byte(text: &[u8]) -> Option<usize> {
    find(text, |word| word.wrapping_sub(everywhere(b' ' + 1)) & !word, |byte| byte <= b' ')
}

/// The words of a line, as blanks separate them.
#[derive(Clone, Debug)]
pub(crate) struct LineWords<'a>(&'a [u8]);

impl<'a> LineWords<'a> {
    pub(crate) fn of(line: &'a [u8]) -> Self {
        Self(line)
    }
}

impl<'a> Iterator for LineWords<'a> {
    type Item = &'a [u8];

    #[inline]
    fn next(&mut self) -> Option<&'a [u8]> {
        let start = self.0.iter().position(|&byte| byte > b' ' || !byte.is_ascii_whitespace())?;
        let text = &self.0[start..];
        // Low bytes that are no white space are rare: then the word is searched byte by byte.
        let mut end = first_low_byte(text).unwrap_or(text.len());
        if text.get(end).is_some_and(|byte| !byte.is_ascii_whitespace()) {
            end = text.iter().position(u8::is_ascii_whitespace).unwrap_or(text.len());
        }
        let (word, remaining) = text.split_at(end);
        self.0 = remaining;
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

/// Splits at commas or, if not `comma`, at blanks, into exactly `N` fields; further ones are ignored if `more`.
///
/// # Errors
/// The number of fields, if it is another.
#[inline]
pub(crate) fn split<const N: usize>(line: &[u8], comma: bool, more: bool) -> Result<[&[u8]; N], usize> {
    if comma { at_commas(line, more) } else { at_blanks(line, more) }
}

#[inline]
fn at_commas<const N: usize>(line: &[u8], more: bool) -> Result<[&[u8]; N], usize> {
    let mut fields = [&[] as &[u8]; N];
    let mut remaining = line;
    for (index, field) in fields.iter_mut().enumerate() {
        let Some(end) = first_comma(remaining) else {
            *field = trimmed(remaining);
            return if index + 1 == N { Ok(fields) } else { Err(index + 1) };
        };
        *field = trimmed(&remaining[..end]);
        remaining = &remaining[end + 1..];
    }
    if more { Ok(fields) } else { Err(N + 1 + memchr::memchr_iter(b',', remaining).count()) }
}

#[inline]
fn at_blanks<const N: usize>(line: &[u8], more: bool) -> Result<[&[u8]; N], usize> {
    let mut fields = [&[] as &[u8]; N];
    let mut words = LineWords::of(line);
    for (index, field) in fields.iter_mut().enumerate() {
        *field = words.next().ok_or(index)?;
    }
    match words.count() {
        0 => Ok(fields),
        _ if more => Ok(fields),
        others => Err(N + others),
    }
}
