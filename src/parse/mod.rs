//! Here is a text and its language: what does its grammar make of it? The only door to tree-sitter.
//!
//! In comes a text, out goes plain data: an [`Outline`] of what it defines, the tokens it is made of,
//! or the ranges to colour.
//! Malformed text still yields what could be parsed. Work is bounded: a text that costs a parser too
//! many steps has no outline, the same on every machine. No tree leaves this room.

mod head;
mod highlight;
mod imports;
mod languages;
mod mask;
mod seen;
mod tokens;
mod walk;

#[cfg(test)]
mod tests;

use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::ops::{ControlFlow, Range};
use std::time::{Duration, Instant};

use tree_sitter::{ParseOptions, Parser, Tree};

use crate::types::{Language, RelPath};
use languages::Grammar;
use walk::Reading;

pub use highlight::{Highlight, highlight};
pub use tokens::{IgnoredLines, Token, TokenClass};

/// Longer texts are not parsed; a file of this size is data.
const PARSED_BYTES_MAX: usize = 4 << 20;

/// Steps of a parser (a hundred operations each) for every text …
const STEPS_BASE: usize = 2_000;

/// … and one more for so many bytes. Ordinary code takes a tenth of what it may.
const BYTES_PER_STEP: usize = 4;

/// A parser is handed so many bytes at a time.
const PIECE_BYTES: usize = 16 << 10;

/// How often it may ask for each piece, on average; a scanner that searches for an end which is not
/// there asks without end. Ordinary code asks a few times.
const READS_PER_PIECE: usize = 200;

/// The time that a parse may take, whatever the other bounds say: this, and five microseconds a byte.
/// Ordinary code takes a tenth. Only text that is no source code comes here, where single steps of
/// error recovery are slow.
const PARSE_TIME_BASE: Duration = Duration::from_secs(1);

/// More time than this between two steps was not spent on parsing: a busy machine had other things to
/// do, and must not change the outcome.
const STEP_TIME_MAX: Duration = Duration::from_millis(20);

/// Texts inside macros that are parsed by themselves, a file.
const EMBEDDED_MAX: usize = 100;

/// What a definition is, as far as cutting it out is concerned.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum DefinitionKind {
    /// A free function, a test, a group of tests.
    Function,
    /// A function that belongs to a type.
    Method,
    /// A class, struct, trait, interface, enum; what it holds are methods.
    Type,
    /// A named module that is a thing of its own; what it holds are functions.
    Module,
    /// Adds methods to a type that is defined elsewhere (`impl`, `extension`).
    Extension,
    /// Only a name around what it holds.
    Namespace,
}

/// A definition and where it lies. All ranges are bytes of the text, end-exclusive.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Definition {
    /// What it is.
    pub kind: DefinitionKind,
    /// Its own name or title; may be empty.
    pub name: String,
    /// Names that qualify it where it stands (`A` of `A::b`, a method's receiver), outermost first.
    pub outer: Vec<String>,
    /// Position in [`Outline::definitions`] of the definition that it stands in; always smaller.
    pub parent: Option<usize>,
    /// All of it, with the comments and attributes that belong to it.
    pub bytes: Range<usize>,
    /// Where its head begins, after attributes.
    pub head: usize,
    /// Where its head ends and its body, if any, begins.
    pub body: usize,
    /// Its head on one line, without attributes, comments and body.
    pub signature: String,
    /// Comments directly above it, or its documentation string.
    pub doc: Option<Range<usize>>,
}

/// A named constant, variable, type alias or enum variant.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Value {
    /// Its name.
    pub name: String,
    /// The byte where it begins.
    pub at: usize,
}

/// A place where a long text may be cut: something begins here.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Cut {
    /// The byte where it begins.
    pub at: usize,
    /// How deeply it is nested; a shallow cut is better.
    pub depth: u32,
}

/// What a text defines and imports.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Outline {
    /// By their beginning; an enclosing definition comes before what it encloses.
    pub definitions: Vec<Definition>,
    /// By their beginning.
    pub values: Vec<Value>,
    /// By their place.
    pub cuts: Vec<Cut>,
    /// Last words of imported names, each once.
    pub imports: Vec<String>,
}

/// Whether texts of `language` have an outline.
pub fn has_grammar(language: Language) -> bool {
    languages::find(language).is_some()
}

/// The outline of a text; `None` without a grammar, or when parsing it would cost too much.
///
/// Functions longer than `long` bytes are looked into, for definitions inside them and places to cut.
pub fn outline(language: Language, text: &str, long: usize) -> Option<Outline> {
    let grammar = languages::find(language)?;
    read(grammar, text, long).map(|(_, outline)| outline)
}

/// A text's tokens and outline.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Lexed {
    /// In order, without comments and imports.
    pub tokens: Vec<Token>,
    pub outline: Outline,
    /// Where comments begin that hide what stands below them from a search for copies.
    pub markers: Vec<usize>,
    pub ignored: IgnoredLines,
}

