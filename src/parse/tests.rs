//! Rows that are true of their grammars, outlines of odd texts, colours.

use std::path::Path;

use super::languages::GRAMMARS;
use super::*;

/// The definitions of a text, each as `kind outer.name`.
fn defined(language: Language, text: &str) -> Vec<String> {
    let outline = outline(language, text, 3_000).expect("a grammar");
    let one = |definition: &Definition| {
        let path: Vec<&str> =
            definition.outer.iter().map(String::as_str).chain([definition.name.as_str()]).collect();
        format!("{:?} {}", definition.kind, path.join("."))
    };
    outline.definitions.iter().map(one).collect()
}

#[test]
fn every_kind_in_a_row_is_a_kind_of_its_grammar() {
    for row in GRAMMARS {
        let grammar = (row.parser)();
        for kind in row.kinds.iter().flat_map(|(_, kinds)| *kinds) {
            assert_ne!(grammar.id_for_node_kind(kind, true), 0, "{}: {kind}", row.language);
        }
    }
}

#[test]
fn no_kind_has_two_roles() {
    for row in GRAMMARS {
        let mut kinds: Vec<&str> =
            row.kinds.iter().flat_map(|(_, kinds)| *kinds).copied().collect();
        let count = kinds.len();
        kinds.sort_unstable();
        kinds.dedup();
        assert_eq!(kinds.len(), count, "{}", row.language);
    }
}

#[test]
fn outlines_are_in_order_and_parents_come_first() {
    let text =
        "mod a { cfg_x! { fn b() {} } fn c() { } }\ncfg_y! { mod d { fn e() {} } }\nfn f() {}\n";
    let outline = outline(Language::Rust, text, 3_000).expect("a grammar");
    let names: Vec<&str> = outline.definitions.iter().map(|d| d.name.as_str()).collect();
    assert_eq!(names, ["a", "b", "c", "d", "e", "f"]);
    let parents: Vec<Option<usize>> = outline.definitions.iter().map(|d| d.parent).collect();
    assert_eq!(parents, [None, Some(0), Some(0), None, Some(3), None]);
    assert!(outline.cuts.is_sorted_by_key(|cut| cut.at));
}

#[test]
fn syntax_errors_leave_what_could_be_parsed() {
    let rust = "fn whole() { 1 }\n\nstruct Half {\n\nfn after() { 2 }\n";
    assert!(defined(Language::Rust, rust).contains(&"Function whole".to_owned()));
    let python =
        "def whole():\n    return 1\n\ndef half(:\n    return\n\ndef after():\n    return 2\n";
    let found = defined(Language::Python, python);
    assert!(
        found.contains(&"Function whole".into()) && found.contains(&"Function after".into()),
        "{found:?}"
    );
}

#[test]
fn a_macros_tokens_that_are_no_source_text_define_nothing() {
    assert_eq!(defined(Language::Rust, "html! { <fn name() {}> }\n"), [] as [&str; 0]);
}

#[test]
fn names_are_those_that_were_written() {
    let cases: &[(Language, &str, &[&str])] = &[
        (Language::Rust, "impl<T> A for &'a [b::C<T>] { fn f() {} }", &["Extension C", "Method f"]),
        (Language::Go, "func (r *pkg.T[K]) M() {}", &["Method T.M"]),
        (
            Language::Cpp,
            "A::B::~B() {}\nA::operator bool() { return 1; }",
            &["Method A.B.~B", "Method A.operator bool"],
        ),
        (Language::Haskell, "f' :: Int\nf' = 1\nx <+> y = x\n", &["Function f'", "Function <+>"]),
        (
            Language::JavaScript,
            "app.use = function () {}\nthis.x = () => 1",
            &["Function app.use", "Function x"],
        ),
        (
            Language::Ruby,
            "class A::B\n  def self.c = 1\n  def D.e; end\nend",
            &["Type A.B", "Method c", "Method D.e"],
        ),
        (Language::Kotlin, "fun <T> a.List<T>.f() {}", &["Method List.f"]),
        (
            Language::CSharp,
            "class A { ~A() {} int this[int i] { get {\n\n\n return 1; } } }",
            &["Type A", "Method ~A", "Method this"],
        ),
        (
            Language::Swift,
            "extension A.B { subscript(i: Int) -> Int { 1 } }",
            &["Extension B", "Method subscript"],
        ),
        (
            Language::Elixir,
            "defmodule A do\n  def a <> b, do: a\n  def c? when x, do: 1\nend",
            &["Module A", "Function <>", "Function c?"],
        ),
        (
            Language::Zig,
            "test \"a b\" {}\nfn F() type { return struct {}; }",
            &["Function a b", "Type F"],
        ),
        (Language::Lua, "x[1] = function() end\nx['a b'] = function() end", &["Function x.a b"]),
        (Language::Bash, "@test 'x {y}' {\n  run\n}\n", &["Function x {y}"]),
        (Language::C, "struct A *f(int (*g)(int)) { return 0; }", &["Function f"]),
    ];
    for (language, text, expected) in cases {
        assert_eq!(defined(*language, text), *expected, "{text}");
    }
}

