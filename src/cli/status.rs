//! `sai status`: says what is in the index, and how fresh it is.

use std::fmt::Write;

use clap::Args;

use super::print::{self, BOLD, Look, Side};
use super::{DONE, Ended, Session};
use crate::request::{IndexState, StaleFiles, StatusQuery, StatusReply};

/// Paths listed of each way in which index and tree differ.
const STALE_SHOWN: usize = 5;

/// Show what is in the index, what was left out, and how fresh it is
#[derive(Debug, Args)]
pub(super) struct StatusArgs {
    /// List every file that was left out, with the reason
    #[arg(long)]
    skipped: bool,

    /// Do not compare the index with the files
    #[arg(long)]
    no_compare: bool,
}

pub(super) fn run(args: &StatusArgs, session: &Session) -> Result<u8, Ended> {
    let query = StatusQuery { skipped_paths: args.skipped, compare: !args.no_compare };
    let reply = session.start()?.status(query).wait()?;
    if session.globals.json {
        print::json(&reply)?;
    } else {
        print::out(&text(&reply, session.look))?;
    }
    Ok(DONE)
}

fn text(reply: &StatusReply, look: Look) -> String {
    let mut text = facts(reply, look);
    if reply.state == IndexState::Missing {
        text.push_str("\nnothing is indexed yet; run `sai index`\n");
        return text;
    }
    if !reply.languages.is_empty() {
        text.push('\n');
        text.push_str(&languages(reply, look));
    }
    if let Some(paths) = &reply.skipped_paths {
        text.push('\n');
        text.push_str(&skipped_paths(paths, look));
    } else if !reply.skipped.is_empty() {
        text.push('\n');
        text.push_str(&skipped(reply, look));
    }
    if let Some(stale) = &reply.stale {
        text.push_str(&stale_text(stale));
    }
    text
}

/// One fact a line under the words that name them.
fn facts(reply: &StatusReply, look: Look) -> String {
    let mut rows = vec![("root", reply.root.display().to_string())];
    if let Some(generation) = reply.generation {
        let age = reply
            .age_s
            .map_or_else(String::new, |age| format!(", published {} ago", print::duration(age)));
        rows.push(("generation", format!("{generation}{age}")));
    }
    if reply.state == IndexState::Ready {
        rows.push(("content", content(reply)));
        let size = print::bytes(reply.index_bytes);
        rows.push(("on disk", format!("{size} in {}", reply.index_dir.display())));
    }
    rows.extend(reply.head.clone().map(|head| ("commit", head)));
    rows.push((
        "model",
        format!("{}, {} dimensions, {} search", reply.model, reply.dimension, reply.vector_search),
    ));
    rows.extend(reply.vector_search_note.clone().map(|note| ("no HNSW", note)));
    rows.push(("chunker", reply.chunker.clone()));
    if let Some(writer) = &reply.writer {
        rows.push(("writer", format!("process {} is writing", writer.pid)));
    }
    if let Some(stale) = &reply.stale {
        rows.push(("freshness", freshness(stale)));
    }
    let line = |(name, value): (&str, String)| {
        let name = look.paint(BOLD, &format!("{name:<10}"));
        format!("{name}  {}\n", print::safe(&value))
    };
    rows.into_iter().map(line).collect()
}

fn content(reply: &StatusReply) -> String {
    format!(
        "{}, {}, {}",
        print::count(reply.files, "file"),
        print::count(reply.chunks, "chunk"),
        print::count(usize::try_from(reply.lines).unwrap_or(usize::MAX), "line"),
    )
}

fn freshness(stale: &StaleFiles) -> String {
    if *stale == StaleFiles::default() {
        return "up to date".to_owned();
    }
    format!(
        "{} changed, {} new, {} gone since indexing; `sai index` brings it up to date",
        print::number(stale.changed.len()),
        print::number(stale.added.len()),
        print::number(stale.removed.len()),
    )
}

fn languages(reply: &StatusReply, look: Look) -> String {
    let titles = [("language", Side::Left), ("files", Side::Right), ("chunks", Side::Right)];
    let rows: Vec<Vec<String>> = reply
        .languages
        .iter()
        .map(|row| {
            vec![row.language.to_owned(), print::number(row.files), print::number(row.chunks)]
        })
        .collect();
    print::table(&titles, &rows, look)
}

