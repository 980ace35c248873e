//! Here is a tree: what does it define, where may it be cut, what does it import?
//!
//! One cursor goes through the tree without recursion, and only where definitions can be: into bodies
//! of types, into containers, and into whatever is long. Function bodies of ordinary length stay shut.

use std::ops::Range;

use tree_sitter::{Node, Tree};

use super::head::Head;
use super::languages::{self, Grammar, Role};
use super::seen::{Found, Seen, Sight};
use super::{Cut, Definition, DefinitionKind, Outline, Value, imports};

/// Definitions nested more deeply belong to the text of the one around them.
const NESTING_MAX: usize = 12;

/// A function inside a long function is a definition of its own from this many bytes on.
const NESTED_BYTES_MIN: usize = 300;

/// A property of at least this many lines counts as a function.
const PROPERTY_ROWS_MIN: usize = 4;

/// What was read of a tree.
#[derive(Default)]
pub(super) struct Reading {
    /// What the tree defines.
    pub outline: Outline,
    /// Source text that the grammar left as tokens, and the definition that it stands in.
    pub embedded: Vec<(tree_sitter::Range, Option<usize>)>,
}

/// Adds to `reading` what a tree defines inside the definition `owner`.
///
/// `text` is the text itself, also where the tree was made from a masked one. Definitions come in the
/// order in which they begin, each after the one that it stands in.
pub(super) fn read(
    grammar: &Grammar,
    text: &str,
    tree: &Tree,
    long: usize,
    owner: Option<usize>,
    reading: &mut Reading,
) {
    let mut walk = Walk {
        row: grammar,
        roles: languages::roles(grammar),
        text,
        long,
        reading,
        levels: vec![Level { owner, ..Level::default() }],
    };
    let mut cursor = tree.root_node().walk();
    if !cursor.goto_first_child() {
        return;
    }
    loop {
        if let Some(level) = walk.visit(cursor.node()) {
            if cursor.goto_first_child() {
                walk.levels.push(level);
                continue;
            }
            walk.leave(level, cursor.node());
        }
        while !cursor.goto_next_sibling() {
            if walk.levels.len() == 1 || !cursor.goto_parent() {
                return;
            }
            let level = walk.levels.pop().expect("a level for each node above");
            walk.leave(level, cursor.node());
        }
    }
}

/// Comments and attributes that wait for what they belong to.
#[derive(Clone, Debug)]
struct Pending {
    /// The first byte.
    start: usize,
    /// The row in which it ends.
    end_row: usize,
    /// The comments among it.
    doc: Option<Range<usize>>,
}

/// A shell around a definition.
#[derive(Clone, Copy)]
struct Shell {
    /// Where its head begins, after attributes.
    head_start: usize,
    /// How many definitions there were before it.
    definitions_before: usize,
}

/// What is known of the siblings that the cursor goes through.
#[derive(Clone, Default)]
struct Level<'t> {
    /// The innermost definition around them.
    owner: Option<usize>,
    /// Only the way to this body matters; the rest is the head of a definition.
    toward: Option<Node<'t>>,
    /// The shell whose children they are.
    shell: Option<Shell>,
    /// Whether they count as standing one level higher.
    transparent: bool,
    /// Whether they stand in a function that was opened for its length.
    in_function: bool,
    /// What waits for the next definition.
    pending: Option<Pending>,
    /// The row in which the sibling before ended, from 1; 0 at the beginning.
    row_after: usize,
    /// The definition just before, with nothing but comments since.
    previous: Option<usize>,
    /// The definition just before has its body in the next sibling.
    awaits_body: bool,
}

/// The way through a tree.
struct Walk<'t, 'r> {
    row: &'t Grammar,
    roles: &'static [Role],
    text: &'t str,
    long: usize,
    reading: &'r mut Reading,
    levels: Vec<Level<'t>>,
}

