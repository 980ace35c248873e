//! What is asked: the words of a question, the symbols it names, and what it is about.

use std::collections::HashMap;

use super::catalog::normal_name;
use super::names::stemmed_parts;
use crate::types::{Language, Place};
use crate::words::{is_stop_word, stem, terms};

/// A word that is repeated counts so many times at most: each time costs a look at all its chunks.
const REPEATS_MAX: usize = 4;

/// Symbols that are looked up: a question with more is a piece of code.
const SYMBOLS_MAX: usize = 32;

/// A question, taken apart once.
#[derive(Clone, Debug)]
pub struct Question {
    /// As it was asked, trimmed.
    pub text: String,
    /// Words separated by spaces, without quotes and sentence marks around them.
    pub tokens: Vec<String>,
    /// The word index's words, stop words left out unless there is nothing else.
    pub terms: Vec<String>,
    /// Stemmed parts of the words that carry meaning.
    pub stems: Vec<String>,
    /// Symbols that the question names; all of it when it is one word.
    pub symbols: Vec<Symbol>,
    /// Whether it is a symbol and nothing else.
    pub is_symbol: bool,
    /// Kinds of places that its words name.
    places: Vec<Place>,
    /// Languages that it names as what the answer is written in.
    languages: Vec<Language>,
    /// Whether it is about how something is tested, not only about something with `test` in its name.
    wants_tests: bool,
}

/// A name that a question asks for.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Symbol {
    /// The name itself, for example `request` of `Session.request`.
    pub name: String,
    /// What stands before it, outermost first.
    pub qualifiers: Vec<String>,
}

impl Question {
    /// Takes a question apart. `text` is trimmed and not empty.
    pub fn new(text: &str) -> Self {
        let tokens: Vec<String> = text
            .split_whitespace()
            .map(|token| {
                let inner = token.trim_matches(|c: char| "\"'`?!,;.:()[]{}<>".contains(c));
                inner.to_owned()
            })
            .filter(|token| !token.is_empty())
            .collect();
        let is_symbol = tokens.len() == 1 && is_identifier_like(&tokens[0]);
        let symbols = tokens
            .iter()
            .filter(|token| is_symbol || looks_like_code(token))
            .filter_map(|token| Symbol::parse(token))
            .take(SYMBOLS_MAX)
            .collect();
        let content: Vec<&String> = {
            let telling: Vec<&String> =
                tokens.iter().filter(|token| !is_stop_word(&token.to_lowercase())).collect();
            if telling.is_empty() { tokens.iter().collect() } else { telling }
        };
        let mut terms_found = Vec::new();
        let mut repeats: HashMap<String, usize> = HashMap::new();
        let mut stems = Vec::new();
        for token in content {
            terms(token, &mut |term| {
                let count = repeats.entry(term.to_owned()).or_default();
                *count += 1;
                if *count <= REPEATS_MAX {
                    terms_found.push(term.to_owned());
                }
            });
            for part in stemmed_parts(token) {
                if !stems.contains(&part) {
                    stems.push(part);
                }
            }
        }
        let places = Place::ALL.iter().copied().filter(|place| names(*place, &stems)).collect();
        Self {
            text: text.to_owned(),
            terms: terms_found,
            stems,
            symbols,
            is_symbol,
            places,
            languages: languages(&tokens),
            wants_tests: wants_tests(&tokens),
            tokens,
        }
    }

    /// The first of `defines` that the question names, in any case or style.
    pub fn named<'a>(&self, defines: &'a [String]) -> Option<&'a str> {
        let asked = |define: &&String| {
            let define = normal_name(define);
            self.symbols.iter().any(|symbol| normal_name(&symbol.name) == define)
        };
        defines.iter().find(asked).map(String::as_str)
    }

    /// Whether the question names the language as what the answer is written in.
    pub fn asks_in(&self, language: Language) -> bool {
        self.languages.contains(&language)
    }

    /// How much the question asks for files of such a place, which are put last otherwise: 0 not at
    /// all, 0.5 when one of its words can be meant so, 1 when it is clear.
    pub fn asks_for(&self, place: Place) -> f32 {
        match place {
            _ if !self.places.contains(&place) => 0.0,
            Place::Test if !self.wants_tests => 0.5,
            _ => 1.0,
        }
    }
}

/// Whether it is tests that are wanted: `how is the parser tested`, `tests for retries`, `unit tests of`.
fn wants_tests(tokens: &[String]) -> bool {
    const KINDS: &[&str] = &["unit", "integration", "regression", "e2e", "property", "smoke"];
    const AFTER: &[&str] = &["for", "of", "that", "case", "cases", "suite", "fixture", "fixtures"];
    let words: Vec<String> = tokens.iter().map(|token| token.to_lowercase()).collect();
    let is_test = |word: &str| matches!(word, "test" | "tests" | "spec" | "specs");
    words.iter().any(|word| word == "tested")
        || words.windows(2).any(|pair| {
            let (first, second) = (pair[0].as_str(), pair[1].as_str());
            is_test(first) && AFTER.contains(&second) || KINDS.contains(&first) && is_test(second)
        })
}