fn skipped(reply: &StatusReply, look: Look) -> String {
    let titles = [("left out", Side::Left), ("files", Side::Right), ("why", Side::Left)];
    let rows: Vec<Vec<String>> = reply
        .skipped
        .iter()
        .map(|row| vec![row.reason.clone(), print::number(row.files), row.description.clone()])
        .collect();
    print::table(&titles, &rows, look)
}

fn skipped_paths(paths: &[(String, String)], look: Look) -> String {
    let titles = [("left out", Side::Left), ("path", Side::Left)];
    let rows: Vec<Vec<String>> =
        paths.iter().map(|(path, reason)| vec![reason.clone(), path.clone()]).collect();
    print::table(&titles, &rows, look)
}

/// The first few paths of each difference.
fn stale_text(stale: &StaleFiles) -> String {
    let mut text = String::new();
    let lists = [("changed", &stale.changed), ("new", &stale.added), ("gone", &stale.removed)];
    for (name, paths) in lists {
        for path in paths.iter().take(STALE_SHOWN) {
            let _ = writeln!(text, "{name:<8}  {}", print::safe(path));
        }
        if let Some(more) = paths.len().checked_sub(STALE_SHOWN).filter(|more| *more > 0) {
            let _ = writeln!(text, "{name:<8}  and {}", print::count(more, "other"));
        }
    }
    if text.is_empty() { text } else { format!("\n{text}") }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use super::*;
    use crate::request::{LanguageCount, SkippedCount};

    const PIPED: Look = Look { color: false, width: None };

    fn ready() -> StatusReply {
        StatusReply {
            state: IndexState::Ready,
            root: PathBuf::from("/r"),
            index_dir: PathBuf::from("/r/.index"),
            backend: "duckdb",
            collection: Some("code-7.duckdb".into()),
            generation: Some(7),
            model: "m1".into(),
            dimension: 256,
            vector_search: "exact",
            vector_search_note: None,
            chunker: "c1".into(),
            files: 1200,
            chunks: 3400,
            lines: 56_000,
            index_bytes: 3 << 20,
            head: None,
            created_s: Some(0),
            age_s: Some(125),
            languages: vec![LanguageCount { language: "rust", files: 1200, chunks: 3400 }],
            skipped: vec![SkippedCount {
                reason: "binary".into(),
                description: "not text".into(),
                files: 2,
                examples: vec!["a.png".into()],
            }],
            skipped_paths: None,
            stale: Some(StaleFiles::default()),
            writer: None,
        }
    }

    #[test]
    fn a_status_tells_everything_once() {
        assert_eq!(
            text(&ready(), PIPED),
            "root        /r\n\
             generation  7, published 2 minutes ago\n\
             content     1,200 files, 3,400 chunks, 56,000 lines\n\
             on disk     3.0 MiB in /r/.index\n\
             model       m1, 256 dimensions, exact search\n\
             chunker     c1\n\
             freshness   up to date\n\
             \n\
             language  files  chunks\n\
             rust      1,200   3,400\n\
             \n\
             left out  files  why\n\
             binary        2  not text\n"
        );
    }

    #[test]
    fn differences_are_counted_and_the_first_ones_named() {
        let changed = (0..7).map(|n| format!("c{n}.rs")).collect();
        let stale = StaleFiles { changed, added: vec!["new\u{202e}.rs".into()], removed: vec![] };
        let shown = text(&StatusReply { stale: Some(stale), ..ready() }, PIPED);
        assert!(shown.contains("7 changed, 1 new, 0 gone since indexing; `sai index`"), "{shown}");
        assert!(shown.contains("changed   c4.rs\nchanged   and 2 others\n"), "{shown}");
        assert!(shown.contains("new       new\\u{202e}.rs\n"), "{shown}");
    }

    #[test]
    fn skipped_files_are_listed_when_asked_for() {
        let paths = vec![("a.png".to_owned(), "binary".to_owned())];
        let shown = text(&StatusReply { skipped_paths: Some(paths), ..ready() }, PIPED);
        assert!(shown.ends_with("left out  path\nbinary    a.png\n"), "{shown}");
    }

    #[test]
    fn no_index_names_the_next_step() {
        let reply = StatusReply { state: IndexState::Missing, generation: None, ..ready() };
        assert!(text(&reply, PIPED).ends_with("nothing is indexed yet; run `sai index`\n"));
    }
}
