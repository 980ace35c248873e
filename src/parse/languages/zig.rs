//! Reader for Zig, where types and imports are values of constants.

use super::super::DefinitionKind;
use super::super::imports;
use super::super::seen::{Found, Name, Seen, Sight, tidy};

/// Kinds of nodes that are types.
const TYPES: &[&str] = &[
    "struct_declaration",
    "enum_declaration",
    "union_declaration",
    "opaque_declaration",
    "error_set_declaration",
];

/// A test's title.
pub(super) fn name(seen: Seen) -> Option<Name> {
    seen.child(&["string", "identifier"]).map(|title| Name::plain(title.str()))
}

/// Functions and constants.
pub(super) fn special(seen: Seen) -> Sight {
    if seen.kind() == "function_declaration" { function(seen) } else { constant(seen) }
}

/// A function that returns `type` is a generic type.
fn function(seen: Seen) -> Sight {
    let Some(name) = seen.named() else { return Sight::Nothing };
    let body = seen.field("body").map(|body| body.node);
    let generic = seen.field("type").is_some_and(|written| written.str() == "type");
    let kind = if generic { DefinitionKind::Type } else { DefinitionKind::Function };
    Found::new(kind, name, body).into()
}

fn constant(seen: Seen) -> Sight {
    let Some(name) = seen.child(&["identifier"]) else { return Sight::Nothing };
    if let Some(body) = seen.child(TYPES) {
        return Found::new(DefinitionKind::Type, Name::plain(name.str()), Some(body.node)).into();
    }
    if seen.str().contains("@import(") && !seen.str().contains('\n') {
        return Sight::Import(imports::words(seen.str()));
    }
    Sight::Values(vec![tidy(name.str())])
}
