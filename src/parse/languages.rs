//! The languages with a grammar, one row each: what the kinds of its nodes are to an outline.
//!
//! A row is data where the grammar says enough by itself. Where it does not (a call that defines, a
//! declarator that hides a name) the row names a small reader in `languages/`.

mod c;
mod elixir;
mod haskell;
mod jvm;
mod lua;
mod plain;
mod ruby;
mod scala;
mod script;
mod swift;
mod zig;

use std::borrow::Cow;
use std::sync::{LazyLock, OnceLock};

use tree_sitter::Node;

use super::mask;
use super::seen::{Name, Seen, Sight};
use super::tokens::TokenClass;
use crate::types::Language;

pub(super) use c::looks_like_cpp;

/// What a kind of node is.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(super) enum Role {
    /// Nothing by itself.
    #[default]
    None,
    /// A function, or a method when it stands in a type.
    Function,
    /// A type that holds methods.
    Type,
    /// Adds methods to a type.
    Extension,
    /// A name around definitions.
    Namespace,
    /// A value that counts as a function when it is long (a property with accessors).
    Property,
    /// Named constants, variables, type aliases.
    Value,
    /// A value that is one of a type's possible ones; its name always counts.
    Variant,
    /// An import.
    Import,
    /// A comment.
    Comment,
    /// An attribute or decorator.
    Attribute,
    /// Holds attributes and words such as `public`.
    Modifiers,
    /// A shell around one definition.
    Wrapper,
    /// A container without a meaning of its own.
    Inside,
    /// The body of a definition; where it stands alone it is a mere container.
    Body,
    /// The row's `special` decides.
    Special,
}

/// A language's row.
#[derive(Clone, Copy)]
pub(super) struct Grammar {
    /// Whose texts it reads.
    pub language: Language,
    /// The grammar.
    pub parser: fn() -> tree_sitter::Language,
    /// What its kinds of nodes are; kinds that are not listed are nothing.
    pub kinds: &'static [(Role, &'static [&'static str])],
    /// How a definition is called.
    pub name: fn(Seen) -> Option<Name>,
    /// How values are called.
    pub values: fn(Seen) -> Vec<String>,
    /// What a node of a [`Role::Special`] kind is.
    pub special: fn(Seen) -> Sight,
    /// Makes a text readable for the grammar without moving a byte.
    pub mask: fn(&str) -> Cow<'_, str>,
    /// Whether neighbours of one name are one definition (equations, overloads).
    pub clauses: bool,
    /// Whether a string at the start of a body documents it.
    pub docstrings: bool,
    /// Highlighting queries, concatenated; none when the grammar brings none.
    pub highlights: &'static [&'static str],
}

/// What a row has where it does not say otherwise.
const DEFAULT: Grammar = Grammar {
    language: Language::Other,
    parser: || tree_sitter_rust::LANGUAGE.into(),
    kinds: &[],
    name: |seen| seen.named(),
    values: |seen| seen.named().map(|name| name.text).into_iter().collect(),
    special: |_| Sight::Nothing,
    mask: mask::none,
    clauses: false,
    docstrings: false,
    highlights: &[],
};

const RUST: Grammar = Grammar {
    language: Language::Rust,
    parser: || tree_sitter_rust::LANGUAGE.into(),
    kinds: &[
        (Role::Function, &["function_item", "function_signature_item", "macro_definition"]),
        (Role::Type, &["struct_item", "enum_item", "union_item", "trait_item"]),
        (Role::Extension, &["impl_item"]),
        (Role::Value, &["const_item", "static_item", "type_item"]),
        (Role::Variant, &["enum_variant"]),
        (Role::Import, &["use_declaration", "extern_crate_declaration"]),
        (Role::Comment, &["line_comment", "block_comment"]),
        (Role::Attribute, &["attribute_item"]),
        (Role::Inside, &["foreign_mod_item"]),
        (Role::Body, &["declaration_list", "field_declaration_list", "enum_variant_list", "block"]),
        (Role::Special, &["mod_item", "macro_invocation", "expression_statement"]),
    ],
    name: plain::rust_name,
    special: plain::rust_special,
    highlights: &[tree_sitter_rust::HIGHLIGHTS_QUERY],
    ..DEFAULT
};

