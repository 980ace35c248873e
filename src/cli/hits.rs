//! How do hits look on a terminal? A head with the place, then numbered lines in the language's colours.

use std::ops::Range;

use clap::builder::styling::{AnsiColor, Style};

use super::print::{self, BOLD, DIM, Line, Look, PATH, PLAIN, Side, WARNING};
use crate::parse::{self, Highlight};
use crate::request::{Explanation, Freshness, Hit};
use crate::types::Place;

/// All hits, a blank line between them.
pub(super) fn text(hits: &[Hit], look: Look) -> String {
    let hits: Vec<String> = hits.iter().map(|hit| hit_text(hit, look)).collect();
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

/// `path:first-last symbol`, for a sentence.
pub(super) fn place(hit: &Hit) -> String {
    let symbol = hit.symbol.as_deref().map(|symbol| format!(" {symbol}")).unwrap_or_default();
    format!("{}:{}-{}{symbol}", hit.path, hit.start_line, hit.end_line)
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
    push_freshness(&mut line, hit.freshness);
    line.end()
}

/// Adds how a file stands to what was indexed, when it is no longer the same.
pub(super) fn push_freshness(line: &mut Line, freshness: Freshness) {
    match freshness {
        Freshness::Unchanged => {}
        Freshness::Moved => line.push(WARNING, "  moved since indexing"),
        Freshness::Changed => line.push(WARNING, "  changed since indexing"),
        Freshness::Missing => line.push(WARNING, "  file is gone"),
        Freshness::NotIndexed => line.push(DIM, "  not in the index"),
    }
}

/// The snippet under its line numbers, in the language's colours where colours are used.
fn code(hit: &Hit, look: Look) -> String {
    let colors = if look.color { parse::highlight(hit.language, &hit.snippet) } else { Vec::new() };
    let last = hit.snippet_line as usize + hit.snippet.lines().count();
    let gutter = last.saturating_sub(1).to_string().len();
    let mut text = String::new();
    if let Some(signature) = hit.signature_apart() {
        let mut shown = Line::new(look);
        shown.push(DIM, &format!("{:>gutter$}  ", "…"));
        shown.push(PLAIN, &one_line(signature));
        text.push_str(shown.end().trim_end());
        text.push('\n');
    }
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

/// A text with its line breaks and runs of blanks as single spaces.
fn one_line(text: &str) -> String {
    text.split_whitespace().collect::<Vec<_>>().join(" ")
}

/// `bytes` cut where the colours change; `colors` is in order and without overlap.
pub(super) fn pieces(
    bytes: Range<usize>,
    colors: &[(Range<usize>, Highlight)],
) -> Vec<(Style, Range<usize>)> {
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
    use crate::request::Signal;
    use crate::types::{ChunkKind, Language, RelPath};

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

    #[test]
    fn a_hit_is_a_head_and_numbered_lines() {
        assert_eq!(
            text(&[hit()], PIPED),
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
}
