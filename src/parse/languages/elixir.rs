//! Reader for Elixir, whose grammar knows calls and nothing else.

use super::super::DefinitionKind;
use super::super::imports;
use super::super::seen::{Found, Name, Seen, Sight, tidy};

/// Calls that define a function.
const FUNCTIONS: &[&str] = &[
    "def",
    "defp",
    "defmacro",
    "defmacrop",
    "defguard",
    "defguardp",
    "defdelegate",
    "defn",
    "defnp",
];

/// What a call or an attribute is.
pub(super) fn special(seen: Seen) -> Sight {
    if seen.kind() == "unary_operator" { attribute(seen) } else { call(seen) }
}

/// `@doc` documents what follows, `@spec` belongs to it, `@name value` is a constant.
fn attribute(seen: Seen) -> Sight {
    let Some(operand) = seen.field("operand").filter(|_| seen.str().starts_with('@')) else {
        return Sight::Nothing;
    };
    let word = operand.field("target").map_or(operand.str(), Seen::str);
    match word {
        "doc" | "typedoc" => Sight::Comment,
        "spec" | "impl" | "deprecated" | "since" | "tag" | "dialyzer" => Sight::Attribute,
        "moduledoc" | "behaviour" | "derive" | "enforce_keys" | "describetag" | "moduletag" => {
            Sight::Nothing
        }
        "type" | "typep" | "opaque" | "callback" | "macrocallback" => {
            let head = operand.child(&["arguments"]).map(Seen::str).unwrap_or_default();
            let name = head.split(|c: char| !(c.is_alphanumeric() || "_?!".contains(c))).next();
            Sight::Values(name.map(tidy).into_iter().collect())
        }
        _ => Sight::Values(vec![tidy(word)]),
    }
}

fn call(seen: Seen) -> Sight {
    let Some(target) = seen.field("target") else { return Sight::Nothing };
    let arguments = seen.child(&["arguments"]);
    let body = seen.child(&["do_block"]).map(|body| body.node);
    let first = arguments.and_then(Seen::first);
    match (target.str(), first) {
        ("defmodule" | "defprotocol", Some(first)) => {
            Found::new(DefinitionKind::Module, Name::plain(first.str()), body).into()
        }
        ("defimpl", Some(first)) => {
            let whom = arguments.and_then(|arguments| arguments.child(&["keywords"]));
            let whom = whom.and_then(Seen::first).and_then(|pair| pair.field("value"));
            let name = match whom {
                Some(whom) => format!("{}.{}", first.str(), whom.str()),
                None => first.str().to_owned(),
            };
            Found::new(DefinitionKind::Module, Name::plain(&name), body).into()
        }
        ("alias" | "import" | "use" | "require", Some(first)) => import(seen, first),
        ("describe", Some(first)) if body.is_some() => Found::test(first.str(), body, true).into(),
        ("test" | "property", Some(first)) if body.is_some() => {
            Found::test(first.str(), body, false).into()
        }
        (word, Some(first)) if FUNCTIONS.contains(&word) => {
            Found::new(DefinitionKind::Function, function_name(first), body).into()
        }
        ("if" | "unless" | "quote" | "for", _) if body.is_some() => Sight::Inside,
        _ if body.is_some() && seen.owner != Some(DefinitionKind::Function) => Sight::Inside,
        _ => Sight::Nothing,
    }
}

/// The name in a function's head: `run(a) when a > 1`, `run`, `a + b`.
fn function_name(head: Seen) -> Name {
    let mut at = head;
    loop {
        let is_guard = at.field("operator").is_some_and(|operator| operator.str() == "when");
        match at.kind() {
            "binary_operator" if is_guard => match at.field("left") {
                Some(left) => at = left,
                None => return Name::plain(at.str()),
            },
            "binary_operator" => {
                return Name::plain(at.field("operator").map_or(at.str(), Seen::str));
            }
            "call" => match at.field("target") {
                Some(target) => at = target,
                None => return Name::plain(at.str()),
            },
            _ => return Name::plain(at.str()),
        }
    }
}

/// The modules that are named, and the names that `as:` gives them.
fn import<'t>(seen: Seen<'t>, first: Seen<'t>) -> Sight<'t> {
    let mut words = imports::words(first.str());
    if let Some((_, renamed)) = seen.str().rsplit_once("as:") {
        imports::push(&mut words, renamed.trim().rsplit('.').next().unwrap_or_default());
    }
    Sight::Import(words)
}