#[test]
fn a_header_is_cpp_when_it_looks_like_it() {
    let path = RelPath::new(Path::new("a/b.h")).expect("a relative path");
    let is_cpp = |text| dialect(&path, Language::C, text) == Language::Cpp;
    assert!(is_cpp("#pragma once\nnamespace a::b {\n}\n"));
    assert!(is_cpp("template <class T>\nstruct A;\n"));
    assert!(is_cpp("class A final : public B {\n"));
    assert!(!is_cpp("/*\n * class of things\n */\nstruct a { int class_; };\n"));
    assert!(!is_cpp("#ifdef __cplusplus\nextern \"C\" {\n#endif\nint f(void);\n"));
    let source = RelPath::new(Path::new("a/b.c")).expect("a relative path");
    assert_eq!(dialect(&source, Language::C, "namespace a {"), Language::C);
}

#[test]
fn masks_move_no_byte() {
    let texts = [
        "@test 'é' {\n  x\n}\n@test {\n",
        "> main = é\n\ntext é\n",
        "<script\n lang='ts'>\nlet é\n</script>\nrest é\r\n",
        &"x <<~'é\n".repeat(300),
        &(0..300).flat_map(|n| [" ".repeat(n), "é\n".into()]).collect::<String>(),
        "API_EXPORT_É\nMACRO_NAME\nclass A {}\nstruct DLL_API Béta {};\n",
    ];
    for text in texts {
        for row in GRAMMARS {
            let masked = (row.mask)(text);
            let breaks =
                |text: &str| -> Vec<usize> { text.match_indices('\n').map(|(at, _)| at).collect() };
            assert_eq!(
                (masked.len(), breaks(&masked)),
                (text.len(), breaks(text)),
                "{}",
                row.language
            );
        }
    }
}

#[test]
fn what_makes_a_grammar_abort_is_hidden_from_it() {
    let word = "a".repeat(300);
    for heredoc in [format!("x = <<~\"{word}\"\nb\n"), format!("x = <<{word}\nb\n{word}\n")] {
        let text = format!("{heredoc}\ndef after; end\n");
        assert!(outline(Language::Ruby, &text, 3_000).is_some());
        assert!(!highlight(Language::Ruby, &text).is_empty());
    }
    let deep = (0..600).flat_map(|n| [" ".repeat(n), "if x:\n".into()]);
    let text: String = ["f'{f\"{x\n".into()].into_iter().chain(deep).collect();
    // Whether it is parsed does not matter: the process is still there.
    outline(Language::Python, &text, 3_000);
}

#[test]
fn texts_that_cost_too_much_have_no_outline() {
    assert_eq!(outline(Language::Lua, &"a[[".repeat(200_000), 3_000), None);
    assert_eq!(outline(Language::Rust, &"/".repeat(PARSED_BYTES_MAX + 1), 3_000), None);
}

#[test]
fn every_highlighting_query_compiles_and_colours_in_order() {
    for row in GRAMMARS.iter().filter(|row| !row.highlights.is_empty()) {
        let text = "class A { return 1; } // né\n# \"s\"\ndef f() if x then 'é' end\n";
        let ranges = highlight(row.language, text);
        assert!(!ranges.is_empty(), "{}", row.language);
        let mut end = 0;
        for (range, _) in ranges {
            assert!(end <= range.start && range.start < range.end, "{}", row.language);
            assert!(text.get(range.clone()).is_some(), "{}", row.language);
            end = range.end;
        }
    }
}

#[test]
fn colours_are_what_a_reader_expects() {
    let cases = [
        (Language::Php, "function f() { return 1; }", "function", Highlight::Keyword),
        (Language::Rust, "fn f() -> u8 { \"s\" }", "fn", Highlight::Keyword),
        (Language::Rust, "fn f() -> u8 { \"s\" }", "\"s\"", Highlight::String),
        (Language::Go, "package a\n\nfunc f() {}", "f", Highlight::Function),
        (Language::Python, "def f(): return 1  # no", "# no", Highlight::Comment),
        (Language::TypeScript, "const a: number = 12", "12", Highlight::Number),
        (Language::Java, "class A {}", "A", Highlight::Type),
        (Language::JavaScript, "a.b", "b", Highlight::Property),
        (Language::Kotlin, "fun f() {}", "fun", Highlight::Keyword),
    ];
    for (language, text, word, expected) in cases {
        let found = highlight(language, text);
        let one = found.iter().find(|(range, _)| &text[range.clone()] == word);
        assert_eq!(one.map(|(_, highlight)| *highlight), Some(expected), "{text}: {found:?}");
    }
}

