//! `sai search`: asks a question, shows the hits.

use std::ops::Range;
use std::path::PathBuf;

use clap::Args;
use clap::builder::styling::{AnsiColor, Style};
use clap::builder::{PossibleValuesParser, TypedValueParser};

use super::print::{self, BOLD, DIM, Line, Look, PATH, PLAIN, Side, WARNING};
use super::{DONE, Ended, NOTHING, Session, batch, index};
use crate::error::{ErrorKind, Result};
use crate::parse::{self, Highlight};
use crate::request::{
    Explanation, Freshness, Hit, IndexState, SearchQuery, SearchReply, StatusQuery,
};
use crate::types::{ChunkKind, Language, Mode, Place};
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
    /// finds a string as it stands, or a regular expression with --regex.
    #[arg(short, long, value_parser = names(Mode::ALL, Mode::name, Mode::from_name))]
    mode: Option<Mode>,

    /// Hits wanted, 1 to 50 [default: search.limit of the configuration]
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=50))]
    limit: Option<u8>,

    /// Only these languages (`rust`, `py`, …); repeat or separate by commas
    #[arg(short, long, value_delimiter = ',')]
    language: Vec<String>,

    /// Only paths that match a glob; one that starts with `!` excludes; may be repeated
    #[arg(short, long, value_name = "GLOB")]
    path: Vec<String>,

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
fn names<T: Copy + Clone + Send + Sync + 'static>(
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
        let ask = |query| ask(query, args, &handle, session);
        return batch::run(file, &question, ask);
    }
    let reply = ask(question, args, &handle, session)?;
    show(&reply, session)?;
    Ok(if reply.hits.is_empty() { NOTHING } else { DONE })
}

/// The question that the arguments ask.
fn question(args: &SearchArgs) -> Result<SearchQuery> {
    let languages: Result<Vec<Language>> =
        args.language.iter().map(|name| Language::from_name(name)).collect();
    Ok(SearchQuery {
        text: args.query.join(" "),
        mode: args.mode.or(args.regex.then_some(Mode::Exact)),
        limit: args.limit.map(usize::from),
        languages: languages?,
        paths: args.path.clone(),
        kinds: args.kind.clone(),
        regex: args.regex,
        include_text: args.full,
        explain: args.explain,
    })
}

/// Asks; when there is no index yet, makes one and asks again.
fn ask(
    query: SearchQuery,
    args: &SearchArgs,
    handle: &Handle,
    session: &Session,
) -> Result<SearchReply, Ended> {
    match handle.search(query.clone()).wait() {
        Err(error) if error.kind() == ErrorKind::Index && !args.no_index => {
            // An index that is there but does not fit is the reader's to rebuild or to remove.
            let status = handle.status(StatusQuery::default()).wait();
            if !status.is_ok_and(|status| status.state == IndexState::Missing) {
                return Err(error.into());
            }
            let reply = index::make(handle, false, session)?;
            if !session.globals.quiet {
                print::tell(&index::summary(&reply));
            }
            Ok(handle.search(query).wait()?)
        }
        answer => Ok(answer?),
    }
}

