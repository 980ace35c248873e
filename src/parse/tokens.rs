//! Here is a tree: which tokens is its text made of, comments and imports aside?
//!
//! Kinds of leaves are told apart by the words in their names, which the grammars share: what is an
//! `identifier` here is a `type_identifier` or a `simple_identifier` there. A test holds for every
//! grammar that names and literals are found.

use std::ops::Range;

use tree_sitter::{Node, Tree, TreeCursor};

use super::languages::{self, Grammar, Role};

/// Comments that say this hide what stands below them from a search for copies.
const MARKER: &str = "sai-noduplicate";

/// What may be exchanged in a token without changing the shape of the code.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum TokenClass {
    /// Keywords, operators, brackets, built-in constants: nothing.
    Fixed,
    /// The name of a variable, function, type, field.
    Name,
    /// A string or a character.
    Text,
    /// A number.
    Number,
}

/// The smallest piece of code.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Token {
    pub class: TokenClass,
    /// The first byte.
    pub start: u32,
    /// The byte after the last one.
    pub end: u32,
}

/// What a text is made of.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Leaves {
    /// In order, without comments and imports.
    pub tokens: Vec<Token>,
    /// Where comments begin that say [`MARKER`].
    pub markers: Vec<usize>,
    pub ignored: IgnoredLines,
}

/// How much of a text is never compared, whatever stands elsewhere.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct IgnoredLines {
    /// Lines of imports.
    pub imports: usize,
    /// Lines of the comments before the code that speak of a licence or of who holds the copyright.
    pub licence: usize,
}

/// The tokens of a tree.
pub(super) fn read(grammar: &Grammar, text: &str, tree: &Tree) -> Leaves {
    let kinds = languages::kinds(grammar);
    let mut leaves = Leaves::default();
    let mut head = Head::default();
    let mut cursor = tree.root_node().walk();
    loop {
        let node = cursor.node();
        let goes_down = match languages::role(&kinds.roles, node) {
            Role::Import => {
                leaves.ignored.imports += rows(node).len();
                false
            }
            Role::Comment => {
                leaves.note(node, text);
                if leaves.tokens.is_empty() && leaves.ignored.imports == 0 {
                    head.add(node, text);
                }
                false
            }
            _ => leaves.take(node, text, &kinds.classes),
        };
        if goes_down && cursor.goto_first_child() {
            continue;
        }
        if !onward(&mut cursor) {
            leaves.ignored.licence = head.licence_lines();
            return leaves;
        }
    }
}

/// The comments before the code, those together that no empty line parts.
#[derive(Default)]
struct Head {
    /// The rows of the last block, and whether it speaks of a licence.
    last: Option<(Range<usize>, bool)>,
    /// Lines of blocks before it that do.
    licence: usize,
}

impl Head {
    fn add(&mut self, comment: Node, text: &str) {
        let said = text.get(comment.byte_range()).unwrap_or("").to_ascii_lowercase();
        let is_licence = ["license", "licence", "copyright"].iter().any(|word| said.contains(word));
        let rows = rows(comment);
        match &mut self.last {
            Some((block, says)) if rows.start <= block.end => {
                block.end = rows.end.max(block.end);
                *says |= is_licence;
            }
            _ => {
                self.licence = self.licence_lines();
                self.last = Some((rows, is_licence));
            }
        }
    }

    fn licence_lines(&self) -> usize {
        let last = self.last.as_ref().filter(|(_, says)| *says);
        self.licence + last.map_or(0, |(rows, _)| rows.len())
    }
}

/// The rows that a node has text in.
fn rows(node: Node) -> Range<usize> {
    let (start, end) = (node.start_position(), node.end_position());
    start.row..(end.row + usize::from(end.column > 0)).max(start.row + 1)
}

/// Moves to the next node that is not inside of this one.
fn onward(cursor: &mut TreeCursor) -> bool {
    while !cursor.goto_next_sibling() {
        if !cursor.goto_parent() {
            return false;
        }
    }
    true
}

impl Leaves {
    /// Keeps where a comment begins that hides something.
    fn note(&mut self, comment: Node, text: &str) {
        if text.get(comment.byte_range()).is_some_and(|comment| comment.contains(MARKER)) {
            self.markers.push(comment.start_byte());
        }
    }

    /// Takes a leaf, or a string as a whole; whether to look into the node instead.
    fn take(&mut self, node: Node, text: &str, classes: &[TokenClass]) -> bool {
        // An error's kind is beyond all others.
        let class = classes.get(usize::from(node.kind_id()));
        let class = class.copied().unwrap_or(TokenClass::Fixed);
        let is_whole = class == TokenClass::Text && is_plain(node);
        if node.child_count() > 0 && !is_whole {
            return true;
        }
        // An empty leaf is one that the parser missed, or the end of a line that counts.
        if text.get(node.byte_range()).is_some_and(|text| !text.trim().is_empty())
            && let (Ok(start), Ok(end)) = (node.start_byte().try_into(), node.end_byte().try_into())
        {
            self.tokens.push(Token { class, start, end });
        }
        false
    }
}

impl TokenClass {
    /// What may be exchanged in a named leaf of this kind.
    pub(super) fn of(kind: &str) -> Self {
        const TEXTS: &[&str] =
            &["string", "char", "text", "regex", "heredoc", "symbol", "escape_sequence"];
        const NUMBERS: &[&str] =
            &["integer", "float", "number", "decimal", "int_literal", "real", "hex"];
        const NAMES: &[&str] = &["identifier", "name", "constructor", "variable"];
        const WHOLE_NAMES: &[&str] =
            &["constant", "alias", "atom", "word", "field", "label", "module_id", "keyword"];
        let holds = |parts: &[&str]| parts.iter().any(|part| kind.contains(part));
        if kind == "operator_identifier" {
            Self::Fixed
        } else if holds(TEXTS) {
            Self::Text
        } else if holds(NAMES) || WHOLE_NAMES.contains(&kind) {
            Self::Name
        } else if holds(NUMBERS) {
            Self::Number
        } else {
            Self::Fixed
        }
    }
}

/// Whether a string holds no code.
fn is_plain(node: Node) -> bool {
    const PARTS: &[&str] =
        &["string", "fragment", "content", "escape", "char", "text", "quote", "heredoc", "symbol"];
    let mut cursor = node.walk();
    node.named_children(&mut cursor)
        .all(|child| PARTS.iter().any(|part| child.kind().contains(part)) && is_plain(child))
}
