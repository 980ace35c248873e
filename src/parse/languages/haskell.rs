//! Reader for Haskell, where operators are defined in the middle of their equation.

use super::super::seen::{Name, Seen, type_word};

/// The name that an equation, signature, type or instance defines.
pub(super) fn name(seen: Seen) -> Option<Name> {
    if seen.kind() == "instance" {
        let class = seen.field("name").map(|class| type_word(class.str()).to_owned())?;
        let of = seen.field("patterns").map(Seen::str).unwrap_or_default();
        return Some(Name::plain(&format!("{class} {of}")));
    }
    let direct = ["name", "names", "synonym"].into_iter().find_map(|field| seen.field(field));
    if let Some(direct) = direct {
        let first =
            direct.field("name").filter(|_| direct.kind() == "binding_list").unwrap_or(direct);
        return Some(bare(first.str()));
    }
    match seen.kind() {
        "foreign_import" => seen.field("signature").and_then(name),
        "pattern_synonym" => {
            let rest = seen.str().trim_start_matches("pattern").trim_start();
            rest.split_whitespace().next().map(Name::plain)
        }
        _ => operator(seen),
    }
}

/// The operator of `x <+> y = …`, also inside parentheses.
fn operator(seen: Seen) -> Option<Name> {
    let mut at = seen;
    for _ in 0..4 {
        if let Some(operator) = at.field("operator") {
            return Some(bare(operator.str()));
        }
        at = at.child(&["infix", "function_head_parens", "head"]).or_else(|| at.field("parens"))?;
    }
    None
}

/// An operator without the marks around it.
fn bare(written: &str) -> Name {
    let inner = written.strip_prefix('(').and_then(|inner| inner.strip_suffix(')'));
    Name::plain(inner.unwrap_or(written))
}