/// Languages that an answer shall be written in: `in Rust`, `the Python side`, `C++ code`. The name alone
/// says too little: `python bindings` are often written in another one, and `go` is a word.
fn languages(tokens: &[String]) -> Vec<Language> {
    const BEFORE: &[&str] = &["in"];
    const AFTER: &[&str] = &["code", "side", "implementation", "source", "sources", "version"];
    let words: Vec<String> = tokens.iter().map(|token| token.to_lowercase()).collect();
    let stands = |at: usize, among: &[&str]| {
        words.get(at).is_some_and(|word| among.contains(&word.as_str()))
    };
    let named = words.iter().enumerate().filter(|(at, _)| {
        at.checked_sub(1).is_some_and(|before| stands(before, BEFORE)) || stands(at + 1, AFTER)
    });
    named.flat_map(|(_, word)| written_in(word)).copied().collect()
}

/// The languages of files in which what is called `word` is written. Data formats are none: what is
/// `in JSON` is often asked of the code that writes it.
fn written_in(word: &str) -> &'static [Language] {
    use Language::{
        Bash, C, CSharp, Clojure, Cpp, Dart, Elixir, Erlang, Go, Groovy, Haskell, Java, JavaScript,
        Julia, Kotlin, Lua, OCaml, Perl, Php, PowerShell, Python, Ruby, Rust, Scala, Sql, Swift,
        Tsx, TypeScript, Zig,
    };
    match word {
        "rust" => &[Rust],
        "go" | "golang" => &[Go],
        "java" => &[Java],
        "python" => &[Python],
        "javascript" => &[JavaScript],
        "typescript" => &[TypeScript, Tsx],
        "c" => &[C],
        // Headers of both are called `.h`.
        "c++" | "cpp" => &[Cpp, C],
        "c#" | "csharp" => &[CSharp],
        "ruby" => &[Ruby],
        "php" => &[Php],
        "kotlin" => &[Kotlin],
        "swift" => &[Swift],
        "scala" => &[Scala],
        "bash" | "shell" => &[Bash],
        "lua" => &[Lua],
        "elixir" => &[Elixir],
        "haskell" => &[Haskell],
        "zig" => &[Zig],
        "sql" => &[Sql],
        "dart" => &[Dart],
        "julia" => &[Julia],
        "perl" => &[Perl],
        "erlang" => &[Erlang],
        "clojure" => &[Clojure],
        "ocaml" => &[OCaml],
        "groovy" => &[Groovy],
        "powershell" => &[PowerShell],
        _ => &[],
    }
}

/// Whether one of the stemmed words names a kind of place.
fn names(place: Place, stems: &[String]) -> bool {
    let words: &[&str] = match place {
        Place::Source => return true,
        Place::Test => &["test", "spec", "fixture", "mock", "assert"],
        Place::Example => &["example", "sample", "demo", "benchmark", "bench", "script"],
        Place::Docs => {
            &["doc", "docs", "documentation", "readme", "guide", "changelog", "tutorial"]
        }
        Place::Generated => &["generated", "autogenerated"],
        Place::Vendored => &["vendor", "vendored", "bundled"],
        Place::Config => &["config", "configuration", "settings", "yaml", "toml", "json", "ci"],
    };
    words.iter().any(|word| {
        let stemmed = stem(word);
        stems.iter().any(|found| *found == stemmed || found == word)
    })
}

impl Symbol {
    /// `Session.request`, `Foo::bar()`, `Foo#bar`: the last name and what stands before it.
    fn parse(token: &str) -> Option<Self> {
        let mut names: Vec<String> = token
            .split(|c: char| !(c.is_alphanumeric() || c == '_' || c == '$' || c == '@'))
            .filter(|name| !name.is_empty())
            .map(str::to_owned)
            .collect();
        let name = names.pop()?;
        Some(Self { name, qualifiers: names })
    }
}

/// One word of letters, digits and the separators of qualified names.
fn is_identifier_like(token: &str) -> bool {
    token.chars().all(|c| c.is_alphanumeric() || "_.:#$@/->!?()".contains(c))
}

/// Whether a word inside a sentence is a name from code: it has an underscore, an inner capital, or
/// a separator of qualified names.
fn looks_like_code(token: &str) -> bool {
    let inner_capital = token
        .as_bytes()
        .windows(2)
        .any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
    let separator = token.contains("::") || token.contains("->");
    let dotted = token.split('.').count() > 1
        && token
            .split('.')
            .all(|part| part.len() > 1 && !part.starts_with(|c: char| c.is_ascii_digit()));
    token.contains('_') || inner_capital || separator || dotted
}
