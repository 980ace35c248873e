//! Readers for languages whose grammars name nearly everything: Rust, Go, Python, PHP, Bash.

use super::super::DefinitionKind;
use super::super::imports;
use super::super::seen::{Found, Name, Seen, Sight, tidy, type_word};

/// An `impl` is called after its type.
pub(super) fn rust_name(seen: Seen) -> Option<Name> {
    if seen.kind() == "impl_item" {
        return seen.field("type").map(|written| Name::plain(type_word(written.str())));
    }
    seen.named()
}

/// Modules with a body. Items inside a macro's braces (`cfg_if! { … }`) are parsed by themselves.
pub(super) fn rust_special(seen: Seen) -> Sight {
    match seen.kind() {
        "mod_item" => match (seen.named(), seen.field("body")) {
            (Some(name), Some(body)) => {
                Found::new(DefinitionKind::Namespace, name, Some(body.node)).into()
            }
            _ => Sight::Nothing,
        },
        "expression_statement" => Sight::Inside,
        _ if !in_function(seen) && seen.str().ends_with('}') => Sight::Embedded,
        _ => Sight::Nothing,
    }
}

fn in_function(seen: Seen) -> bool {
    matches!(seen.owner, Some(DefinitionKind::Function | DefinitionKind::Method))
}

/// A method belongs to its receiver's type.
pub(super) fn go_name(seen: Seen) -> Option<Name> {
    let name = seen.named()?;
    let Some(receiver) = seen.field("receiver") else { return Some(name) };
    let written = receiver.first().and_then(|first| first.field("type")).unwrap_or(receiver);
    Some(Name::member_of(type_word(written.str()), &name.text))
}

/// A variable that holds a function is one.
pub(super) fn go_special(seen: Seen) -> Sight {
    let function = seen.field("value").and_then(Seen::first).filter(|v| v.kind() == "func_literal");
    match (function, seen.named()) {
        (Some(function), Some(name)) => {
            let body = function.field("body").map(|body| body.node);
            Found::new(DefinitionKind::Function, name, body).into()
        }
        _ => Sight::Values(seen.texts(&["identifier"])),
    }
}

/// The names on the left of a type alias.
pub(super) fn python_values(seen: Seen) -> Vec<String> {
    let left = seen.field("left");
    left.map(|left| vec![type_word(left.str()).to_owned()]).unwrap_or_default()
}

/// Assignments name values.
pub(super) fn python_special(seen: Seen) -> Sight {
    let left = seen.child(&["assignment"]).and_then(|assignment| assignment.field("left"));
    match left {
        Some(left) if left.kind() == "identifier" => Sight::Values(vec![tidy(left.str())]),
        Some(left) if left.kind() == "pattern_list" => Sight::Values(left.texts(&["identifier"])),
        _ => Sight::Nothing,
    }
}

/// The names of a `const` and of an enum's case.
pub(super) fn php_values(seen: Seen) -> Vec<String> {
    if seen.kind() == "enum_case" {
        return seen.named().map(|name| name.text).into_iter().collect();
    }
    let mut names = Vec::new();
    seen.each(|element| {
        if element.kind() == "const_element" {
            names.extend(element.first().map(|name| tidy(name.str())));
        }
    });
    names
}

/// Namespaces with a body, `define`, functions in variables, `require`.
pub(super) fn php_special(seen: Seen) -> Sight {
    if seen.kind() == "namespace_definition" {
        let body = seen.field("body").map(|body| body.node);
        return match (body, seen.named()) {
            (Some(_), Some(name)) => Found::new(DefinitionKind::Namespace, name, body).into(),
            (Some(_), None) => Sight::Inside,
            _ => Sight::Nothing,
        };
    }
    let Some(inner) = seen.first() else { return Sight::Nothing };
    match inner.kind() {
        "assignment_expression" => php_assignment(inner),
        "function_call_expression" => {
            let is_define = inner.field("function").is_some_and(|name| name.str() == "define");
            let first = inner.field("arguments").and_then(Seen::first);
            match first {
                Some(first) if is_define => Sight::Values(vec![tidy(first.str())]),
                _ => Sight::Nothing,
            }
        }
        kind if kind.starts_with("require") || kind.starts_with("include") => {
            Sight::Import(imports::words(inner.str()))
        }
        _ => Sight::Nothing,
    }
}

fn php_assignment(seen: Seen) -> Sight {
    let (Some(left), Some(right)) = (seen.field("left"), seen.field("right")) else {
        return Sight::Nothing;
    };
    if left.kind() != "variable_name" {
        return Sight::Nothing;
    }
    let name = left.str().trim_start_matches('$');
    if matches!(right.kind(), "anonymous_function" | "arrow_function") {
        let body = right.field("body").map(|body| body.node);
        return Found::new(DefinitionKind::Function, Name::plain(name), body).into();
    }
    Sight::Values(vec![tidy(name)])
}

/// A function's name; a bats test's title, which the mask hid from the grammar.
pub(super) fn bash_name(seen: Seen) -> Option<Name> {
    match seen.str().strip_prefix("@test ") {
        Some(rest) => {
            let head = rest.lines().next().unwrap_or_default();
            Some(Name::plain(head.trim_end().trim_end_matches('{').trim()))
        }
        None => seen.named(),
    }
}

/// Commands that read another script.
pub(super) fn bash_special(seen: Seen) -> Sight {
    let written = seen.str();
    let (command, rest) = written.split_once([' ', '\t']).unwrap_or((written, ""));
    if !matches!(command, "source" | "." | "load" | "bats_load_library") {
        return Sight::Nothing;
    }
    let path = rest.trim().split(['\n', ';']).next().unwrap_or_default();
    Sight::Import(vec![imports::path_word(path).to_owned()])
}
