//! Reader for Lua, where modules are tables and functions are assigned.

use super::super::DefinitionKind;
use super::super::imports;
use super::super::seen::{Found, Name, Seen, Sight, tidy, type_word};
use super::script::{test_word, title};

/// `function M.name` is `name` of `M`; with a colon it is a method.
pub(super) fn name(seen: Seen) -> Option<Name> {
    seen.field("name").map(place)
}

/// The name of a place that is assigned to.
fn place(at: Seen) -> Name {
    let last = at.field("field").or_else(|| at.field("method"));
    match (last, at.field("table")) {
        (Some(last), Some(table)) => Name {
            member: at.kind() == "method_index_expression",
            ..Name::member_of(type_word(table.str()), last.str())
        },
        _ => Name::plain(at.str()),
    }
}

/// Assignments, calls and table fields.
pub(super) fn special(seen: Seen) -> Sight {
    match seen.kind() {
        "assignment_statement" => assignment(seen),
        "function_call" => call(seen),
        _ => match (seen.field("name"), seen.field("value")) {
            (Some(name), Some(value)) => {
                defined(Name::plain(name.str()), value).map_or(Sight::Nothing, Sight::from)
            }
            _ => Sight::Nothing,
        },
    }
}

/// What holding `value` makes of a name, if that is a definition.
fn defined(name: Name, value: Seen) -> Option<Found> {
    match value.kind() {
        "function_definition" => {
            let body = value.field("body").map(|body| body.node);
            Some(Found::new(DefinitionKind::Function, name, body))
        }
        "table_constructor" => {
            value.find(|field| {
                field.field("value").is_some_and(|v| v.kind() == "function_definition")
            })?;
            Some(Found::new(DefinitionKind::Type, name, Some(value.node)))
        }
        _ => None,
    }
}

fn assignment(seen: Seen) -> Sight {
    let left = seen.child(&["variable_list"]).and_then(Seen::first);
    let right = seen.child(&["expression_list"]).and_then(Seen::first);
    let Some(left) = left else { return Sight::Nothing };
    let Some(right) = right else { return Sight::Values(vec![tidy(left.str())]) };
    let is_require = right.kind() == "function_call"
        && right.field("name").is_some_and(|name| matches!(name.str(), "require" | "dofile"));
    if is_require {
        return Sight::Import(imports::words(seen.str()));
    }
    let computed = left.kind() == "bracket_index_expression"
        && left.field("field").is_none_or(|key| key.kind() != "string");
    if computed {
        return Sight::Nothing;
    }
    let name = place(left);
    match defined(name.clone(), right) {
        Some(found) => found.into(),
        None if left.kind() == "identifier" => Sight::Values(vec![name.text]),
        None => Sight::Nothing,
    }
}

fn call(seen: Seen) -> Sight {
    let word = seen.field("name").map(Seen::str).unwrap_or_default();
    if matches!(word, "require" | "dofile") {
        return Sight::Import(imports::words(seen.str()));
    }
    let Some(suite) = test_word(word) else { return Sight::Nothing };
    let Some(arguments) = seen.field("arguments") else { return Sight::Nothing };
    match (arguments.first(), arguments.child(&["function_definition"])) {
        (Some(first), Some(function)) if first.kind() == "string" => {
            let body = function.field("body").map(|body| body.node);
            Found::test(&title(first), body, suite).into()
        }
        _ => Sight::Nothing,
    }
}
