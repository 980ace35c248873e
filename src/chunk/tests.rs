//! Properties that hold for every text, and the rules of joining and cutting.

mod languages;
mod places;

use std::path::Path;

use proptest::prelude::*;
use proptest::sample::{Index, select};

use super::*;
use languages::SAMPLES;

/// The path and language of a file called `name`.
fn named(name: &str, text: &str) -> (RelPath, Language) {
    let path = RelPath::new(Path::new(name)).expect("a relative path");
    let language = Language::of(&path, text.lines().next().unwrap_or_default());
    (path, language)
}

/// Splits a file called `name`, and fails when the split is not a proper one.
#[track_caller]
fn split_checked(name: &str, text: &str) -> Pieces {
    let (path, language) = named(name, text);
    let pieces = split(&path, language, text);
    if let Err(broken) = check(text, &pieces) {
        panic!("{name}: {broken}\n{}", text.chars().take(2_000).collect::<String>());
    }
    pieces
}

/// Symbols with their kinds and lines, one a chunk.
fn outlined(pieces: &Pieces) -> Vec<String> {
    let one = |chunk: &Chunk| {
        let symbol = chunk.symbol.as_deref().unwrap_or("-");
        format!("{} {symbol} {}-{}", chunk.kind, chunk.lines.start, chunk.lines.end)
    };
    pieces.chunks.iter().map(one).collect()
}

/// Text that is or pretends to be source code.
fn any_text() -> impl Strategy<Value = String> {
    let words = vec![
        "{",
        "}",
        "(",
        ")",
        "[",
        "]",
        "<",
        ">",
        "\"",
        "'",
        "`",
        "\\",
        ";",
        ":",
        ",",
        ".",
        "=",
        "\n",
        "\r\n",
        "\r",
        "\t",
        "    ",
        " ",
        "//",
        "/*",
        "*/",
        "#",
        "--",
        "{-",
        "\"\"\"",
        "<<EOF",
        "fn ",
        "def ",
        "class ",
        "struct ",
        "impl ",
        "function ",
        "end",
        "do",
        "module ",
        "import ",
        "x",
        "describe(\"a\", () => {",
        "@test \"t\" {",
        "case ",
        "if ",
        "名前",
        "é",
        "\u{3000}",
        "\u{feff}",
        "\u{1}",
        "\u{0}",
        "#define A ",
        "template<",
        "=> ",
        "where",
        "let ",
        "const ",
        "```",
        "# ",
        "---",
    ];
    prop_oneof![
        prop::collection::vec(any::<u8>(), 0..600)
            .prop_map(|bytes| String::from_utf8_lossy(&bytes).into_owned()),
        prop::collection::vec(select(words), 0..300).prop_map(|words| words.concat()),
        any::<String>(),
    ]
}

/// A sample with some stretches taken out, doubled, or replaced by noise.
fn mutated_sample() -> impl Strategy<Value = String> {
    let edit = (any::<Index>(), any::<Index>(), 0..4_u8, any_text());
    (select(SAMPLES), prop::collection::vec(edit, 0..6), any::<bool>(), any::<bool>()).prop_map(
        |(sample, edits, crlf, cut)| {
            let mut text = sample.text().to_owned();
            for (from, to, what, noise) in edits {
                let bounds: Vec<usize> =
                    text.char_indices().map(|(at, _)| at).chain([text.len()]).collect();
                let (a, b) = (*from.get(&bounds), *to.get(&bounds));
                let range = a.min(b)..a.max(b);
                match what {
                    0 => text.replace_range(range, ""),
                    1 => {
                        let twice = text[range.clone()].repeat(2);
                        text.replace_range(range, &twice);
                    }
                    2 => text.replace_range(range, &noise),
                    _ => text.insert_str(range.start, &noise),
                }
            }
            let text = if crlf { text.replace('\n', "\r\n") } else { text };
            if cut { text.trim_end().to_owned() } else { text }
        },
    )
}

proptest! {
    #[test]
    fn every_text_splits_properly_in_every_language(
        text in prop_oneof![any_text(), mutated_sample()],
        language in select(Language::ALL),
        name in select(vec!["a", "a.h", "src/a.rs", "x.vue"]),
    ) {
        let path = RelPath::new(Path::new(name)).expect("a relative path");
        let pieces = split(&path, language, &text);
        prop_assert_eq!(check(&text, &pieces), Ok(()));
        prop_assert_eq!(split(&path, language, &text), pieces);
        place(&path, language, &text);
    }

    #[test]
    fn every_mutation_of_real_code_splits_properly(text in mutated_sample(), at in any::<Index>()) {
        let (path, language) = named(at.get(SAMPLES).name, &text);
        prop_assert_eq!(check(&text, &split(&path, language, &text)), Ok(()));
    }
}

#[test]
fn deep_nesting_splits_properly_in_every_language() {
    for (at, sample) in SAMPLES.iter().enumerate() {
        let open = ["[", "(", "{", "((", "[{"][at % 5];
        split_checked(sample.name, &open.repeat(100_000 / open.len()));
        let closed = format!("{}{}", "(".repeat(20_000), ")".repeat(20_000));
        split_checked(sample.name, &format!("x = {closed}\n{}", sample.text()));
    }
}

