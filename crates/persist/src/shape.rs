//! What types are made of, as a number.

/// The shape of a type called `name`, of parts with these names and shapes: a hash (FNV-1a) of all of them.
pub const fn shape(name: &str, parts: &[(&str, u64)]) -> u64 {
    let mut hash = text(0xcbf2_9ce4_8422_2325, name);
    let mut part = 0;
    while part < parts.len() {
        let (name, shape) = parts[part];
        hash = bytes(text(hash, name), &shape.to_le_bytes());
        part += 1;
    }
    hash
}

/// The text, and an end that no text has.
const fn text(hash: u64, text: &str) -> u64 {
    bytes(bytes(hash, text.as_bytes()), &[0xff])
}

const fn bytes(mut hash: u64, bytes: &[u8]) -> u64 {
    let mut at = 0;
    while at < bytes.len() {
        hash = (hash ^ bytes[at] as u64).wrapping_mul(0x0000_0100_0000_01b3);
        at += 1;
    }
    hash
}
