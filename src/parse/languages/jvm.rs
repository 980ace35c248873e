//! Readers for Java, C# and Kotlin, whose grammars differ in where they put a name.

use super::super::seen::{Name, Seen, tidy, type_word};

/// The grammar of Kotlin brings no highlighting query.
pub(super) const KOTLIN_HIGHLIGHTS: &str = r#"
(user_type (identifier) @type)
(class_declaration name: (identifier) @type)
(object_declaration name: (identifier) @type)
(function_declaration name: (identifier) @function)
(call_expression (identifier) @function)
(navigation_expression (identifier) @property)
(annotation) @attribute
[(line_comment) (block_comment)] @comment
[(string_literal) (multiline_string_literal) (character_literal)] @string
[(number_literal) (float_literal)] @number
[(visibility_modifier) (class_modifier) (function_modifier) (member_modifier)
 (property_modifier) (inheritance_modifier)] @keyword
["fun" "val" "var" "class" "interface" "object" "companion" "constructor" "init" "typealias"
 "package" "import" "if" "else" "when" "for" "while" "do" "return" "throw" "try" "catch"
 "finally" "in" "is" "as" "by"] @keyword
"#;

/// The names of fields, constants and enum constants.
pub(super) fn java_values(seen: Seen) -> Vec<String> {
    if seen.kind() == "enum_constant" {
        return seen.named().map(|name| name.text).into_iter().collect();
    }
    let mut names = Vec::new();
    seen.each(|declarator| {
        if declarator.kind() == "variable_declarator" {
            names.extend(declarator.named().map(|name| name.text));
        }
    });
    names
}

/// Operators, indexers and destructors have no name of their own.
pub(super) fn csharp_name(seen: Seen) -> Option<Name> {
    match seen.kind() {
        "indexer_declaration" => Some(Name::plain("this")),
        "destructor_declaration" => {
            seen.named().map(|name| Name::plain(&format!("~{}", name.text)))
        }
        "operator_declaration" => {
            let operator = seen.field("operator").map(Seen::str).unwrap_or_default();
            Some(Name::plain(&format!("operator {operator}")))
        }
        "conversion_operator_declaration" => {
            let target = seen.field("type").map(Seen::str).unwrap_or_default();
            Some(Name::plain(&format!("operator {target}")))
        }
        _ => seen.named(),
    }
}

/// The names of fields, events and enum members.
pub(super) fn csharp_values(seen: Seen) -> Vec<String> {
    if let Some(name) = seen.named() {
        return vec![name.text];
    }
    let mut names = Vec::new();
    if let Some(declaration) = seen.child(&["variable_declaration"]) {
        declaration.each(|declarator| {
            if declarator.kind() == "variable_declarator" {
                let name = declarator.field("name").or_else(|| declarator.child(&["identifier"]));
                names.extend(name.map(|name| tidy(name.str())));
            }
        });
    }
    names
}

/// Constructors, companions, and extensions, which belong to their receiver.
pub(super) fn kotlin_name(seen: Seen) -> Option<Name> {
    match seen.kind() {
        "secondary_constructor" => return Some(Name::plain("constructor")),
        "companion_object" => return seen.named().or_else(|| Some(Name::plain("Companion"))),
        "property_declaration" => {
            return kotlin_values(seen).first().map(|name| Name::plain(name));
        }
        _ => {}
    }
    let name = seen.named()?;
    let receiver = seen.child(&[
        "user_type",
        "nullable_type",
        "parenthesized_type",
        "function_value_parameters",
    ]);
    let is_receiver = |receiver: &Seen| {
        seen.kind() == "function_declaration" && receiver.kind() != "function_value_parameters"
    };
    let Some(receiver) = receiver.filter(is_receiver) else { return Some(name) };
    // After a syntax error the grammar may take the function's name for a part of the type.
    if name.text.is_empty() {
        return Some(Name::plain(receiver.str().rsplit('.').next().unwrap_or_default()));
    }
    let word = type_word(receiver.str());
    let is_parameter = seen.child(&["type_parameters"]).is_some_and(|parameters| {
        parameters
            .find(|one| {
                type_word(one.str()) == word
                    || one.str().split(':').next().is_some_and(|name| name.trim() == word)
            })
            .is_some()
    });
    Some(if is_parameter { name } else { Name::member_of(word, &name.text) })
}

/// The names of properties, aliases and enum entries.
pub(super) fn kotlin_values(seen: Seen) -> Vec<String> {
    let name = match seen.kind() {
        "type_alias" => seen.field("type"),
        "enum_entry" => seen.child(&["identifier"]),
        _ => {
            let declared = seen.child(&["variable_declaration", "multi_variable_declaration"]);
            declared.and_then(|declared| declared.child(&["identifier"]))
        }
    };
    name.map(|name| tidy(name.str())).into_iter().collect()
}
