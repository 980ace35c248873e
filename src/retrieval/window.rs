//! Which lines of a chunk say the most of what was asked?

use memchr::memmem;

use super::catalog::Catalog;
use super::question::Question;

/// Another window than the head is shown when it holds so much more of what is looked for, as a share
/// of all of it.
const GAIN_MIN: f32 = 0.3;

/// Words to look for in the lines of chunks.
pub(super) struct Wanted {
    /// Beginnings of words, in lower case, and how much each counts.
    words: Vec<(String, f32)>,
    all: f32,
}

impl Wanted {
    /// The words of a question; rare ones count more.
    pub(super) fn of(question: &Question, catalog: &Catalog) -> Self {
        let stems = question.stems.iter().filter(|stem| stem.len() > 1);
        let words: Vec<(String, f32)> =
            stems.map(|stem| (beginning(stem).to_owned(), catalog.words.rarity(stem))).collect();
        Self { all: words.iter().map(|(_, weight)| weight).sum(), words }
    }

    /// The first line (0-based) of the `length` lines of `text` to show: `head`, unless others hold
    /// clearly more of what is looked for.
    pub(super) fn window(&self, text: &str, head: usize, length: usize) -> usize {
        let starts = line_starts(text);
        if self.words.is_empty() || starts.len() <= head + length {
            return head;
        }
        let found = self.found(text, &starts);
        let held = |start: usize| -> f32 {
            let holds = |lines: &Vec<usize>| {
                let at = lines.partition_point(|line| *line < start);
                lines.get(at).is_some_and(|line| *line < start + length)
            };
            let held = self.words.iter().zip(&found).filter(|(_, lines)| holds(lines));
            held.map(|((_, weight), _)| weight).sum()
        };
        let windows = (head..=starts.len() - length).map(|start| (held(start), start));
        let best = windows.reduce(|best, window| if window.0 > best.0 { window } else { best });
        let Some((most, start)) = best else { return head };
        if most < held(head) + GAIN_MIN * self.all {
            return head;
        }
        // What was found stands in the middle.
        let inside = |line: &&usize| (start..start + length).contains(*line);
        let first = found.iter().flatten().filter(inside).min().map_or(start, |line| *line);
        let last = found.iter().flatten().filter(inside).max().map_or(start, |line| *line);
        let room = length - (last - first + 1);
        first.saturating_sub(room / 2).clamp(head, starts.len() - length)
    }

    /// For each word the lines that hold it, ascending. `starts` has the first byte of each line.
    fn found(&self, text: &str, starts: &[usize]) -> Vec<Vec<usize>> {
        let lower = text.to_ascii_lowercase();
        let lines = |word: &String| {
            memmem::find_iter(lower.as_bytes(), word.as_bytes())
                .filter(|at| begins_word(text.as_bytes(), *at))
                .map(|at| starts.partition_point(|start| *start <= at) - 1)
                .collect()
        };
        self.words.iter().map(|(word, _)| lines(word)).collect()
    }
}

/// The first byte of each line.
fn line_starts(text: &str) -> Vec<usize> {
    let breaks = memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1);
    std::iter::once(0).chain(breaks).filter(|start| *start < text.len()).collect()
}

/// Of a stem what its words begin with: `retry` and `retries` have the stem `retri`.
fn beginning(stem: &str) -> &str {
    if stem.len() > 3 { stem.strip_suffix('i').unwrap_or(stem) } else { stem }
}

/// Whether a word, or a part of an identifier, begins at a byte.
fn begins_word(text: &[u8], at: usize) -> bool {
    let Some(before) = at.checked_sub(1).map(|before| text[before]) else { return true };
    !before.is_ascii_alphanumeric()
        || text[at].is_ascii_uppercase() && !before.is_ascii_uppercase()
        || text[at].is_ascii_digit() != before.is_ascii_digit()
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    fn wanted(words: &[(&str, f32)]) -> Wanted {
        let words: Vec<(String, f32)> =
            words.iter().map(|(word, weight)| ((*word).to_owned(), *weight)).collect();
        Wanted { all: words.iter().map(|(_, weight)| weight).sum(), words }
    }

    fn text(matching: &[(usize, &str)]) -> String {
        let line = |at: usize| matching.iter().find(|(line, _)| *line == at).map_or("x", |m| m.1);
        (0..30).map(|at| format!("{}\n", line(at))).collect()
    }

    #[test]
    fn the_window_goes_to_where_the_words_are() {
        let asked = wanted(&[("retr", 1.0), ("backoff", 1.0)]);
        let far = text(&[(0, "fn f() {"), (20, "let maxRetries = 3;"), (22, "backoff(2);")]);
        assert_eq!(asked.window(&far, 0, 8), 18);
        let near = text(&[(0, "fn retry_with_backoff() {"), (20, "retry(); backoff();")]);
        assert_eq!(asked.window(&near, 0, 8), 0, "the head says as much");
        let inside = text(&[(20, "entretry(); xbackoff();")]);
        assert_eq!(asked.window(&inside, 3, 8), 3, "a word begins where it stands");
        assert_eq!(wanted(&[]).window(&far, 2, 8), 2);
    }

    proptest! {
        #[test]
        fn a_window_lies_in_its_text(text in "[aA b\n]{0,200}", head in 0usize..12) {
            let lines = text.split_inclusive('\n').count();
            let start = wanted(&[("a", 1.0), ("b", 0.5)]).window(&text, head, 4);
            prop_assert!(start == head || start > head && start + 4 <= lines);
        }
    }
}
