//! A map of few entries.

use outlast_persist::{Damage, Persist, Reader, Writer};
use std::collections::BTreeMap;

/// A map of few entries, such as what commands under way have with them: a list in the order of the keys.
///
/// An entry that is put in or taken out moves those after it: what may have many is a [`BTreeMap`], which for each kind of entry is much
/// more code.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct ListMap<K, V> {
    entries: Vec<(K, V)>,
}

impl<K, V> Default for ListMap<K, V> {
    fn default() -> Self {
        Self { entries: Vec::new() }
    }
}

impl<K: Copy + Ord, V> ListMap<K, V> {
    fn place(&self, key: K) -> Result<usize, usize> {
        self.entries.binary_search_by_key(&key, |&(own, _)| own)
    }

    /// Keeps `value` for `key`; returns what was kept for it before.
    pub fn insert(&mut self, key: K, value: V) -> Option<V> {
        match self.place(key) {
            Ok(place) => Some(std::mem::replace(&mut self.entries[place].1, value)),
            Err(place) => {
                self.entries.insert(place, (key, value));
                None
            }
        }
    }

    /// What is kept for `key`.
    pub fn get(&self, key: K) -> Option<&V> {
        self.place(key).ok().map(|place| &self.entries[place].1)
    }

    /// As [`ListMap::get`], to change it.
    pub fn get_mut(&mut self, key: K) -> Option<&mut V> {
        self.place(key).ok().map(|place| &mut self.entries[place].1)
    }

    /// As [`ListMap::get_mut`]; a default value is kept first where there is none.
    pub fn or_default(&mut self, key: K) -> &mut V
    where
        V: Default,
    {
        let place = self.place(key).unwrap_or_else(|place| {
            self.entries.insert(place, (key, V::default()));
            place
        });
        &mut self.entries[place].1
    }

    /// Gives up what is kept for `key`.
    pub fn remove(&mut self, key: K) -> Option<V> {
        self.place(key).ok().map(|place| self.entries.remove(place).1)
    }

    /// Gives up what `keep` does not hold for.
    pub fn retain(&mut self, mut keep: impl FnMut(K, &V) -> bool) {
        self.entries.retain(|(key, value)| keep(*key, value));
    }

    /// The entries, in the order of the keys.
    pub fn iter(&self) -> impl Iterator<Item = (K, &V)> {
        self.entries.iter().map(|(key, value)| (*key, value))
    }

    /// As [`ListMap::iter`], to change the values.
    pub fn iter_mut(&mut self) -> impl Iterator<Item = (K, &mut V)> {
        self.entries.iter_mut().map(|(key, value)| (*key, value))
    }

    /// The values, in the order of the keys.
    pub fn values(&self) -> impl Iterator<Item = &V> {
        self.entries.iter().map(|(_, value)| value)
    }

    /// The keys, in order.
    pub fn keys(&self) -> impl Iterator<Item = K> {
        self.entries.iter().map(|&(key, _)| key)
    }

    /// Takes everything out: the values, in the order of the keys.
    pub fn take(&mut self) -> impl Iterator<Item = V> + use<K, V> {
        std::mem::take(&mut self.entries).into_iter().map(|(_, value)| value)
    }

    /// Gives everything up.
    pub fn clear(&mut self) {
        self.entries.clear();
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }
}

/// Written as an ordered map is.
impl<K: Persist + Copy + Ord, V: Persist> Persist for ListMap<K, V> {
    const SHAPE: u64 = <BTreeMap<K, V>>::SHAPE;

    fn write(&self, to: &mut Writer<'_>) {
        self.entries.write(to);
    }

    fn read(from: &mut Reader<'_>) -> Result<Self, Damage> {
        let mut map = Self::default();
        from.each(|(key, value)| {
            map.insert(key, value);
        })?;
        Ok(map)
    }
}

#[cfg(test)]
mod tests {
    use super::ListMap;
    use outlast_persist::{Persist, Reader, Writer};
    use proptest::collection::vec;
    use std::collections::BTreeMap;

    proptest::proptest! {
        #[test]
        fn a_list_is_the_ordered_map(steps in vec((0u8..8, 0u16..12, 0u32..9), 0..80)) {
            let (mut list, mut map) = (ListMap::default(), BTreeMap::new());
            for (kind, key, value) in steps {
                match kind {
                    0..=2 => assert_eq!(list.insert(key, value), map.insert(key, value)),
                    3 | 4 => assert_eq!(list.remove(key), map.remove(&key)),
                    5 => {
                        *list.or_default(key) += value;
                        *map.entry(key).or_default() += value;
                    }
                    6 => {
                        if let (Some(own), Some(other)) = (list.get_mut(key), map.get_mut(&key)) {
                            (*own, *other) = (value, value);
                        }
                    }
                    _ => {
                        list.retain(|own, &value| value != 3 && own != key && own < key + 4);
                        map.retain(|&own, &mut value| value != 3 && own != key && own < key + 4);
                    }
                }
                assert_eq!(list.get(key), map.get(&key));
                assert!(list.iter().eq(map.iter().map(|(&key, value)| (key, value))));
                assert!(list.keys().eq(map.keys().copied()));
                assert_eq!((list.len(), list.is_empty()), (map.len(), map.is_empty()));
            }
            let (mut own, mut other) = (Vec::new(), Vec::new());
            let (mut to, mut beside) = (Writer::new(&mut own), Writer::new(&mut other));
            list.write(&mut to);
            map.write(&mut beside);
            to.end().unwrap();
            beside.end().unwrap();
            assert_eq!(&own, &other);
            assert_eq!(ListMap::read(&mut Reader::new(&mut &own[..])).unwrap(), list);
            for (key, value) in list.iter_mut() {
                *value += u32::from(key);
            }
            for (&key, value) in &mut map {
                *value += u32::from(key);
            }
            assert!(list.values().eq(map.values()));
            let mut cleared = list.clone();
            cleared.clear();
            assert!(list.take().eq(map.into_values()) && list.is_empty() && list == cleared);
        }
    }
}
