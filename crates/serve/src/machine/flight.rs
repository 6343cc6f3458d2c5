//! The commands under way, by tag.

use outlast_device::Tag;

/// A set of tags, which are small and dense.
#[derive(Clone, Debug, Default, outlast_persist::Persist)]
#[persist(check)]
pub(super) struct Flight {
    words: Vec<u64>,
    len: u32,
}

impl Flight {
    /// Whether as many commands are under way as are counted.
    fn check_restored(&self) -> Result<(), String> {
        if self.words.len() > (super::TAGS / 64) as usize {
            return Err(format!("commands have {} words of tags", self.words.len()));
        }
        let found: u64 = self.words.iter().map(|word| u64::from(word.count_ones())).sum();
        if found == u64::from(self.len) {
            Ok(())
        } else {
            Err(format!("{found} commands are under way, {} counted", self.len))
        }
    }

    /// A command begins; false where its tag is in use.
    pub(super) fn begin(&mut self, tag: Tag) -> bool {
        let (word, bit) = place(tag);
        if word >= self.words.len() {
            self.words.resize(word + 1, 0);
        }
        let is_new = self.words[word] & bit == 0;
        self.words[word] |= bit;
        self.len += u32::from(is_new);
        is_new
    }

    /// A command ends; false where none is under way by this tag.
    pub(super) fn end(&mut self, tag: Tag) -> bool {
        let (word, bit) = place(tag);
        let Some(word) = self.words.get_mut(word).filter(|word| **word & bit != 0) else { return false };
        *word &= !bit;
        self.len -= 1;
        true
    }

    /// Commands under way.
    pub(super) fn len(&self) -> u32 {
        self.len
    }

    /// Their tags, in order.
    pub(super) fn tags(&self) -> impl Iterator<Item = Tag> {
        let bits = |&word: &u64| (0..64u32).filter(move |bit| word >> bit & 1 != 0);
        self.words
            .iter()
            .enumerate()
            .flat_map(move |(at, word)| bits(word).map(move |bit| Tag(at as u32 * 64 + bit)))
    }
}

fn place(tag: Tag) -> (usize, u64) {
    ((tag.0 / 64) as usize, 1 << (tag.0 % 64))
}
