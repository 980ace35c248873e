//! Reader for Ruby, where much that defines is a call.

use super::super::DefinitionKind;
use super::super::imports;
use super::super::seen::{Found, Name, Seen, Sight, tidy};

/// Calls whose block groups tests or tasks.
const SUITES: &[&str] = &[
    "describe",
    "context",
    "feature",
    "xdescribe",
    "fdescribe",
    "shared_examples",
    "shared_examples_for",
    "shared_context",
    "namespace",
];

/// Calls whose block is a test or a task.
const TESTS: &[&str] =
    &["it", "specify", "test", "scenario", "example", "xit", "fit", "should", "task", "file"];

/// Calls that make a method of the name that they are given.
const MAKERS: &[&str] = &["define_method", "define_singleton_method", "scope"];

/// Calls whose block is a type.
const TYPE_MAKERS: &[&str] = &["Struct.new", "Class.new", "Module.new", "Data.define"];

/// `module A::B` is `B` of `A`; `def X.y` is `y` of `X`.
pub(super) fn name(seen: Seen) -> Option<Name> {
    if seen.kind() == "singleton_method" {
        let name = seen.named()?;
        let object = seen.field("object").map(Seen::str).filter(|object| *object != "self");
        return Some(match object {
            Some(object) => Name::member_of(object, &name.text),
            None => name,
        });
    }
    let written = seen.field("name")?.str();
    let mut parts: Vec<String> =
        written.split("::").map(tidy).filter(|part| !part.is_empty()).collect();
    let text = parts.pop()?;
    Some(Name { text, outer: parts, member: false })
}

/// Assignments and calls.
pub(super) fn special(seen: Seen) -> Sight {
    if seen.kind() == "assignment" { assignment(seen) } else { call(seen) }
}

/// A constant may be a type made on the spot.
fn assignment(seen: Seen) -> Sight {
    let Some(left) = seen.field("left").filter(|left| left.kind() == "constant") else {
        return Sight::Nothing;
    };
    let made = seen.field("right").filter(|right| {
        let head = right.str();
        right.kind() == "call" && TYPE_MAKERS.iter().any(|maker| head.starts_with(maker))
    });
    match made.and_then(|made| made.field("block")) {
        Some(block) => {
            Found::new(DefinitionKind::Type, Name::plain(left.str()), Some(block.node)).into()
        }
        None => Sight::Values(vec![tidy(left.str())]),
    }
}

fn call(seen: Seen) -> Sight {
    let Some(method) = seen.field("method") else { return Sight::Nothing };
    let word = method.str();
    let arguments = seen.field("arguments");
    let block = seen.field("block");
    let receiver = seen.field("receiver").map(Seen::str);
    if matches!(word, "require" | "require_relative" | "autoload" | "load") && receiver.is_none() {
        return Sight::Import(imports::words(seen.str()));
    }
    let first = arguments.and_then(Seen::first);
    if matches!(word, "attr_reader" | "attr_writer" | "attr_accessor" | "alias_method") {
        return Sight::Nothing;
    }
    let is_own = receiver.is_none_or(|receiver| receiver == "RSpec");
    match (block, first) {
        (Some(block), Some(first)) if is_own && SUITES.contains(&word) => {
            Found::test(&title(first), Some(block.node), true).into()
        }
        (Some(block), Some(first)) if is_own && TESTS.contains(&word) => {
            Found::test(&title(first), Some(block.node), false).into()
        }
        (_, Some(first)) if MAKERS.contains(&word) => {
            let name = Name::plain(first.str().trim_start_matches(':'));
            let body = block.map(|block| block.node);
            Found::new(DefinitionKind::Function, name, body).into()
        }
        // `private def name`.
        (None, Some(first)) if matches!(first.kind(), "method" | "singleton_method") => {
            Sight::Wrapper
        }
        (Some(block), _) if block.kind() == "do_block" => Sight::Inside,
        _ => Sight::Nothing,
    }
}

/// A title, a class, or a task's name.
fn title(first: Seen) -> String {
    let first = first.field("key").unwrap_or(first);
    tidy(first.str().trim_start_matches(':').trim_end_matches(':'))
}
