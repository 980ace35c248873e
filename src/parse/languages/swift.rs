//! Reader for Swift, whose grammar has one kind of node for classes, structs, enums and extensions.

use super::super::DefinitionKind;
use super::super::seen::{Found, Name, Seen, Sight, tidy, type_word};

/// Initialisers and subscripts are called after their keyword.
pub(super) fn name(seen: Seen) -> Option<Name> {
    match seen.kind() {
        "init_declaration" => Some(Name::plain("init")),
        "deinit_declaration" => Some(Name::plain("deinit")),
        "subscript_declaration" => Some(Name::plain("subscript")),
        "property_declaration" => values(seen).first().map(|name| Name::plain(name)),
        "macro_declaration" => {
            seen.child(&["simple_identifier"]).map(|name| Name::plain(name.str()))
        }
        _ => seen.named(),
    }
}

/// The names of properties, aliases and enum cases.
pub(super) fn values(seen: Seen) -> Vec<String> {
    let mut cursor = seen.node.walk();
    let is_case = seen.kind() == "enum_entry";
    seen.node
        .children_by_field_name("name", &mut cursor)
        .take(if is_case { usize::MAX } else { 1 })
        .map(|name| tidy(seen.at(name).str()))
        .collect()
}

/// A type, or an extension of one.
pub(super) fn special(seen: Seen) -> Sight {
    let Some(name) = seen.field("name") else { return Sight::Inside };
    let body = seen.field("body").map(|body| body.node);
    let extends = seen.field("declaration_kind").is_some_and(|kind| kind.str() == "extension");
    let kind = if extends { DefinitionKind::Extension } else { DefinitionKind::Type };
    Found::new(kind, Name::plain(type_word(name.str())), body).into()
}
