//! `sai search --batch`: many questions as JSON lines in, one JSON line each out.

use std::fs::File;
use std::io::{self, BufRead, BufReader};
use std::path::Path;
use std::time::Instant;

use serde::{Deserialize, Serialize};

use super::{DONE, Ended, print};
use crate::error::{Error, Result};
use crate::request::{Hit, SearchQuery, SearchReply};
use crate::types::RelPath;

/// One line in; other fields are left alone.
#[derive(Debug, Deserialize)]
struct Question {
    /// Any JSON value; given back with the answer.
    id: serde_json::Value,
    query: String,
}

/// One line out.
#[derive(Debug, Serialize)]
struct Answer<'a> {
    id: serde_json::Value,
    /// Milliseconds that this question took.
    ms: f64,
    results: Vec<Found<'a>>,
}

#[derive(Debug, Serialize)]
struct Found<'a> {
    path: &'a RelPath,
    start_line: u32,
    end_line: u32,
    symbol: Option<&'a str>,
    score: f32,
}

impl<'a> From<&'a Hit> for Found<'a> {
    fn from(hit: &'a Hit) -> Self {
        Self {
            path: &hit.path,
            start_line: hit.start_line,
            end_line: hit.end_line,
            symbol: hit.symbol.as_deref(),
            score: hit.score,
        }
    }
}

/// Answers every line of `file` (`-` is stdin) by `ask`, each with the options of `template`; blank
/// lines are skipped. An answer is written before the next question is read.
pub(super) fn run(
    file: &Path,
    template: &SearchQuery,
    mut ask: impl FnMut(SearchQuery) -> Result<SearchReply, Ended>,
) -> Result<u8, Ended> {
    let input: Box<dyn BufRead> = if file == Path::new("-") {
        Box::new(io::stdin().lock())
    } else {
        let file = File::open(file).map_err(|error| unreadable(file, error))?;
        Box::new(BufReader::new(file))
    };
    for (line, number) in input.lines().zip(1_usize..) {
        let line = line.map_err(|error| unreadable(file, error))?;
        if line.trim().is_empty() {
            continue;
        }
        let question = parse(&line, number)?;
        let start = Instant::now();
        let reply = ask(SearchQuery { text: question.query, ..template.clone() })?;
        let ms = start.elapsed().as_secs_f64() * 1000.0;
        let results = reply.hits.iter().map(Found::from).collect();
        print::json_line(&Answer { id: question.id, ms, results })?;
    }
    Ok(DONE)
}

fn parse(line: &str, number: usize) -> Result<Question> {
    serde_json::from_str(line).map_err(|error| {
        Error::usage(format!("line {number} is not a question"))
            .because(error)
            .hint(r#"each line is a JSON object such as {"id": 1, "query": "parse a date"}"#)
    })
}

fn unreadable(file: &Path, error: io::Error) -> Error {
    Error::usage(format!("cannot read questions from `{}`", file.display())).because(error)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_question_may_have_any_id_and_more_fields() {
        let question = parse(r#"{"query": "q", "id": ["a", 1], "language": "go"}"#, 1).unwrap();
        assert_eq!(question.query, "q");
        assert_eq!(question.id, serde_json::json!(["a", 1]));
    }

    #[test]
    fn a_malformed_line_is_named() {
        for line in ["{", r#"{"id": 1}"#, r#"{"id": 1, "query": 2}"#, "[]"] {
            let error = parse(line, 7).unwrap_err().to_string();
            assert!(error.starts_with("line 7 is not a question: "), "{error}");
        }
    }
}