const GO: Grammar = Grammar {
    language: Language::Go,
    parser: || tree_sitter_go::LANGUAGE.into(),
    kinds: &[
        (Role::Function, &["function_declaration", "method_declaration"]),
        (Role::Type, &["type_spec", "type_alias"]),
        (Role::Import, &["import_declaration"]),
        (Role::Value, &["const_spec"]),
        (Role::Comment, &["comment"]),
        (Role::Wrapper, &["type_declaration", "var_declaration"]),
        (Role::Inside, &["const_declaration", "var_spec_list"]),
        (Role::Body, &["block"]),
        (Role::Special, &["var_spec"]),
    ],
    name: plain::go_name,
    values: |seen| seen.texts(&["identifier"]),
    special: plain::go_special,
    highlights: &[tree_sitter_go::HIGHLIGHTS_QUERY],
    ..DEFAULT
};

const JAVA: Grammar = Grammar {
    language: Language::Java,
    parser: || tree_sitter_java::LANGUAGE.into(),
    kinds: &[
        (
            Role::Function,
            &[
                "method_declaration",
                "constructor_declaration",
                "compact_constructor_declaration",
                "annotation_type_element_declaration",
            ],
        ),
        (
            Role::Type,
            &[
                "class_declaration",
                "interface_declaration",
                "enum_declaration",
                "record_declaration",
                "annotation_type_declaration",
            ],
        ),
        (Role::Value, &["field_declaration", "constant_declaration"]),
        (Role::Variant, &["enum_constant"]),
        (Role::Import, &["import_declaration"]),
        (Role::Comment, &["line_comment", "block_comment"]),
        (Role::Attribute, &["annotation", "marker_annotation"]),
        (Role::Modifiers, &["modifiers"]),
        (Role::Inside, &["enum_body_declarations"]),
        (
            Role::Body,
            &["class_body", "interface_body", "enum_body", "annotation_type_body", "block"],
        ),
    ],
    values: jvm::java_values,
    highlights: &[tree_sitter_java::HIGHLIGHTS_QUERY],
    ..DEFAULT
};

const PYTHON: Grammar = Grammar {
    language: Language::Python,
    parser: || tree_sitter_python::LANGUAGE.into(),
    kinds: &[
        (Role::Function, &["function_definition"]),
        (Role::Type, &["class_definition"]),
        (Role::Value, &["type_alias_statement"]),
        (Role::Import, &["import_statement", "import_from_statement", "future_import_statement"]),
        (Role::Comment, &["comment"]),
        (Role::Attribute, &["decorator"]),
        (Role::Wrapper, &["decorated_definition"]),
        (
            Role::Inside,
            &[
                "if_statement",
                "else_clause",
                "elif_clause",
                "try_statement",
                "except_clause",
                "finally_clause",
                "with_statement",
            ],
        ),
        (Role::Body, &["block"]),
        (Role::Special, &["expression_statement"]),
    ],
    values: plain::python_values,
    special: plain::python_special,
    mask: mask::indents,
    docstrings: true,
    highlights: &[tree_sitter_python::HIGHLIGHTS_QUERY],
    ..DEFAULT
};

const JAVASCRIPT: Grammar = Grammar {
    language: Language::JavaScript,
    parser: || tree_sitter_javascript::LANGUAGE.into(),
    kinds: &[
        (
            Role::Function,
            &["function_declaration", "generator_function_declaration", "method_definition"],
        ),
        (Role::Type, &["class_declaration"]),
        (Role::Import, &["import_statement"]),
        (Role::Comment, &["comment"]),
        (Role::Attribute, &["decorator"]),
        (Role::Wrapper, &["lexical_declaration", "variable_declaration"]),
        (Role::Inside, &["object", "if_statement", "else_clause", "try_statement", "catch_clause"]),
        (Role::Body, &["class_body", "statement_block"]),
        (
            Role::Special,
            &[
                "export_statement",
                "expression_statement",
                "variable_declarator",
                "field_definition",
                "pair",
            ],
        ),
    ],
    special: script::special,
    highlights: &[
        tree_sitter_javascript::HIGHLIGHT_QUERY,
        tree_sitter_javascript::JSX_HIGHLIGHT_QUERY,
    ],
    ..DEFAULT
};