#[test]
fn deeply_nested_definitions_have_bounded_names_around_them() {
    let pieces = split_checked(
        "a.py",
        &(0..200).flat_map(|n| [" ".repeat(n), "class A:\n".into()]).collect::<String>(),
    );
    assert!(pieces.chunks.iter().all(|chunk| chunk.parents.len() <= 16));
}

#[test]
fn line_ends_and_indents_of_every_kind_split_alike() {
    for sample in SAMPLES {
        let plain = split_checked(sample.name, sample.text());
        let crlf = sample.text().replace('\n', "\r\n");
        assert_eq!(
            outlined(&plain),
            outlined(&split_checked(sample.name, &crlf)),
            "{}",
            sample.name
        );
        let bare = sample.text().trim_end();
        assert_eq!(
            outlined(&plain),
            outlined(&split_checked(sample.name, bare)),
            "{}",
            sample.name
        );
        split_checked(sample.name, &sample.text().replace("  ", "\t"));
        split_checked(sample.name, &sample.text().replace("run", "実行"));
    }
}

#[test]
fn nothing_comes_of_blank_texts() {
    for sample in SAMPLES {
        for blank in ["", "\n", "\r\n\r\n", " \t\u{3000}\n\n", "\u{2028}"] {
            assert_eq!(split_checked(sample.name, blank).chunks, [], "{}", sample.name);
        }
    }
}

#[test]
fn small_neighbours_share_a_chunk_that_names_them_all() {
    let text = "fn one() {}\n\nfn two() {}\n\nfn three() {}\n";
    let pieces = split_checked("a.rs", text);
    assert_eq!(outlined(&pieces), ["function one 1-5"]);
    assert_eq!(pieces.chunks[0].defines, ["one", "two", "three"]);
}

#[test]
fn a_small_type_is_one_chunk_with_its_methods() {
    let text = "class A:\n    x = 1\n\n    def one(self):\n        pass\n\n    def two(self):\n        pass\n";
    let pieces = split_checked("a.py", text);
    assert_eq!(outlined(&pieces), ["type A 1-8"]);
    assert_eq!(pieces.chunks[0].defines, ["A", "one", "two"]);
}

#[test]
fn closing_brackets_and_shells_go_with_what_they_enclose() {
    let body = "        let long_enough_name = long_enough_name + 1;\n".repeat(8);
    let text =
        format!("impl A {{\n    fn one() {{\n{body}    }}\n\n    fn two() {{\n{body}    }}\n}}\n");
    let pieces = split_checked("a.rs", &text);
    assert_eq!(outlined(&pieces), ["method one 1-11", "method two 13-23"]);
    assert!(pieces.chunks.iter().all(|chunk| chunk.parents == ["A"]));
}

#[test]
fn a_tiny_block_never_crosses_into_a_definition_that_it_does_not_belong_to() {
    let body = "        let long_enough_name = long_enough_name + 1;\n".repeat(8);
    let text = format!(
        "impl A {{\n    fn one() {{\n{body}    }}\n}}\n\nconst X: u8 = 1;\n\nimpl B {{\n    fn two() {{\n{body}    }}\n}}\n"
    );
    let pieces = split_checked("a.rs", &text);
    assert_eq!(outlined(&pieces), ["method one 1-12", "block - 14-14", "method two 16-27"]);
    assert_eq!(pieces.chunks[1].defines, ["X"]);
}

#[test]
fn a_long_function_is_cut_between_statements_and_keeps_its_name() {
    let statement = "    if ready {\n        step(1);\n        step(2);\n    }\n";
    let text = format!(
        "impl A {{\n/// Runs.\npub fn run(&self) -> u8 {{\n{}}}\n}}\n",
        statement.repeat(100)
    );
    let pieces = split_checked("a.rs", &text);
    assert!(pieces.chunks.len() > 2);
    for chunk in &pieces.chunks {
        assert_eq!(chunk.symbol.as_deref(), Some("run"));
        assert_eq!(chunk.parents, ["A"]);
        assert_eq!(chunk.signature.as_deref(), Some("pub fn run(&self) -> u8"));
        let first = text[chunk.bytes.clone()].lines().next().unwrap_or_default();
        assert!(first == "impl A {" || first == "    if ready {", "{first}");
    }
    assert!(pieces.chunks[0].doc.is_some() && pieces.chunks[1].doc.is_none());
}

#[test]
fn functions_inside_a_long_function_have_chunks_of_their_own() {
    let inner = |name: &str| {
        format!("  function {name}() {{\n{}  }}\n\n", "    use(something, more);\n".repeat(20))
    };
    let text = format!(
        "export function make() {{\n{}{}{}  return 1;\n}}\n",
        inner("first"),
        inner("second"),
        inner("third").repeat(5)
    );
    let pieces = split_checked("a.js", &text);
    let second = pieces.chunks.iter().find(|c| c.symbol.as_deref() == Some("second"));
    assert_eq!(second.expect("a chunk of its own").parents, ["make"]);
}

