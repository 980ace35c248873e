//! Here is a text without a grammar: which tokens is it made of? Words, numbers and single signs; what
//! is a comment or a string, nobody knows.

use crate::parse::{Token, TokenClass};

/// The tokens of a text, in order.
pub(super) fn tokens(text: &str) -> Vec<Token> {
    let mut tokens = Vec::new();
    let mut rest = text.char_indices().peekable();
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
        if let (Ok(start), Ok(end)) = (start.try_into(), end.try_into()) {
            tokens.push(Token { class: class(first), start, end });
        }
    }
    tokens
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
        let text = "let größe = 12em;\n";
        let found: Vec<(&str, TokenClass)> = tokens(text)
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
        assert!(tokens(" \n\t").is_empty());
    }
}
