//! Here is a piece of code or a question: which vector does the built-in model give it?
//!
//! A text is split into words (`camelCase`, `snake_case`, digits), every word names a row of int8
//! values, and the weighted sum of the rows is the vector. Layout and rules: `models/FORMAT.md`.
//! Nothing is loaded but a table of words: the rows are read where they lie in the binary.
//! Always: unit vectors, or zero when no word is known; the same text gives the same vector.

use std::sync::LazyLock;

use rayon::prelude::*;

use super::{Passage, StoredVector, normalise, quantise};
use crate::error::{Error, Result};

/// The built-in model's identity.
pub(super) const NAME: &str = "sai-code-v2";

static BUILT_IN: LazyLock<StaticModel> = LazyLock::new(|| {
    StaticModel::read(include_bytes!("../../models/sai-code-v2.bin"))
        .expect("the embedded model is whole: a test of this module reads it")
});

const MAGIC: &[u8; 8] = b"SAICODE1";
const HEADER: usize = 24;
/// Longer words are not looked up as a whole (they may still be split into pieces).
const WORD_MAX: usize = 24;
/// Longer runs are ignored: they are data, not identifiers.
const RUN_MAX: usize = 200;
const PIECE_MIN: usize = 3;
const PIECE_MAX: usize = 12;
const PIECES_MAX: usize = 64;

/// How much the code, the file's stem and its last folders count in a passage's vector. The model
/// was trained with these shares. What a passage says beyond its code (`Passage::context`) has no
/// share: the code repeats most of it, and training did not know it.
const CODE_SHARE: f32 = 0.6;
/// How much the names that the code defines count in the code's share, beside the code itself.
const NAMES_SHARE: f32 = 0.2;
const STEM_SHARE: f32 = 0.3;
const FOLDERS_SHARE: f32 = 0.1;

/// Passages that a thread takes at a time. Neighbours of one file share the path's vector.
const BLOCK: usize = 64;

/// Which side of a comparison a text is on: a document's words carry one more learned weight.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Role {
    Query,
    Document,
}

/// A model in memory. Cheap to copy, and to share between threads.
#[derive(Clone, Copy)]
pub(super) struct StaticModel {
    /// Values of a vector: the first so many of each row. The rows are turned so that these say the
    /// most.
    dim: usize,
    /// Values of a row.
    row_len: usize,
    runs_max: usize,
    scales: &'static [[u8; 4]],
    document_weights: &'static [[u8; 4]],
    rows: &'static [u8],
    words: &'static Words,
}

impl StaticModel {
    /// The model that is part of the binary.
    pub(super) fn built_in() -> Self {
        *BUILT_IN
    }

    /// The same model with vectors of the first `dim` values; at least 1, at most all that it has.
    pub(super) fn cut(self, dim: usize) -> Self {
        Self { dim: dim.clamp(1, self.row_len), ..self }
    }

    /// Reads a model.
    ///
    /// # Errors
    /// Environment: the bytes are not a model of this format.
    fn read(bytes: &'static [u8]) -> Result<Self> {
        let (magic, rest) = bytes.split_at_checked(8).ok_or_else(|| malformed("no header"))?;
        if magic != MAGIC {
            return Err(malformed("another format"));
        }
        let number = |at: usize| {
            rest.as_chunks::<4>().0.get(at).map(|bytes| u32::from_le_bytes(*bytes) as usize)
        };
        let (Some(count), Some(dim), Some(runs_max), Some(words_len)) =
            (number(0), number(1), number(2), number(3))
        else {
            return Err(malformed("no header"));
        };
        let (Some(weights_len), Some(rows_len)) = (count.checked_mul(4), count.checked_mul(dim))
        else {
            return Err(malformed("impossible sizes"));
        };
        let (scales, rest) = split(&bytes[HEADER..], weights_len)?;
        let (document_weights, rest) = split(rest, weights_len)?;
        let (rows, words) = split(rest, rows_len)?;
        if dim == 0 || words.len() != words_len {
            return Err(malformed("impossible sizes"));
        }
        Ok(Self {
            dim,
            row_len: dim,
            runs_max,
            scales: scales.as_chunks().0,
            document_weights: document_weights.as_chunks().0,
            rows,
            // Read once a process.
            words: Box::leak(Box::new(Words::read(words, count)?)),
        })
    }

