//! A node together with the text it stands in, and what a reader of one language says of it.

use tree_sitter::Node;

use super::DefinitionKind;

/// Longer names are cut; titles of tests can be paragraphs.
const NAME_CHARS_MAX: usize = 160;

/// A node and the text it stands in.
#[derive(Clone, Copy)]
pub(super) struct Seen<'t> {
    /// The node.
    pub node: Node<'t>,
    /// The whole text.
    pub text: &'t str,
    /// The kind of the innermost definition around it.
    pub owner: Option<DefinitionKind>,
}

/// What a definition is called.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(super) struct Name {
    /// Its own name.
    pub text: String,
    /// Names that qualify it, outermost first.
    pub outer: Vec<String>,
    /// Whether the qualification makes it a member of a type.
    pub member: bool,
}

/// A definition, as a reader of its language sees it.
pub(super) struct Found<'t> {
    /// What it is; a function inside a type becomes a method later.
    pub kind: DefinitionKind,
    /// What it is called.
    pub name: Name,
    /// Where its head ends.
    pub body: Option<Node<'t>>,
    /// Whether it groups definitions, like a `describe` of tests: it is always looked into.
    pub suite: bool,
    /// Whether its body is the node after it, which the grammar took for a statement of its own.
    pub body_follows: bool,
}

/// What a node is to an outline.
pub(super) enum Sight<'t> {
    /// Nothing by itself.
    Nothing,
    /// A mere container: what is in it counts as if it stood here.
    Inside,
    /// A shell around one definition, which takes on its extent (`export …`, a decorated function).
    Wrapper,
    /// A comment.
    Comment,
    /// An attribute or decorator of what follows.
    Attribute,
    /// Imports these words.
    Import(Vec<String>),
    /// Names these values.
    Values(Vec<String>),
    /// Names these variants of the type around.
    Variants(Vec<String>),
    /// Defines something.
    Define(Found<'t>),
    /// Source text that the grammar left as tokens; parsed by itself.
    Embedded,
}

impl Name {
    /// A plain name.
    pub(super) fn plain(text: &str) -> Self {
        Self { text: tidy(text), ..Self::default() }
    }

    /// A member of `outer`.
    pub(super) fn member_of(outer: &str, text: &str) -> Self {
        Self { text: tidy(text), outer: vec![tidy(outer)], member: true }
    }
}

impl<'t> Found<'t> {
    /// A definition of `kind` with a plain name.
    pub(super) fn new(kind: DefinitionKind, name: Name, body: Option<Node<'t>>) -> Self {
        Self { kind, name, body, suite: false, body_follows: false }
    }

    /// A test or, when it holds others, a group of tests.
    pub(super) fn test(title: &str, body: Option<Node<'t>>, suite: bool) -> Self {
        let name = Name::plain(title);
        Self { kind: DefinitionKind::Function, name, body, suite, body_follows: false }
    }
}

impl<'t> From<Found<'t>> for Sight<'t> {
    fn from(found: Found<'t>) -> Self {
        Self::Define(found)
    }
}

impl<'t> Seen<'t> {
    /// Another node of the same text.
    pub(super) fn at(self, node: Node<'t>) -> Self {
        Self { node, ..self }
    }

    /// The node's kind.
    pub(super) fn kind(self) -> &'t str {
        self.node.kind()
    }

    /// The node's text; empty where a mask left no whole characters.
    pub(super) fn str(self) -> &'t str {
        self.text.get(self.node.byte_range()).unwrap_or_default()
    }

    /// The child in a field.
    pub(super) fn field(self, name: &str) -> Option<Self> {
        self.node.child_by_field_name(name).map(|node| self.at(node))
    }

    /// The first named child that fits.
    pub(super) fn find(self, fits: impl Fn(Self) -> bool) -> Option<Self> {
        let mut cursor = self.node.walk();
        self.node.named_children(&mut cursor).map(|node| self.at(node)).find(|seen| fits(*seen))
    }

    /// The first named child of one of these kinds.
    pub(super) fn child(self, kinds: &[&str]) -> Option<Self> {
        self.find(|seen| kinds.contains(&seen.kind()))
    }

    /// The first named child.
    pub(super) fn first(self) -> Option<Self> {
        self.node.named_child(0).map(|node| self.at(node))
    }

    /// Calls `each` with every named child.
    pub(super) fn each(self, mut each: impl FnMut(Self)) {
        let mut cursor = self.node.walk();
        self.node.named_children(&mut cursor).for_each(|node| each(self.at(node)));
    }

    /// The texts of all named children of these kinds.
    pub(super) fn texts(self, kinds: &[&str]) -> Vec<String> {
        let mut texts = Vec::new();
        self.each(|seen| {
            if kinds.contains(&seen.kind()) {
                texts.push(tidy(seen.str()));
            }
        });
        texts
    }

    /// The name in the field `name`.
    pub(super) fn named(self) -> Option<Name> {
        self.field("name").map(|name| Name::plain(name.str()))
    }
}

/// A name on one line, without quotes around it, not too long.
pub(super) fn tidy(name: &str) -> String {
    let name = name.trim();
    let quoted =
        ['"', '\'', '`'].iter().find_map(|quote| name.strip_prefix(*quote)?.strip_suffix(*quote));
    let words: Vec<&str> = quoted.unwrap_or(name).split_whitespace().collect();
    match words[..] {
        [word] if word.len() <= NAME_CHARS_MAX => word.to_owned(),
        _ => words.join(" ").chars().take(NAME_CHARS_MAX).collect::<String>().trim_end().to_owned(),
    }
}

/// The last word of a type as written: `&'a mut io::Reader<T>` is a `Reader`.
pub(super) fn type_word(written: &str) -> &str {
    let is_word = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'_';
    let bytes = written.as_bytes();
    let opens = |at: usize| match bytes[at] {
        b'<' => true,
        b'[' | b'(' => at > 0 && is_word(bytes[at - 1]),
        _ => false,
    };
    let head = (0..bytes.len()).find(|at| opens(*at)).map_or(written, |at| &written[..at]);
    last_word(head).or_else(|| last_word(written)).unwrap_or(written)
}

/// The last word of a text that is no lifetime.
fn last_word(text: &str) -> Option<&str> {
    let words = text.split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '\''));
    words.rev().find(|word| !word.is_empty() && !word.contains('\''))
}