const TYPESCRIPT: Grammar = Grammar {
    language: Language::TypeScript,
    parser: || tree_sitter_typescript::LANGUAGE_TYPESCRIPT.into(),
    kinds: &[
        (
            Role::Function,
            &[
                "function_declaration",
                "generator_function_declaration",
                "function_signature",
                "method_definition",
                "method_signature",
                "abstract_method_signature",
            ],
        ),
        (
            Role::Type,
            &[
                "class_declaration",
                "abstract_class_declaration",
                "interface_declaration",
                "enum_declaration",
                "type_alias_declaration",
            ],
        ),
        (Role::Namespace, &["internal_module", "module"]),
        (Role::Variant, &["enum_assignment"]),
        (Role::Import, &["import_statement", "import_alias"]),
        (Role::Comment, &["comment"]),
        (Role::Attribute, &["decorator"]),
        (Role::Wrapper, &["ambient_declaration", "lexical_declaration", "variable_declaration"]),
        (Role::Inside, &["object", "if_statement", "else_clause", "try_statement", "catch_clause"]),
        (Role::Body, &["class_body", "statement_block", "interface_body", "enum_body"]),
        (
            Role::Special,
            &[
                "export_statement",
                "expression_statement",
                "variable_declarator",
                "public_field_definition",
                "pair",
                "property_identifier",
            ],
        ),
    ],
    special: script::special,
    clauses: true,
    highlights: &[
        tree_sitter_typescript::HIGHLIGHTS_QUERY,
        tree_sitter_javascript::HIGHLIGHT_QUERY,
    ],
    ..DEFAULT
};

const TSX: Grammar = Grammar {
    language: Language::Tsx,
    parser: || tree_sitter_typescript::LANGUAGE_TSX.into(),
    highlights: &[
        tree_sitter_typescript::HIGHLIGHTS_QUERY,
        tree_sitter_javascript::HIGHLIGHT_QUERY,
        tree_sitter_javascript::JSX_HIGHLIGHT_QUERY,
    ],
    ..TYPESCRIPT
};

const VUE: Grammar =
    Grammar { language: Language::Vue, mask: mask::scripts, highlights: &[], ..TYPESCRIPT };

const SVELTE: Grammar =
    Grammar { language: Language::Svelte, mask: mask::scripts, highlights: &[], ..TYPESCRIPT };

const C: Grammar = Grammar {
    language: Language::C,
    parser: || tree_sitter_c::LANGUAGE.into(),
    kinds: &[
        (Role::Import, &["preproc_include"]),
        (Role::Value, &["preproc_function_def"]),
        (Role::Variant, &["enumerator"]),
        (Role::Comment, &["comment"]),
        (
            Role::Inside,
            &[
                "preproc_ifdef",
                "preproc_if",
                "preproc_else",
                "preproc_elif",
                "preproc_elifdef",
                "linkage_specification",
            ],
        ),
        (Role::Body, &["declaration_list", "field_declaration_list", "enumerator_list"]),
        (
            Role::Special,
            &[
                "function_definition",
                "struct_specifier",
                "union_specifier",
                "enum_specifier",
                "type_definition",
                "declaration",
                "preproc_def",
                "expression_statement",
            ],
        ),
    ],
    special: c::special,
    mask: mask::macros,
    highlights: &[tree_sitter_c::HIGHLIGHT_QUERY],
    ..DEFAULT
};

const CPP: Grammar = Grammar {
    language: Language::Cpp,
    parser: || tree_sitter_cpp::LANGUAGE.into(),
    kinds: &[
        (Role::Type, &["concept_definition"]),
        (Role::Namespace, &["namespace_definition"]),
        (Role::Import, &["preproc_include"]),
        (Role::Value, &["preproc_function_def", "alias_declaration"]),
        (Role::Variant, &["enumerator"]),
        (Role::Comment, &["comment"]),
        (Role::Wrapper, &["template_declaration"]),
        (
            Role::Inside,
            &[
                "preproc_ifdef",
                "preproc_if",
                "preproc_else",
                "preproc_elif",
                "preproc_elifdef",
                "linkage_specification",
            ],
        ),
        (Role::Body, &["declaration_list", "field_declaration_list", "enumerator_list"]),
        (
            Role::Special,
            &[
                "function_definition",
                "struct_specifier",
                "union_specifier",
                "enum_specifier",
                "class_specifier",
                "type_definition",
                "declaration",
                "field_declaration",
                "preproc_def",
                "expression_statement",
            ],
        ),
    ],
    special: c::special,
    mask: mask::macros,
    highlights: &[tree_sitter_cpp::HIGHLIGHT_QUERY, tree_sitter_c::HIGHLIGHT_QUERY],
    ..DEFAULT
};

