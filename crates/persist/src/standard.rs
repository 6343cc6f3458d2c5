//! Numbers, texts and containers of the standard library.

use crate::{Damage, Persist, Reader, Writer, shape};
use std::borrow::Cow;
use std::cmp::Reverse;
use std::collections::{BTreeMap, BTreeSet, BinaryHeap, VecDeque};
use std::ops::Range;

macro_rules! numbers {
    ($($number:ident)+) => {$(
        impl Persist for $number {
            const SHAPE: u64 = shape(stringify!($number), &[]);

            #[inline]
            fn write(&self, to: &mut Writer<'_>) {
                to.bytes(&self.to_le_bytes());
            }

            #[inline]
            fn read(from: &mut Reader<'_>) -> Result<Self, Damage> {
                Ok(Self::from_le_bytes(from.take()?))
            }
        }
    )+};
}

numbers!(u8 u16 u32 u64 u128 i32 i64 f64);

impl Persist for usize {
    const SHAPE: u64 = shape("usize", &[]);

    fn write(&self, to: &mut Writer<'_>) {
        to.count(*self);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damage> {
        let value = from.count()?;
        Self::try_from(value).map_err(|_| Damage::Value { what: "count on this machine", value })
    }
}

impl Persist for bool {
    const SHAPE: u64 = shape("bool", &[]);

    #[inline]
    fn write(&self, to: &mut Writer<'_>) {
        to.bytes(&[u8::from(*self)]);
    }

    #[inline]
    fn read(from: &mut Reader<'_>) -> Result<Self, Damage> {
        match from.take()? {
            [0] => Ok(false),
            [1] => Ok(true),
            [other] => Err(Damage::Value { what: "yes or no", value: other.into() }),
        }
    }
}

impl Persist for String {
    const SHAPE: u64 = shape("String", &[]);

    fn write(&self, to: &mut Writer<'_>) {
        to.count(self.len());
        to.bytes(self.as_bytes());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damage> {
        let count = from.count()?;
        let text = Self::from_utf8(from.take_bytes(count)?);
        text.map_err(|error| Damage::Value { what: "text", value: error.utf8_error().valid_up_to() as u64 })
    }
}

impl Persist for Cow<'static, str> {
    const SHAPE: u64 = String::SHAPE;

    fn write(&self, to: &mut Writer<'_>) {
        to.count(self.len());
        to.bytes(self.as_bytes());
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damage> {
        String::read(from).map(Self::Owned)
    }
}

impl<T: Persist> Persist for Option<T> {
    const SHAPE: u64 = shape("Option", &[("", T::SHAPE)]);

    #[inline]
    fn write(&self, to: &mut Writer<'_>) {
        self.is_some().write(to);
        if let Some(value) = self {
            value.write(to);
        }
    }

    #[inline]
    fn read(from: &mut Reader<'_>) -> Result<Self, Damage> {
        Ok(if bool::read(from)? { Some(T::read(from)?) } else { None })
    }

    #[inline]
    fn fits(&self, read: &Self) -> Result<(), Damage> {
        match (self, read) {
            (Some(own), Some(read)) => own.fits(read),
            _ => Ok(()),
        }
    }
}

impl<T: Persist> Persist for Box<T> {
    const SHAPE: u64 = T::SHAPE;

    fn write(&self, to: &mut Writer<'_>) {
        (**self).write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damage> {
        T::read(from).map(Self::new)
    }

    #[inline]
    fn fits(&self, read: &Self) -> Result<(), Damage> {
        (**self).fits(read)
    }
}

impl<T: Persist> Persist for Reverse<T> {
    const SHAPE: u64 = T::SHAPE;

    fn write(&self, to: &mut Writer<'_>) {
        self.0.write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damage> {
        T::read(from).map(Self)
    }
}

impl<T: Persist> Persist for Range<T> {
    const SHAPE: u64 = shape("Range", &[("", T::SHAPE)]);

