//! Here are the tokens of a file and what it defines: which definition holds which tokens, what kind of
//! place is it in, and where are its borders?

use std::ops::Range;

use super::code::{Code, Region};
use crate::parse::{self, Definition, DefinitionKind, Token};
use crate::types::{Language, LineRange, Place};

/// A marker in the first lines of a file, outside of any definition, hides all of it.
const HEAD_LINES: usize = 5;

/// Where a definition lies among the tokens.
pub(super) struct Placed<'a> {
    pub definition: &'a Definition,
    /// From its head on.
    pub tokens: Range<usize>,
    /// The first token of its body.
    body: usize,
    pub lines: LineRange,
    pub place: Place,
    pub is_marked: bool,
    /// Whether it, or what it stands in, is called deprecated.
    pub is_deprecated: bool,
    /// Whether it stands in a function.
    is_inner: bool,
}

/// Places the definitions of a file among its tokens.
pub(super) fn definitions<'a>(
    lexed: &'a parse::Lexed,
    text: &str,
    rows: &Rows,
    language: Language,
    place: Place,
) -> Vec<Placed<'a>> {
    let definitions = &lexed.outline.definitions;
    let built = match language {
        Language::C | Language::Cpp => built_for_tests(text),
        _ => Vec::new(),
    };
    let mut placed: Vec<Placed<'a>> = Vec::with_capacity(definitions.len());
    for definition in definitions {
        let token =
            |byte: usize| lexed.tokens.partition_point(|token| (token.start as usize) < byte);
        let tokens = token(definition.head)..token(definition.bytes.end);
        let parent = definition.parent.map(|parent| &placed[parent]);
        let is_test = match language {
            Language::Rust => is_rust_test(definition, text),
            // Self-tests stand beside what they test.
            Language::C | Language::Cpp => {
                let line = rows.line(definition.head);
                definition.name.starts_with("test_")
                    || built.iter().any(|lines| lines.contains(&line))
            }
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
            is_deprecated: parent.is_some_and(|parent| parent.is_deprecated)
                || is_deprecated(definition, text),
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

/// Whether what stands above a definition's body calls it deprecated.
fn is_deprecated(definition: &Definition, text: &str) -> bool {
    let head = text.get(definition.bytes.start..definition.body).unwrap_or("");
    head.contains("eprecated")
}

/// Whether a third or more of what a file defines is called deprecated.
pub(super) fn is_mostly_deprecated(placed: &[Placed]) -> bool {
    let outermost = |one: &&Placed| one.definition.parent.is_none();
    let tokens = |one: &Placed| one.tokens.len();
    let all: usize = placed.iter().filter(outermost).map(tokens).sum();
    let leaving = placed.iter().filter(outermost).filter(|one| one.is_deprecated);
    3 * leaving.map(tokens).sum::<usize>() >= all
}

/// Lines that a C compiler sees only when tests are built: those under a condition that says `TEST`.
fn built_for_tests(text: &str) -> Vec<Range<u32>> {
    let mut found = Vec::new();
    // Of each open condition the line below it, when it asks for tests.
    let mut open: Vec<Option<u32>> = Vec::new();
    for (line, text) in (1..).zip(text.lines()) {
        let Some(directive) = text.trim_start().strip_prefix('#').map(str::trim_start) else {
            continue;
        };
        let asks = directive.contains("TEST") && !directive.contains('!');
        if directive.starts_with("ifndef") {
            open.push(None);
        } else if directive.starts_with("if") {
            open.push(asks.then_some(line + 1));
        } else if directive.starts_with("el") {
            found.extend(open.last_mut().and_then(Option::take).map(|start| start..line));
        } else if directive.starts_with("endif") {
            found.extend(open.pop().flatten().map(|start| start..line));
        }
    }
    found
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
pub(super) fn is_file_marked(lexed: &parse::Lexed, text: &str, rows: &Rows) -> bool {
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
pub(super) fn regions(
    placed: &[Placed],
    count: usize,
    place: Place,
    is_marked: bool,
) -> Vec<Region> {
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
pub(super) struct Rows(Vec<usize>);

impl Rows {
    pub(super) fn of(text: &str) -> Self {
        let ends = memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1);
        Self(std::iter::once(0).chain(ends.filter(|end| *end < text.len())).collect())
    }

    /// The line of a byte, from 1.
    pub(super) fn line(&self, byte: usize) -> u32 {
        self.0.partition_point(|start| *start <= byte) as u32
    }

    /// For each row the first token that begins in it or later.
    pub(super) fn first_tokens(&self, tokens: &[Token]) -> Vec<u32> {
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
/// Whether a method's head says that it fulfils somebody else's demand.
pub(super) fn implements(definition: &Definition, text: &str) -> bool {
    const HEAD_BYTES: usize = 400;
    let start = definition.doc.as_ref().filter(|doc| doc.end <= definition.head);
    let start = start.map_or(definition.bytes.start, |doc| doc.end);
    let end = (definition.head + HEAD_BYTES).min(definition.bytes.end);
    let head = text.get(start..end).or_else(|| text.get(start..definition.head)).unwrap_or("");
    let head = head.split(['{', '(']).next().unwrap_or(head);
    head.contains("@Override") || head.split_whitespace().any(|word| word == "override")
}

/// How many definitions, from the first on, lie within some tokens.
pub(super) fn count_within(tokens: &Range<usize>, placed: &[Placed]) -> usize {
    let within = |one: &&Placed| tokens.start <= one.tokens.start && one.tokens.end <= tokens.end;
    placed.iter().take_while(within).count()
}

/// Whether one of some definitions makes up most of what some tokens hold: it is compared, not its shell.
pub(super) fn is_shell(tokens: &Range<usize>, placed: &[Placed]) -> bool {
    const MOST: f32 = 0.8;
    let inside = &placed[..count_within(tokens, placed)];
    inside.iter().any(|inner| inner.tokens.len() as f32 >= MOST * tokens.len() as f32)
}

/// Words that make code do one thing or another, in any language.
const BRANCHES: &[&str] = &[
    "if", "else", "elif", "elsif", "elseif", "unless", "for", "foreach", "while", "until", "loop",
    "do", "match", "switch", "case", "when", "guard", "try", "catch", "except", "rescue", "select",
];

/// Whether a function's body is one short statement without a branch.
pub(super) fn is_thin(placed: &Placed, codes: &[Code], rows: &[u32]) -> bool {
    const TOKENS: usize = 40;
    const LINES: usize = 4;
    let body = placed.body..placed.tokens.end;
    if body.len() > TOKENS {
        return false;
    }
    let branches: Vec<Code> = BRANCHES.iter().map(|word| Code::fixed(word.as_bytes())).collect();
    let end = Code::fixed(b";");
    let codes = &codes[body.clone()];
    let ends = codes.iter().filter(|code| **code == end).count();
    let lines = rows
        .windows(2)
        .filter(|row| row[0] < row[1] && (body.start as u32..body.end as u32).contains(&row[0]));
    // Where no sign ends a statement a line does; the closing bracket or the documentation has another.
    let lines_max = if ends == 0 { 2 } else { LINES };
    ends <= 1 && lines.count() <= lines_max && !codes.iter().any(|code| branches.contains(code))
}

/// Whether a function's body is one list of values and hardly anything else: a bracket that holds most of
/// it, with nothing in it that branches or ends a statement.
pub(super) fn is_list(placed: &Placed, codes: &[Code]) -> bool {
    const MOST: f32 = 0.8;
    const VALUES: usize = 3;
    let body = &codes[placed.body..placed.tokens.end];
    let branches: Vec<Code> = BRANCHES.iter().map(|word| Code::fixed(word.as_bytes())).collect();
    let end = Code::fixed(b";");
    let last = body.iter().rposition(|code| !code.closes() && *code != end).unwrap_or(0);
    if body[..last].iter().any(|code| *code == end || branches.contains(code)) {
        return false;
    }
    let comma = Code::fixed(b",");
    // The largest bracket that lists values by itself: the commas of those inside of it are theirs.
    let mut open: Vec<(usize, usize)> = Vec::new();
    let mut listed = 0;
    for (at, code) in body.iter().enumerate() {
        if code.opens() {
            open.push((at, 0));
        } else if code.closes() {
            if let Some((start, commas)) = open.pop()
                && commas + 1 >= VALUES
            {
                listed = listed.max(at + 1 - start);
            }
        } else if *code == comma
            && let Some((_, commas)) = open.last_mut()
        {
            *commas += 1;
        }
    }
    listed as f32 >= MOST * body.len() as f32
}

/// Whether it is a function that does something.
pub(super) fn has_body(placed: &Placed) -> bool {
    /// A pair of brackets and a short statement.
    const TOKENS: usize = 10;
    is_function(placed.definition.kind) && placed.tokens.end - placed.body >= TOKENS
}

pub(super) fn is_function(kind: DefinitionKind) -> bool {
    matches!(kind, DefinitionKind::Function | DefinitionKind::Method)
}