#[test]
fn a_line_over_the_cap_is_a_chunk_alone() {
    let text = format!("const a = 1;\nconst b = \"{}\";\nconst c = 2;\n", "x".repeat(200_000));
    let pieces = split_checked("a.js", &text);
    assert!(pieces.chunks.iter().any(|c| c.lines.start == 2 && c.lines.end == 2));
}

#[test]
fn signatures_and_documentation_are_what_was_written() {
    let text = "/// Doubles.\n///\n/// Always.\n#[inline]\npub fn double<T>(\n    x: T, // the value\n) -> T\nwhere\n    T: Copy,\n{\n    x\n}\n";
    let pieces = split_checked("a.rs", text);
    let chunk = &pieces.chunks[0];
    assert_eq!(chunk.signature.as_deref(), Some("pub fn double<T>( x: T, ) -> T where T: Copy,"));
    let doc = chunk.doc.clone().expect("documented");
    assert_eq!(&text[doc], "/// Doubles.\n///\n/// Always.");
    let body = "        use(long_enough_name)\n".repeat(30);
    let text = format!("class A:  # of its kind\n    # Runs.\n    def run(self):\n{body}");
    let run = &split_checked("a.py", &text).chunks[1];
    assert_eq!(&text[run.doc.clone().expect("documented")], "# Runs.");
    let text = "def f(a):\n    \"\"\"Says so.\"\"\"\n    return a\n";
    let pieces = split_checked("a.py", text);
    assert_eq!(&text[pieces.chunks[0].doc.clone().expect("documented")], "\"\"\"Says so.\"\"\"");
    assert_eq!(pieces.chunks[0].signature.as_deref(), Some("def f(a)"));
}

#[test]
fn a_comment_apart_from_a_definition_is_not_its_documentation() {
    let text = format!("// Licence.\n{}\n\nfunc F() {{\n}}\n", "// More of it.\n".repeat(10));
    let pieces = split_checked("a.go", &text);
    assert_eq!(pieces.chunks[1].symbol.as_deref(), Some("F"));
    assert_eq!(pieces.chunks[1].doc, None);
}

#[test]
fn windows_prefer_places_where_something_begins() {
    let entry = "- name: x\n  value: 1\n  more:\n    - a\n    - b\n\n";
    let pieces = split_checked("a.yaml", &entry.repeat(60));
    assert!(pieces.chunks.len() > 5);
    for chunk in &pieces.chunks {
        assert_eq!(chunk.kind, ChunkKind::Window);
        assert_eq!(chunk.lines.start % 6, 1, "{:?}", chunk.lines);
        assert!(chunk.lines.end - chunk.lines.start < 60);
    }
}

#[test]
fn long_sections_are_cut_at_paragraphs_and_never_inside_short_fences() {
    let part =
        "A paragraph of some length, with words in it.\n\n```sh\n\n# no heading\n\nrun\n```\n\n";
    let text = format!("# Top\n\n## Long\n\n{}", part.repeat(80));
    let pieces = split_checked("a.md", &text);
    assert!(pieces.chunks.len() > 3);
    for chunk in &pieces.chunks[1..] {
        let first = text[chunk.bytes.clone()].lines().next().unwrap_or_default();
        assert!(first.starts_with("A paragraph") || first == "```sh", "{first}");
    }
    assert!(pieces.chunks.iter().all(|chunk| chunk.symbol.as_deref() == Some("Long")));
    assert!(pieces.chunks.iter().all(|chunk| chunk.parents == ["Top"]));
    assert_eq!(pieces.chunks[0].defines, ["Long", "Top"]);
}

#[test]
fn a_long_type_is_cut_into_blocks_in_it() {
    let text = format!(
        "/// Many.\npub enum Many {{\n{}}}\n",
        (0..300)
            .flat_map(|n| ["    Variant".into(), n.to_string(), ",\n".into()])
            .collect::<String>()
    );
    let pieces = split_checked("a.rs", &text);
    assert!(pieces.chunks.len() > 2);
    assert_eq!(pieces.chunks[0].defines[..2], ["Many", "Variant0"]);
    for chunk in &pieces.chunks[1..] {
        assert_eq!((chunk.kind, &chunk.symbol), (ChunkKind::Block, &None));
        assert_eq!(chunk.parents, ["Many"]);
        assert!(chunk.defines.iter().all(|name| name.starts_with("Variant")));
    }
}

#[test]
fn a_remark_between_definitions_goes_with_the_next_one() {
    let body = "    use(long_enough_name, long_enough_name);\n".repeat(8);
    let banner = "/*\n**********************************************\n* Things that are done afterwards, and by whom\n**********************************************\n*/";
    let text = format!("function one() {{\n{body}}}\n\n{banner}\n\nfunction two() {{\n{body}}}\n");
    assert_eq!(
        outlined(&split_checked("a.js", &text)),
        ["function one 1-10", "function two 12-27"]
    );
}
