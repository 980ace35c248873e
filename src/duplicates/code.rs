//! Here are the files of a generation: which tokens are they made of, and which pieces of them could be
//! copies?
//!
//! A token is one number, so that a million lines fit into some fifty megabytes. A *unit* is a whole
//! definition, or a whole file; a *region* is a stretch of tokens that no definition's border crosses,
//! in which fragments are sought.

use std::collections::HashMap;
use std::ops::Range;

use rayon::prelude::*;

use super::plain;
use crate::error::Result;
use crate::parse::{self, Definition, DefinitionKind, Token, TokenClass};
use crate::retrieval::Catalog;
use crate::store::Reader;
use crate::text;
use crate::turn::Turn;
use crate::types::{Hash, Language, LineRange, Place};

/// Longer functions are looked into for functions inside of them, in bytes.
const LONG_BYTES: usize = 3_000;

/// A unit of at least so many tokens …
const LARGE_TOKENS: usize = 50;

/// … or lines, with at least this many tokens, is compared with all that is like it.
const LARGE_LINES: usize = 6;
const LARGE_LINES_TOKENS: usize = 25;

/// A smaller one must be the same to the last name, and have at least this many tokens and lines.
const SMALL_TOKENS: usize = 20;
const SMALL_LINES: usize = 3;

/// A marker in the first lines of a file, outside of any definition, hides all of it.
const HEAD_LINES: usize = 5;

/// One token: its class in the two upper bits, 30 bits of a hash of its text below.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) struct Code(u32);

impl Code {
    fn new(class: TokenClass, text: &str) -> Self {
        let class = match class {
            TokenClass::Fixed => 0,
            TokenClass::Name => 1,
            TokenClass::Text => 2,
            TokenClass::Number => 3,
        };
        let mut hash = 0x811c_9dc5_u64;
        for byte in text.bytes() {
            hash = (hash ^ u64::from(byte)).wrapping_mul(0x0000_0100_0000_01b3);
        }
        Self((class << 30) | ((hash ^ (hash >> 32)) as u32 & 0x3fff_ffff))
    }

    /// The token with only its class left of a name or a literal.
    pub(super) fn shape(self) -> u32 {
        if self.is_fixed() { self.0 } else { self.0 & 0xc000_0000 }
    }

    /// The token itself.
    pub(super) fn exact(self) -> u32 {
        self.0
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

/// What kind of piece a unit is. Only units of one level are compared.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub(super) enum Level {
    Function,
    /// A type, an extension or a module with what it holds.
    Type,
    File,
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
    /// Whether a function with a body of some size stands in it; a function is one itself.
    pub has_code: bool,
    /// Whether it fulfils a trait's or an interface's demand.
    pub implements: bool,
    /// Whether a marker hides it.
    pub is_marked: bool,
}

impl Unit {
    fn line_count(&self) -> usize {
        (self.lines.end - self.lines.start + 1) as usize
    }

