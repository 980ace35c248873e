//! How does one cluster look on a terminal? Its members, then the medoid beside each of the others.
//!
//! Tokens that differ are inverted where colours are used, else underlined by a line of `^`.

use std::fmt::Write as _;
use std::ops::Range;

use unicode_width::UnicodeWidthChar;

use super::super::hits;
use super::super::print::{self, BAD, BOLD, DIM, GOOD, Line, Look, PATH, PLAIN};
use super::beside::{self, Marked, Row};
use super::{phrases, table};
use crate::error::{Error, Result};
use crate::parse::{self, Highlight};
use crate::request::{Cluster, Member, Side};
use crate::types::is_deceptive;

/// Members beside which the medoid is shown when none is chosen.
const PAIRS_SHOWN: usize = 3;

/// Columns from which on two sides stand beside each other.
const WIDE: usize = 120;

/// The cluster; beside the medoid `chosen` (counted from 1) or the first others.
///
/// # Errors
/// Usage: there is no such member, or it is the medoid, or it came without its text.
pub(super) fn text(cluster: &Cluster, chosen: Option<usize>, look: Look) -> Result<String> {
    let others = others(cluster, chosen)?;
    let mut text = head(cluster, look);
    let medoid = &cluster.members[cluster.medoid];
    if let Some(side) = &medoid.side {
        for at in &others {
            let other = &cluster.members[*at];
            let Some(other_side) = &other.side else { continue };
            let pair = Pair::new((medoid, side), (other, other_side), look);
            text.push('\n');
            text.push_str(&match look.width {
                Some(width) if width >= WIDE => pair.beside(width),
                _ => pair.below(),
            });
        }
    }
    let more = cluster.size.saturating_sub(1 + others.len());
    if more > 0 && chosen.is_none() {
        let members = print::count(more, "other member");
        let said = format!("\n… {members}; `--member N` compares with one of them\n");
        text.push_str(&look.paint(DIM, &said));
    }
    Ok(text)
}

/// Positions of the members to compare with the medoid.
fn others(cluster: &Cluster, chosen: Option<usize>) -> Result<Vec<usize>> {
    let Some(number) = chosen else {
        let others = (0..cluster.members.len()).filter(|at| *at != cluster.medoid);
        return Ok(others.take(PAIRS_SHOWN).collect());
    };
    let at = number.wrapping_sub(1);
    let Some(member) = cluster.members.get(at) else {
        return Err(Error::usage(format!("cluster `{}` has no member {number}", cluster.id))
            .hint(format!("give 1 to {}", cluster.members.len())));
    };
    if at == cluster.medoid {
        let message = format!("member {number} is the medoid, with which others are compared");
        return Err(Error::usage(message).hint("give the number of another member"));
    }
    if member.side.is_none() {
        let message = format!("member {number} comes without its text");
        let place = format!("{}:{}", member.path, member.start_line);
        return Err(Error::usage(message).hint(format!("read it at `{place}`")));
    }
    Ok(vec![at])
}

/// What is known of the cluster, and its members.
fn head(cluster: &Cluster, look: Look) -> String {
    let mut line = Line::new(look);
    line.push(BOLD, &cluster.id);
    let copies = format!("{} copies", print::number(cluster.size));
    let lines = print::count(cluster.lines, "line");
    line.push(PLAIN, &format!("  {copies} ({}), {lines} could go", cluster.kind));
    line.push(DIM, &format!("  similarity {}", phrases::similarity(cluster)));
    line.push(DIM, &format!(", {}", print::count(cluster.tokens, "token")));
    let mut text = line.end() + "\n";
    let mut say = |said: &str| {
        let mut line = Line::new(look);
        line.push(DIM, said);
        text.push_str(&line.end());
        text.push('\n');
    };
    say(&format!("{}; copies that {}", place(cluster), phrases::meaning(cluster.kind)));
    if let Some(omission) = phrases::omission(cluster) {
        say(&format!("left out by default: {omission}"));
    }
    phrases::discounts(cluster).iter().for_each(|discounts| say(discounts));
    if let Some(differences) = phrases::differences(cluster) {
        say(&differences);
    }
    text.push('\n');
    for (number, member) in (1..).zip(&cluster.members) {
        text.push_str(&member_line(number, member, number - 1 == cluster.medoid, look));
    }
    if let Some(more) = cluster.size.checked_sub(cluster.members.len()).filter(|more| *more > 0) {
        let _ = writeln!(text, "{}", look.paint(DIM, &format!("     … {more} more")));
    }
    text
}

fn place(cluster: &Cluster) -> String {
    phrases::section(cluster.place).to_lowercase()
}

fn member_line(number: usize, member: &Member, is_medoid: bool, look: Look) -> String {
    let mut line = Line::new(Look { width: None, ..look });
    line.push(DIM, &format!("{number:>3}  "));
    table::push_place(&mut line, member);
    if is_medoid {
        line.push(DIM, "  medoid");
    } else {
        line.push(DIM, &format!("  {}", phrases::rounded(member.similarity)));
    }
    line.end() + "\n"
}

