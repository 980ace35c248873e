//! Reader for C and C++, where a declarator hides the name and macros pass for functions.

use super::super::DefinitionKind;
use super::super::seen::{Found, Name, Seen, Sight, tidy};

/// Bytes of a header that are looked at.
const HEADER_BYTES: usize = 64 << 10;

/// Calls with a block after them that are tests (Catch2, doctest).
const TESTS: &[&str] = &["TEST_CASE", "SCENARIO", "SECTION", "SUBCASE", "GIVEN", "WHEN", "THEN"];

/// Whether a header is C++ rather than C.
pub(in super::super) fn looks_like_cpp(text: &str) -> bool {
    let mut end = text.len().min(HEADER_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].lines().any(|line| {
        let line = line.trim_start();
        let named = |word: &str| {
            let rest = line.strip_prefix(word).filter(|rest| rest.starts_with([' ', '\t']));
            rest.is_some_and(|rest| {
                let name = rest.trim_start();
                let after = name.trim_start_matches(|c: char| c.is_alphanumeric() || c == '_');
                let after = after.trim_start();
                after.len() < name.len() && (after.is_empty() || after.starts_with("final"))
                    || after.starts_with(['{', ':', ';', '<'])
            })
        };
        named("class")
            || named("namespace")
            || line.starts_with("template<")
            || line.starts_with("template <")
            || matches!(line.trim_end(), "public:" | "private:" | "protected:")
    })
}

/// What a definition, specifier, declaration or macro is.
pub(super) fn special(seen: Seen) -> Sight {
    match seen.kind() {
        "function_definition" => function(seen),
        "type_definition" => typedef(seen),
        "declaration" => declaration(seen),
        "field_declaration" => field(seen),
        "preproc_def" => match (seen.named(), seen.field("value")) {
            (Some(name), Some(_)) => Sight::Values(vec![name.text]),
            _ => Sight::Nothing,
        },
        "expression_statement" => test(seen),
        _ => match (seen.named(), seen.field("body")) {
            (Some(name), Some(body)) => {
                let name = Name { text: bare_template(&name.text), ..name };
                Found::new(DefinitionKind::Type, name, Some(body.node)).into()
            }
            _ => Sight::Nothing,
        },
    }
}

/// `S<int>` is called `S`.
fn bare_template(name: &str) -> String {
    name.split('<').next().unwrap_or(name).trim().to_owned()
}

/// The name inside a declarator.
fn declared(declarator: Seen) -> Option<Name> {
    let mut at = declarator;
    let mut outer = Vec::new();
    loop {
        match at.kind() {
            "identifier"
            | "field_identifier"
            | "type_identifier"
            | "destructor_name"
            | "operator_name"
            | "namespace_identifier" => {
                let member = !outer.is_empty();
                return Some(Name { text: tidy(at.str()), outer, member });
            }
            "operator_cast" => {
                let head = at.str().split('(').next().unwrap_or_default();
                return Some(Name { text: tidy(head), member: !outer.is_empty(), outer });
            }
            "qualified_identifier" => {
                outer.extend(at.field("scope").map(|scope| bare_template(scope.str())));
                at = at.field("name")?;
            }
            "template_function" | "template_method" | "template_type" => at = at.field("name")?,
            _ => at = at.field("declarator").or_else(|| at.first())?,
        }
    }
}

fn function(seen: Seen) -> Sight {
    let Some(declarator) = seen.field("declarator") else { return Sight::Nothing };
    let body = seen.field("body").map(|body| body.node);
    let Some(name) = declared(declarator) else { return Sight::Inside };
    // `class EXPORT Name : Base { … }` with an unknown macro parses as a function.
    let posing = seen.field("type").is_some_and(|written| {
        matches!(written.kind(), "class_specifier" | "struct_specifier")
            && written.field("body").is_none()
    });
    if posing && declarator.kind() == "identifier" {
        return Found::new(DefinitionKind::Type, name, body).into();
    }
    let is_macro = name.outer.is_empty()
        && seen.field("type").is_none()
        && name.text.bytes().all(|b| b.is_ascii_uppercase() || b.is_ascii_digit() || b == b'_');
    let name = if is_macro { macro_name(declarator).unwrap_or(name) } else { name };
    Found::new(DefinitionKind::Function, name, body).into()
}

/// `TEST(Suite, Name)` is a test `Name` of `Suite`.
fn macro_name(declarator: Seen) -> Option<Name> {
    let mut words = Vec::new();
    declarator.field("parameters")?.each(|parameter| words.push(parameter.str()));
    match words[..] {
        [only] => Some(Name::plain(only)),
        [suite, name, ..] => Some(Name { outer: vec![tidy(suite)], ..Name::plain(name) }),
        [] => None,
    }
}

/// `TEST_CASE("title") { … }`: a call, and its block as the next statement.
fn test(seen: Seen) -> Sight {
    let Some(call) = seen.first().filter(|inner| inner.kind() == "call_expression") else {
        return Sight::Nothing;
    };
    let is_test = call.field("function").is_some_and(|name| {
        TESTS.iter().any(|test| {
            name.str()
                .strip_prefix(test)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('_'))
        })
    });
    match call.field("arguments").and_then(Seen::first) {
        Some(first) if is_test => {
            Found { body_follows: true, ..Found::test(first.str(), None, true) }.into()
        }
        _ => Sight::Nothing,
    }
}

/// A `typedef` with a body is a type; without, another name for one.
fn typedef(seen: Seen) -> Sight {
    let Some(name) = seen.field("declarator").and_then(declared) else { return Sight::Nothing };
    match seen.field("type").and_then(|written| written.field("body")) {
        Some(body) => Found::new(DefinitionKind::Type, name, Some(body.node)).into(),
        None => Sight::Values(vec![name.text]),
    }
}

/// Variables have names here; a prototype's name is its definition's.
fn declaration(seen: Seen) -> Sight {
    let mut names = Vec::new();
    let mut cursor = seen.node.walk();
    for declarator in seen.node.children_by_field_name("declarator", &mut cursor) {
        let declarator = seen.at(declarator);
        let inner = declarator.field("declarator").unwrap_or(declarator);
        let prototype = [declarator, inner].iter().any(|d| d.kind() == "function_declarator");
        if !prototype {
            names.extend(declared(declarator).map(|name| name.text));
        }
    }
    if names.is_empty() { Sight::Nothing } else { Sight::Values(names) }
}

/// A field may declare a type, or a constant.
fn field(seen: Seen) -> Sight {
    let has_body = seen.field("type").is_some_and(|written| written.field("body").is_some());
    if has_body && seen.field("declarator").is_none() {
        return Sight::Wrapper;
    }
    if seen.field("default_value").is_some() { declaration(seen) } else { Sight::Nothing }
}
