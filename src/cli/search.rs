//! `sai search`: asks a question, shows the hits.

use std::path::PathBuf;

use clap::Args;
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::filters::Filters;
use super::{DONE, Ended, NOTHING, Session, batch, hits, index, print};
use crate::error::Result;
use crate::request::{SearchQuery, SearchReply};
use crate::types::{ChunkKind, Mode};
use crate::worker::Handle;

/// Find code by words, by meaning, or exactly
///
/// Prints each hit as `path:first-last  symbol  score` with a snippet. Indexes first when there is
/// no index yet. An index that is there is used as it is: `sai index` brings it up to date.
#[derive(Debug, Args)]
#[expect(clippy::struct_excessive_bools, reason = "each is a flag of its own")]
pub(super) struct SearchArgs {
    /// Words, a sentence, a symbol, or code; joined by spaces
    #[arg(required_unless_present = "batch", conflicts_with = "batch")]
    query: Vec<String>,

    /// How to look [default: search.mode of the configuration]
    ///
    /// hybrid fuses words and meaning; semantic is meaning alone; lexical is words alone; exact
    /// finds a string as it stands, or a regular expression with --regex, also in files that are not in
    /// the index.
    #[arg(short, long, value_parser = names(Mode::ALL, Mode::name, Mode::from_name))]
    mode: Option<Mode>,

    #[command(flatten)]
    filters: Filters,

    /// Only chunks of these kinds; repeat or separate by commas
    #[arg(
        short,
        long,
        value_delimiter = ',',
        value_parser = names(ChunkKind::ALL, ChunkKind::name, ChunkKind::from_name)
    )]
    kind: Vec<ChunkKind>,

    /// Take the query as a regular expression; implies --mode exact
    #[arg(long)]
    regex: bool,

    /// Show for each hit which signals made its score
    #[arg(long)]
    explain: bool,

    /// Show each chunk whole instead of a snippet
    #[arg(long)]
    full: bool,

    /// Fail when there is no index instead of making one
    #[arg(long)]
    no_index: bool,

    /// Answer many questions: a file of JSON lines `{"id": …, "query": "…"}`, or `-` for stdin
    ///
    /// Prints one line of JSON for each, in order: `{"id", "ms", "results": [{"path", "start_line",
    /// "end_line", "symbol", "score"}]}`, where ms is the time that the question took. The other
    /// options hold for every question.
    #[arg(long, value_name = "FILE")]
    batch: Option<PathBuf>,
}

/// Parses the name of one of `all`, listing them in help and completions.
pub(super) fn names<T: Copy + Clone + Send + Sync + 'static>(
    all: &'static [T],
    name: fn(T) -> &'static str,
    from_name: fn(&str) -> Result<T>,
) -> impl TypedValueParser<Value = T> {
    PossibleValuesParser::new(all.iter().map(|value| name(*value)))
        .try_map(move |text| from_name(&text))
}

pub(super) fn run(args: &SearchArgs, session: &Session) -> Result<u8, Ended> {
    let question = question(args)?;
    let handle = session.start()?;
    if let Some(file) = &args.batch {
        let ask = |query: SearchQuery| ask(&query, args, &handle, session);
        return batch::run(file, &question, ask);
    }
    let reply = ask(&question, args, &handle, session)?;
    show(&reply, session)?;
    Ok(if reply.hits.is_empty() { NOTHING } else { DONE })
}

/// The question that the arguments ask.
fn question(args: &SearchArgs) -> Result<SearchQuery> {
    Ok(SearchQuery {
        text: args.query.join(" "),
        mode: args.mode.or(args.regex.then_some(Mode::Exact)),
        limit: args.filters.limit.map(usize::from),
        languages: args.filters.languages()?,
        paths: args.filters.path.clone(),
        kinds: args.kind.clone(),
        regex: args.regex,
        include_text: args.full,
        explain: args.explain,
    })
}

/// Asks; when there is no index yet, makes one and asks again.
fn ask(
    query: &SearchQuery,
    args: &SearchArgs,
    handle: &Handle,
    session: &Session,
) -> Result<SearchReply, Ended> {
    index::first(handle, session, args.no_index, || handle.search(query.clone()).wait())
}

fn show(reply: &SearchReply, session: &Session) -> Result<(), Ended> {
    if session.globals.json {
        print::json(reply)?;
    } else if reply.hits.is_empty() {
        print::tell(&nothing(reply));
    } else {
        print::out(&hits::text(&reply.hits, session.look))?;
    }
    if !session.globals.json {
        print::notes(&reply.notes, &reply.changed);
    }
    Ok(())
}

/// Says that nothing was found, and in what.
fn nothing(reply: &SearchReply) -> String {
    format!(
        "nothing found for `{}` (mode {}; searched {} in {})",
        reply.query,
        reply.mode,
        print::count(reply.searched.chunks, "chunk"),
        print::count(reply.searched.files, "file"),
    )
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::Searched;

    #[test]
    fn nothing_says_what_was_searched() {
        let searched = Searched { files: 1, chunks: 1234 };
        let (query, mode) = ("parse".into(), Mode::Hybrid);
        let (hits, changed, notes) = (vec![], vec![], vec![]);
        let reply = SearchReply { query, mode, generation: 1, searched, hits, changed, notes };
        assert_eq!(
            nothing(&reply),
            "nothing found for `parse` (mode hybrid; searched 1,234 chunks in 1 file)"
        );
    }
}
