//! Numbers in structures of the specification: little-endian, at fixed offsets.

/// Copies `bytes` into `page` from offset `at` on.
pub(crate) fn put(page: &mut [u8], at: usize, bytes: &[u8]) {
    page[at..at + bytes.len()].copy_from_slice(bytes);
}

/// Copies text into a field of `length` bytes at `at`, padded with spaces, as the specification pads ASCII fields.
pub(crate) fn put_text(page: &mut [u8], at: usize, length: usize, text: &str) {
    let field = &mut page[at..at + length];
    field.fill(b' ');
    let text = text.as_bytes();
    let count = text.len().min(length);
    field[..count].copy_from_slice(&text[..count]);
}

/// The 16-bit number at `at`.
pub(crate) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([bytes[at], bytes[at + 1]])
}

/// The 32-bit number at `at`.
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from(u16_at(bytes, at)) | u32::from(u16_at(bytes, at + 2)) << 16
}

/// The 64-bit number at `at`.
pub(crate) fn u64_at(bytes: &[u8], at: usize) -> u64 {
    u64::from(u32_at(bytes, at)) | u64::from(u32_at(bytes, at + 4)) << 32
}

/// Text of a field that ends with its first zero byte; `None` if it has none or is not UTF-8.
pub(crate) fn text_at(bytes: &[u8], at: usize, length: usize) -> Option<&str> {
    let field = &bytes[at..at + length];
    let end = field.iter().position(|&byte| byte == 0)?;
    std::str::from_utf8(&field[..end]).ok()
}
