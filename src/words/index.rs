//! The search side: every word with the chunks that hold it, and BM25 over them.

use std::ops::Range;

use super::count::{decode_each, field};
use super::dictionary::Dictionary;

/// BM25's saturation: how soon more repeats stop to count.
const K1: f32 = 1.5;
/// BM25's length normalisation: 0 ignores a chunk's length, 1 divides by it.
const B: f32 = 0.375;
/// How many body occurrences a word's presence in a field is worth (docs/benchmarks.md). Names are
/// also a signal of their own; signature and documentation stand in the body already, and counting
/// them again was measured to harm.
const NAMES_WEIGHT: f32 = 1.0;
const SIGNATURE_WEIGHT: f32 = 0.0;
const DOC_WEIGHT: f32 = 0.0;
const PATH_WEIGHT: f32 = 1.5;

/// Collects chunks before the index can be laid out.
#[derive(Debug, Default)]
pub struct WordIndexBuilder {
    encoded: Vec<u8>,
    /// By chunk: its part of `encoded`.
    pieces: Vec<Range<usize>>,
}

impl WordIndexBuilder {
    /// Adds the next chunk's encoded words; chunks count from 0.
    pub fn push(&mut self, words: &[u8]) {
        let start = self.encoded.len();
        self.encoded.extend_from_slice(words);
        self.pieces.push(start..self.encoded.len());
    }

    /// Puts the chunks into another order: the one that was added as `order[i]` is chunk `i`.
    ///
    /// # Panics
    /// When there is no such chunk.
    pub fn reorder(&mut self, order: impl Iterator<Item = usize>) {
        self.pieces = order.map(|from| self.pieces[from].clone()).collect();
    }

    /// Lays the index out; `words` gives the ids.
    pub fn build(self, words: Dictionary) -> WordIndex {
        let ids_end = words.ids_end();
        let mut starts = vec![0u32; ids_end + 1];
        let mut lengths = Vec::with_capacity(self.pieces.len());
        for piece in &self.pieces {
            let mut documented = 0;
            let body = decode_each(&self.encoded[piece.clone()], |id, counts| {
                if let Some(count) = starts.get_mut(id as usize + 1) {
                    *count += 1;
                }
                documented += u32::from(counts & field::DOC != 0);
            });
            lengths.push(Lengths { body, documented });
        }
        for at in 1..starts.len() {
            starts[at] += starts[at - 1];
        }
        let total = starts.last().copied().unwrap_or(0) as usize;
        let (mut chunks, mut counts) = (vec![0u32; total], vec![0u8; total]);
        let mut next = starts.clone();
        for (piece, pos) in self.pieces.iter().zip(0u32..) {
            decode_each(&self.encoded[piece.clone()], |id, count| {
                if (id as usize) < ids_end {
                    let at = &mut next[id as usize];
                    chunks[*at as usize] = pos;
                    counts[*at as usize] = count;
                    *at += 1;
                }
            });
        }
        let norms = norms(&lengths);
        WordIndex { ids: words, starts, chunks, counts, lengths, norms }
    }
}

/// Every word of every chunk.
#[derive(Debug, Default)]
pub struct WordIndex {
    ids: Dictionary,
    /// Word `id` occupies `starts[id]..starts[id + 1]` of `chunks` and `counts`.
    starts: Vec<u32>,
    chunks: Vec<u32>,
    counts: Vec<u8>,
    /// By chunk.
    lengths: Vec<Lengths>,
    /// BM25's length term by chunk.
    norms: Vec<f32>,
}

/// How long a chunk is, in words.
#[derive(Clone, Copy, Debug, Default)]
struct Lengths {
    /// Words of its body, repeats included.
    body: u32,
    /// Words of its documentation, each once.
    documented: u32,
}

/// BM25's inverse document frequency of a word that `holding` of `all` texts have.
pub fn idf(all: usize, holding: usize) -> f32 {
    let (all, holding) = (all as f32, holding as f32);
    (1.0 + (all - holding + 0.5) / (holding + 0.5)).ln()
}

/// BM25's length term of a text among texts that are `mean` long on average.
pub fn length_term(k1: f32, b: f32, length: f32, mean: f32) -> f32 {
    k1 * (1.0 - b + b * length / mean)
}

/// BM25's length terms.
fn norms(lengths: &[Lengths]) -> Vec<f32> {
    let all: f64 = lengths.iter().map(|length| f64::from(length.body)).sum();
    let mean = (all / lengths.len().max(1) as f64).max(1.0) as f32;
    let norm = |length: &Lengths| length_term(K1, B, length.body as f32, mean);
    lengths.iter().map(norm).collect()
}

impl WordIndex {
    /// Adds to `scores[chunk]` what BM25 gives the word. Returns whether any chunk holds it.
    pub fn score(&self, word: &str, scores: &mut [f32]) -> bool {
        let Some((range, idf)) = self.postings(word) else { return false };
        for (chunk, counts) in self.chunks[range.clone()].iter().zip(&self.counts[range]) {
            let (chunk, frequency) = (*chunk as usize, FREQUENCIES[usize::from(*counts)]);
            scores[chunk] += idf * frequency / (frequency + self.norms[chunk]);
        }
        true
    }