    fn write(&self, to: &mut Writer<'_>) {
        self.start.write(to);
        self.end.write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damage> {
        Ok(T::read(from)?..T::read(from)?)
    }
}

macro_rules! tuples {
    ($(($($of:ident $at:tt),+))+) => {$(
        impl<$($of: Persist),+> Persist for ($($of,)+) {
            const SHAPE: u64 = shape("()", &[$(("", $of::SHAPE)),+]);

            #[inline]
            fn write(&self, to: &mut Writer<'_>) {
                $(self.$at.write(to);)+
            }

            #[inline]
            fn read(from: &mut Reader<'_>) -> Result<Self, Damage> {
                Ok(($($of::read(from)?,)+))
            }
        }
    )+};
}

tuples!((A 0, B 1) (A 0, B 1, C 2) (A 0, B 1, C 2, D 3));

impl<T: Persist, const N: usize> Persist for [T; N] {
    const SHAPE: u64 = shape("[]", &[("", T::SHAPE), ("", N as u64)]);

    fn write(&self, to: &mut Writer<'_>) {
        write_each(self, to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damage> {
        let values = (0..N).map(|_| T::read(from)).collect::<Result<Vec<T>, Damage>>()?;
        values.try_into().map_err(|_| Damage::Ended)
    }
}

fn write_each<'v, T: Persist + 'v>(values: impl IntoIterator<Item = &'v T>, to: &mut Writer<'_>) {
    for value in values {
        value.write(to);
    }
}

/// Entries for which room is made before any of them has come: each that comes takes at least a byte of what is read.
const AT_FIRST: u64 = 1 << 12;

impl<T: Persist> Persist for Vec<T> {
    const SHAPE: u64 = shape("Vec", &[("", T::SHAPE)]);

    fn write(&self, to: &mut Writer<'_>) {
        to.count(self.len());
        write_each(self, to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damage> {
        let count = from.count()?;
        let mut values = Self::with_capacity(count.min(AT_FIRST) as usize);
        for _ in 0..count {
            values.push(T::read(from)?);
        }
        Ok(values)
    }
}

macro_rules! collections {
    ($($name:ident<$of:ident $(: $bound:path)?>)+) => {$(
        impl<$of: Persist $(+ $bound)?> Persist for $name<$of> {
            const SHAPE: u64 = shape(stringify!($name), &[("", T::SHAPE)]);

            fn write(&self, to: &mut Writer<'_>) {
                to.count(self.len());
                write_each(self, to);
            }

            fn read(from: &mut Reader<'_>) -> Result<Self, Damage> {
                Ok(Self::from_iter(Vec::read(from)?))
            }
        }
    )+};
}

// A heap is written as it lies, and made of the same order it lies the same again.
collections!(VecDeque<T> BinaryHeap<T: Ord>);

impl<T: Persist> Persist for Box<[T]> {
    const SHAPE: u64 = <Vec<T>>::SHAPE;

    fn write(&self, to: &mut Writer<'_>) {
        to.count(self.len());
        write_each(self, to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damage> {
        Vec::read(from).map(Into::into)
    }
}

// What is ordered is put in one by one: collected it would be sorted first, which is much to compile for each kind of entry.

impl<T: Persist + Ord> Persist for BTreeSet<T> {
    const SHAPE: u64 = shape("BTreeSet", &[("", T::SHAPE)]);

    fn write(&self, to: &mut Writer<'_>) {
        to.count(self.len());
        write_each(self, to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damage> {
        let mut set = Self::new();
        from.each(|value| {
            set.insert(value);
        })?;
        Ok(set)
    }
}

impl<K: Persist + Ord, V: Persist> Persist for BTreeMap<K, V> {
    const SHAPE: u64 = shape("BTreeMap", &[("", K::SHAPE), ("", V::SHAPE)]);

    fn write(&self, to: &mut Writer<'_>) {
        to.count(self.len());
        for (key, value) in self {
            key.write(to);
            value.write(to);
        }
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damage> {
        let mut map = Self::new();
        from.each(|(key, value)| {
            map.insert(key, value);
        })?;
        Ok(map)
    }
}