/// A member's text as it is painted.
struct Shown<'a> {
    place: String,
    symbol: Option<&'a str>,
    text: &'a str,
    marks: &'a [Range<usize>],
    lines: Vec<Range<usize>>,
    colors: Vec<(Range<usize>, Highlight)>,
    first_line: u32,
}

impl<'a> Shown<'a> {
    fn new(member: &'a Member, side: &'a Side, marks: &'a [Range<usize>], look: Look) -> Self {
        Self {
            place: format!("{}:{}-{}", member.path, member.start_line, member.end_line),
            symbol: member.symbol.as_deref(),
            text: &side.text,
            marks,
            lines: beside::lines(&side.text),
            colors: if look.color {
                parse::highlight(side.language, &side.text)
            } else {
                Vec::new()
            },
            first_line: member.start_line,
        }
    }

    fn marked(&self) -> Marked<'a> {
        Marked { text: self.text, marks: self.marks }
    }

    fn number(&self, at: usize) -> String {
        (self.first_line as usize + at).to_string()
    }

    /// Adds a line's code in its colours, with what differs inverted.
    fn push(&self, line: &mut Line, at: usize) {
        for (style, bytes) in hits::pieces(self.lines[at].clone(), &self.colors) {
            for (bytes, is_marked) in beside::cut(&bytes, self.marks) {
                let style = if is_marked { style.invert() } else { style };
                line.push(style, self.text.get(bytes).unwrap_or_default());
            }
        }
    }

    /// A line of `^` under what differs in a line; `None` when nothing does.
    fn carets(&self, at: usize) -> Option<String> {
        let mut carets = String::new();
        for (bytes, is_marked) in beside::cut(&self.lines[at], self.marks) {
            for c in self.text.get(bytes)?.chars() {
                let columns = if is_deceptive(c) && c != '\t' {
                    c.escape_unicode().count()
                } else {
                    c.width().unwrap_or(1)
                };
                match c {
                    // A tab above is a tab below, so that both lines stand under each other.
                    '\t' => carets.push('\t'),
                    _ => carets
                        .extend(std::iter::repeat_n(if is_marked { '^' } else { ' ' }, columns)),
                }
            }
        }
        carets.contains('^').then(|| carets.trim_end().to_owned())
    }
}

/// The medoid and another member.
struct Pair<'a> {
    left: Shown<'a>,
    right: Shown<'a>,
    rows: Vec<Row>,
    /// Columns of line numbers.
    gutter: usize,
    look: Look,
}

impl<'a> Pair<'a> {
    fn new(medoid: (&'a Member, &'a Side), other: (&'a Member, &'a Side), look: Look) -> Self {
        let left = Shown::new(medoid.0, medoid.1, &other.1.medoid_marks, look);
        let right = Shown::new(other.0, other.1, &other.1.marks, look);
        let rows = beside::rows(left.marked(), right.marked());
        let widest = |side: &Shown<'_>| side.number(side.lines.len().saturating_sub(1)).len();
        let gutter = widest(&left).max(widest(&right));
        Self { left, right, rows, gutter, look }
    }