    /// The chunks whose documentation holds the word, ascending.
    pub fn documented(&self, word: &str) -> impl Iterator<Item = usize> {
        let range = self.postings(word).map_or(0..0, |(range, _)| range);
        let postings = self.chunks[range.clone()].iter().zip(&self.counts[range]);
        postings.filter(|(_, counts)| *counts & field::DOC != 0).map(|(chunk, _)| *chunk as usize)
    }

    /// How many words the documentation of a chunk has, each counted once.
    ///
    /// # Panics
    /// When there is no such chunk.
    pub fn documentation_length(&self, chunk: usize) -> u32 {
        self.lengths[chunk].documented
    }

    /// How rare a word is: 1 when no chunk holds it, near 0 when all do.
    pub fn rarity(&self, word: &str) -> f32 {
        let all = self.norms.len() as f32;
        let holding = self.postings(word).map_or(0, |(range, _)| range.len()) as f32;
        (all / (1.0 + holding)).ln_1p() / all.max(1.0).ln_1p()
    }

    /// The index of other chunks, most of which are here already: `moved` gives the new position of
    /// each of today's chunks (`None`: it goes), `fresh` the encoded words of the positions between,
    /// ascending; `words` are new to the dictionary.
    #[must_use]
    pub fn follow(
        self,
        moved: &[Option<u32>],
        fresh: &[(u32, &[u8])],
        words: Vec<(u32, String)>,
    ) -> Self {
        let Self { mut ids, starts: old_starts, chunks: old_chunks, counts: old_counts, .. } = self;
        let end = words.iter().map(|(id, _)| *id as usize + 1).max().unwrap_or(0);
        let end = end.max(old_starts.len().saturating_sub(1));
        ids.extend(words);

        let mut lengths = vec![Lengths::default(); moved.iter().flatten().count() + fresh.len()];
        for (length, to) in self.lengths.iter().zip(moved) {
            if let Some(to) = to {
                lengths[*to as usize] = *length;
            }
        }
        let mut added: Vec<(u32, u32, u8)> = Vec::new();
        for (chunk, encoded) in fresh {
            let mut documented = 0;
            let body = decode_each(encoded, |id, counts| {
                if (id as usize) < end {
                    added.push((id, *chunk, counts));
                }
                documented += u32::from(counts & field::DOC != 0);
            });
            lengths[*chunk as usize] = Lengths { body, documented };
        }
        added.sort_unstable();

        let mut starts = Vec::with_capacity(end + 1);
        let mut chunks = Vec::with_capacity(old_chunks.len() + added.len());
        let mut counts = Vec::with_capacity(old_chunks.len() + added.len());
        let mut added = added.into_iter().peekable();
        for id in 0..end {
            starts.push(chunks.len() as u32);
            let old = match (old_starts.get(id), old_starts.get(id + 1)) {
                (Some(start), Some(end)) => *start as usize..*end as usize,
                _ => 0..0,
            };
            for at in old {
                let Some(chunk) = moved[old_chunks[at] as usize] else { continue };
                while let Some((_, before, count)) =
                    added.next_if(|(word, before, _)| *word as usize == id && *before < chunk)
                {
                    chunks.push(before);
                    counts.push(count);
                }
                chunks.push(chunk);
                counts.push(old_counts[at]);
            }
            while let Some((_, chunk, count)) = added.next_if(|(word, ..)| *word as usize == id) {
                chunks.push(chunk);
                counts.push(count);
            }
        }
        starts.push(chunks.len() as u32);
        let norms = norms(&lengths);
        Self { ids, starts, chunks, counts, lengths, norms }
    }

    /// In how many chunks the word occurs.
    #[cfg(test)]
    pub(super) fn chunk_count(&self, word: &str) -> usize {
        self.postings(word).map_or(0, |(range, _)| range.len())
    }

    /// Every known word.
    #[cfg(test)]
    pub(super) fn words(&self) -> impl Iterator<Item = &str> {
        self.ids.words()
    }

    /// Where the word's postings are, and its inverse document frequency; `None` when no chunk holds
    /// it.
    fn postings(&self, word: &str) -> Option<(Range<usize>, f32)> {
        let id = self.ids.id(word)? as usize;
        let range = self.starts[id] as usize..self.starts[id + 1] as usize;
        let idf = idf(self.norms.len(), range.len());
        (!range.is_empty()).then_some((range, idf))
    }
}

/// How often a word counts, all fields together, by its byte of counts.
static FREQUENCIES: [f32; 256] = {
    let mut table = [0.0; 256];
    let mut counts = 0;
    while counts < table.len() {
        table[counts] = frequency(counts as u8);
        counts += 1;
    }
    table
};

const fn frequency(counts: u8) -> f32 {
    const fn has(counts: u8, flag: u8, weight: f32) -> f32 {
        if counts & flag == 0 { 0.0 } else { weight }
    }
    (counts & field::BODY_MAX) as f32
        + has(counts, field::NAMES, NAMES_WEIGHT)
        + has(counts, field::SIGNATURE, SIGNATURE_WEIGHT)
        + has(counts, field::DOC, DOC_WEIGHT)
        + has(counts, field::PATH, PATH_WEIGHT)
}