#[test]
fn what_cannot_be_coloured_is_plain() {
    assert_eq!(highlight(Language::Markdown, "# a"), []);
    assert_eq!(highlight(Language::Rust, &"fn f() {}\n".repeat(10_000)), []);
    assert_eq!(highlight(Language::Rust, ""), []);
    assert!(highlight(Language::JavaScript, &"[".repeat(30_000)).len() < 30_000);
}

/// The tokens of a text with their classes.
fn classed(language: Language, text: &str) -> Vec<(String, TokenClass)> {
    let lexed = lex(language, text, usize::MAX).expect("it has a grammar");
    let token =
        |token: &Token| (text[token.start as usize..token.end as usize].to_owned(), token.class);
    lexed.tokens.iter().map(token).collect()
}

#[test]
fn names_texts_and_numbers_are_told_apart_in_every_language() {
    use Language::*;
    let cases: &[(Language, &str)] = &[
        (Rust, "use a::b;\nfn f() { let count = call(\"text\", 42); } // note\n"),
        (Go, "package p\nimport \"a\"\nfunc f() { count := call(\"text\", 42) } // note\n"),
        (Java, "import a.b;\nclass C { void f() { int count = call(\"text\", 42); } } // note\n"),
        (Python, "import a\ndef f():\n    count = call(\"text\", 42)  # note\n"),
        (
            JavaScript,
            "import a from 'b';\nfunction f() { let count = call(\"text\", 42); } // note\n",
        ),
        (
            TypeScript,
            "import a from 'b';\nfunction f() { let count = call(\"text\", 42); } // note\n",
        ),
        (Tsx, "import a from 'b';\nfunction f() { let count = call(\"text\", 42); } // note\n"),
        (C, "#include <a.h>\nvoid f() { int count = call(\"text\", 42); } // note\n"),
        (Cpp, "#include <a.h>\nvoid f() { auto count = call(\"text\", 42); } // note\n"),
        (CSharp, "using A;\nclass C { void F() { var count = call(\"text\", 42); } } // note\n"),
        (Ruby, "def f\n  count = call(\"text\", 42) # note\nend\n"),
        (Php, "<?php\nuse A\\B;\nfunction f() { $count = call(\"text\", 42); } // note\n"),
        (Kotlin, "import a.b\nfun f() { val count = call(\"text\", 42) } // note\n"),
        (Swift, "import A\nfunc f() { let count = call(\"text\", 42) } // note\n"),
        (Scala, "import a.b\ndef f() = { val count = call(\"text\", 42) } // note\n"),
        (Bash, "f() { count=$(call \"text\" 42); } # note\n"),
        (Lua, "function f() local count = call(\"text\", 42) end -- note\n"),
        (Elixir, "defmodule M do\n  def f do\n    count = call(\"text\", 42) # note\n  end\nend\n"),
        (Haskell, "module M where\nimport A\nf = let count = call \"text\" 42 in count -- note\n"),
        (Zig, "fn f() void { const count = call(\"text\", 42); } // note\n"),
    ];
    for (language, text) in cases {
        let tokens = classed(*language, text);
        let class = |wanted: &str| {
            let found = tokens.iter().find(|(token, _)| token.trim_matches('"') == wanted);
            found.unwrap_or_else(|| panic!("{language}: no `{wanted}` in {tokens:?}")).1
        };
        assert_eq!(class("count"), TokenClass::Name, "{language}: {tokens:?}");
        assert_eq!(class("call"), TokenClass::Name, "{language}: {tokens:?}");
        assert_eq!(class("text"), TokenClass::Text, "{language}: {tokens:?}");
        assert_eq!(class("42"), TokenClass::Number, "{language}: {tokens:?}");
        let said: String = tokens.iter().map(|(token, _)| token.as_str()).collect();
        assert!(!said.contains("note") && !said.contains("import"), "{language}: {said}");
    }
}

#[test]
fn a_string_is_one_token_unless_code_stands_in_it() {
    use Language::{Python, TypeScript};
    let plain = classed(Python, "x = 'a \\n b'\n");
    assert_eq!(plain.last(), Some(&("'a \\n b'".to_owned(), TokenClass::Text)));
    let filled = classed(TypeScript, "const x = `a ${b} c`;\n");
    assert!(filled.contains(&("b".to_owned(), TokenClass::Name)), "{filled:?}");
}

#[test]
fn markers_are_found_in_comments_alone() {
    let text =
        "// sai-noduplicate: generated by hand\nfn f() {}\nconst A: &str = \"sai-noduplicate\";\n";
    assert_eq!(lex(Language::Rust, text, usize::MAX).expect("a grammar").markers, [0]);
}