/// The tokens of a text, with its [`outline`]; `None` as there.
pub fn lex(language: Language, text: &str, long: usize) -> Option<Lexed> {
    let grammar = languages::find(language)?;
    let (tree, outline) = read(grammar, text, long)?;
    let tokens::Leaves { tokens, markers, ignored } = tokens::read(grammar, text, &tree);
    Some(Lexed { tokens, outline, markers, ignored })
}

/// The tree of a text and what it defines.
fn read(grammar: &'static Grammar, text: &str, long: usize) -> Option<(Tree, Outline)> {
    let masked = (grammar.mask)(text);
    debug_assert_eq!(masked.len(), text.len(), "a mask keeps every byte's place");
    let tree = parse(grammar, &masked, None)?;
    let mut reading = Reading::default();
    walk::read(grammar, text, &tree, long, None, &mut reading);
    let embedded: Vec<_> = reading.embedded.drain(..).take(EMBEDDED_MAX).collect();
    for (range, owner) in embedded {
        let tree = parse(grammar, &masked, Some(range));
        // Tokens that are no source text of the language parse with errors.
        if let Some(tree) = tree.filter(|tree| !tree.root_node().has_error()) {
            walk::read(grammar, text, &tree, long, owner, &mut reading);
        }
    }
    Some((tree, in_order(reading.outline)))
}

/// Sorts an outline by place; embedded texts were read after what stands around them.
fn in_order(mut outline: Outline) -> Outline {
    let is_sorted = outline.definitions.is_sorted_by_key(|d| d.bytes.start);
    outline.values.sort_by_key(|value| value.at);
    outline.cuts.sort_by_key(|cut| (cut.at, cut.depth));
    if is_sorted {
        return outline;
    }
    let mut order: Vec<usize> = (0..outline.definitions.len()).collect();
    order.sort_by_key(|at| outline.definitions[*at].bytes.start);
    let mut moved = vec![0; order.len()];
    order.iter().enumerate().for_each(|(new, old)| moved[*old] = new);
    let mut definitions = Vec::with_capacity(order.len());
    for old in order {
        let mut definition = outline.definitions[old].clone();
        definition.parent = definition.parent.map(|parent| moved[parent]);
        definitions.push(definition);
    }
    outline.definitions = definitions;
    outline
}

/// The language whose grammar fits the content: a `.h` file may be C or C++.
pub fn dialect(path: &RelPath, language: Language, text: &str) -> Language {
    let header = language == Language::C && path.file_name().rsplit('.').next() == Some("h");
    if header && languages::looks_like_cpp(text) { Language::Cpp } else { language }
}

thread_local! {
    /// One parser a language and thread; making one costs more than a short file.
    static PARSERS: RefCell<HashMap<Language, Parser>> = RefCell::default();
}

/// The tree of a text, or of a range of it, unless it is too long or costs too many steps.
fn parse(grammar: &'static Grammar, text: &str, range: Option<tree_sitter::Range>) -> Option<Tree> {
    if text.len() > PARSED_BYTES_MAX {
        return None;
    }
    PARSERS.with_borrow_mut(|parsers| {
        let parser = parsers.entry(grammar.language).or_insert_with(|| {
            let mut parser = Parser::new();
            parser.set_language(&(grammar.parser)()).expect("the grammar's version is ours");
            parser
        });
        let ranges: &[tree_sitter::Range] = range.as_slice();
        parser.set_included_ranges(ranges).expect("one range overlaps nothing");
        let tree = parse_bounded(parser, text);
        if tree.is_none() {
            parser.reset();
        }
        tree
    })
}

/// Parses until done, or until the steps, the readings or the time are used up.
fn parse_bounded(parser: &mut Parser, text: &str) -> Option<Tree> {
    let bytes = text.as_bytes();
    let steps_max = STEPS_BASE + bytes.len() / BYTES_PER_STEP;
    let reads_max = READS_PER_PIECE * (bytes.len() / PIECE_BYTES + 16);
    let time_max = PARSE_TIME_BASE + Duration::from_micros(5 * bytes.len() as u64);
    let mut time = Duration::ZERO;
    let mut last = Instant::now();
    let reads = Cell::new(0_usize);
    let mut steps = 0_usize;
    let mut read = |at: usize, _| {
        reads.set(reads.get() + 1);
        let end = (at / PIECE_BYTES + 1) * PIECE_BYTES;
        let piece = bytes.get(at..end.min(bytes.len())).unwrap_or_default();
        if reads.get() > reads_max { &[] } else { piece }
    };
    let mut progress = |_: &tree_sitter::ParseState| {
        steps += 1;
        let now = Instant::now();
        time += now.duration_since(last).min(STEP_TIME_MAX);
        last = now;
        let spent = steps > steps_max || reads.get() > reads_max || time > time_max;
        if spent { ControlFlow::Break(()) } else { ControlFlow::Continue(()) }
    };
    let options = ParseOptions::new().progress_callback(&mut progress);
    let tree = parser.parse_with_options(&mut read, None, Some(options));
    tree.filter(|_| reads.get() <= reads_max)
}