    /// Whether it is large enough to be compared with what is not quite the same.
    pub(super) fn is_large(&self) -> bool {
        let tokens = self.tokens.len();
        tokens >= LARGE_TOKENS || (self.line_count() >= LARGE_LINES && tokens >= LARGE_LINES_TOKENS)
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
    rows: Vec<u32>,
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

    /// The first token that begins in a line (from 1) or later.
    pub(super) fn first_in_line(&self, file: usize, line: u32) -> usize {
        let file = &self.files[file];
        let first = file.rows.get(line as usize - 1).map_or(file.tokens.len(), |at| *at as usize);
        file.tokens.start + first
    }
}

/// Where a file lies; a bundle beside its own source, or beside another bundle of it, is generated
/// though nothing in it says so.
fn place(catalog: &Catalog, at: usize) -> Place {
    /// What bundlers write for the systems of modules.
    const BUNDLES: &[&str] = &[".esm.", ".cjs.", ".umd.", ".iife.", ".bundle."];
    let row = &catalog.files[at].row;
    let path = row.path.as_str();
    let has = |path: &str| {
        let found = catalog.files.binary_search_by(|file| file.row.path.as_str().cmp(path));
        found.is_ok()
    };
    let is_bundle = BUNDLES.iter().any(|mark| path.contains(mark));
    let beside = || {
        let (stem, extension) = path.rsplit_once('.').unwrap_or((path, ""));
        BUNDLES.iter().any(|mark| has(&format!("{stem}{mark}{extension}")))
    };
    if row.place == Place::Source && (is_bundle || beside()) { Place::Generated } else { row.place }
}

/// Reads the files of a generation that `admits` lets in. Uses the threads of the rayon pool it is
/// called in.
///
/// # Errors
/// Index: it is damaged; Stopped when `turn` ends.
pub(super) fn corpus(
    reader: &Reader,
    catalog: &Catalog,
    admits: &(dyn Fn(usize) -> bool + Sync),
    turn: &Turn,
) -> Result<Corpus> {
    let mut wanted: HashMap<Hash, Vec<usize>> = HashMap::new();
    for (at, file) in catalog.files.iter().enumerate().filter(|(at, _)| admits(*at)) {
        wanted.entry(file.row.hash).or_default().push(at);
    }
    let mut read: Vec<(usize, FileCode)> = Vec::with_capacity(wanted.len());
    reader.blobs(&|hash| wanted.contains_key(&hash), &mut |blobs| {
        turn.check()?;
        let pieces = blobs.into_par_iter().flat_map_iter(|(hash, bytes)| {
            let decoded = text::decode(&bytes);
            let of = wanted[&hash].iter().map(|at| (*at, file_code(catalog, *at, &decoded.text)));
            of.collect::<Vec<_>>()
        });
        read.par_extend(pieces);
        Ok(())
    })?;
    read.sort_unstable_by_key(|(at, _)| *at);
    let mut corpus = Corpus::default();
    corpus.codes.reserve(read.iter().map(|(_, file)| file.codes.len()).sum());
    for (at, file) in read {
        corpus.add(at, file);
    }
    Ok(corpus)
}

impl Corpus {
    fn add(&mut self, at: usize, read: FileCode) {
        let (file, first, first_symbol) = (self.files.len(), self.codes.len(), self.symbols.len());
        self.codes.extend(read.codes);
        self.files.push(File { at, tokens: first..self.codes.len(), rows: read.rows });
        let moved = |tokens: Range<usize>| tokens.start + first..tokens.end + first;
        self.units.extend(read.units.into_iter().map(|unit| Unit {
            file,
            tokens: moved(unit.tokens),
            ..unit
        }));
        self.symbols.extend(read.symbols);
        self.regions.extend(read.regions.into_iter().map(|region| Region {
            file,
            tokens: moved(region.tokens),
            symbol: region.symbol.map(|symbol| symbol + first_symbol as u32),
            ..region
        }));
    }
}

/// What was read of one file; tokens count from its first.
struct FileCode {
    codes: Vec<Code>,
    rows: Vec<u32>,
    units: Vec<Unit>,
    regions: Vec<Region>,
    symbols: Vec<String>,
}

/// A file's tokens with what it defines.
pub(super) fn lex(catalog: &Catalog, at: usize, text: &str) -> parse::Lexed {
    let row = &catalog.files[at].row;
    let dialect = parse::dialect(&row.path, row.language, text);
    parse::lex(dialect, text, LONG_BYTES).unwrap_or_else(|| parse::Lexed {
        tokens: if is_code(row.language) { plain::tokens(text) } else { Vec::new() },
        outline: parse::Outline::default(),
        markers: Vec::new(),
    })
}

/// Whether texts of a language without a grammar are code: data and prose repeat by their nature.
fn is_code(language: Language) -> bool {
    use Language::{Html, Ini, Json, Markdown, Other, Text, Toml, Xml, Yaml};
    !matches!(language, Markdown | Text | Json | Yaml | Toml | Xml | Ini | Html | Other)
}

/// Where a definition lies among the tokens.
struct Placed<'a> {
    definition: &'a Definition,
    /// From its head on.
    tokens: Range<usize>,
    /// The first token of its body.
    body: usize,
    lines: LineRange,
    place: Place,
    is_marked: bool,
    /// Whether it stands in a function.
    is_inner: bool,
}

fn file_code(catalog: &Catalog, at: usize, text: &str) -> FileCode {
    let row = &catalog.files[at].row;
    let lexed = lex(catalog, at, text);
    let tokens = &lexed.tokens;
    let code =
        |token: &Token| Code::new(token.class, &text[token.start as usize..token.end as usize]);
    let rows = Rows::of(text);
    let place = place(catalog, at);
    let placed = place_definitions(&lexed, text, &rows, row.language, place);
    let is_marked = is_file_marked(&lexed, text, &rows);
    let symbols = placed.iter().map(|placed| placed.definition.name.clone()).collect();
    let mut file = FileCode {
        codes: tokens.iter().map(code).collect(),
        rows: rows.first_tokens(tokens),
        units: Vec::new(),
        regions: regions(&placed, tokens.len(), place, is_marked),
        symbols,
    };
    if !placed.is_empty() && !is_shell(&(0..tokens.len()), &placed) {
        let line = |token: &Token| rows.line(token.start as usize);
        let (first, last) = (tokens.first().map_or(1, line), tokens.last().map_or(1, line));
        let lines = LineRange { start: first, end: last };
        file.units.push(Unit {
            file: 0,
            level: Level::File,
            is_method: false,
            tokens: 0..tokens.len(),
            lines,
            symbol: None,
            place,
            has_code: placed.iter().any(has_body),
            implements: false,
            is_marked,
        });
    }
    let has_code = |at: usize| {
        let inside = |other: &&Placed| {
            let (inner, outer) = (&other.tokens, &placed[at].tokens);
            outer.start <= inner.start && inner.end <= outer.end
        };
        placed[at..].iter().take_while(inside).any(has_body)
    };
    let is_whole = |(at, one): &(usize, &Placed)| {
        is_function(one.definition.kind) || !is_shell(&one.tokens, &placed[at + 1..])
    };
    file.units.extend(
        placed
            .iter()
            .enumerate()
            .filter(is_whole)
            .map(|(at, one)| unit(one, text, is_marked, has_code(at))),
    );
    file.units.retain(|unit| {
        let is_small_copy = unit.tokens.len() >= SMALL_TOKENS && unit.line_count() >= SMALL_LINES;
        unit.is_large() || (unit.level == Level::Function && is_small_copy)
    });
    file
}

/// Whether one of some definitions makes up most of what some tokens hold: it is compared, not its shell.
fn is_shell(tokens: &Range<usize>, inside: &[Placed]) -> bool {
    const MOST: f32 = 0.8;
    let within =
        |inner: &&Placed| tokens.start <= inner.tokens.start && inner.tokens.end <= tokens.end;
    let most = |inner: &Placed| inner.tokens.len() as f32 >= MOST * tokens.len() as f32;
    inside.iter().take_while(within).any(most)
}

/// Whether it is a function that does something.
fn has_body(placed: &Placed) -> bool {
    /// A pair of brackets and a short statement.
    const TOKENS: usize = 10;
    is_function(placed.definition.kind) && placed.tokens.end - placed.body >= TOKENS
}

fn is_function(kind: DefinitionKind) -> bool {
    matches!(kind, DefinitionKind::Function | DefinitionKind::Method)
}

fn unit(placed: &Placed, text: &str, is_marked: bool, has_code: bool) -> Unit {
    let Placed { definition, .. } = placed;
    let kind = definition.kind;
    let is_function = is_function(kind);
    Unit {
        file: 0,
        level: if is_function { Level::Function } else { Level::Type },
        is_method: kind == DefinitionKind::Method,
        tokens: placed.tokens.clone(),
        lines: placed.lines,
        symbol: Some(definition.name.clone()).filter(|name| !name.is_empty()),
        place: placed.place,
        has_code,
        implements: is_function && implements(definition, text),
        is_marked: placed.is_marked || is_marked,
    }
}

/// Whether a method's head says that it fulfils somebody else's demand.
fn implements(definition: &Definition, text: &str) -> bool {
    const HEAD_BYTES: usize = 400;
    let start = definition.doc.as_ref().filter(|doc| doc.end <= definition.head);
    let start = start.map_or(definition.bytes.start, |doc| doc.end);
    let end = (definition.head + HEAD_BYTES).min(definition.bytes.end);
    let head = text.get(start..end).or_else(|| text.get(start..definition.head)).unwrap_or("");
    let head = head.split(['{', '(']).next().unwrap_or(head);
    head.contains("@Override") || head.split_whitespace().any(|word| word == "override")
}

/// Places the definitions of a file among its tokens.
fn place_definitions<'a>(
    lexed: &'a parse::Lexed,
    text: &str,
    rows: &Rows,
    language: Language,
    place: Place,
) -> Vec<Placed<'a>> {
    let definitions = &lexed.outline.definitions;
    let mut placed: Vec<Placed<'a>> = Vec::with_capacity(definitions.len());
    for definition in definitions {
        let token =
            |byte: usize| lexed.tokens.partition_point(|token| (token.start as usize) < byte);
        let tokens = token(definition.head)..token(definition.bytes.end);
        let parent = definition.parent.map(|parent| &placed[parent]);
        let is_test = match language {
            Language::Rust => is_rust_test(definition, text),
            // Self-tests stand beside what they test.
            Language::C | Language::Cpp => definition.name.starts_with("test_"),
            _ => false,
        };
        let place = match parent {
            _ if is_test => Place::Test,
            Some(parent) => parent.place,
            None => place,
        };
        let is_marked = lexed.markers.iter().any(|marker| definition.bytes.contains(marker));
        // Attributes belong to what is shown, though not to what is compared; comments to neither.
        let first =
            lexed.tokens.get(token(definition.bytes.start)).map(|token| token.start as usize);
        let first = first.map_or(definition.head, |first| first.min(definition.head));
        let lines = LineRange {
            start: rows.line(first),
            end: rows.line(definition.bytes.end.saturating_sub(1).max(definition.head)),
        };
        placed.push(Placed {
            definition,
            body: token(definition.body).clamp(tokens.start, tokens.end),
            tokens,
            lines,
            place,
            is_marked,
            is_inner: parent
                .is_some_and(|parent| parent.is_inner || is_function(parent.definition.kind)),
        });
    }
    // A marker hides the innermost definition that it stands in, not those around it.
    for at in 0..placed.len() {
        if placed[at].is_marked
            && let Some(parent) = placed[at].definition.parent
        {
            let bytes = &placed[at].definition.bytes;
            let others = lexed.markers.iter().filter(|marker| !bytes.contains(marker));
            let parent_bytes = placed[parent].definition.bytes.clone();
            let still = others.filter(|marker| parent_bytes.contains(marker)).count() > 0;
            placed[parent].is_marked = still;
        }
    }
    placed
}

