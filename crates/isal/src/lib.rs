//! Intel's ISA-L (Debian: `libisal2`), the field's standard for erasure codes, as the measure of ours: its bytes in the tests,
//! its speed in the benchmarks. It is looked for when the program runs, so nothing needs it to be built, and nothing that is
//! shipped uses it.
//!
//! The declarations are those of `isa-l/erasure_code.h` and `isa-l/raid.h`, versions 2.16 to 2.31.

use libloading::Library;
use std::ffi::{c_int, c_uchar, c_void};

type InitTables = unsafe extern "C" fn(k: c_int, rows: c_int, matrix: *const c_uchar, tables: *mut c_uchar);
type Encode = unsafe extern "C" fn(
    length: c_int,
    k: c_int,
    rows: c_int,
    tables: *const c_uchar,
    data: *const *const c_uchar,
    coding: *const *mut c_uchar,
);
type Update = unsafe extern "C" fn(
    length: c_int,
    k: c_int,
    rows: c_int,
    index: c_int,
    tables: *const c_uchar,
    data: *const c_uchar,
    coding: *const *mut c_uchar,
);
type Raid = unsafe extern "C" fn(vectors: c_int, length: c_int, array: *const *mut c_void) -> c_int;

/// Shards whose pointers fit on the stack; more are put into a vector.
const FEW: usize = 32;

/// libisal, as it is installed here.
pub struct Isal {
    init_tables: InitTables,
    encode: Encode,
    update: Update,
    xor: Raid,
    pq: Raid,
    /// Dropped last: the functions are in it.
    _library: Library,
}

/// A matrix as libisal wants it.
pub struct Tables {
    sources: usize,
    rows: usize,
    bytes: Vec<u8>,
}

impl Isal {
    /// Loads the library.
    ///
    /// # Errors
    /// Why it cannot be loaded: most often, that it is not installed.
    pub fn load() -> Result<Self, String> {
        // SAFETY: libisal's initialisers only choose functions by the processor; the types are those of its headers.
        unsafe {
            let library = Library::new("libisal.so.2").map_err(|error| error.to_string())?;
            let missing = |error: libloading::Error| error.to_string();
            Ok(Self {
                init_tables: *library.get::<InitTables>(b"ec_init_tables\0").map_err(missing)?,
                encode: *library.get::<Encode>(b"ec_encode_data\0").map_err(missing)?,
                update: *library.get::<Update>(b"ec_encode_data_update\0").map_err(missing)?,
                xor: *library.get::<Raid>(b"xor_gen\0").map_err(missing)?,
                pq: *library.get::<Raid>(b"pq_gen\0").map_err(missing)?,
                _library: library,
            })
        }
    }

    /// The matrix of `rows` × `sources` factors, row by row.
    ///
    /// # Panics
    /// If the number of factors differs.
    pub fn tables(&self, sources: usize, rows: usize, factors: &[u8]) -> Tables {
        assert_eq!(factors.len(), sources * rows, "a factor for each source and row");
        let mut bytes = vec![0; 32 * sources * rows];
        // SAFETY: the matrix has rows x sources bytes, the tables 32 for each.
        unsafe { (self.init_tables)(int(sources), int(rows), factors.as_ptr(), bytes.as_mut_ptr()) };
        Tables { sources, rows, bytes }
    }

    /// `targets` = matrix · `sources`: `ec_encode_data`, for encoding as for decoding.
    ///
    /// # Panics
    /// If shards are missing, or not of one length.
    pub fn encode(&self, tables: &Tables, sources: &[&[u8]], targets: &mut [&mut [u8]]) {
        assert_eq!(
            (sources.len(), targets.len()),
            (tables.sources, tables.rows),
            "a shard for each row and column"
        );
        let length = equal_lengths(sources, targets);
        with_pointers(sources, targets, |pointers| {
            let (data, coding) = pointers.split_at(sources.len());
            // SAFETY: the tables are for this shape, and all shards have `length` bytes; sources are only read.
            unsafe {
                (self.encode)(
                    length,
                    int(tables.sources),
                    int(tables.rows),
                    tables.bytes.as_ptr(),
                    data.as_ptr().cast(),
                    coding.as_ptr().cast(),
                );
            }
        });
    }

