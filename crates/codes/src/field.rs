//! The field GF(2^8) of RAID-6: polynomials over GF(2) modulo x^8 + x^4 + x^3 + x^2 + 1 (0x11d), of which x (2) generates all
//! elements but zero (H. P. Anvin, "The mathematics of RAID-6", 2004). Addition is XOR. ISA-L uses the same field.

/// The low byte of the modulus.
pub(crate) const MODULUS: u8 = 0x1d;

/// `EXP[i]` = 2^i, for twice the period of 255, so that sums of two logarithms need no reduction.
const EXP: [u8; 510] = exponentials();
/// `LOG[EXP[i]]` = i below 255. `LOG[0]` means nothing.
const LOG: [u8; 256] = logarithms();

/// `NIBBLES[c]`: c times each value of a low nibble, then c times each value of a high nibble.
#[cfg(any(target_arch = "x86_64", test))]
pub(crate) static NIBBLES: [[u8; 32]; 256] = nibbles();
/// `AFFINE[c]`: multiplication by c as the bit matrix that `gf2p8affineqb` takes.
#[cfg(any(target_arch = "x86_64", test))]
pub(crate) static AFFINE: [u64; 256] = affine();

/// Twice `value`.
#[inline]
pub(crate) const fn double(value: u8) -> u8 {
    (value << 1) ^ (MODULUS & 0u8.wrapping_sub(value >> 7))
}

const fn exponentials() -> [u8; 510] {
    let mut table = [0; 510];
    let mut value = 1;
    let mut i = 0;
    while i < 510 {
        table[i] = value;
        value = double(value);
        i += 1;
    }
    table
}

const fn logarithms() -> [u8; 256] {
    let mut table = [0; 256];
    let mut i = 0;
    while i < 255 {
        table[EXP[i] as usize] = i as u8;
        i += 1;
    }
    table
}

/// 2^`exponent`.
pub(crate) const fn power_of_two(exponent: usize) -> u8 {
    EXP[exponent % 255]
}

pub(crate) const fn multiply(a: u8, b: u8) -> u8 {
    if a == 0 || b == 0 { 0 } else { EXP[LOG[a as usize] as usize + LOG[b as usize] as usize] }
}

/// 1 / `a`, which must not be zero.
pub(crate) const fn inverse(a: u8) -> u8 {
    assert!(a != 0, "zero has no inverse");
    EXP[255 - LOG[a as usize] as usize]
}

#[cfg(any(target_arch = "x86_64", test))]
const fn nibbles() -> [[u8; 32]; 256] {
    let mut tables = [[0; 32]; 256];
    let mut c = 0;
    while c < 256 {
        let mut nibble = 0;
        while nibble < 16 {
            tables[c][nibble] = multiply(c as u8, nibble as u8);
            tables[c][16 + nibble] = multiply(c as u8, (nibble << 4) as u8);
            nibble += 1;
        }
        c += 1;
    }
    tables
}

/// Bit i of the result is the parity of byte 7 − i of the matrix AND the operand (Intel SDM, GF2P8AFFINEQB), so bit j of
/// that byte says whether bit i of c·2^j is set.
#[cfg(any(target_arch = "x86_64", test))]
const fn affine() -> [u64; 256] {
    let mut matrices = [0; 256];
    let mut c = 0;
    while c < 256 {
        let mut j = 0;
        while j < 8 {
            let image = multiply(c as u8, 1 << j);
            let mut i = 0;
            while i < 8 {
                matrices[c] |= (((image >> i) & 1) as u64) << (8 * (7 - i) + j);
                i += 1;
            }
            j += 1;
        }
        c += 1;
    }
    matrices
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Multiplication by its definition: shift, add, reduce.
    fn slow(a: u8, b: u8) -> u8 {
        let product =
            (0..8).filter(|bit| b >> bit & 1 == 1).fold(0u16, |sum, bit| sum ^ (u16::from(a) << bit));
        (8..15)
            .rev()
            .fold(product, |rest, bit| if rest >> bit & 1 == 1 { rest ^ (0x11d << (bit - 8)) } else { rest })
            as u8
    }

    #[test]
    fn tables_multiply_as_the_definition_does() {
        for a in 0..=255 {
            for b in 0..=255 {
                let product = slow(a, b);
                assert_eq!(multiply(a, b), product, "{a} x {b}");
                let table = &NIBBLES[usize::from(a)];
                assert_eq!(
                    table[usize::from(b & 15)] ^ table[16 + usize::from(b >> 4)],
                    product,
                    "nibbles of {a} x {b}"
                );
                let rows = AFFINE[usize::from(a)].to_le_bytes();
                let bits = (0..8).fold(0, |sum, i| sum | (((rows[7 - i] & b).count_ones() as u8 & 1) << i));
                assert_eq!(bits, product, "matrix of {a} x {b}");
            }
        }
    }

    #[test]
    fn every_element_but_zero_has_an_inverse_and_is_a_power_of_two() {
        let mut seen = [false; 256];
        for exponent in 0..255 {
            seen[usize::from(power_of_two(exponent))] = true;
        }
        assert!(!seen[0] && seen[1..].iter().all(|&seen| seen));
        for a in 1..=255 {
            assert_eq!(slow(a, inverse(a)), 1, "1 / {a}");
        }
    }
}