const CSHARP: Grammar = Grammar {
    language: Language::CSharp,
    parser: || tree_sitter_c_sharp::LANGUAGE.into(),
    kinds: &[
        (
            Role::Function,
            &[
                "method_declaration",
                "constructor_declaration",
                "destructor_declaration",
                "operator_declaration",
                "conversion_operator_declaration",
                "local_function_statement",
            ],
        ),
        (
            Role::Type,
            &[
                "class_declaration",
                "struct_declaration",
                "interface_declaration",
                "record_declaration",
                "enum_declaration",
                "delegate_declaration",
            ],
        ),
        (Role::Namespace, &["namespace_declaration"]),
        (Role::Property, &["property_declaration", "indexer_declaration", "event_declaration"]),
        (Role::Value, &["field_declaration", "event_field_declaration"]),
        (Role::Variant, &["enum_member_declaration"]),
        (Role::Import, &["using_directive"]),
        (Role::Comment, &["comment"]),
        (Role::Attribute, &["attribute_list"]),
        (Role::Wrapper, &["global_statement"]),
        (Role::Inside, &["preproc_if", "preproc_else", "preproc_elif"]),
        (
            Role::Body,
            &[
                "declaration_list",
                "enum_member_declaration_list",
                "block",
                "arrow_expression_clause",
                "accessor_list",
            ],
        ),
    ],
    name: jvm::csharp_name,
    values: jvm::csharp_values,
    highlights: &[tree_sitter_c_sharp::HIGHLIGHTS_QUERY],
    ..DEFAULT
};

const RUBY: Grammar = Grammar {
    language: Language::Ruby,
    parser: || tree_sitter_ruby::LANGUAGE.into(),
    kinds: &[
        (Role::Function, &["method", "singleton_method"]),
        (Role::Type, &["class", "module"]),
        (Role::Value, &["alias"]),
        (Role::Comment, &["comment"]),
        (
            Role::Inside,
            &[
                "singleton_class",
                "if",
                "unless",
                "else",
                "elsif",
                "then",
                "begin",
                "rescue",
                "argument_list",
                "do_block",
                "block",
                "block_body",
            ],
        ),
        (Role::Body, &["body_statement"]),
        (Role::Special, &["call", "assignment"]),
    ],
    name: ruby::name,
    special: ruby::special,
    mask: mask::heredocs,
    highlights: &[tree_sitter_ruby::HIGHLIGHTS_QUERY],
    ..DEFAULT
};

const PHP: Grammar = Grammar {
    language: Language::Php,
    parser: || tree_sitter_php::LANGUAGE_PHP.into(),
    kinds: &[
        (Role::Function, &["function_definition", "method_declaration"]),
        (
            Role::Type,
            &[
                "class_declaration",
                "interface_declaration",
                "trait_declaration",
                "enum_declaration",
            ],
        ),
        (Role::Value, &["const_declaration"]),
        (Role::Variant, &["enum_case"]),
        (Role::Import, &["namespace_use_declaration"]),
        (Role::Comment, &["comment"]),
        (Role::Attribute, &["attribute_list"]),
        (Role::Inside, &["if_statement", "else_clause"]),
        (Role::Body, &["declaration_list", "enum_declaration_list", "compound_statement"]),
        (Role::Special, &["namespace_definition", "expression_statement"]),
    ],
    values: plain::php_values,
    special: plain::php_special,
    highlights: &[tree_sitter_php::HIGHLIGHTS_QUERY],
    ..DEFAULT
};

const KOTLIN: Grammar = Grammar {
    language: Language::Kotlin,
    parser: || tree_sitter_kotlin_ng::LANGUAGE.into(),
    kinds: &[
        (Role::Function, &["function_declaration", "secondary_constructor"]),
        (Role::Type, &["class_declaration", "object_declaration", "companion_object"]),
        (Role::Property, &["property_declaration"]),
        (Role::Value, &["type_alias"]),
        (Role::Variant, &["enum_entry"]),
        (Role::Import, &["import"]),
        (Role::Comment, &["line_comment", "block_comment"]),
        (Role::Attribute, &["annotation"]),
        (Role::Modifiers, &["modifiers"]),
        (Role::Body, &["class_body", "enum_class_body", "function_body", "block"]),
    ],
    name: jvm::kotlin_name,
    values: jvm::kotlin_values,
    highlights: &[jvm::KOTLIN_HIGHLIGHTS],
    ..DEFAULT
};

