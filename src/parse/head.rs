//! Here is a definition: where does its head begin and end, and how does it read on one line?

use std::ops::Range;

use tree_sitter::Node;

use super::DefinitionKind;
use super::languages::{Role, role};
use super::seen::Seen;

/// A head without a body is all of the definition, unless it is longer than this many bytes.
const HEAD_BYTES_MAX: usize = 400;

/// The head of a definition.
pub(super) struct Head {
    /// Where it begins: after the attributes that the grammar counts to the definition.
    pub start: usize,
    /// Where it ends and the body begins.
    pub end: usize,
    /// Its text on one line, without comments.
    pub text: String,
}

impl Head {
    /// The head of the definition that `seen` is.
    pub(super) fn of(seen: Seen, body: Option<Node>, kind: DefinitionKind, roles: &[Role]) -> Self {
        let start = start(seen.node, roles);
        let range = start..end(seen, start, body, kind);
        let mut words = Vec::new();
        let mut at = start;
        for comment in comments(seen, &range, roles) {
            words.extend(seen.text.get(at..comment.start).unwrap_or_default().split_whitespace());
            at = comment.end.max(at);
        }
        words.extend(seen.text.get(at..range.end).unwrap_or_default().split_whitespace());
        Self { start, end: range.end, text: words.join(" ") }
    }
}

/// Where a head begins.
fn start(node: Node, roles: &[Role]) -> usize {
    let mut start = node.start_byte();
    let mut cursor = node.walk();
    let mut in_modifiers = false;
    let mut more = cursor.goto_first_child();
    while more {
        more = match role(roles, cursor.node()) {
            Role::Attribute => {
                start = cursor.node().end_byte();
                cursor.goto_next_sibling()
            }
            Role::Modifiers if !in_modifiers => {
                in_modifiers = true;
                cursor.goto_first_child()
            }
            _ => false,
        };
    }
    start
}

/// Where a head ends: before the body, or where there is none, with the definition.
fn end(seen: Seen, start: usize, body: Option<Node>, kind: DefinitionKind) -> usize {
    if let Some(body) = body {
        return body.start_byte().max(start);
    }
    let whole = seen.node.end_byte().max(start);
    let Some(text) = seen.text.get(start..whole) else { return whole };
    let is_function = matches!(kind, DefinitionKind::Function | DefinitionKind::Method);
    let brace = text.find('{').filter(|_| !is_function);
    let indent = text.len() - text.trim_start().len();
    let line = text[indent..].find('\n').map(|at| at + indent);
    let cut = brace.or(line.filter(|_| text.len() > HEAD_BYTES_MAX));
    start + cut.unwrap_or(text.len())
}

/// The comments inside a head.
fn comments(seen: Seen, head: &Range<usize>, roles: &[Role]) -> Vec<Range<usize>> {
    const MARKS: &[&str] = &["//", "/*", "--", "{-", "#"];
    let text = seen.text.get(head.clone()).unwrap_or_default();
    let mut comments = Vec::new();
    if !MARKS.iter().any(|mark| text.contains(mark)) {
        return comments;
    }
    let mut cursor = seen.node.walk();
    let mut more = cursor.goto_first_child();
    while more && cursor.node().start_byte() < head.end {
        let inner = cursor.node();
        let is_comment = role(roles, inner) == Role::Comment;
        if is_comment {
            comments.push(inner.byte_range());
        }
        let is_before = inner.end_byte() <= head.start;
        more = !is_comment && !is_before && cursor.goto_first_child();
        while !more {
            more = cursor.goto_next_sibling();
            if !more && !cursor.goto_parent() {
                break;
            }
        }
    }
    comments
}
