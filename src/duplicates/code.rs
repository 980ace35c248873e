//! What is compared: tokens, and the pieces of files that could be copies. Plain data.
//!
//! A token is one number, so that a million lines fit into some fifty megabytes. A *unit* is a whole
//! definition, or a whole file; a *region* is a stretch of tokens that no definition's border crosses,
//! in which fragments are sought.

use std::ops::Range;

use crate::parse::{IgnoredLines, TokenClass};
use crate::types::{LineRange, Place};

/// A unit of at least so many tokens …
const LARGE_TOKENS: usize = 50;

/// … or lines, with at least this many tokens, is compared with all that is like it.
const LARGE_LINES: usize = 6;
const LARGE_LINES_TOKENS: usize = 25;

/// One token: its class in the two upper bits, 30 bits of a hash of its text below.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Code(u32);

impl Code {
    pub(super) fn new(class: TokenClass, text: &str) -> Self {
        let class = match class {
            TokenClass::Fixed => 0,
            TokenClass::Name => 1,
            TokenClass::Text => 2,
            TokenClass::Number => 3,
        };
        Self((class << 30) | hash(text.as_bytes()))
    }

    /// The token with only its class left of a name or a literal.
    pub(super) fn shape(self) -> u32 {
        if self.is_fixed() { self.0 } else { self.0 & 0xc000_0000 }
    }

    /// The token itself.
    pub(super) fn exact(self) -> u32 {
        self.0
    }

    /// Whether it is an opening bracket, or opens code in a string.
    pub(super) fn opens(self) -> bool {
        const OPEN: [Code; 6] = [
            Code::fixed(b"("),
            Code::fixed(b"["),
            Code::fixed(b"{"),
            Code::fixed(b"${"),
            Code::fixed(b"#{"),
            Code::fixed(b"$("),
        ];
        OPEN.contains(&self)
    }

    /// Whether it is a closing bracket.
    pub(super) fn closes(self) -> bool {
        const CLOSE: [Code; 3] = [Code::fixed(b")"), Code::fixed(b"]"), Code::fixed(b"}")];
        CLOSE.contains(&self)
    }

    /// The token that a keyword or a sign is.
    pub(super) const fn fixed(text: &[u8]) -> Self {
        Self(hash(text))
    }

    pub(super) fn is_fixed(self) -> bool {
        self.0 >> 30 == 0
    }

    pub(super) fn is_name(self) -> bool {
        self.0 >> 30 == 1
    }

    pub(super) fn is_literal(self) -> bool {
        self.0 >> 30 >= 2
    }
}

/// 30 bits of a hash (FNV-1a).
const fn hash(text: &[u8]) -> u32 {
    let mut hash = 0x811c_9dc5_u64;
    let mut at = 0;
    while at < text.len() {
        hash = (hash ^ text[at] as u64).wrapping_mul(0x0000_0100_0000_01b3);
        at += 1;
    }
    (hash ^ (hash >> 32)) as u32 & 0x3fff_ffff
}

/// What kind of piece a unit is. Only units of one level are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Level {
    Function,
    /// A type, an extension or a module with what it holds.
    Type,
    File,
}

/// What a function does, or the functions of a type or a file, more to the right than to the left.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Work {
    /// There is no function with a body of some size.
    None,
    /// One short statement.
    HandsOn,
    /// One list of values.
    Lists,
    Does,
}

/// A piece of code that could be a copy.
#[derive(Clone, Debug)]
pub(super) struct Unit {
    /// Position in [`Corpus::files`].
    pub file: usize,
    pub level: Level,
    /// Whether it belongs to a type.
    pub is_method: bool,
    /// Positions in [`Corpus::codes`].
    pub tokens: Range<usize>,
    pub lines: LineRange,
    /// Absent for a file.
    pub symbol: Option<String>,
    pub place: Place,
    /// That of the function in it that does most; a function is one itself.
    pub work: Work,
    /// Whether it fulfils a trait's or an interface's demand.
    pub implements: bool,
    /// Whether its documentation or its attributes call it deprecated.
    pub is_deprecated: bool,
    /// Whether its language has functions of one name for several types.
    pub can_overload: bool,
    /// Whether a marker hides it.
    pub is_marked: bool,
}

impl Unit {
    /// Whether it is large enough to be compared with what is not quite the same.
    pub(super) fn is_large(&self) -> bool {
        let tokens = self.tokens.len();
        tokens >= LARGE_TOKENS
            || (self.lines.count() >= LARGE_LINES && tokens >= LARGE_LINES_TOKENS)
    }
}

/// A file's tokens.
#[derive(Clone, Debug)]
pub(super) struct File {
    /// Position in [`Catalog::files`].
    pub at: usize,
    /// Positions in [`Corpus::codes`].
    pub tokens: Range<usize>,
    /// For each row the first token, counted from the file's first, that begins in it or later.
    pub rows: Vec<u32>,
    pub ignored: IgnoredLines,
}

/// A stretch of tokens in which fragments are sought.
#[derive(Clone, Debug)]
pub(super) struct Region {
    /// Position in [`Corpus::files`].
    pub file: usize,
    /// Positions in [`Corpus::codes`].
    pub tokens: Range<usize>,
    /// The innermost definition around it: position in [`Corpus::symbols`].
    pub symbol: Option<u32>,
    pub place: Place,
    pub is_marked: bool,
}

/// All that is compared.
#[derive(Debug, Default)]
pub(super) struct Corpus {
    pub codes: Vec<Code>,
    /// In the catalog's order.
    pub files: Vec<File>,
    /// By file and place; one that encloses another comes before it.
    pub units: Vec<Unit>,
    /// By file and place.
    pub regions: Vec<Region>,
    pub symbols: Vec<String>,
}

impl Corpus {
    /// The line in which a token begins, from 1.
    pub(super) fn line(&self, file: usize, token: usize) -> u32 {
        let file = &self.files[file];
        let at = (token - file.tokens.start) as u32;
        file.rows.partition_point(|first| *first <= at).max(1) as u32
    }

    /// Whether a token begins in a line (from 1).
    pub(super) fn has_code(&self, file: usize, line: u32) -> bool {
        self.first_in_line(file, line) < self.first_in_line(file, line + 1)
    }

    /// Lines of a range in which a token begins.
    pub(super) fn code_lines(&self, file: usize, lines: LineRange) -> usize {
        (lines.start..=lines.end).filter(|line| self.has_code(file, *line)).count()
    }

    /// The first token that begins in a line (from 1) or later.
    pub(super) fn first_in_line(&self, file: usize, line: u32) -> usize {
        let file = &self.files[file];
        let first = file.rows.get(line as usize - 1).map_or(file.tokens.len(), |at| *at as usize);
        file.tokens.start + first
    }
}