const SWIFT: Grammar = Grammar {
    language: Language::Swift,
    parser: || tree_sitter_swift::LANGUAGE.into(),
    kinds: &[
        (
            Role::Function,
            &[
                "function_declaration",
                "init_declaration",
                "deinit_declaration",
                "subscript_declaration",
                "protocol_function_declaration",
                "macro_declaration",
            ],
        ),
        (Role::Type, &["protocol_declaration"]),
        (Role::Property, &["property_declaration"]),
        (Role::Value, &["typealias_declaration", "associatedtype_declaration"]),
        (Role::Variant, &["enum_entry"]),
        (Role::Import, &["import_declaration"]),
        (Role::Comment, &["comment", "multiline_comment"]),
        (Role::Attribute, &["attribute"]),
        (Role::Modifiers, &["modifiers"]),
        (
            Role::Body,
            &[
                "class_body",
                "enum_class_body",
                "protocol_body",
                "function_body",
                "computed_property",
            ],
        ),
        (Role::Special, &["class_declaration"]),
    ],
    name: swift::name,
    values: swift::values,
    special: swift::special,
    highlights: &[tree_sitter_swift::HIGHLIGHTS_QUERY],
    ..DEFAULT
};

const SCALA: Grammar = Grammar {
    language: Language::Scala,
    parser: || tree_sitter_scala::LANGUAGE.into(),
    kinds: &[
        (Role::Function, &["function_definition", "function_declaration"]),
        (
            Role::Type,
            &[
                "class_definition",
                "object_definition",
                "trait_definition",
                "enum_definition",
                "package_object",
            ],
        ),
        (Role::Extension, &["extension_definition"]),
        (Role::Value, &["val_declaration", "var_declaration", "type_definition"]),
        (Role::Variant, &["simple_enum_case", "full_enum_case"]),
        (Role::Property, &["val_definition", "var_definition"]),
        (Role::Import, &["import_declaration"]),
        (Role::Comment, &["comment", "block_comment"]),
        (Role::Attribute, &["annotation"]),
        (Role::Inside, &["enum_case_definitions"]),
        (
            Role::Body,
            &["template_body", "with_template_body", "enum_body", "block", "indented_block"],
        ),
        (Role::Special, &["given_definition", "call_expression", "infix_expression"]),
    ],
    name: scala::name,
    values: scala::values,
    special: scala::special,
    highlights: &[tree_sitter_scala::HIGHLIGHTS_QUERY],
    ..DEFAULT
};

const BASH: Grammar = Grammar {
    language: Language::Bash,
    parser: || tree_sitter_bash::LANGUAGE.into(),
    kinds: &[
        (Role::Function, &["function_definition"]),
        (Role::Value, &["variable_assignment"]),
        (Role::Comment, &["comment"]),
        (
            Role::Inside,
            &["declaration_command", "if_statement", "else_clause", "elif_clause", "list"],
        ),
        (Role::Body, &["compound_statement"]),
        (Role::Special, &["command"]),
    ],
    name: plain::bash_name,
    special: plain::bash_special,
    mask: mask::bats,
    highlights: &[tree_sitter_bash::HIGHLIGHT_QUERY],
    ..DEFAULT
};

const LUA: Grammar = Grammar {
    language: Language::Lua,
    parser: || tree_sitter_lua::LANGUAGE.into(),
    kinds: &[
        (Role::Function, &["function_declaration"]),
        (Role::Comment, &["comment"]),
        (Role::Wrapper, &["variable_declaration"]),
        (Role::Inside, &["table_constructor", "if_statement", "else_statement", "do_statement"]),
        (Role::Body, &["block"]),
        (Role::Special, &["assignment_statement", "function_call", "field"]),
    ],
    name: lua::name,
    special: lua::special,
    highlights: &[tree_sitter_lua::HIGHLIGHTS_QUERY],
    ..DEFAULT
};

const ELIXIR: Grammar = Grammar {
    language: Language::Elixir,
    parser: || tree_sitter_elixir::LANGUAGE.into(),
    kinds: &[
        (Role::Comment, &["comment"]),
        (Role::Inside, &["else_block"]),
        (Role::Body, &["do_block"]),
        (Role::Special, &["call", "unary_operator"]),
    ],
    special: elixir::special,
    clauses: true,
    highlights: &[tree_sitter_elixir::HIGHLIGHTS_QUERY],
    ..DEFAULT
};

