use super::*;

fn all(text: &str) -> Vec<String> {
    let mut out = Vec::new();
    terms(text, &mut |word| out.push(word.to_owned()));
    out
}

#[test]
fn identifiers_count_whole_and_by_parts() {
    assert_eq!(all("parseHTTPRequest"), ["parsehttprequest", "pars", "http", "request"]);
    assert_eq!(all("parse_http_request"), ["parsehttprequest", "pars", "http", "request"]);
    assert_eq!(all("sha256"), ["sha256", "sha", "256"]);
    assert_eq!(all("x = y + 1"), ["x", "y", "1"]);
    assert_eq!(all("__init__"), ["init"]);
}

#[test]
fn endings_fall_together() {
    for word in ["parse", "parser", "parsers", "parsing", "parsed"] {
        assert_eq!(stem(word), "pars", "{word}");
    }
    assert_eq!(stem("retries"), stem("retry"));
    assert_eq!(stem("class"), "clas");
    assert_eq!(stem("status"), "status");
    assert_eq!(stem("run"), "run");
    assert_eq!((stem("files"), stem("file")), ("file".into(), "file".into()));
    assert_eq!(stem("keys"), stem("key"));
}

#[test]
fn accents_fold_and_spaceless_scripts_pair() {
    assert_eq!(all("Über café"), ["uber", "cafe"]);
    assert_eq!(all("设置缓存大小"), ["设置", "置缓", "缓存", "存大", "大小"]);
    assert_eq!(all("用 cache"), ["用", "cach"]);
    assert_eq!(all("日本語parse_it"), ["日本", "本語", "parseit"]);
    assert!(all("→ … “ ”").is_empty());
}

#[test]
fn stop_words_are_sorted_for_the_search() {
    assert!(STOP_WORDS.is_sorted());
    assert!(is_stop_word("how") && !is_stop_word("retry"));
}

fn index_of(chunks: &[Fields<'_>]) -> WordIndex {
    let mut counter = Counter::default();
    for fields in chunks {
        counter.add(fields);
    }
    let counted = counter.finish();
    let global: Vec<u32> = (0..counted.words.len() as u32).map(|id| id * 3 + 1).collect();
    let mut builder = WordIndexBuilder::default();
    counted.chunks.iter().for_each(|chunk| builder.push(&encode(chunk, &global)));
    builder.build(global.iter().copied().zip(counted.words).collect())
}

#[test]
fn a_word_scores_where_it_occurs_and_names_count_more() {
    let body = |body| Fields { body, ..Fields::default() };
    let index = index_of(&[
        body("open the file"),
        Fields { names: "open_file", ..body("open_file reads") },
        body("nothing of it"),
    ]);
    let mut scores = [0.0; 3];
    assert!(index.score("open", &mut scores));
    assert!(scores[1] > scores[0] && scores[0] > 0.0 && scores[2] == 0.0, "{scores:?}");
    assert!(!index.score("absent", &mut scores));
    assert_eq!(index.chunk_count("file"), 2);
}

#[test]
fn damaged_encodings_end_early() {
    for cut in 0..6 {
        let mut counter = Counter::default();
        counter.add(&Fields { body: "one two three", ..Fields::default() });
        let counted = counter.finish();
        let bytes = encode(&counted.chunks[0], &[0, 200, 40_000]);
        let mut builder = WordIndexBuilder::default();
        builder.push(&bytes[..cut.min(bytes.len())]);
        builder.build(std::iter::once((0, "one")).collect());
    }
}

proptest::proptest! {
    #[test]
    fn any_text_splits(text in "\\PC{0,200}") {
        terms(&text, &mut |word| assert!(!word.is_empty()));
    }

    #[test]
    fn counts_survive_the_encoding(texts in proptest::collection::vec("[a-d ]{0,40}", 1..6)) {
        let fields: Vec<Fields<'_>> =
            texts.iter().map(|body| Fields { body, ..Fields::default() }).collect();
        let index = index_of(&fields);
        for word in index.words() {
            let holding = texts.iter().filter(|text| all(text).iter().any(|w| w == word)).count();
            proptest::prop_assert_eq!(index.chunk_count(word), holding);
        }
    }
}
