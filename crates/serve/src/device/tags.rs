//! Tags of commands under way.

use outlast_device::Tag;

/// A set of tags, as a bit map: tags are small and dense, since clients reuse the lowest free ones.
#[derive(Clone, Debug, Default, outlast_persist::Persist)]
#[persist(check)]
pub(super) struct TagsInFlight {
    words: Vec<u64>,
    len: u32,
}

impl TagsInFlight {
    /// Checks restored state: the number of tags is right.
    fn check_restored(&self) -> Result<(), String> {
        if self.words.len() > (super::TAG_LIMIT / 64) as usize {
            return Err(format!("commands have {} words of tags", self.words.len()));
        }
        let counted: u64 = self.words.iter().map(|word| u64::from(word.count_ones())).sum();
        if counted == u64::from(self.len) {
            Ok(())
        } else {
            Err(format!("{counted} commands are under way, but their number is {}", self.len))
        }
    }

    /// Adds the tag of a command that begins; false if the tag is in use.
    pub(super) fn begin(&mut self, tag: Tag) -> bool {
        let (word, bit) = bit_of(tag);
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        let is_new = self.words[word] & bit == 0;
        self.words[word] |= bit;
        self.len += u32::from(is_new);
        is_new
    }

    /// Removes the tag of a command that ends; false if it is not in use.
    pub(super) fn end(&mut self, tag: Tag) -> bool {
        let (word, bit) = bit_of(tag);
        let Some(word) = self.words.get_mut(word).filter(|word| **word & bit != 0) else { return false };
        *word &= !bit;
        self.len -= 1;
        true
    }

    /// Number of tags.
    pub(super) fn len(&self) -> u32 {
        self.len
    }

    /// Tags in ascending order.
    pub(super) fn tags(&self) -> impl Iterator<Item = Tag> {
        let bits = |&word: &u64| (0..64u32).filter(move |bit| word >> bit & 1 != 0);
        self.words
            .iter()
            .enumerate()
            .flat_map(move |(index, word)| bits(word).map(move |bit| Tag(index as u32 * 64 + bit)))
    }
}

fn bit_of(tag: Tag) -> (usize, u64) {
    // Tag 64 w + b is bit b of word w.
    ((tag.0 / 64) as usize, 1 << (tag.0 % 64))
}
