//! The index side: the words of a file's chunks, counted by field and encoded.

use std::collections::HashMap;

use super::split::terms;

/// The texts of one chunk by field.
#[derive(Clone, Copy, Debug, Default)]
pub struct Fields<'a> {
    /// Everything the chunk holds.
    pub body: &'a str,
    /// Names that it defines, separated by spaces.
    pub names: &'a str,
    /// Its signature and enclosing definitions.
    pub signature: &'a str,
    /// Its documentation.
    pub doc: &'a str,
    /// The file's stem and last folders.
    pub path: &'a str,
}

/// In which fields a word of a chunk occurs, besides how often in the body.
pub(super) mod field {
    pub(crate) const BODY_MAX: u8 = 0x0f;
    pub(crate) const NAMES: u8 = 0x10;
    pub(crate) const SIGNATURE: u8 = 0x20;
    pub(crate) const DOC: u8 = 0x40;
    pub(crate) const PATH: u8 = 0x80;
}

/// One chunk's words: positions in [`Counted::words`] with how often and where.
#[derive(Clone, Debug, Default)]
pub struct ChunkWords {
    /// Words of the body, repeats included.
    pub length: u32,
    /// `(word, low four bits: times in the body up to 15; high four bits: other fields)`.
    pub entries: Vec<(u32, u8)>,
}

/// The words of one file's chunks, with a dictionary of the file's own.
#[derive(Clone, Debug, Default)]
pub struct Counted {
    /// Distinct words in order of first use.
    pub words: Vec<String>,
    /// One entry a chunk, in order.
    pub chunks: Vec<ChunkWords>,
}

/// Counts the words of a file, chunk by chunk.
#[derive(Debug, Default)]
pub struct Counter {
    ids: HashMap<String, u32, foldhash::fast::RandomState>,
    counted: Counted,
    /// `(chunk, position in its entries)` of a word's last entry.
    last: Vec<(u32, u32)>,
}

impl Counter {
    /// Counts one more chunk.
    pub fn add(&mut self, fields: &Fields<'_>) {
        let chunk = u32::try_from(self.counted.chunks.len()).unwrap_or(u32::MAX);
        self.counted.chunks.push(ChunkWords::default());
        let mut length = 0;
        terms(fields.body, &mut |word| {
            length += 1;
            let entry = self.entry(chunk, word);
            if *entry & field::BODY_MAX < field::BODY_MAX {
                *entry += 1;
            }
        });
        for (text, flag) in [
            (fields.names, field::NAMES),
            (fields.signature, field::SIGNATURE),
            (fields.doc, field::DOC),
            (fields.path, field::PATH),
        ] {
            terms(text, &mut |word| *self.entry(chunk, word) |= flag);
        }
        if let Some(last) = self.counted.chunks.last_mut() {
            last.length = length;
        }
    }

    /// Everything counted.
    pub fn finish(self) -> Counted {
        self.counted
    }

    /// The entry of `word` in `chunk`, made when new.
    fn entry(&mut self, chunk: u32, word: &str) -> &mut u8 {
        let id = match self.ids.get(word) {
            Some(&id) => id,
            None => self.intern(word),
        };
        let entries = &mut self.counted.chunks[chunk as usize].entries;
        let last = &mut self.last[id as usize];
        if last.0 != chunk {
            *last = (chunk, u32::try_from(entries.len()).unwrap_or(u32::MAX));
            entries.push((id, 0));
        }
        &mut entries[last.1 as usize].1
    }

    fn intern(&mut self, word: &str) -> u32 {
        let id = u32::try_from(self.counted.words.len()).unwrap_or(u32::MAX);
        self.ids.insert(word.to_owned(), id);
        self.counted.words.push(word.to_owned());
        self.last.push((u32::MAX, 0));
        id
    }
}

/// Encodes a chunk's words with the ids that `global` gives: the body's length, then by ascending id
/// the distance to the id before (both as variable-length integers) and one byte of counts.
pub fn encode(words: &ChunkWords, global: &[u32]) -> Vec<u8> {
    let mut entries: Vec<(u32, u8)> =
        words.entries.iter().map(|&(word, counts)| (global[word as usize], counts)).collect();
    entries.sort_unstable();
    let mut out = Vec::with_capacity(entries.len() * 3 + 4);
    put(&mut out, words.length);
    let mut before = 0;
    for (id, counts) in entries {
        put(&mut out, id - before);
        out.push(counts);
        before = id;
    }
    out
}

/// What [`encode`] encoded: the body's length and, by ascending id, each word with its counts.
pub fn decode(bytes: &[u8]) -> (u32, Vec<(u32, u8)>) {
    let mut entries = Vec::new();
    let length = decode_each(bytes, |id, counts| entries.push((id, counts)));
    (length, entries)
}

/// Calls `each` with every `(word id, counts)` of an encoded chunk and returns the body's length;
/// bytes that are no encoding end it early.
pub(super) fn decode_each(mut bytes: &[u8], mut each: impl FnMut(u32, u8)) -> u32 {
    let length = take(&mut bytes).unwrap_or(0);
    let mut id = 0u32;
    while let Some(distance) = take(&mut bytes) {
        let Some((&counts, rest)) = bytes.split_first() else { break };
        bytes = rest;
        id = id.saturating_add(distance);
        each(id, counts);
    }
    length
}

fn put(out: &mut Vec<u8>, mut value: u32) {
    while value >= 0x80 {
        out.push((value & 0x7f) as u8 | 0x80);
        value >>= 7;
    }
    out.push(value as u8);
}

#[inline]
fn take(bytes: &mut &[u8]) -> Option<u32> {
    // Most distances are short.
    let (&first, rest) = bytes.split_first()?;
    if first < 0x80 {
        *bytes = rest;
        return Some(u32::from(first));
    }
    take_long(bytes)
}

fn take_long(bytes: &mut &[u8]) -> Option<u32> {
    let mut value = 0u32;
    for (at, &byte) in bytes.iter().take(5).enumerate() {
        value |= u32::from(byte & 0x7f) << (7 * at);
        if byte & 0x80 == 0 {
            *bytes = &bytes[at + 1..];
            return Some(value);
        }
    }
    None
}
