//! Which id has a word? All words in one text, so that a hundred thousand of them cost little more
//! than their letters.

use std::hash::BuildHasher;

use hashbrown::HashTable;

/// Words with their ids.
#[derive(Debug, Default)]
pub struct Dictionary {
    texts: Texts,
    /// Positions of words in `texts`.
    table: HashTable<u32>,
    hasher: foldhash::fast::RandomState,
}

#[derive(Debug, Default)]
struct Texts {
    joined: String,
    /// By position: where the word ends in `joined`, and its id.
    entries: Vec<(u32, u32)>,
}

impl Texts {
    fn word(&self, at: u32) -> &str {
        let at = at as usize;
        let start = at.checked_sub(1).map_or(0, |before| self.entries[before].0);
        &self.joined[start as usize..self.entries[at].0 as usize]
    }
}

impl Dictionary {
    /// An empty one with room for `words`.
    pub fn with_capacity(words: usize) -> Self {
        let mut empty = Self::default();
        empty.texts.entries.reserve_exact(words);
        empty.table.reserve(words, |_| 0);
        empty
    }

    /// Adds a word, which must be new. Words of 4 GiB together are more than it holds: further ones
    /// are not found.
    pub fn insert(&mut self, id: u32, word: &str) {
        let Ok(end) = u32::try_from(self.texts.joined.len() + word.len()) else { return };
        let at = self.texts.entries.len() as u32;
        self.texts.joined.push_str(word);
        self.texts.entries.push((end, id));
        let (texts, hasher) = (&self.texts, &self.hasher);
        self.table.insert_unique(hasher.hash_one(word), at, |at| hasher.hash_one(texts.word(*at)));
    }

    /// The id of a word.
    pub fn id(&self, word: &str) -> Option<u32> {
        let found =
            self.table.find(self.hasher.hash_one(word), |at| self.texts.word(*at) == word)?;
        Some(self.texts.entries[*found as usize].1)
    }

    /// One more than the highest id; 0 without words.
    pub fn ids_end(&self) -> usize {
        self.texts.entries.iter().map(|(_, id)| *id as usize + 1).max().unwrap_or(0)
    }

    /// Every word.
    #[cfg(test)]
    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        (0..self.texts.entries.len() as u32).map(|at| self.texts.word(at))
    }
}

impl<W: AsRef<str>> FromIterator<(u32, W)> for Dictionary {
    fn from_iter<I: IntoIterator<Item = (u32, W)>>(words: I) -> Self {
        let mut made = Self::default();
        made.extend(words);
        made
    }
}

impl<W: AsRef<str>> Extend<(u32, W)> for Dictionary {
    fn extend<I: IntoIterator<Item = (u32, W)>>(&mut self, words: I) {
        words.into_iter().for_each(|(id, word)| self.insert(id, word.as_ref()));
    }
}
