//! Reader for JavaScript and TypeScript, where functions are values and a test is a call.

use super::super::DefinitionKind;
use super::super::imports;
use super::super::seen::{Found, Name, Seen, Sight, tidy, type_word};

/// Calls that group tests, in JavaScript and Lua.
const SUITES: &[&str] = &["describe", "context", "suite", "fdescribe", "xdescribe", "insulate"];

/// Calls that are tests, in JavaScript and Lua.
const TESTS: &[&str] = &["it", "test", "specify", "bench", "fit", "xit", "xtest", "ftest"];

/// Kinds of nodes that are functions.
const FUNCTIONS: &[&str] =
    &["arrow_function", "function_expression", "generator_function", "function_definition"];

/// What the name of a called function says of the call: a group of tests, or a test.
pub(super) fn test_word(name: &str) -> Option<bool> {
    let suite = SUITES.contains(&name);
    (suite || TESTS.contains(&name)).then_some(suite)
}

/// The title of a test: its first argument as written.
pub(super) fn title(argument: Seen) -> String {
    tidy(argument.str())
}

/// What a statement, declarator, field or pair is.
pub(super) fn special(seen: Seen) -> Sight {
    match seen.kind() {
        "export_statement" => export(seen),
        "expression_statement" => statement(seen),
        "variable_declarator" => {
            let Some(name) = seen.field("name") else { return Sight::Nothing };
            match seen.field("value") {
                Some(value) => declarator(seen, name, bare(value)),
                None => values(name),
            }
        }
        // Enum members without a value are bare names.
        "property_identifier" if seen.owner == Some(DefinitionKind::Type) => {
            Sight::Values(vec![tidy(seen.str())])
        }
        "property_identifier" => Sight::Nothing,
        _ => member(seen),
    }
}

/// A value without the shells that TypeScript puts around it.
fn bare(mut value: Seen) -> Seen {
    while matches!(
        value.kind(),
        "as_expression"
            | "satisfies_expression"
            | "parenthesized_expression"
            | "non_null_expression"
    ) {
        match value.first() {
            Some(inner) => value = inner,
            None => break,
        }
    }
    value
}

fn is_function(seen: Seen) -> bool {
    FUNCTIONS.contains(&seen.kind())
}

/// Whether an object literal holds functions, and so is a small module.
fn holds_functions(object: Seen) -> bool {
    object.kind() == "object"
        && object
            .find(|member| {
                member.kind() == "method_definition"
                    || member.kind() == "pair" && member.field("value").is_some_and(is_function)
            })
            .is_some()
}

/// A function that makes up most of a call which makes something of it: `memo(() => …)`.
fn wrapped_function(call: Seen) -> Option<Seen> {
    if call.kind() != "call_expression" {
        return None;
    }
    let function = call.field("arguments")?.find(is_function)?;
    let most = function.node.byte_range().len() * 2 > call.node.byte_range().len();
    let rows = function.node.end_position().row - function.node.start_position().row;
    (most && rows > 0).then_some(function)
}

/// What holding `value` makes of a name, if that is a definition.
fn defined<'t>(name: Name, value: Seen<'t>) -> Option<Found<'t>> {
    let body = |of: Seen<'t>| of.field("body").map(|body| body.node);
    if is_function(value) {
        return Some(Found::new(DefinitionKind::Function, name, body(value)));
    }
    if value.kind() == "class" {
        return Some(Found::new(DefinitionKind::Type, name, body(value)));
    }
    if holds_functions(value) {
        return Some(Found::new(DefinitionKind::Type, name, Some(value.node)));
    }
    let inner = wrapped_function(value)?;
    Some(Found::new(DefinitionKind::Function, name, body(inner)))
}

fn declarator<'t>(seen: Seen<'t>, name: Seen<'t>, value: Seen<'t>) -> Sight<'t> {
    let callee = value.field("function").map(Seen::str).unwrap_or_default();
    if callee == "require" || value.kind() == "await_expression" && value.str().contains("import(")
    {
        return Sight::Import(imports::words(seen.str()));
    }
    if name.kind() == "identifier"
        && let Some(found) = defined(Name::plain(name.str()), value)
    {
        return found.into();
    }
    values(name)
}

