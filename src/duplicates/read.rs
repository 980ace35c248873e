//! Here are the files of a generation: which tokens are they made of, and which pieces of them could be
//! copies?

use std::collections::HashMap;
use std::ops::Range;

use rayon::prelude::*;

use super::code::{Code, Corpus, File, Level, Region, Unit, Work};
use super::placed::{self, Placed, Rows};
use super::plain;
use crate::error::Result;
use crate::parse::{self, DefinitionKind, IgnoredLines, Token};
use crate::retrieval::Catalog;
use crate::store::Reader;
use crate::text;
use crate::turn::Turn;
use crate::types::{Hash, Language, LineRange, Place};

/// Longer functions are looked into for functions inside of them, in bytes.
const LONG_BYTES: usize = 3_000;

/// A smaller one must be the same to the last name, and have at least this many tokens and lines.
const SMALL_TOKENS: usize = 20;
const SMALL_LINES: usize = 3;

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
    match row.place {
        // The convention of Perl, taken over by others.
        Place::Source if path.starts_with("t/") => Place::Test,
        Place::Source if is_bundle || beside() => Place::Generated,
        place => place,
    }
}

/// Whether a text helps tests and nothing else, wherever it lies.
fn is_for_tests(language: Language, text: &str) -> bool {
    const HEAD_BYTES: usize = 4 << 10;
    let head = text.get(..HEAD_BYTES).unwrap_or(text);
    language == Language::Go && head.lines().any(|line| line.trim() == "\"testing\"")
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
        let FileCode { rows, ignored, .. } = read;
        self.files.push(File { at, tokens: first..self.codes.len(), rows, ignored });
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
    ignored: IgnoredLines,
    units: Vec<Unit>,
    regions: Vec<Region>,
    symbols: Vec<String>,
}

/// A file's tokens with what it defines.
pub(super) fn lex(catalog: &Catalog, at: usize, text: &str) -> parse::Lexed {
    let row = &catalog.files[at].row;
    let dialect = parse::dialect(&row.path, row.language, text);
    parse::lex(dialect, text, LONG_BYTES).unwrap_or_else(|| parse::Lexed {
        tokens: if is_code(row.language) { plain::tokens(row.language, text) } else { Vec::new() },
        outline: parse::Outline::default(),
        markers: Vec::new(),
        ignored: IgnoredLines::default(),
    })
}

/// Whether texts of a language without a grammar are code: data and prose repeat by their nature.
fn is_code(language: Language) -> bool {
    use Language::{Html, Ini, Json, Markdown, Other, Text, Toml, Xml, Yaml};
    !matches!(language, Markdown | Text | Json | Yaml | Toml | Xml | Ini | Html | Other)
}

/// Whether functions of one name may stand side by side, one for each type.
fn can_overload(language: Language) -> bool {
    use Language::{CSharp, Cpp, Java, Kotlin, Scala, Swift};
    matches!(language, CSharp | Cpp | Java | Kotlin | Scala | Swift)
}

fn file_code(catalog: &Catalog, at: usize, text: &str) -> FileCode {
    let row = &catalog.files[at].row;
    let lexed = lex(catalog, at, text);
    let tokens = &lexed.tokens;
    let code =
        |token: &Token| Code::new(token.class, &text[token.start as usize..token.end as usize]);
    let rows = Rows::of(text);
    let place = match place(catalog, at) {
        Place::Source if is_for_tests(row.language, text) => Place::Test,
        place => place,
    };
    let placed = placed::definitions(&lexed, text, &rows, row.language, place);
    let is_marked = placed::is_file_marked(&lexed, text, &rows);
    let mut file = FileCode {
        codes: tokens.iter().map(code).collect(),
        rows: rows.first_tokens(tokens),
        ignored: lexed.ignored,
        units: Vec::new(),
        regions: placed::regions(&placed, tokens.len(), place, is_marked),
        symbols: placed.iter().map(|placed| placed.definition.name.clone()).collect(),
    };
    let whole = 0..tokens.len();
    if !placed.is_empty() && !placed::is_shell(&whole, &placed) {
        let line = |token: &Token| rows.line(token.start as usize);
        let (first, last) = (tokens.first().map_or(1, line), tokens.last().map_or(1, line));
        let work = file.work(&placed);
        file.units.push(Unit {
            file: 0,
            level: Level::File,
            is_method: false,
            tokens: whole,
            lines: LineRange { start: first, end: last },
            symbol: None,
            place,
            work,
            implements: false,
            is_deprecated: placed::is_mostly_deprecated(&placed),
            can_overload: can_overload(row.language),
            is_marked,
        });
    }
    for (at, one) in placed.iter().enumerate() {
        let is_function = placed::is_function(one.definition.kind);
        if is_function || !placed::is_shell(&one.tokens, &placed[at + 1..]) {
            let inside =
                if is_function { 1 } else { placed::count_within(&one.tokens, &placed[at..]) };
            let work = file.work(&placed[at..at + inside]);
            let can_overload = can_overload(row.language);
            file.units.push(Unit { can_overload, ..unit(one, text, is_marked, work) });
        }
    }
    file.units.retain(|unit| {
        let is_small_copy = unit.tokens.len() >= SMALL_TOKENS && unit.lines.count() >= SMALL_LINES;
        unit.is_large() || (unit.level == Level::Function && is_small_copy)
    });
    file
}

impl FileCode {
    /// What the functions among some definitions do.
    fn work(&self, placed: &[Placed]) -> Work {
        let functions = placed.iter().filter(|one| placed::has_body(one));
        let work = |one| {
            if placed::is_thin(one, &self.codes, &self.rows) {
                Work::HandsOn
            } else if placed::is_list(one, &self.codes) {
                Work::Lists
            } else {
                Work::Does
            }
        };
        functions.map(work).max().unwrap_or(Work::None)
    }
}

fn unit(placed: &Placed, text: &str, is_marked: bool, work: Work) -> Unit {
    let Placed { definition, .. } = placed;
    let kind = definition.kind;
    let is_function = placed::is_function(kind);
    Unit {
        file: 0,
        level: if is_function { Level::Function } else { Level::Type },
        is_method: kind == DefinitionKind::Method,
        tokens: placed.tokens.clone(),
        lines: placed.lines,
        symbol: Some(definition.name.clone()).filter(|name| !name.is_empty()),
        place: placed.place,
        work: if is_function { work.max(Work::HandsOn) } else { work },
        implements: is_function && placed::implements(definition, text),
        is_deprecated: placed.is_deprecated,
        can_overload: false,
        is_marked: placed.is_marked || is_marked,
    }
}