    /// Dimensions of a vector.
    pub(super) fn dim(&self) -> usize {
        self.dim
    }

    /// The vector of a question, each of its words times what `weigh` gives it (in lower case).
    pub(super) fn query(&self, text: &str, weigh: impl Fn(&str) -> f32) -> Vec<f32> {
        let mut vector = vec![0.0; self.dim];
        let mut counts = Counts::new(self.words.count);
        self.count(text, &mut counts, |run| {
            let word = run.to_ascii_lowercase();
            // A row counts as the root of its count.
            std::str::from_utf8(&word).map_or(1.0, |word| weigh(word).powi(2))
        });
        self.add_counted(Role::Query, &mut counts, &mut vector);
        normalise(&mut vector);
        vector
    }

    /// One vector a passage, in order, on all threads of rayon.
    pub(super) fn passages(&self, passages: &[Passage<'_>]) -> Vec<Vec<f32>> {
        let mut vectors = vec![Vec::new(); passages.len()];
        vectors.par_chunks_mut(BLOCK).zip(passages.par_chunks(BLOCK)).for_each_init(
            || Counts::new(self.words.count),
            |counts, (vectors, passages)| self.fill(passages, counts, vectors),
        );
        vectors
    }

    fn fill(&self, passages: &[Passage<'_>], counts: &mut Counts, vectors: &mut [Vec<f32>]) {
        let mut known: Option<(&str, Vec<f32>)> = None;
        for (passage, vector) in passages.iter().zip(vectors) {
            if known.as_ref().is_none_or(|(path, _)| *path != passage.path) {
                known = Some((passage.path, self.path_vector(passage.path, counts)));
            }
            *vector = self.code_vector(passage, counts);
            if let Some((_, path)) = &known {
                for (value, path) in vector.iter_mut().zip(path) {
                    *value = CODE_SHARE * *value + path;
                }
            }
            normalise(vector);
        }
    }

    /// What stored vectors say of their code alone, one row a passage: the shares of the path and
    /// the names are taken out again. A row is zero where the code has no word of its own.
    pub(super) fn code_rows(&self, stored: &[StoredVector<'_>]) -> Vec<i8> {
        let mut rows = vec![0; stored.len() * self.dim];
        rows.par_chunks_mut(BLOCK * self.dim).zip(stored.par_chunks(BLOCK)).for_each_init(
            || Counts::new(self.words.count),
            |counts, (rows, stored)| {
                let mut known: Option<(&str, Vec<f32>)> = None;
                for (row, stored) in rows.chunks_exact_mut(self.dim).zip(stored) {
                    if known.as_ref().is_none_or(|(path, _)| *path != stored.path) {
                        known = Some((stored.path, self.path_vector(stored.path, counts)));
                    }
                    if let Some((_, path)) = &known {
                        row.copy_from_slice(&quantise(&self.code_part(stored, path, counts)));
                    }
                }
            },
        );
        rows
    }

    /// What the code and the names that it defines say.
    fn code_vector(&self, passage: &Passage<'_>, counts: &mut Counts) -> Vec<f32> {
        let mut code = self.document(passage.code, counts);
        if !passage.names.is_empty() {
            let names = self.document(passage.names, counts);
            for (value, name) in code.iter_mut().zip(&names) {
                *value += NAMES_SHARE * name;
            }
            normalise(&mut code);
        }
        code
    }

    /// The code's unit vector in a stored one of a file with the path vector `path`.
    fn code_part(&self, stored: &StoredVector<'_>, path: &[f32], counts: &mut Counts) -> Vec<f32> {
        let mut vector: Vec<f32> = stored.values.iter().map(|value| f32::from(*value)).collect();
        normalise(&mut vector);
        take_out(&mut vector, path, CODE_SHARE);
        if !stored.names.is_empty() {
            let mut names = self.document(stored.names, counts);
            names.iter_mut().for_each(|value| *value *= NAMES_SHARE);
            take_out(&mut vector, &names, 1.0);
        }
        vector
    }

    /// What a path adds to each vector of its file: the shares of its stem and its folders.
    fn path_vector(&self, path: &str, counts: &mut Counts) -> Vec<f32> {
        let (stem, folders) = path_parts(path);
        let mut sum = vec![0.0; self.dim];
        for (text, share) in [(stem, STEM_SHARE), (folders.as_str(), FOLDERS_SHARE)] {
            for (sum, value) in sum.iter_mut().zip(&self.document(text, counts)) {
                *sum += share * value;
            }
        }
        sum
    }

    /// The unit vector of a document.
    fn document(&self, text: &str, counts: &mut Counts) -> Vec<f32> {
        let mut vector = vec![0.0; self.dim];
        self.count(text, counts, |_| 1.0);
        self.add_counted(Role::Document, counts, &mut vector);
        normalise(&mut vector);
        vector
    }

    /// Adds the weighted rows that were counted to `sum`, and forgets them.
    fn add_counted(&self, role: Role, counts: &mut Counts, sum: &mut [f32]) {
        for &row in &counts.seen {
            let at = row as usize;
            let count = std::mem::take(&mut counts.by_row[at]);
            let mut weight = count.sqrt() * f32::from_le_bytes(self.scales[at]);
            if role == Role::Document {
                weight *= f32::from_le_bytes(self.document_weights[at]);
            }
            for (sum, &value) in sum.iter_mut().zip(&self.rows[at * self.row_len..][..self.dim]) {
                *sum += weight * f32::from(value.cast_signed());
            }
        }
        counts.seen.clear();
    }

    /// Counts the rows that a text's words name, each time as much as `weigh` gives the word.
    fn count(&self, text: &str, counts: &mut Counts, weigh: impl Fn(&[u8]) -> f32) {
        for run in Runs(text.as_bytes()).take(self.runs_max) {
            if run.len() > RUN_MAX {
                continue;
            }
            if let Some(row) = self.words.row(run) {
                counts.add(row, weigh(run));
            } else if run.len() > PIECE_MIN {
                let mut pieces = [0; PIECES_MAX];
                let found = self.words.pieces(run, &mut pieces);
                let part = weigh(run) / found as f32;
                for &row in &pieces[..found] {
                    counts.add(row, part);
                }
            }
        }
    }
}

/// Makes of the unit vector `v = (share·x + other) / λ`, with a positive `λ`, the unit vector `x`: there
/// is one `λ` for which `λv - other` has the length `share`. Zero where `v` is `other` alone.
fn take_out(vector: &mut [f32], other: &[f32], share: f32) {
    let along: f32 = vector.iter().zip(other).map(|(v, o)| v * o).sum();
    let square: f32 = other.iter().map(|o| o * o).sum();
    // Rounding keeps the two from being equal.
    if square > 0.0 && along > 0.0 && along * along > 0.9999 * square {
        return vector.fill(0.0);
    }
    let scale = along + (along * along - square + share * share).max(0.0).sqrt();
    for (value, other) in vector.iter_mut().zip(other) {
        *value = scale * *value - other;
    }
    normalise(vector);
}

fn malformed(what: &str) -> Error {
    Error::environment(format!("not a static model: {what}"))
}

fn split(bytes: &'static [u8], at: usize) -> Result<(&'static [u8], &'static [u8])> {
    bytes.split_at_checked(at).ok_or_else(|| malformed("cut off"))
}

/// How often each row is used by the text at hand. Kept between texts, empty between them.
struct Counts {
    by_row: Vec<f32>,
    /// Rows whose count is not zero, in order of first use.
    seen: Vec<u32>,
}

impl Counts {
    fn new(rows: usize) -> Self {
        Self { by_row: vec![0.0; rows], seen: Vec::new() }
    }

    fn add(&mut self, row: u32, by: f32) {
        let count = &mut self.by_row[row as usize];
        if *count == 0.0 {
            self.seen.push(row);
        }
        *count += by;
    }
}

/// The words of a model: an open-addressing table over the word list as it lies in the file.
struct Words {
    list: &'static [u8],
    count: usize,
    /// Zero where free, else 16 bits of the hash, 24 bits of the word's place in the list and
    /// 24 bits of its row plus one.
    slots: Vec<u64>,
    /// How far to shift a hash to get its slot.
    shift: u32,
}

const PLACE_BITS: u32 = 24;
const PLACE_MAX: usize = (1 << PLACE_BITS) - 2;
const TAG_MASK: u64 = 0xffff << (2 * PLACE_BITS);

/// One step of a multiplicative hash; bytes are taken in lower case.
const fn mix(hash: u64, byte: u8) -> u64 {
    (hash ^ (byte | 0x20) as u64).wrapping_mul(0x9e37_79b9_7f4a_7c15)
}

impl Words {
    /// Reads `count` words that are separated by newlines. Word *i* names row *i*.
    fn read(list: &'static [u8], count: usize) -> Result<Self> {
        if count == 0 || count > PLACE_MAX || list.len() > PLACE_MAX {
            return Err(malformed("impossible number of words"));
        }
        let bits = (2 * count).next_power_of_two().trailing_zeros();
        let mut words = Self { list, count, slots: vec![0; 1 << bits], shift: 64 - bits };
        let (mut start, mut row, mut hash) = (0, 0, 0);
        for (at, &byte) in list.iter().enumerate() {
            if byte != b'\n' {
                if !(byte.is_ascii_lowercase() || byte.is_ascii_digit()) {
                    return Err(malformed("a word with an odd character"));
                }
                hash = mix(hash, byte);
                continue;
            }
            words.insert(start..at, hash, row)?;
            (start, row, hash) = (at + 1, row + 1, 0);
        }
        words.insert(start..list.len(), hash, row)?;
        if row + 1 == count { Ok(words) } else { Err(malformed("another number of words")) }
    }

    fn insert(&mut self, word: std::ops::Range<usize>, hash: u64, row: usize) -> Result<()> {
        let text = &self.list[word.clone()];
        if text.is_empty() || row >= self.count {
            return Err(malformed("another number of words"));
        }
        match self.find(text, hash) {
            Ok(_) => Err(malformed("a word occurs twice")),
            Err(free) => {
                let place = (word.start as u64) << PLACE_BITS | (row as u64 + 1);
                self.slots[free] = (hash << PLACE_BITS & TAG_MASK) | place;
                Ok(())
            }
        }
    }

    /// The row of a word in any case, or the free slot where it would stand.
    fn find(&self, word: &[u8], hash: u64) -> Result<u32, usize> {
        let mut at = (hash >> self.shift) as usize;
        loop {
            let slot = self.slots[at];
            if slot == 0 {
                return Err(at);
            }
            if (slot ^ hash << PLACE_BITS) & TAG_MASK == 0 {
                let start = (slot >> PLACE_BITS) as usize & (PLACE_MAX + 1);
                if self.stands_at(start, word) {
                    return Ok((slot & (PLACE_MAX as u64 + 1)) as u32 - 1);
                }
            }
            // At most half of the slots are taken, so a free one comes.
            at = (at + 1) & (self.slots.len() - 1);
        }
    }

    fn stands_at(&self, start: usize, word: &[u8]) -> bool {
        let rest = &self.list[start..];
        rest.len() >= word.len()
            && rest.iter().zip(word).all(|(&ours, theirs)| ours == theirs | 0x20)
            && rest.get(word.len()).is_none_or(|&byte| byte == b'\n')
    }

    /// The row of a whole word, in any case.
    fn row(&self, word: &[u8]) -> Option<u32> {
        if word.len() > WORD_MAX {
            return None;
        }
        self.find(word, word.iter().fold(0, |hash, &byte| mix(hash, byte))).ok()
    }

    /// Splits a word into known pieces, greedily from the left; a byte at which none starts is
    /// skipped. Returns how many rows were written to `rows`.
    fn pieces(&self, word: &[u8], rows: &mut [u32; PIECES_MAX]) -> usize {
        let (mut at, mut found) = (0, 0);
        while at < word.len() && found < PIECES_MAX {
            match self.longest_piece(&word[at..]) {
                Some((row, len)) => {
                    rows[found] = row;
                    found += 1;
                    at += len;
                }
                None => at += 1,
            }
        }
        found
    }

    /// The longest known piece at the start of `word`, and its length.
    fn longest_piece(&self, word: &[u8]) -> Option<(u32, usize)> {
        let mut hash = 0;
        let mut longest = None;
        for (at, &byte) in word.iter().take(PIECE_MAX).enumerate() {
            hash = mix(hash, byte);
            let len = at + 1;
            if len >= PIECE_MIN
                && let Ok(row) = self.find(&word[..len], hash)
            {
                longest = Some((row, len));
            }
        }
        longest
    }
}

/// Splits ASCII letters and digits: `HTTPServer2` gives `HTTP`, `Server`, `2`.
struct Runs<'a>(&'a [u8]);

impl<'a> Iterator for Runs<'a> {
    type Item = &'a [u8];

    fn next(&mut self) -> Option<&'a [u8]> {
        let start = self.0.iter().position(u8::is_ascii_alphanumeric)?;
        let text = &self.0[start..];
        let end = match text[0] {
            b'0'..=b'9' => end_of(text, 1, u8::is_ascii_digit),
            b'a'..=b'z' => end_of(text, 1, u8::is_ascii_lowercase),
            _ => end_of_capitals(text),
        };
        self.0 = &text[end..];
        Some(&text[..end])
    }
}

/// Where a run that starts with a capital ends. The last of several capitals belongs to the
/// lower-case word behind it.
fn end_of_capitals(text: &[u8]) -> usize {
    let capitals = end_of(text, 1, u8::is_ascii_uppercase);
    if !text.get(capitals).is_some_and(u8::is_ascii_lowercase) {
        capitals
    } else if capitals > 1 {
        capitals - 1
    } else {
        end_of(text, capitals, u8::is_ascii_lowercase)
    }
}

fn end_of(text: &[u8], from: usize, belongs: fn(&u8) -> bool) -> usize {
    text[from..].iter().position(|byte| !belongs(byte)).map_or(text.len(), |len| from + len)
}

/// File names that say nothing: their folder stands in for them.
const GENERIC: [&str; 8] =
    ["index", "mod", "lib", "main", "init", "__init__", "package", "default"];

/// A path's stem, and its last two folders in one text.
fn path_parts(path: &str) -> (&str, String) {
    let (folders, file) = path.rsplit_once('/').unwrap_or(("", path));
    let mut folders: Vec<&str> = folders.split('/').filter(|folder| !folder.is_empty()).collect();
    let mut stem = match file.rfind('.') {
        Some(dot) if file[..dot].bytes().any(|byte| byte != b'.') => &file[..dot],
        _ => file,
    };
    let is = |name: &&str| stem.chars().flat_map(char::to_lowercase).eq(name.chars());
    if GENERIC.iter().any(is) {
        stem = folders.pop().unwrap_or(stem);
    }
    let last = folders.len().saturating_sub(2);
    (stem, folders[last..].join(" "))
}

#[cfg(test)]
mod tests;