    /// `targets` ^= column `index` of the matrix · `source`: `ec_encode_data_update`.
    ///
    /// # Panics
    /// If a shard is missing, or not of one length.
    pub fn update(&self, tables: &Tables, index: usize, source: &[u8], targets: &mut [&mut [u8]]) {
        assert!(
            index < tables.sources && targets.len() == tables.rows,
            "a shard for each row, a column for the source"
        );
        let length = equal_lengths(&[source], targets);
        with_pointers(&[], targets, |coding| {
            // SAFETY: the tables are for this shape, and all shards have `length` bytes.
            unsafe {
                (self.update)(
                    length,
                    int(tables.sources),
                    int(tables.rows),
                    int(index),
                    tables.bytes.as_ptr(),
                    source.as_ptr(),
                    coding.as_ptr().cast(),
                );
            }
        });
    }

    /// `target` = XOR of `sources`, two at least: `xor_gen`. Whether it was done: shards must be aligned to 32 bytes.
    ///
    /// # Panics
    /// If the shards are not of one length, or fewer than two.
    #[must_use]
    pub fn xor(&self, sources: &[&[u8]], target: &mut [u8]) -> bool {
        assert!(sources.len() >= 2, "xor_gen takes two sources at least");
        raid(self.xor, sources, &mut [target])
    }

    /// `target` ^= `a` ^ `b`: `xor_gen` with its target as a third source. Whether it was done, as for [`xor`](Self::xor).
    ///
    /// # Panics
    /// If the shards are not of one length.
    #[must_use]
    pub fn xor_into(&self, a: &[u8], b: &[u8], target: &mut [u8]) -> bool {
        let length = equal_lengths(&[a, b], &[&mut *target]);
        let own = target.as_mut_ptr().cast::<c_void>();
        let array = [a.as_ptr().cast_mut().cast(), b.as_ptr().cast_mut().cast(), own, own];
        // SAFETY: four vectors of `length` bytes; a and b are only read, and each stretch of the target is read before it is
        // written.
        unsafe { (self.xor)(4, length, array.as_ptr()) == 0 }
    }

    /// `parity` = P and Q of `sources`: `pq_gen`. Whether it was done: lengths must be multiples of 32 bytes, shards aligned to
    /// as many.
    ///
    /// # Panics
    /// If the shards are not of one length.
    #[must_use]
    pub fn p_and_q(&self, sources: &[&[u8]], parity: &mut [&mut [u8]; 2]) -> bool {
        raid(self.pq, sources, parity)
    }
}

fn raid(function: Raid, sources: &[&[u8]], targets: &mut [&mut [u8]]) -> bool {
    let length = equal_lengths(sources, targets);
    with_pointers(sources, targets, |pointers| {
        // SAFETY: as many vectors as pointers, all of `length` bytes; the targets are the last, the sources only read.
        unsafe { function(int(pointers.len()), length, pointers.as_ptr().cast()) == 0 }
    })
}

fn equal_lengths(sources: &[&[u8]], targets: &[&mut [u8]]) -> c_int {
    let length = targets[0].len();
    let equal = sources.iter().all(|source| source.len() == length)
        && targets.iter().all(|target| target.len() == length);
    assert!(equal, "all shards of a call have the same length");
    int(length)
}

fn int(count: usize) -> c_int {
    c_int::try_from(count).expect("libisal counts in ints")
}

/// Calls `function` with the pointers to all sources, then all targets.
fn with_pointers<R>(
    sources: &[&[u8]],
    targets: &mut [&mut [u8]],
    function: impl FnOnce(&[*mut u8]) -> R,
) -> R {
    let count = sources.len() + targets.len();
    let sources = sources.iter().map(|source| source.as_ptr().cast_mut());
    let all = sources.chain(targets.iter_mut().map(|target| target.as_mut_ptr()));
    if count > FEW {
        return function(&all.collect::<Vec<_>>());
    }
    let mut array = [std::ptr::null_mut(); FEW];
    array.iter_mut().zip(all).for_each(|(place, pointer)| *place = pointer);
    function(&array[..count])
}