/// Whether attributes make a Rust item part of the tests.
fn is_rust_test(definition: &Definition, text: &str) -> bool {
    let attributes = text.get(definition.bytes.start..definition.head).unwrap_or("");
    attributes.lines().map(str::trim).any(|line| {
        line.starts_with("#[")
            && (line.contains("test]") || line.contains("cfg(test") || line.contains("test("))
    })
}

/// Whether a marker among the first lines hides the whole file.
fn is_file_marked(lexed: &parse::Lexed, text: &str, rows: &Rows) -> bool {
    if lexed.tokens.is_empty() {
        return false;
    }
    if lexed.outline.definitions.is_empty() && lexed.markers.is_empty() {
        return text.lines().take(HEAD_LINES).any(|line| line.contains("sai-noduplicate"));
    }
    let is_inside =
        |marker: &usize| lexed.outline.definitions.iter().any(|d| d.bytes.contains(marker));
    let is_head = |marker: &usize| rows.line(*marker) as usize <= HEAD_LINES;
    lexed.markers.iter().any(|marker| is_head(marker) && !is_inside(marker))
}

/// Cuts a file's tokens at the borders and after the heads of definitions; what is in a function's body
/// stays together.
fn regions(placed: &[Placed], count: usize, place: Place, is_marked: bool) -> Vec<Region> {
    let mut regions = Vec::new();
    let mut open: Vec<usize> = Vec::new();
    let mut at = 0;
    let mut push = |end: usize, at: &mut usize, open: &[usize]| {
        if end > *at {
            let owner = open.last().map(|owner| (*owner, &placed[*owner]));
            regions.push(Region {
                file: 0,
                tokens: *at..end,
                symbol: owner.map(|(owner, _)| owner as u32),
                place: owner.map_or(place, |(_, owner)| owner.place),
                is_marked: is_marked || owner.is_some_and(|(_, owner)| owner.is_marked),
            });
            *at = end;
        }
    };
    for (next, definition) in placed.iter().enumerate().filter(|(_, placed)| !placed.is_inner) {
        while let Some(last) = open.last()
            && placed[*last].tokens.end <= definition.tokens.start
        {
            push(placed[*last].tokens.end, &mut at, &open);
            open.pop();
        }
        push(definition.tokens.start, &mut at, &open);
        open.push(next);
        // Heads say what a type or a library demands: they are no fragments, nor parts of any.
        at = at.max(definition.body);
    }
    while let Some(last) = open.last() {
        push(placed[*last].tokens.end, &mut at, &open);
        open.pop();
    }
    push(count, &mut at, &open);
    regions
}

/// Where the lines of a text begin.
struct Rows(Vec<usize>);

impl Rows {
    fn of(text: &str) -> Self {
        let ends = memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1);
        Self(std::iter::once(0).chain(ends.filter(|end| *end < text.len())).collect())
    }

    /// The line of a byte, from 1.
    fn line(&self, byte: usize) -> u32 {
        self.0.partition_point(|start| *start <= byte) as u32
    }

    /// For each row the first token that begins in it or later.
    fn first_tokens(&self, tokens: &[Token]) -> Vec<u32> {
        let mut at = 0;
        let first = |start: &usize| {
            while tokens.get(at).is_some_and(|token| (token.start as usize) < *start) {
                at += 1;
            }
            at as u32
        };
        self.0.iter().map(first).collect()
    }
}
