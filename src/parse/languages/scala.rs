//! Reader for Scala, whose test libraries turn strings and infix words into tests.

use super::super::DefinitionKind;
use super::super::seen::{Found, Name, Seen, Sight, tidy, type_word};
use super::script::test_word;

/// Infix words that open a group of tests.
const SUITES: &[&str] = &["should", "must", "can", "when", "which", "that", "-", ">>"];

/// Definitions are named; an extension is called after the type that it extends.
pub(super) fn name(seen: Seen) -> Option<Name> {
    match seen.kind() {
        "extension_definition" => {
            let parameter = seen.field("parameters").and_then(Seen::first)?;
            Some(Name::plain(type_word(parameter.field("type")?.str())))
        }
        "val_definition" | "var_definition" => values(seen).first().map(|name| Name::plain(name)),
        _ => seen.named(),
    }
}

/// The names of values, aliases and enum cases.
pub(super) fn values(seen: Seen) -> Vec<String> {
    let Some(name) = seen.field("pattern").or_else(|| seen.field("name")) else {
        return Vec::new();
    };
    match name.kind() {
        "identifier" | "type_identifier" | "operator_identifier" => vec![tidy(name.str())],
        _ => name.texts(&["identifier"]),
    }
}

/// Given instances and tests.
pub(super) fn special(seen: Seen) -> Sight {
    match seen.kind() {
        "given_definition" => given(seen),
        "call_expression" => call(seen),
        _ => infix(seen),
    }
}

fn given(seen: Seen) -> Sight {
    let written = seen.field("return_type").map(|written| type_word(written.str()));
    let name = seen.named().or_else(|| written.map(Name::plain)).unwrap_or_default();
    let body = seen.child(&["with_template_body", "template_body"]).map(|body| body.node);
    match body {
        Some(_) => Found::new(DefinitionKind::Type, name, body).into(),
        None => Sight::Values(vec![name.text]),
    }
}

/// `test("title") { … }`, `describe("title") { … }`.
fn call(seen: Seen) -> Sight {
    let (Some(head), Some(body)) = (seen.field("function"), seen.field("arguments")) else {
        return Sight::Nothing;
    };
    let mut callee = head;
    while let Some(next) = callee.field("function").or_else(|| callee.field("value")) {
        callee = next;
    }
    let word = callee.str();
    let suite = test_word(word)
        .or_else(|| matches!(word, "property" | "feature" | "scenario").then_some(false));
    let arguments = if head.kind() == "call_expression" { head.field("arguments") } else { None };
    match (suite, arguments.and_then(Seen::first)) {
        (Some(suite), Some(title)) => Found::test(title.str(), Some(body.node), suite).into(),
        _ => Sight::Nothing,
    }
}

/// `"subject" should { … }`, `"does so" in { … }`.
fn infix(seen: Seen) -> Sight {
    let (Some(left), Some(operator), Some(right)) =
        (seen.field("left"), seen.field("operator"), seen.field("right"))
    else {
        return Sight::Nothing;
    };
    let word = operator.str();
    let suite = SUITES.contains(&word);
    let is_block = matches!(right.kind(), "block" | "indented_block");
    let titled = left.str().starts_with(['"', 's', 'i', 't']) && left.str().contains('"');
    if is_block && titled && (suite || matches!(word, "in" | "ignore")) {
        return Found::test(&left.str().replace('"', ""), Some(right.node), suite).into();
    }
    Sight::Nothing
}
