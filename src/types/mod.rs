//! Words that three rooms or more use.

mod language;
mod owner;
mod path;
mod tree;

pub use language::Language;
pub use owner::is_same_owner;
pub use path::RelPath;
pub use tree::{TreeFile, TreeFiles, TreeText};

use serde::{Deserialize, Serialize};

use crate::error::Error;

/// Declares an enum whose variants have one lower-case name each, read and written everywhere.
macro_rules! named_enum {
    ($(#[$meta:meta])* $name:ident, $what:literal { $($(#[$vmeta:meta])* $variant:ident = $text:literal,)+ }) => {
        $(#[$meta])*
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        #[derive(serde::Serialize, serde::Deserialize)]
        pub enum $name { $($(#[$vmeta])* #[serde(rename = $text)] $variant,)+ }

        impl $name {
            /// Every value, in declaration order.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The name as it is typed, printed and stored.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $text,)+ }
            }

            /// The value called `name` (case does not matter).
            ///
            /// # Errors
            /// Usage, naming the nearest value and all of them.
            pub fn from_name(name: &str) -> $crate::error::Result<Self> {
                let wanted = name.trim().to_lowercase();
                let known = || Self::ALL.iter().map(|value| value.name());
                Self::ALL
                    .iter()
                    .copied()
                    .find(|value| value.name() == wanted)
                    .ok_or_else(|| $crate::types::unknown($what, name, known()))
            }
        }

        impl std::fmt::Display for $name {
            fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
                f.pad(self.name())
            }
        }
    };
}

pub(crate) use named_enum;

named_enum! {
    /// What a chunk is made of.
    ChunkKind, "kind" {
        /// A free function.
        Function = "function",
        /// A function that belongs to a type.
        Method = "method",
        /// The header, fields and constants of a class, struct, trait, interface, enum, module.
        Type = "type",
        /// Statements, imports and small definitions between the larger ones.
        Block = "block",
        /// A section of a document under its heading.
        Section = "section",
        /// A window of lines of a text without structure.
        Window = "window",
    }
}

named_enum! {
    /// What kind of place a file is.
    Place, "place" {
        /// The product's own code.
        Source = "source",
        /// Tests and their fixtures.
        Test = "test",
        /// Examples, samples, demos, benchmarks, scripts.
        Example = "example",
        /// Documentation.
        Docs = "docs",
        /// Written by a program.
        Generated = "generated",
        /// Somebody else's code, kept in the tree.
        Vendored = "vendored",
        /// Configuration and build files.
        Config = "config",
    }
}

named_enum! {
    /// How a search looks.
    Mode, "mode" {
        /// Words and meaning, fused and ranked.
        Hybrid = "hybrid",
        /// Meaning alone.
        Semantic = "semantic",
        /// Words alone.
        Lexical = "lexical",
        /// A string or a regular expression, found as it stands.
        Exact = "exact",
    }
}

/// Lines `start..=end` of a file, 1-based.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
pub struct LineRange {
    /// First line, from 1.
    pub start: u32,
    /// Last line, included.
    pub end: u32,
}

impl LineRange {
    /// How many lines it has.
    pub fn count(self) -> usize {
        (self.end.saturating_sub(self.start) + 1) as usize
    }

    /// The lines of some ranges, in order, ranges that meet made one.
    pub fn joined(mut ranges: Vec<Self>) -> Vec<Self> {
        ranges.sort_unstable();
        let mut joined: Vec<Self> = Vec::with_capacity(ranges.len());
        for range in ranges {
            match joined.last_mut() {
                Some(last) if range.start <= last.end.saturating_add(1) => {
                    last.end = last.end.max(range.end);
                }
                _ => joined.push(range),
            }
        }
        joined
    }
}

/// The BLAKE3 hash of a file's bytes, cut to 16 bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Hash(pub [u8; 16]);

impl Hash {
    /// The hash of `bytes`.
    pub fn of(bytes: &[u8]) -> Self {
        Self::cut(blake3::hash(bytes))
    }

    /// The hash of several byte strings, each with its length, so that moving a byte from one to
    /// the next changes it.
    pub fn of_parts(parts: &[&[u8]]) -> Self {
        let mut hasher = blake3::Hasher::new();
        for part in parts {
            hasher.update(&(part.len() as u64).to_le_bytes());
            hasher.update(part);
        }
        Self::cut(hasher.finalize())
    }

    fn cut(hash: blake3::Hash) -> Self {
        let mut cut = [0; 16];
        cut.copy_from_slice(&hash.as_bytes()[..16]);
        Self(cut)
    }
}

/// Whether a terminal or a reader could obey `c`, not see it, or see its neighbours in another order:
/// such characters of a repository are written out as `\u{…}` wherever text is shown.
pub fn is_deceptive(c: char) -> bool {
    c.is_control()
        || matches!(c,
            '\u{ad}'                    // soft hyphen
            | '\u{61c}'                 // Arabic letter mark
            | '\u{180e}'                // Mongolian vowel separator
            | '\u{200b}'..='\u{200f}'   // zero width, direction marks
            | '\u{2028}'..='\u{202e}'   // line separators, embeddings, overrides
            | '\u{2060}'..='\u{206f}'   // word joiner, isolates, deprecated controls
            | '\u{feff}'                // byte order mark
            | '\u{fff9}'..='\u{fffb}'   // interlinear annotation
            | '\u{e0000}'..='\u{e007f}' // tags
        )
}

/// The usage error for a value that is none of `known`, naming the nearest one.
pub fn unknown<'a>(what: &str, value: &str, known: impl Iterator<Item = &'a str>) -> Error {
    let known: Vec<&str> = known.collect();
    let wanted = value.trim().to_lowercase();
    let nearest = known
        .iter()
        .map(|name| (strsim::jaro_winkler(&wanted, name), *name))
        .filter(|(likeness, _)| *likeness > 0.75)
        .max_by(|a, b| a.0.total_cmp(&b.0));
    let list = known.join(", ");
    Error::usage(format!("unknown {what} `{value}`")).hint(match nearest {
        Some((_, name)) => format!("did you mean `{name}`? Known: {list}"),
        None => format!("known: {list}"),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_that_meet_are_one() {
        let lines = |start, end| LineRange { start, end };
        let joined = LineRange::joined(vec![lines(5, 9), lines(1, 3), lines(8, 10), lines(12, 12)]);
        assert_eq!(joined, [lines(1, 3), lines(5, 10), lines(12, 12)]);
        assert_eq!(LineRange::joined(vec![lines(1, 1), lines(2, 2)]), [lines(1, 2)]);
        assert!(LineRange::joined(Vec::new()).is_empty());
        assert_eq!(lines(5, 10).count(), 6);
    }
}
