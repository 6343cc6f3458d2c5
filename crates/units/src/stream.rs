//! Write streams, by number.

use crate::Idx;
use outlast_persist::{Damage, Persist, Reader, Writer, shape};

/// A write frontier with its own open superblock. Policies of the user's see it as this number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[repr(transparent)]
pub struct Stream(pub u8);

/// Behind the kinds of addresses.
const KIND: usize = outlast_persist::KINDS - 1;

/// A stream that there is not is refused as it is read.
impl Persist for Stream {
    const SHAPE: u64 = shape("Stream", &[("0", u8::SHAPE)]);

    fn write(&self, to: &mut Writer<'_>) {
        self.0.write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damage> {
        let own = u8::read(from)?;
        match from.extents().count(KIND) {
            Some(count) if u64::from(own) >= count => {
                Err(Damage::Beyond { what: "stream", value: own.into(), count })
            }
            _ => Ok(Self(own)),
        }
    }
}

impl Idx for Stream {
    const KIND: Option<usize> = Some(KIND);

    #[inline]
    fn from_index(index: usize) -> Self {
        Self(u8::try_from(index).unwrap_or_else(|_| panic!("{index} is beyond the numbers of streams")))
    }

    #[inline]
    fn to_index(self) -> usize {
        usize::from(self.0)
    }
}