const HASKELL: Grammar = Grammar {
    language: Language::Haskell,
    parser: || tree_sitter_haskell::LANGUAGE.into(),
    kinds: &[
        (Role::Function, &["function", "bind", "signature", "pattern_synonym", "foreign_import"]),
        (
            Role::Type,
            &[
                "data_type",
                "newtype",
                "class",
                "type_synonym",
                "type_family",
                "data_family",
                "kind_signature",
            ],
        ),
        (Role::Extension, &["instance"]),
        (Role::Import, &["import"]),
        (Role::Comment, &["comment", "haddock"]),
        (Role::Attribute, &["pragma"]),
        (Role::Variant, &["record", "prefix", "newtype_constructor", "gadt_constructor"]),
        (
            Role::Inside,
            &[
                "imports",
                "declarations",
                "data_constructors",
                "data_constructor",
                "gadt_constructors",
            ],
        ),
        (Role::Body, &["class_declarations", "instance_declarations"]),
    ],
    name: haskell::name,
    mask: mask::birds,
    clauses: true,
    highlights: &[tree_sitter_haskell::HIGHLIGHTS_QUERY],
    ..DEFAULT
};

const ZIG: Grammar = Grammar {
    language: Language::Zig,
    parser: || tree_sitter_zig::LANGUAGE.into(),
    kinds: &[
        (Role::Function, &["test_declaration"]),
        (Role::Comment, &["comment"]),
        (Role::Inside, &["expression_statement", "return_expression"]),
        (
            Role::Body,
            &[
                "struct_declaration",
                "enum_declaration",
                "union_declaration",
                "opaque_declaration",
                "error_set_declaration",
                "block",
            ],
        ),
        (Role::Special, &["function_declaration", "variable_declaration"]),
    ],
    name: zig::name,
    special: zig::special,
    highlights: &[tree_sitter_zig::HIGHLIGHTS_QUERY],
    ..DEFAULT
};

/// Every language with a grammar.
pub(super) static GRAMMARS: &[Grammar] = &[
    RUST, GO, JAVA, PYTHON, JAVASCRIPT, TYPESCRIPT, TSX, VUE, SVELTE, C, CPP, CSHARP, RUBY, PHP,
    KOTLIN, SWIFT, SCALA, BASH, LUA, ELIXIR, HASKELL, ZIG,
];

/// The row of a language.
pub(super) fn find(language: Language) -> Option<&'static Grammar> {
    GRAMMARS.iter().find(|grammar| grammar.language == language)
}

/// The role of a node, of those that [`roles`] looked up.
pub(super) fn role(roles: &[Role], node: Node) -> Role {
    roles.get(usize::from(node.kind_id())).copied().unwrap_or_default()
}

/// What a row's kinds of nodes are, by the kind's number in its grammar.
pub(super) struct Kinds {
    pub roles: Vec<Role>,
    pub classes: Vec<TokenClass>,
}

/// The roles of a row. Looked up once a language.
pub(super) fn roles(grammar: &Grammar) -> &'static [Role] {
    &kinds(grammar).roles
}

/// What a row's kinds of nodes are. Looked up once a language.
pub(super) fn kinds(grammar: &Grammar) -> &'static Kinds {
    static KINDS: LazyLock<Vec<OnceLock<Kinds>>> =
        LazyLock::new(|| GRAMMARS.iter().map(|_| OnceLock::new()).collect());
    let row = GRAMMARS.iter().position(|row| row.language == grammar.language);
    KINDS[row.expect("every row is in the table")].get_or_init(|| {
        let tree_sitter = (grammar.parser)();
        let count = u16::try_from(tree_sitter.node_kind_count()).unwrap_or(u16::MAX);
        let kind = |id| tree_sitter.node_kind_for_id(id).unwrap_or_default();
        let named = |id: &u16| tree_sitter.node_kind_is_named(*id);
        let role = |id| {
            let listed = grammar.kinds.iter().find(|(_, kinds)| kinds.contains(&kind(id)));
            listed.filter(|_| named(&id)).map(|(role, _)| *role).unwrap_or_default()
        };
        let class = |id| if named(&id) { TokenClass::of(kind(id)) } else { TokenClass::Fixed };
        Kinds { roles: (0..count).map(role).collect(), classes: (0..count).map(class).collect() }
    })
}