impl<'t> Walk<'t, '_> {
    /// Takes in a node; the level to go down to, if it is to be looked into.
    fn visit(&mut self, node: Node<'t>) -> Option<Level<'t>> {
        if let Some(body) = self.level().toward {
            return self.approach(node, body);
        }
        if !node.is_named() {
            return None;
        }
        if self.level().awaits_body {
            return self.adopt(node);
        }
        let role = self.role(node);
        self.cut(node, role);
        let sight = self.sight(node, role);
        self.take(node, sight)
    }

    fn level(&mut self) -> &mut Level<'t> {
        self.levels.last_mut().expect("the root's level stays")
    }

    fn role(&self, node: Node) -> Role {
        languages::role(self.roles, node)
    }

    fn seen(&self, node: Node<'t>) -> Seen<'t> {
        let owner = self.levels.last().and_then(|level| level.owner);
        let owner = owner.map(|owner| self.reading.outline.definitions[owner].kind);
        Seen { node, text: self.text, owner }
    }

    /// Goes down the way from a definition to its body. Comments just before the body belong to what
    /// stands first in it.
    fn approach(&mut self, node: Node<'t>, body: Node<'t>) -> Option<Level<'t>> {
        let role = self.role(node);
        let opens = self.text[..body.end_byte()]
            .get(body.start_byte()..)
            .is_some_and(|text| text.starts_with('{'));
        let level = self.level();
        let next = Level { owner: level.owner, in_function: level.in_function, ..Level::default() };
        if node.id() == body.id() {
            let row_after = if opens { node.start_position().row + 1 } else { level.row_after };
            return Some(Level { pending: level.pending.take(), row_after, ..next });
        }
        if node.start_byte() <= body.start_byte() && body.end_byte() <= node.end_byte() {
            return Some(Level { toward: Some(body), ..next });
        }
        if role == Role::Comment {
            self.wait(node, true);
        } else {
            self.pass(node);
        }
        None
    }

    /// Takes the node as the body of the definition before it.
    fn adopt(&mut self, node: Node<'t>) -> Option<Level<'t>> {
        let level = self.level();
        level.awaits_body = false;
        level.row_after = last_row(node) + 1;
        let owner = level.previous?;
        let definition = &mut self.reading.outline.definitions[owner];
        definition.bytes.end = node.end_byte();
        Some(Level { owner: Some(owner), ..Level::default() })
    }

    /// Notes that something begins here.
    fn cut(&mut self, node: Node<'t>, role: Role) {
        let row = node.start_position().row;
        let depth = u32::try_from(self.levels.len()).unwrap_or(u32::MAX);
        let level = self.levels.last().expect("the root's level stays");
        let attached = level.pending.as_ref().is_some_and(|pending| pending.end_row + 1 >= row);
        let trails = role == Role::Comment && level.row_after == row + 1;
        if !attached && !trails {
            self.reading.outline.cuts.push(Cut { at: node.start_byte(), depth });
        }
    }

    /// What a node is, by its role.
    fn sight(&self, node: Node<'t>, role: Role) -> Sight<'t> {
        let seen = self.seen(node);
        let define = |kind| {
            let name = (self.row.name)(seen).unwrap_or_default();
            Sight::Define(Found::new(kind, name, self.body(seen)))
        };
        match role {
            Role::None | Role::Modifiers if node.is_error() => Sight::Inside,
            Role::None | Role::Modifiers => Sight::Nothing,
            Role::Function => define(DefinitionKind::Function),
            Role::Type => define(DefinitionKind::Type),
            Role::Extension => define(DefinitionKind::Extension),
            Role::Namespace => define(DefinitionKind::Namespace),
            Role::Property if rows(node) >= PROPERTY_ROWS_MIN => define(DefinitionKind::Function),
            Role::Property | Role::Value => Sight::Values((self.row.values)(seen)),
            Role::Variant => Sight::Variants((self.row.values)(seen)),
            Role::Import => Sight::Import(imports::words(seen.str())),
            Role::Comment => Sight::Comment,
            Role::Attribute => Sight::Attribute,
            Role::Wrapper => Sight::Wrapper,
            Role::Inside | Role::Body => Sight::Inside,
            Role::Special => (self.row.special)(seen),
        }
    }

    /// The body of a definition: the field of that name, or a child whose kind is one.
    fn body(&self, seen: Seen<'t>) -> Option<Node<'t>> {
        let is_body = |node: Node| self.role(node) == Role::Body;
        let field = seen.field("body").filter(|body| !self.defines(body.node));
        let body = field.or_else(|| seen.find(|child| is_body(child.node)));
        let go_type =
            || seen.field("type").and_then(|written| written.find(|child| is_body(child.node)));
        body.or_else(go_type).map(|body| body.node)
    }

    /// Whether a node is a definition by its kind.
    fn defines(&self, node: Node) -> bool {
        matches!(self.role(node), Role::Function | Role::Type | Role::Extension)
    }

    /// Notes what a node is; the level to go down to, if it is to be looked into.
    fn take(&mut self, node: Node<'t>, sight: Sight<'t>) -> Option<Level<'t>> {
        match sight {
            Sight::Comment => self.wait(node, true),
            Sight::Attribute => self.wait(node, false),
            Sight::Inside => return Some(self.inside()),
            Sight::Wrapper => return Some(self.shell(node)),
            Sight::Define(found) => return self.define(node, found),
            Sight::Nothing => {
                self.pass(node);
                return self.look_into_long(node);
            }
            Sight::Embedded => {
                let owner = self.level().owner;
                self.embed(node, owner);
                self.pass(node);
                return self.look_into_long(node);
            }
            Sight::Import(words) => {
                for word in &words {
                    imports::push(&mut self.reading.outline.imports, word);
                }
                self.pass(node);
            }
            Sight::Values(names) => {
                let names = names.into_iter().filter(|name| self.is_wanted(name)).collect();
                self.name_values(node, names);
                self.pass(node);
                return self.look_into_long(node);
            }
            Sight::Variants(names) => {
                self.name_values(node, names);
                self.pass(node);
            }
        }
        None
    }

    /// A level whose nodes count as standing here.
    fn inside(&mut self) -> Level<'t> {
        let level = self.level();
        Level {
            owner: level.owner,
            in_function: level.in_function,
            transparent: true,
            pending: level.pending.take(),
            row_after: level.row_after,
            ..Level::default()
        }
    }

    /// A level inside a shell.
    fn shell(&mut self, node: Node<'t>) -> Level<'t> {
        let definitions_before = self.reading.outline.definitions.len();
        let level = self.level();
        let shell = Shell { head_start: node.start_byte(), definitions_before };
        Level {
            owner: level.owner,
            in_function: level.in_function,
            shell: Some(shell),
            ..Level::default()
        }
    }

    /// Long nodes are looked into, whatever they are.
    fn look_into_long(&mut self, node: Node<'t>) -> Option<Level<'t>> {
        let level = self.level();
        let next = Level { owner: level.owner, in_function: level.in_function, ..Level::default() };
        (node.byte_range().len() > self.long).then_some(next)
    }

    /// Nothing that waited belongs to what comes after the node.
    fn pass(&mut self, node: Node<'t>) {
        let level = self.level();
        level.pending = None;
        level.previous = None;
        level.row_after = last_row(node) + 1;
    }

    /// Keeps a comment or an attribute for what comes next.
    fn wait(&mut self, node: Node<'t>, is_comment: bool) {
        let row = node.start_position().row;
        let end_row = last_row(node);
        let level = self.level();
        if is_comment && level.row_after == row + 1 {
            level.row_after = end_row + 1;
            return;
        }
        if let Some(shell) = level.shell.as_mut().filter(|_| !is_comment) {
            shell.head_start = node.end_byte();
        }
        let mut pending = match level.pending.take() {
            Some(pending) if pending.end_row + 1 >= row => pending,
            _ => Pending { start: node.start_byte(), end_row, doc: None },
        };
        pending.end_row = end_row;
        if is_comment {
            let start = pending.doc.map_or(node.start_byte(), |doc| doc.start);
            pending.doc = Some(start..node.end_byte());
        }
        level.pending = Some(pending);
    }

    /// Whether a value's name says something outside of the definition around it: a function's own
    /// variables do not, nor do a type's ordinary fields.
    fn is_wanted(&self, name: &str) -> bool {
        let owner = self.levels.last().and_then(|level| level.owner);
        match owner.map(|owner| self.reading.outline.definitions[owner].kind) {
            Some(DefinitionKind::Function | DefinitionKind::Method) => false,
            Some(DefinitionKind::Type | DefinitionKind::Extension) => {
                name.starts_with(char::is_uppercase)
            }
            _ => true,
        }
    }

    /// Keeps the names of values.
    fn name_values(&mut self, node: Node<'t>, names: Vec<String>) {
        let at = node.start_byte();
        let kept = names.into_iter().filter(|name| !name.is_empty() && name != "_");
        self.reading.outline.values.extend(kept.map(|name| Value { name, at }));
    }

    /// Notes source text that the grammar left as tokens.
    fn embed(&mut self, node: Node<'t>, owner: Option<usize>) {
        let mut cursor = node.walk();
        let Some(tokens) = node.named_children(&mut cursor).last() else { return };
        let (Some(open), count) = (tokens.child(0), tokens.child_count()) else { return };
        let Some(close) = count.checked_sub(1).and_then(|last| tokens.child(last)) else { return };
        if close.start_byte() > open.end_byte() {
            let range = tree_sitter::Range {
                start_byte: open.end_byte(),
                end_byte: close.start_byte(),
                start_point: open.end_position(),
                end_point: close.start_position(),
            };
            self.reading.embedded.push((range, owner));
        }
    }

    /// Notes a definition; the level to go down to, if it is to be looked into.
    fn define(&mut self, node: Node<'t>, found: Found<'t>) -> Option<Level<'t>> {
        let bytes = node.byte_range().len();
        let as_function = found.kind == DefinitionKind::Function;
        let level = self.levels.last().expect("the root's level stays");
        let (owner, in_function) = (level.owner, level.in_function);
        if in_function && bytes < NESTED_BYTES_MIN || self.nesting(owner) >= NESTING_MAX {
            self.pass(node);
            return self.look_into_long(node);
        }
        let opened = !as_function || found.suite || bytes > self.long;
        let next = Level {
            in_function: as_function && !found.suite,
            toward: found.body,
            ..Level::default()
        };
        if let Some(previous) = self.clause_of(&found) {
            let end = node.end_byte();
            self.reading.outline.definitions[previous].bytes.end = end;
            self.pass(node);
            self.level().previous = Some(previous);
            return opened.then_some(Level { owner: Some(previous), ..next });
        }
        let position = self.reading.outline.definitions.len();
        let awaits_body = found.body_follows;
        let definition = self.definition(node, found);
        self.reading.outline.definitions.push(definition);
        self.pass(node);
        let level = self.level();
        level.previous = Some(position);
        level.awaits_body = awaits_body;
        (opened && !awaits_body).then_some(Level { owner: Some(position), ..next })
    }

    /// How many definitions stand around what `owner` holds.
    fn nesting(&self, owner: Option<usize>) -> usize {
        let parent = |at: &usize| self.reading.outline.definitions[*at].parent;
        std::iter::successors(owner, parent).count()
    }

    /// The definition just before, when this is another clause of it.
    fn clause_of(&self, found: &Found) -> Option<usize> {
        let previous = self.levels.last().and_then(|level| level.previous)?;
        let definition = &self.reading.outline.definitions[previous];
        let is_function =
            matches!(definition.kind, DefinitionKind::Function | DefinitionKind::Method);
        let same = self.row.clauses
            && is_function
            && found.kind == DefinitionKind::Function
            && !found.suite
            && !found.name.text.is_empty()
            && definition.name == found.name.text
            && definition.outer == found.name.outer;
        same.then_some(previous)
    }

    /// The definition that a node is, with what waited for it.
    fn definition(&mut self, node: Node<'t>, found: Found<'t>) -> Definition {
        let seen = self.seen(node);
        let in_type = matches!(seen.owner, Some(DefinitionKind::Type | DefinitionKind::Extension));
        let kind = match found.kind {
            DefinitionKind::Function if !found.suite && (in_type || found.name.member) => {
                DefinitionKind::Method
            }
            kind => kind,
        };
        let start_row = node.start_position().row;
        let docstring = found.body.filter(|_| self.row.docstrings).and_then(docstring);
        let level = self.level();
        let owner = level.owner;
        let pending = level.pending.take().filter(|pending| pending.end_row + 1 >= start_row);
        let start = pending.as_ref().map_or(node.start_byte(), |pending| pending.start);
        let doc = docstring.or_else(|| pending.and_then(|pending| pending.doc));
        let head = Head::of(seen, found.body, kind, self.roles);
        Definition {
            kind,
            name: found.name.text,
            outer: found.name.outer,
            parent: owner,
            bytes: start..node.end_byte(),
            head: head.start,
            body: head.end,
            signature: head.text,
            doc,
        }
    }

    /// Takes in what a level held, once the cursor is back on its node.
    fn leave(&mut self, level: Level<'t>, node: Node<'t>) {
        if let Some(shell) = level.shell {
            self.close_shell(shell, node);
        } else if level.transparent {
            let outer = self.level();
            outer.row_after = level.row_after.max(outer.row_after);
            outer.pending = level.pending;
            outer.previous = None;
        }
    }

    /// Gives the extent of a shell to the one definition in it.
    fn close_shell(&mut self, shell: Shell, node: Node<'t>) {
        let owner = self.level().owner;
        let definitions = &mut self.reading.outline.definitions;
        let new = &mut definitions[shell.definitions_before..];
        let mut direct = new.iter_mut().enumerate().filter(|(_, new)| new.parent == owner);
        let (only, others) = (direct.next(), direct.next().is_some());
        let Some((at, only)) = only.filter(|_| !others) else {
            self.pass(node);
            return;
        };
        let position = shell.definitions_before + at;
        only.bytes = only.bytes.start.min(node.start_byte())..node.end_byte();
        let before = self.text.get(shell.head_start..only.head).unwrap_or_default();
        let shell_words: Vec<&str> = before.split_whitespace().collect();
        if !shell_words.is_empty() {
            only.signature = format!("{} {}", shell_words.join(" "), only.signature);
        }
        only.head = shell.head_start.min(only.head);
        let (kind, name) = (only.kind, only.name.clone());
        let start_row = node.start_position().row;
        let level = self.levels.last_mut().expect("the root's level stays");
        let pending = level.pending.take().filter(|pending| pending.end_row + 1 >= start_row);
        let definitions = &mut self.reading.outline.definitions;
        if let Some(pending) = pending {
            definitions[position].bytes.start = pending.start;
            if definitions[position].doc.is_none() {
                definitions[position].doc = pending.doc;
            }
        }
        let previous = level.previous.filter(|previous| {
            let before = &definitions[*previous];
            self.row.clauses
                && kind == DefinitionKind::Function
                && before.kind == kind
                && before.name == name
                && definitions.len() == position + 1
        });
        if let Some(previous) = previous {
            definitions[previous].bytes.end = node.end_byte();
            definitions.truncate(position);
        }
        self.pass(node);
        self.level().previous = Some(previous.unwrap_or(position));
    }
}

/// The last row that a node has text in, from 0.
fn last_row(node: Node) -> usize {
    let end = node.end_position();
    let start = node.start_position();
    if end.column == 0 && end.row > start.row { end.row - 1 } else { end.row }
}

/// How many rows a node has text in.
fn rows(node: Node) -> usize {
    last_row(node) - node.start_position().row + 1
}

/// The string at the start of a body.
fn docstring(body: Node) -> Option<Range<usize>> {
    let statement = body.named_child(0).filter(|first| first.kind() == "expression_statement")?;
    let string = statement.named_child(0).filter(|inner| inner.kind() == "string")?;
    Some(string.byte_range())
}
