//! `sai similar`: shows which code is like a given piece.

use std::io::{self, Read};

use anyhow::Context;
use clap::Args;

use super::filters::Filters;
use super::{DONE, Ended, NOTHING, Session, hits, index, print};
use crate::error::{Error, Result};
use crate::request::{SimilarQuery, SimilarReply, Subject};

/// Find code that is like a given piece
///
/// The piece is the indexed chunk that holds a line (`sai similar src/retry.rs:42`), or any text
/// (`--code`). Prints hits as `sai search` does, most alike first; the score is the cosine.
#[derive(Debug, Args)]
pub(super) struct SimilarArgs {
    /// A line of an indexed file, as `path:line`
    #[arg(value_name = "PATH:LINE", required_unless_present = "code", conflicts_with = "code")]
    place: Option<String>,

    /// A piece of code; `-` reads it from stdin
    #[arg(long, value_name = "TEXT")]
    code: Option<String>,

    /// The least cosine of a hit, 0 to 1 [default: `similarity.find_similar_min_score`]
    #[arg(long, value_name = "SCORE", value_parser = score)]
    min_score: Option<f32>,

    #[command(flatten)]
    filters: Filters,

    /// Show each chunk whole instead of a snippet
    #[arg(long)]
    full: bool,

    /// Fail when there is no index instead of making one
    #[arg(long)]
    no_index: bool,
}

/// A cosine that may be asked for.
pub(super) fn score(text: &str) -> Result<f32, String> {
    match text.parse::<f32>() {
        Ok(score) if (0.0..=1.0).contains(&score) => Ok(score),
        _ => Err("it may be 0.0 to 1.0".to_owned()),
    }
}

pub(super) fn run(args: &SimilarArgs, session: &Session) -> Result<u8, Ended> {
    let query = SimilarQuery {
        subject: subject(args)?,
        limit: args.filters.limit.map(usize::from),
        min_score: args.min_score,
        languages: args.filters.languages()?,
        paths: args.filters.path.clone(),
        include_text: args.full,
    };
    let handle = session.start()?;
    let ask = || handle.similar(query.clone()).wait();
    let reply = index::first(&handle, session, args.no_index, ask)?;
    show(&reply, session)?;
    Ok(if reply.hits.is_empty() { NOTHING } else { DONE })
}

fn subject(args: &SimilarArgs) -> Result<Subject, Ended> {
    if args.code.as_deref() == Some("-") {
        let mut code = Vec::new();
        io::stdin().read_to_end(&mut code).context("cannot read the code from stdin")?;
        return Ok(Subject::Code(String::from_utf8_lossy(&code).into_owned()));
    }
    let place = args.place.as_deref().map(path_and_line).transpose()?;
    let (path, line) = place.unzip();
    Ok(Subject::read(args.code.clone(), path, line)?)
}

/// Splits `path:line`.
fn path_and_line(place: &str) -> Result<(String, u32)> {
    let parts = place.rsplit_once(':').map(|(path, line)| (path, line.parse::<u32>()));
    match parts {
        Some((path, Ok(line))) if !path.is_empty() && line > 0 => Ok((path.to_owned(), line)),
        _ => Err(Error::usage(format!("`{place}` is no path with a line"))
            .hint("write `path:line`, for example `src/retry.rs:42`")),
    }
}

fn show(reply: &SimilarReply, session: &Session) -> Result<(), Ended> {
    if session.globals.json {
        return Ok(print::json(reply)?);
    }
    if let (Some(subject), false) = (&reply.subject, session.globals.quiet) {
        print::tell(&format!("like {}:", hits::place(subject)));
    }
    if reply.hits.is_empty() {
        print::tell(&format!(
            "nothing is alike by {:.2} or more (searched {} in {})",
            reply.min_score,
            print::count(reply.searched.chunks, "chunk"),
            print::count(reply.searched.files, "file"),
        ));
    } else {
        print::out(&hits::text(&reply.hits, session.look))?;
    }
    print::notes(&reply.notes, &reply.changed);
    Ok(())
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_place_is_a_path_with_a_line() {
        assert_eq!(path_and_line("a/b.rs:42").unwrap(), ("a/b.rs".to_owned(), 42));
        assert_eq!(path_and_line("C:\\x.rs:7").unwrap().1, 7);
        for wrong in ["a.rs", "a.rs:", ":3", "a.rs:0", "a.rs:x", ""] {
            assert!(path_and_line(wrong).is_err(), "{wrong}");
        }
    }

    #[test]
    fn a_score_is_a_cosine_of_likeness() {
        assert_eq!(score("0.5"), Ok(0.5));
        assert!(score("1.1").is_err() && score("-0.1").is_err() && score("NaN").is_err());
    }
}