    /// Both sides beside each other, in `width` columns.
    fn beside(&self, width: usize) -> String {
        let half = (width - 3) / 2;
        let look = Look { width: Some(half), ..self.look };
        let mut heads = [Line::new(look), Line::new(look)];
        for (line, side) in heads.iter_mut().zip([&self.left, &self.right]) {
            line.push(PATH, &side.place);
            line.push(BOLD, &side.symbol.map(|symbol| format!("  {symbol}")).unwrap_or_default());
        }
        let [left, right] = heads;
        let mut text = self.joined(left, right, " ");
        for row in &self.rows {
            let line = |side: &Shown<'_>, at: Option<usize>| {
                let mut line = Line::new(look);
                if let Some(at) = at {
                    line.push(
                        DIM,
                        &format!("{:>gutter$}  ", side.number(at), gutter = self.gutter),
                    );
                    side.push(&mut line, at);
                }
                line
            };
            let between = match (row.left, row.right, row.is_same) {
                (_, _, true) => " ",
                (Some(_), None, _) => "<",
                (None, Some(_), _) => ">",
                _ => "|",
            };
            text.push_str(&self.joined(
                line(&self.left, row.left),
                line(&self.right, row.right),
                between,
            ));
        }
        text
    }

    fn joined(&self, left: Line, right: Line, between: &str) -> String {
        let between = self.look.paint(DIM, between);
        let line = format!("{} {between} {}", left.padded(), right.end());
        line.trim_end().to_owned() + "\n"
    }

    /// What both have once, and else the medoid's lines (`-`) above the other's (`+`).
    fn below(&self) -> String {
        let mut text = String::new();
        for (side, sign, style) in [(&self.left, '-', BAD), (&self.right, '+', GOOD)] {
            let mut line = Line::new(Look { width: None, ..self.look });
            line.push(style, &format!("{sign} "));
            line.push(PATH, &side.place);
            line.push(BOLD, &side.symbol.map(|symbol| format!("  {symbol}")).unwrap_or_default());
            text.push_str(&line.end());
            text.push('\n');
        }
        let (mut gone, mut come) = (String::new(), String::new());
        for row in &self.rows {
            if row.is_same {
                text.push_str(&std::mem::take(&mut gone));
                text.push_str(&std::mem::take(&mut come));
                text.push_str(&self.line(row.left, row.right));
            } else {
                gone.push_str(&self.one_side(row.left, true));
                come.push_str(&self.one_side(row.right, false));
            }
        }
        text + &gone + &come
    }

    fn one_side(&self, at: Option<usize>, is_left: bool) -> String {
        match (at, is_left) {
            (None, _) => String::new(),
            (at, true) => self.line(at, None),
            (at, false) => self.line(None, at),
        }
    }

    /// A line with its numbers on both sides; the right side's text when both have it.
    fn line(&self, left: Option<usize>, right: Option<usize>) -> String {
        let gutter = self.gutter;
        let number =
            |side: &Shown<'_>, at: Option<usize>| at.map(|at| side.number(at)).unwrap_or_default();
        let numbers = [number(&self.left, left), number(&self.right, right)];
        let mut line = Line::new(self.look);
        line.push(DIM, &format!("{:>gutter$} {:>gutter$} ", numbers[0], numbers[1]));
        let (side, at) = match (left, right) {
            (Some(at), None) => (&self.left, at),
            (_, Some(at)) => (&self.right, at),
            (None, None) => return String::new(),
        };
        match (left, right) {
            (Some(_), None) => line.push(BAD, "- "),
            (None, _) => line.push(GOOD, "+ "),
            _ => line.push(PLAIN, "  "),
        }
        side.push(&mut line, at);
        let mut text = line.end().trim_end().to_owned() + "\n";
        if !self.look.color
            && let Some(carets) = side.carets(at)
        {
            let mut line = Line::new(self.look);
            line.push(PLAIN, &format!("{:1$}{carets}", "", 2 * gutter + 4));
            text.push_str(&line.end());
            text.push('\n');
        }
        text
    }
}

#[cfg(test)]
mod tests {
    use super::super::sample;
    use super::*;

    const PIPED: Look = Look { color: false, width: None };

    #[test]
    fn a_narrow_look_shows_one_side_below_the_other() {
        assert_eq!(
            text(&sample::cluster(), None, PIPED).unwrap(),
            "\
3f2a9c01b7de-2  2 copies (renamed), 4 lines could go  similarity 0.99–1.00, 15 tokens
production code; copies that have the same tokens but for names and literals
differ in 2 names and 1 literal: total → sum, \"a\" → \"b\"

  1  src/a.rs:10-13  add  medoid
  2  src/b/c.rs:10-13  join  1.00

- src/a.rs:10-13  add
+ src/b/c.rs:10-13  join
10    - fn add() {
           ^^^
11    -     let total = \"a\";
                ^^^^^   ^^^
12    -     total
            ^^^^^
   10 + fn join() {
           ^^^^
   11 +     let sum = \"b\";
                ^^^   ^^^
   12 +     sum
            ^^^
13 13   }
"
        );
    }

    #[test]
    fn a_wide_terminal_shows_both_sides_beside_each_other() {
        let look = Look { color: false, width: Some(120) };
        let text = text(&sample::cluster(), Some(2), look).unwrap();
        let row = text.lines().find(|line| line.starts_with("11  ")).unwrap();
        let (left, right) = row.split_once(" | ").unwrap();
        assert_eq!(left.trim_end(), "11      let total = \"a\";");
        assert_eq!(right, "11      let sum = \"b\";");
        assert_eq!(left.chars().count(), 58);
        assert!(
            text.lines().any(|line| line.starts_with("13  }") && !line.contains('|')),
            "{text}"
        );
    }

    #[test]
    fn colours_invert_what_differs() {
        let look = Look { color: true, width: None };
        let text = text(&sample::cluster(), None, look).unwrap();
        assert!(!text.contains('^'), "{text}");
        let inverted = PLAIN.invert();
        assert!(text.contains(&format!("{inverted}total{inverted:#}")), "{text:?}");
    }

    #[test]
    fn a_wrong_member_is_named() {
        let mut cluster = sample::cluster();
        let error =
            |cluster: &Cluster, chosen| text(cluster, Some(chosen), PIPED).unwrap_err().to_string();
        assert!(error(&cluster, 3).contains("has no member 3"));
        assert!(error(&cluster, 0).contains("has no member 0"));
        assert!(error(&cluster, 1).contains("is the medoid"));
        cluster.members[1].side = None;
        assert!(error(&cluster, 2).contains("without its text"));
    }

    #[test]
    fn hostile_code_cannot_drive_the_terminal() {
        let reply = sample::hostile();
        for look in [PIPED, Look { color: false, width: Some(160) }] {
            let text = text(&reply.clusters[1], None, look).unwrap();
            assert!(!text.contains('\u{202e}') && text.contains("\\u{202e}"), "{text}");
        }
    }
}
