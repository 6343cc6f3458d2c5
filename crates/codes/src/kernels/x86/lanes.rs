//! Vectors of field elements, one type for each set of instructions.

use crate::field::{AFFINE, MODULUS, NIBBLES};
use std::arch::x86_64::{
    __m256i, __m512i, _mm_loadu_si128, _mm256_add_epi8, _mm256_and_si256, _mm256_broadcastsi128_si256,
    _mm256_cmpgt_epi8, _mm256_gf2p8affine_epi64_epi8, _mm256_loadu_si256, _mm256_set1_epi8,
    _mm256_set1_epi64x, _mm256_setzero_si256, _mm256_shuffle_epi8, _mm256_srli_epi64, _mm256_storeu_si256,
    _mm256_xor_si256, _mm512_gf2p8affine_epi64_epi8, _mm512_loadu_si512, _mm512_set1_epi64,
    _mm512_setzero_si512, _mm512_storeu_si512, _mm512_xor_si512,
};

/// A vector of [`FieldVector::BYTES`] field elements.
///
/// # Safety
/// Every method may be called only where the processor has the instructions of the type, and should be inlined into a
/// function that enables them. Pointers are to [`FieldVector::BYTES`] readable (`load`) or writable (`store`) bytes of any alignment.
pub(super) trait FieldVector: Copy {
    /// A constant factor in memory.
    type Table: Copy;
    /// A constant factor in registers.
    type Factor: Copy;
    /// Elements of a vector.
    const BYTES: usize;
    /// `factor` in memory.
    fn table(factor: u8) -> Self::Table;
    unsafe fn factor(table: Self::Table) -> Self::Factor;
    unsafe fn zero() -> Self;
    unsafe fn load(from: *const u8) -> Self;
    unsafe fn store(self, to: *mut u8);
    unsafe fn add(self, other: Self) -> Self;
    unsafe fn multiply(self, factor: Self::Factor) -> Self;
}

/// AVX2.
#[derive(Clone, Copy)]
pub(super) struct Avx2Vector(__m256i);

impl Avx2Vector {
    /// Twice every element: shift by adding, and reduce where the top bit, which makes a signed byte negative, was set.
    ///
    /// # Safety
    /// The same as for [`FieldVector`].
    #[inline(always)]
    pub(super) unsafe fn double(self) -> Self {
        // SAFETY: the caller has AVX2.
        unsafe {
            let negative = _mm256_cmpgt_epi8(_mm256_setzero_si256(), self.0);
            let reduction = _mm256_and_si256(negative, _mm256_set1_epi8(MODULUS.cast_signed()));
            Self(_mm256_xor_si256(_mm256_add_epi8(self.0, self.0), reduction))
        }
    }
}

impl FieldVector for Avx2Vector {
    type Table = [u8; 32];
    type Factor = (__m256i, __m256i);
    const BYTES: usize = 32;

    #[inline(always)]
    fn table(factor: u8) -> [u8; 32] {
        NIBBLES[usize::from(factor)]
    }

    #[inline(always)]
    unsafe fn factor(table: [u8; 32]) -> (__m256i, __m256i) {
        // SAFETY: both halves of the 32 bytes are read; the caller has AVX2.
        unsafe {
            let (low, high) = (table.as_ptr(), table.as_ptr().add(16));
            (
                _mm256_broadcastsi128_si256(_mm_loadu_si128(low.cast())),
                _mm256_broadcastsi128_si256(_mm_loadu_si128(high.cast())),
            )
        }
    }

    #[inline(always)]
    unsafe fn zero() -> Self {
        // SAFETY: the caller has AVX2.
        unsafe { Self(_mm256_setzero_si256()) }
    }

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: the caller has AVX2 and 32 readable bytes.
        unsafe { Self(_mm256_loadu_si256(from.cast())) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: the caller has AVX2 and 32 writable bytes.
        unsafe { _mm256_storeu_si256(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        // SAFETY: the caller has AVX2.
        unsafe { Self(_mm256_xor_si256(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn multiply(self, (low, high): (__m256i, __m256i)) -> Self {
        // SAFETY: the caller has AVX2.
        unsafe {
            let mask = _mm256_set1_epi8(15);
            let of_low = _mm256_shuffle_epi8(low, _mm256_and_si256(self.0, mask));
            let of_high = _mm256_shuffle_epi8(high, _mm256_and_si256(_mm256_srli_epi64::<4>(self.0), mask));
            Self(_mm256_xor_si256(of_low, of_high))
        }
    }
}

/// GFNI and AVX2.
#[derive(Clone, Copy)]
pub(super) struct Gfni256Vector(__m256i);

impl FieldVector for Gfni256Vector {
    type Table = u64;
    type Factor = __m256i;
    const BYTES: usize = 32;

    #[inline(always)]
    fn table(factor: u8) -> u64 {
        AFFINE[usize::from(factor)]
    }

    #[inline(always)]
    unsafe fn factor(table: u64) -> __m256i {
        // SAFETY: the caller has AVX2.
        unsafe { _mm256_set1_epi64x(table.cast_signed()) }
    }

    #[inline(always)]
    unsafe fn zero() -> Self {
        // SAFETY: the caller has AVX2.
        unsafe { Self(_mm256_setzero_si256()) }
    }

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: the caller has AVX2 and 32 readable bytes.
        unsafe { Self(_mm256_loadu_si256(from.cast())) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: the caller has AVX2 and 32 writable bytes.
        unsafe { _mm256_storeu_si256(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        // SAFETY: the caller has AVX2.
        unsafe { Self(_mm256_xor_si256(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn multiply(self, factor: __m256i) -> Self {
        // SAFETY: the caller has GFNI and AVX2.
        unsafe { Self(_mm256_gf2p8affine_epi64_epi8::<0>(self.0, factor)) }
    }
}

/// GFNI and AVX-512 (F, BW).
#[derive(Clone, Copy)]
pub(super) struct Gfni512Vector(__m512i);

impl FieldVector for Gfni512Vector {
    type Table = u64;
    type Factor = __m512i;
    const BYTES: usize = 64;

    #[inline(always)]
    fn table(factor: u8) -> u64 {
        AFFINE[usize::from(factor)]
    }

    #[inline(always)]
    unsafe fn factor(table: u64) -> __m512i {
        // SAFETY: the caller has AVX-512.
        unsafe { _mm512_set1_epi64(table.cast_signed()) }
    }

    #[inline(always)]
    unsafe fn zero() -> Self {
        // SAFETY: the caller has AVX-512.
        unsafe { Self(_mm512_setzero_si512()) }
    }

    #[inline(always)]
    unsafe fn load(from: *const u8) -> Self {
        // SAFETY: the caller has AVX-512 and 64 readable bytes.
        unsafe { Self(_mm512_loadu_si512(from.cast())) }
    }

    #[inline(always)]
    unsafe fn store(self, to: *mut u8) {
        // SAFETY: the caller has AVX-512 and 64 writable bytes.
        unsafe { _mm512_storeu_si512(to.cast(), self.0) }
    }

    #[inline(always)]
    unsafe fn add(self, other: Self) -> Self {
        // SAFETY: the caller has AVX-512.
        unsafe { Self(_mm512_xor_si512(self.0, other.0)) }
    }

    #[inline(always)]
    unsafe fn multiply(self, factor: __m512i) -> Self {
        // SAFETY: the caller has GFNI and AVX-512.
        unsafe { Self(_mm512_gf2p8affine_epi64_epi8::<0>(self.0, factor)) }
    }
}
