//! Here is a text: which words is it made of, and which chunks hold them?
//!
//! Identifiers count whole (`parseHttp` and `parse_http` are one word) and by their parts, lightly
//! stemmed; scripts without spaces fall into pairs of characters; accents are folded. The index
//! side counts words by chunk and field ([`count`]), the search side holds them all
//! ([`WordIndex`]). Pure: no disk, no database.

mod count;
mod dictionary;
mod index;
mod split;
mod stem;

pub use count::{ChunkWords, Counted, Counter, Fields, decode, encode};
pub use dictionary::Dictionary;
pub use index::{WordIndex, WordIndexBuilder, idf, length_term};
pub use split::{parts, terms};
pub use stem::stem;

/// Words that carry no meaning of their own in a question about code.
const STOP_WORDS: &[&str] = &[
    "a",
    "an",
    "and",
    "any",
    "are",
    "as",
    "at",
    "be",
    "been",
    "between",
    "by",
    "can",
    "code",
    "did",
    "do",
    "does",
    "done",
    "find",
    "for",
    "from",
    "get",
    "gets",
    "handled",
    "happen",
    "happens",
    "has",
    "have",
    "how",
    "i",
    "if",
    "implement",
    "implementation",
    "implemented",
    "in",
    "into",
    "is",
    "it",
    "its",
    "me",
    "of",
    "on",
    "or",
    "our",
    "show",
    "that",
    "the",
    "their",
    "then",
    "there",
    "this",
    "to",
    "use",
    "used",
    "uses",
    "using",
    "via",
    "was",
    "we",
    "what",
    "when",
    "where",
    "which",
    "who",
    "why",
    "will",
    "with",
    "work",
    "works",
];

/// Whether a lower-case word says nothing of its own in a question.
pub fn is_stop_word(word: &str) -> bool {
    STOP_WORDS.binary_search(&word).is_ok()
}

#[cfg(test)]
mod tests;
