//! Here is a text without a grammar: which tokens is it made of? Words, numbers and single signs, but for
//! lines that are comments as a whole; what is a string, nobody knows.

use crate::parse::{Token, TokenClass};
use crate::types::Language;

/// The tokens of a text, in order.
pub(super) fn tokens(language: Language, text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut in_block = false;
    let mut start = 0;
    for line in text.split_inclusive('\n') {
        if !is_comment(language, line.trim(), &mut in_block) {
            line_tokens(start, line, &mut tokens);
        }
        start += line.len();
    }
    tokens
}

/// What begins a line of comment.
fn marks(language: Language) -> &'static [&'static str] {
    use Language::{
        Assembly, Batch, Clojure, Cmake, Dockerfile, Erlang, GraphQl, Julia, Make, Nix, OCaml,
        Perl, PowerShell, R, Sql, Terraform, Vim,
    };
    match language {
        Batch => &["rem ", "REM ", "::", "@rem "],
        Sql => &["--", "#"],
        Make | Cmake | Dockerfile | Nix | Terraform | R | Julia | Perl | PowerShell | GraphQl => {
            &["#"]
        }
        Erlang => &["%"],
        Clojure => &[";"],
        Assembly => &[";", "#", "//"],
        Vim => &["\""],
        OCaml => &[],
        _ => &["//"],
    }
}

/// Whether a line is a comment as a whole; `in_block` is carried from line to line.
fn is_comment(language: Language, line: &str, in_block: &mut bool) -> bool {
    if *in_block {
        *in_block = !line.contains("*/");
        return true;
    }
    if line.starts_with("/*") && !matches!(language, Language::Batch | Language::Vim) {
        *in_block = !line.contains("*/");
        return true;
    }
    marks(language).iter().any(|mark| line.starts_with(mark))
}

/// Adds the tokens of a line that begins at byte `offset`.
fn line_tokens(offset: usize, line: &str, tokens: &mut Vec<Token>) {
    let mut rest = line.char_indices().peekable();
    while let Some((start, first)) = rest.next() {
        if first.is_whitespace() {
            continue;
        }
        let mut end = start + first.len_utf8();
        if is_word(first) {
            while let Some((at, next)) = rest.next_if(|(_, next)| is_word(*next)) {
                end = at + next.len_utf8();
            }
        }
        if let (Ok(start), Ok(end)) = ((offset + start).try_into(), (offset + end).try_into()) {
            tokens.push(Token { class: class(first), start, end });
        }
    }
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_'
}

fn class(first: char) -> TokenClass {
    if first.is_ascii_digit() {
        TokenClass::Number
    } else if is_word(first) {
        TokenClass::Name
    } else {
        TokenClass::Fixed
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_numbers_and_signs_are_told_apart() {
        let text = "// a note\n/* more\n of it */\nlet größe = 12em;\n";
        let found: Vec<(&str, TokenClass)> = tokens(Language::Dart, text)
            .iter()
            .map(|token| (&text[token.start as usize..token.end as usize], token.class))
            .collect();
        assert_eq!(
            found,
            [
                ("let", TokenClass::Name),
                ("größe", TokenClass::Name),
                ("=", TokenClass::Fixed),
                ("12em", TokenClass::Number),
                (";", TokenClass::Fixed),
            ]
        );
        assert!(tokens(Language::Css, " \n\t").is_empty());
        assert!(tokens(Language::Batch, "rem set A=1\n:: two\n").is_empty());
    }
}