fn show(reply: &SearchReply, session: &Session) -> Result<(), Ended> {
    if session.globals.json {
        print::json(reply)?;
    } else if reply.hits.is_empty() {
        print::tell(&nothing(reply));
    } else {
        print::out(&text(reply, session.look))?;
    }
    if !session.globals.json {
        for note in &reply.notes {
            print::tell(&format!("note: {note}"));
        }
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

/// All hits, a blank line between them.
fn text(reply: &SearchReply, look: Look) -> String {
    let hits: Vec<String> = reply.hits.iter().map(|hit| hit_text(hit, look)).collect();
    hits.join("\n")
}

fn hit_text(hit: &Hit, look: Look) -> String {
    let mut text = head(hit, look) + "\n";
    if let Some(explanation) = &hit.explanation {
        text.push_str(&explanation_text(explanation, look));
    }
    text.push_str(&code(hit, look));
    if hit.lines_cut > 0 {
        let lines = print::count(hit.lines_cut as usize, "more line");
        text.push_str(&look.paint(DIM, &format!("… {lines}")));
        text.push('\n');
    }
    text
}

/// `path:first-last  Outer > symbol  0.87  test`; never cut, so that a path can be copied.
fn head(hit: &Hit, look: Look) -> String {
    let mut line = Line::new(Look { width: None, ..look });
    line.push(PATH, &format!("{}:{}-{}", hit.path, hit.start_line, hit.end_line));
    if let Some(symbol) = &hit.symbol {
        line.push(PLAIN, "  ");
        for parent in &hit.parents {
            line.push(DIM, &format!("{parent} > "));
        }
        line.push(BOLD, symbol);
    }
    line.push(DIM, &format!("  {:.2}", hit.score));
    if hit.place != Place::Source {
        line.push(DIM, &format!("  {}", hit.place));
    }
    match hit.freshness {
        Freshness::Unchanged => {}
        Freshness::Moved => line.push(WARNING, "  moved since indexing"),
        Freshness::Changed => line.push(WARNING, "  changed since indexing"),
        Freshness::Missing => line.push(WARNING, "  file is gone"),
    }
    line.end()
}

/// The snippet under its line numbers, in the language's colours where colours are used.
fn code(hit: &Hit, look: Look) -> String {
    let colors = if look.color { parse::highlight(hit.language, &hit.snippet) } else { Vec::new() };
    let last = hit.snippet_line as usize + hit.snippet.lines().count();
    let gutter = last.saturating_sub(1).to_string().len();
    let mut text = String::new();
    let mut start = 0;
    for (number, line) in (hit.snippet_line..).zip(hit.snippet.split_inclusive('\n')) {
        let bytes = start..start + line.trim_end().len();
        start += line.len();
        let mut shown = Line::new(look);
        shown.push(DIM, &format!("{number:>gutter$}  "));
        for (style, bytes) in pieces(bytes, &colors) {
            shown.push(style, &hit.snippet[bytes]);
        }
        text.push_str(shown.end().trim_end());
        text.push('\n');
    }
    text
}

/// `bytes` cut where the colours change; `colors` is in order and without overlap.
fn pieces(bytes: Range<usize>, colors: &[(Range<usize>, Highlight)]) -> Vec<(Style, Range<usize>)> {
    let mut pieces = Vec::new();
    let mut at = bytes.start;
    let first = colors.partition_point(|(range, _)| range.end <= bytes.start);
    for (range, highlight) in colors[first..].iter().take_while(|(r, _)| r.start < bytes.end) {
        let (start, end) = (range.start.max(at), range.end.min(bytes.end));
        pieces.push((PLAIN, at..start));
        pieces.push((style(*highlight), start..end));
        at = end;
    }
    pieces.push((PLAIN, at..bytes.end));
    pieces
}

fn style(highlight: Highlight) -> Style {
    let color = match highlight {
        Highlight::Keyword => AnsiColor::Magenta,
        Highlight::Function => AnsiColor::Blue,
        Highlight::Type => AnsiColor::Cyan,
        Highlight::String => AnsiColor::Green,
        Highlight::Number | Highlight::Constant => AnsiColor::Yellow,
        Highlight::Comment => AnsiColor::BrightBlack,
        Highlight::Property | Highlight::Other => return PLAIN,
    };
    color.on_default()
}

fn explanation_text(explanation: &Explanation, look: Look) -> String {
    let titles = [("  signal", Side::Left), ("value", Side::Right), ("points", Side::Right)];
    let row = |name: &str, value: String, points: f32| {
        vec![format!("  {name}"), value, format!("{points:+.3}")]
    };
    let mut rows: Vec<Vec<String>> = explanation
        .signals
        .iter()
        .map(|signal| row(signal.name, format!("{:.3}", signal.value), signal.points))
        .collect();
    rows.push(row("sum", String::new(), explanation.points));
    print::table(&titles, &rows, look)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::request::{Searched, Signal};
    use crate::types::RelPath;

    const PIPED: Look = Look { color: false, width: None };

    fn hit() -> Hit {
        Hit {
            path: RelPath::new("src/a.rs".as_ref()).unwrap(),
            start_line: 9,
            end_line: 14,
            symbol: Some("parse".into()),
            parents: vec!["Parser".into()],
            kind: ChunkKind::Method,
            language: Language::Rust,
            place: Place::Source,
            signature: None,
            score: 0.874,
            similarity: None,
            snippet: "fn parse() {\n\tlet x = \"\u{202e}\";\n}".into(),
            snippet_line: 9,
            lines_cut: 3,
            freshness: Freshness::Unchanged,
            explanation: None,
        }
    }

    fn reply(hits: Vec<Hit>) -> SearchReply {
        let searched = Searched { files: 1, chunks: 1234 };
        let (query, mode, notes) = ("parse".into(), Mode::Hybrid, vec![]);
        SearchReply { query, mode, generation: 1, searched, hits, notes }
    }

    #[test]
    fn a_hit_is_a_head_and_numbered_lines() {
        assert_eq!(
            text(&reply(vec![hit()]), PIPED),
            "src/a.rs:9-14  Parser > parse  0.87\n 9  fn parse() {\n\
             10  \tlet x = \"\\u{202e}\";\n11  }\n… 3 more lines\n"
        );
    }

    #[test]
    fn the_head_says_what_is_unusual() {
        let hit = Hit { place: Place::Test, freshness: Freshness::Changed, symbol: None, ..hit() };
        assert_eq!(head(&hit, PIPED), "src/a.rs:9-14  0.87  test  changed since indexing");
    }

    #[test]
    fn code_is_cut_on_a_terminal() {
        let hit = Hit { snippet: "0123456789".repeat(9), snippet_line: 1, ..hit() };
        assert_eq!(code(&hit, Look { color: false, width: Some(12) }), "1  01234567…\n");
        assert_eq!(code(&hit, PIPED).len(), 94);
    }

    #[test]
    fn colours_change_within_a_line_and_run_over_lines() {
        let colors =
            [(0..2, Highlight::Keyword), (4..9, Highlight::Comment), (9..10, Highlight::Other)];
        let cut = |bytes| -> Vec<(Range<usize>, bool)> {
            let pieces = pieces(bytes, &colors).into_iter();
            pieces.filter(|(_, b)| !b.is_empty()).map(|(s, b)| (b, s != PLAIN)).collect()
        };
        assert_eq!(cut(0..6), [(0..2, true), (2..4, false), (4..6, true)]);
        assert_eq!(cut(7..12), [(7..9, true), (9..10, false), (10..12, false)]);
        assert_eq!(cut(20..22), [(20..22, false)]);
        assert_eq!(cut(3..3), []);
    }

    #[test]
    fn an_explanation_is_a_table() {
        let signals = vec![Signal { name: "symbol match", value: 0.5, points: 1.25 }];
        let explanation = Explanation { points: 1.25, signals };
        assert_eq!(
            explanation_text(&explanation, PIPED),
            "  signal        value  points\n  symbol match  0.500  +1.250\n  sum                  +1.250\n"
        );
    }

    #[test]
    fn nothing_says_what_was_searched() {
        assert_eq!(
            nothing(&reply(vec![])),
            "nothing found for `parse` (mode hybrid; searched 1,234 chunks in 1 file)"
        );
    }
}