/// The names that a pattern binds.
fn values(pattern: Seen) -> Sight {
    match pattern.kind() {
        "identifier" => Sight::Values(vec![tidy(pattern.str())]),
        _ => Sight::Values(pattern.texts(&["identifier", "shorthand_property_identifier_pattern"])),
    }
}

fn export(seen: Seen) -> Sight {
    if seen.field("source").is_some() {
        return Sight::Import(imports::words(seen.str()));
    }
    let Some(value) = seen.field("value").map(bare) else { return Sight::Wrapper };
    if value.kind() == "object" {
        return Sight::Inside;
    }
    defined(Name::plain("default"), value).map_or(Sight::Inside, Sight::from)
}

fn statement(seen: Seen) -> Sight {
    let Some(inner) = seen.first() else { return Sight::Nothing };
    match inner.kind() {
        "call_expression" => test(inner),
        "assignment_expression" => assignment(inner),
        "internal_module" | "module" => Sight::Inside,
        _ => Sight::Nothing,
    }
}

/// `describe("title", () => …)`, `it.only("title", …)`, `test.each(table)("title", …)`.
fn test(call: Seen) -> Sight {
    let mut callee = call;
    while let Some(next) = callee.field("function").or_else(|| callee.field("object")) {
        callee = next;
    }
    let Some(suite) = test_word(callee.str()) else { return require(call) };
    let Some(arguments) = call.field("arguments") else { return Sight::Nothing };
    match (arguments.first(), arguments.find(is_function)) {
        (Some(first), Some(function)) if !is_function(first) => {
            let body = function.field("body").map(|body| body.node);
            Found::test(&title(first), body, suite).into()
        }
        _ => Sight::Nothing,
    }
}

fn require(call: Seen) -> Sight {
    if call.field("function").is_some_and(|callee| callee.str() == "require") {
        return Sight::Import(imports::words(call.str()));
    }
    Sight::Nothing
}

/// `exports.x = …`, `Type.prototype.x = …`, `Type.x = …`.
fn assignment(seen: Seen) -> Sight {
    let (Some(left), Some(right)) = (seen.field("left"), seen.field("right").map(bare)) else {
        return Sight::Nothing;
    };
    let object = left.field("object").map(Seen::str).unwrap_or_default();
    let property = left.field("property").map_or(left.str(), Seen::str);
    let holder = object.trim_end_matches(".prototype");
    let is_exports =
        matches!(holder, "" | "module" | "exports" | "module.exports" | "this" | "window");
    if right.kind() == "object" && (is_exports && property == "exports" || property == "prototype")
    {
        if property == "exports" || !holds_functions(right) {
            return Sight::Inside;
        }
        let name = Name::plain(type_word(object));
        return Found::new(DefinitionKind::Extension, name, Some(right.node)).into();
    }
    let is_whole = is_exports && property == "exports";
    let own_name = right.field("name").map_or("default", Seen::str);
    let name = match (is_whole, is_exports) {
        (true, _) => Name::plain(own_name),
        (_, true) => Name::plain(property),
        _ => Name {
            member: object.ends_with(".prototype"),
            ..Name::member_of(type_word(holder), property)
        },
    };
    let is_name = matches!(left.kind(), "identifier" | "member_expression");
    match defined(name, right) {
        Some(found) if is_name => found.into(),
        _ if is_exports && !is_whole && is_name => Sight::Values(vec![tidy(property)]),
        _ => require(right),
    }
}

/// A field of a class or an entry of an object: a function, or a container of functions.
fn member(seen: Seen) -> Sight {
    let key = ["name", "property", "key"].into_iter().find_map(|field| seen.field(field));
    let (Some(key), Some(value)) = (key, seen.field("value").map(bare)) else {
        return Sight::Nothing;
    };
    if is_function(value) {
        let body = value.field("body").map(|body| body.node);
        return Found::new(DefinitionKind::Function, Name::plain(key.str()), body).into();
    }
    if value.kind() == "object" { Sight::Inside } else { Sight::Nothing }
}
