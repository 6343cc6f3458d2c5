//! Erasure codes on bytes: (k, m) codes of any size up to k + m = 255, the product of two single-parity codes, and how many of
//! its erasure patterns are fatal.
//!
//! The room knows no flash: shards are runs of bytes, and whoever owns them decides what they are: pages across dies, blocks of
//! a chip, units of a drive in an array.
//!
//! ```
//! use outlast_codes::{ErasureCode, ShardSet};
//!
//! let code = ErasureCode::new(3, 2)?;
//! let (mut p, mut q) = ([0; 5], [0; 5]);
//! code.encode(&[b"flash", b"pages", b"worn."], &mut [&mut p, &mut q])?;
//! // Shards 0 and 2 are lost: which are read, and what they were.
//! let decoder = code.decoder(&[1, 3, 4].into_iter().collect(), &ShardSet::default().with(0))?;
//! assert_eq!(decoder.sources(), [1, 3, 4]);
//! let mut rebuilt = [0; 5];
//! decoder.rebuild(&[b"pages", &p, &q], &mut [&mut rebuilt])?;
//! assert_eq!(&rebuilt, b"flash");
//! # Ok::<(), outlast_codes::CodeError>(())
//! ```

mod checks;
mod code;
mod decoder;
mod error;
mod field;
mod kernels;
mod matrix;
mod product;
mod shards;

pub use code::ErasureCode;
pub use decoder::ShardDecoder;
pub use error::CodeError;
pub use kernels::CodeKernel;
pub use product::{
    CodeLine, ErasurePattern, NaturalNumber, PatternCounts, PeelingPlan, PeelingStep, ProductCode,
};
pub use shards::ShardSet;
