//! Here is an answer for a person: put it on the terminal. Owns stdout and stderr.
//!
//! Text of the repository is data: whatever a terminal or a reader could take for an instruction
//! (control, bidirectional and invisible characters) is shown as `\u{…}`. Lines are cut, and tables
//! fitted, on a terminal only; what is piped is whole.

use std::fmt::Write as _;
use std::io::{self, IsTerminal, Write};

use clap::ColorChoice;
use clap::builder::styling::{AnsiColor, Style};
use serde::Serialize;
use unicode_width::UnicodeWidthChar;

use crate::error::Error;
use crate::types::{RelPath, is_deceptive};

/// Columns of a tab stop, on a terminal.
const TAB: usize = 4;
/// Columns below which a table's column is not cut further.
const COLUMN_MIN: usize = 8;

pub(super) const PLAIN: Style = Style::new();
pub(super) const DIM: Style = Style::new().dimmed();
pub(super) const BOLD: Style = Style::new().bold();
pub(super) const PATH: Style = AnsiColor::Cyan.on_default();
pub(super) const GOOD: Style = AnsiColor::Green.on_default();
pub(super) const WARNING: Style = AnsiColor::Yellow.on_default();
pub(super) const BAD: Style = AnsiColor::Red.on_default().bold();

/// How a stream looks.
#[derive(Clone, Copy, Debug)]
pub(super) struct Look {
    /// Whether colours are used.
    pub(super) color: bool,
    /// Columns of the terminal; `None` when there is none.
    pub(super) width: Option<usize>,
}

impl Look {
    /// How stdout looks when colours are asked for as `choice`.
    pub(super) fn of_stdout(choice: ColorChoice) -> Self {
        let stdout = io::stdout();
        let width = stdout.is_terminal().then(|| {
            let size = terminal_size::terminal_size_of(&stdout);
            size.map_or(80, |(width, _)| usize::from(width.0)).max(20)
        });
        Self { color: wants_color(choice, width.is_some()), width }
    }

    /// `text` in `style`, when colours are used.
    pub(super) fn paint(self, style: Style, text: &str) -> String {
        if self.color && style != PLAIN {
            format!("{style}{text}{style:#}")
        } else {
            text.to_owned()
        }
    }
}

fn wants_color(choice: ColorChoice, terminal: bool) -> bool {
    let set = |name: &str| std::env::var_os(name).is_some_and(|value| !value.is_empty());
    match choice {
        ColorChoice::Always => true,
        ColorChoice::Never => false,
        ColorChoice::Auto => {
            terminal && !set("NO_COLOR") && std::env::var_os("TERM").is_none_or(|t| t != "dumb")
        }
    }
}

/// Writes a result to stdout.
pub(super) fn out(text: &str) -> io::Result<()> {
    let mut stdout = io::stdout().lock();
    stdout.write_all(text.as_bytes())?;
    stdout.flush()
}

/// Writes a result to stdout as one JSON document.
pub(super) fn json(value: &impl Serialize) -> io::Result<()> {
    let text = serde_json::to_string_pretty(value).map_err(io::Error::from)?;
    out(&(text + "\n"))
}

/// Writes a result to stdout as one line of JSON.
pub(super) fn json_line(value: &impl Serialize) -> io::Result<()> {
    let text = serde_json::to_string(value).map_err(io::Error::from)?;
    out(&(text + "\n"))
}

/// Tells a person something on stderr, on a line of its own.
pub(super) fn tell(text: &str) {
    // Without a reader on stderr there is nobody to tell.
    let _ = writeln!(io::stderr().lock(), "{}", safe_lines(text));
}

/// Tells what a reader should know beside an answer, and which files the answer met that are no
/// longer as they were indexed.
pub(super) fn notes(notes: &[String], changed: &[RelPath]) {
    for note in notes {
        tell(&format!("note: {note}"));
    }
    if !changed.is_empty() {
        let files = count(changed.len(), "file");
        tell(&format!(
            "note: {files} changed since indexing; `sai sync` brings the index up to date"
        ));
    }
}

/// Asks a person on stderr, without a line's end.
pub(super) fn ask(question: &str) {
    let mut stderr = io::stderr().lock();
    let _ = write!(stderr, "{} ", safe_lines(question));
    let _ = stderr.flush();
}

/// Whether a person can be asked and can see progress.
pub(super) fn has_person() -> bool {
    io::stdin().is_terminal() && io::stderr().is_terminal()
}

/// Tells what went wrong and the next step.
pub(super) fn error(error: &Error, choice: ColorChoice) {
    let color = wants_color(choice, io::stderr().is_terminal());
    let text = error_text(error, Look { color, width: None });
    let _ = io::stderr().lock().write_all(text.as_bytes());
}

fn error_text(error: &Error, look: Look) -> String {
    let mut text = format!("{} {}\n", look.paint(BAD, "error:"), safe_lines(&error.to_string()));
    if let Some(hint) = error.next_step() {
        let _ = writeln!(text, "{} {}", look.paint(GOOD, "hint:"), safe_lines(hint));
    }
    text
}

/// `text` on one line, showing what a terminal would obey; tabs stay.
pub(super) fn safe(text: &str) -> String {
    let mut line = Line::new(Look { color: false, width: None });
    line.push(PLAIN, text);
    line.end()
}

/// Like [`safe`], keeping line ends.
fn safe_lines(text: &str) -> String {
    text.lines().map(safe).collect::<Vec<_>>().join("\n")
}

/// Like [`safe`], for a table's cell, where a tab would break the column.
fn safe_cell(text: &str) -> String {
    safe(text).replace('\t', " ")
}

/// One line of repository text under construction: shown safely, cut to the terminal's width.
pub(super) struct Line {
    look: Look,
    text: String,
    /// Columns used.
    columns: usize,
    /// Bytes of `text` that leave a column for the mark of a cut.
    cut: usize,
    full: bool,
}

impl Line {
    pub(super) fn new(look: Look) -> Self {
        Self { look, text: String::new(), columns: 0, cut: 0, full: false }
    }

    /// Adds `text` in `style`; nothing once the line is full.
    pub(super) fn push(&mut self, style: Style, text: &str) {
        if self.full || text.is_empty() {
            return;
        }
        let styled = self.look.color && style != PLAIN;
        if styled {
            let _ = write!(self.text, "{style}");
        }
        for c in text.chars() {
            if !self.push_char(c) {
                return;
            }
        }
        if styled {
            let _ = write!(self.text, "{style:#}");
        }
    }

    /// Adds a character as it is to be seen; false once the line is full.
    fn push_char(&mut self, c: char) -> bool {
        let before = self.text.len();
        let columns = match c {
            '\t' if self.look.width.is_none() => {
                self.text.push(c);
                1
            }
            '\t' => {
                let columns = TAB - self.columns % TAB;
                self.text.extend(std::iter::repeat_n(' ', columns));
                columns
            }
            _ if is_deceptive(c) => {
                self.text.extend(c.escape_unicode());
                self.text.len() - before
            }
            _ => {
                self.text.push(c);
                c.width().unwrap_or(0)
            }
        };
        self.columns += columns;
        let width = self.look.width.unwrap_or(usize::MAX);
        if self.columns > width {
            self.text.truncate(self.cut);
            self.text.push('…');
            if self.look.color {
                self.text.push_str("\u{1b}[0m");
            }
            self.full = true;
        } else if self.columns < width {
            self.cut = self.text.len();
        }
        !self.full
    }

    pub(super) fn end(self) -> String {
        self.text
    }

    /// Like [`end`](Self::end), filled up with blanks to the look's width.
    pub(super) fn padded(self) -> String {
        // A line that was cut takes its whole width, but where a wide character did not fit.
        let columns = if self.full { columns(&plain(&self.text)) } else { self.columns };
        let blank = self.look.width.unwrap_or_default().saturating_sub(columns);
        self.text + &" ".repeat(blank)
    }
}

/// `text` without the sequences that colour it.
fn plain(text: &str) -> String {
    let mut pieces = text.split('\u{1b}');
    let mut plain = pieces.next().unwrap_or_default().to_owned();
    plain.extend(pieces.map(|piece| piece.split_once('m').map_or(piece, |(_, text)| text)));
    plain
}

/// On which side a column's cells stand.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Side {
    Left,
    Right,
}

/// Rows in columns, two spaces apart, under dimmed titles. On a terminal the widest columns are cut
/// until a row fits.
pub(super) fn table(titles: &[(&str, Side)], rows: &[Vec<String>], look: Look) -> String {
    let rows: Vec<Vec<String>> =
        rows.iter().map(|row| row.iter().map(|cell| safe_cell(cell)).collect()).collect();
    let mut widths: Vec<usize> = titles.iter().map(|(title, _)| columns(title)).collect();
    for row in &rows {
        for (width, cell) in widths.iter_mut().zip(row) {
            *width = columns(cell).max(*width);
        }
    }
    if let Some(width) = look.width {
        fit(&mut widths, width);
    }
    let titles_row: Vec<String> = titles.iter().map(|(title, _)| (*title).to_owned()).collect();
    let mut text = look.paint(DIM, &row_text(&titles_row, titles, &widths)) + "\n";
    for row in &rows {
        text.push_str(&row_text(row, titles, &widths));
        text.push('\n');
    }
    text
}

/// Shrinks the widest columns until they fit into `width` with two spaces between them.
fn fit(widths: &mut [usize], width: usize) {
    let gaps = 2 * widths.len().saturating_sub(1);
    while widths.iter().sum::<usize>() + gaps > width {
        match widths.iter_mut().max() {
            Some(widest) if *widest > COLUMN_MIN => *widest -= 1,
            _ => return,
        }
    }
}

fn row_text(row: &[String], titles: &[(&str, Side)], widths: &[usize]) -> String {
    let mut text = String::new();
    for ((cell, (_, side)), width) in row.iter().zip(titles).zip(widths) {
        let mut line = Line::new(Look { color: false, width: Some(*width) });
        line.push(PLAIN, cell);
        let cell = line.end();
        let blank = " ".repeat(width.saturating_sub(columns(&cell)));
        match side {
            Side::Left => text.extend([cell.as_str(), blank.as_str()]),
            Side::Right => text.extend([blank.as_str(), cell.as_str()]),
        }
        text.push_str("  ");
    }
    text.truncate(text.trim_end().len());
    text
}

/// Columns that `text` takes on a terminal; it holds no control characters.
fn columns(text: &str) -> usize {
    text.chars().map(|c| c.width().unwrap_or(0)).sum()
}

/// `1234567` as `1,234,567`.
pub(super) fn number(n: impl TryInto<u64>) -> String {
    let digits = n.try_into().unwrap_or(u64::MAX).to_string();
    let mut text = String::with_capacity(digits.len() + digits.len() / 3);
    for (pos, digit) in digits.chars().enumerate() {
        if pos > 0 && (digits.len() - pos) % 3 == 0 {
            text.push(',');
        }
        text.push(digit);
    }
    text
}

/// `1 file`, `2 files`: `unit` takes an s.
pub(super) fn count(n: usize, unit: &str) -> String {
    format!("{} {unit}{}", number(n), if n == 1 { "" } else { "s" })
}

/// Bytes in the unit that a person would choose.
pub(super) fn bytes(bytes: u64) -> String {
    const UNITS: [&str; 4] = ["KiB", "MiB", "GiB", "TiB"];
    if bytes < 1024 {
        return format!("{bytes} bytes");
    }
    let mut value = bytes as f64 / 1024.0;
    let mut unit = 0;
    while value >= 1024.0 && unit + 1 < UNITS.len() {
        value /= 1024.0;
        unit += 1;
    }
    format!("{value:.1} {}", UNITS[unit])
}

/// Seconds in the unit that a person would choose: `5 seconds`, `3 hours`.
pub(super) fn duration(seconds: u64) -> String {
    let (n, unit) = match seconds {
        0..60 => (seconds, "second"),
        60..3600 => (seconds / 60, "minute"),
        3600..86_400 => (seconds / 3600, "hour"),
        _ => (seconds / 86_400, "day"),
    };
    count(usize::try_from(n).unwrap_or(usize::MAX), unit)
}

#[cfg(test)]
mod tests {
    use super::*;

    const PIPED: Look = Look { color: false, width: None };

    fn terminal(width: usize) -> Look {
        Look { color: false, width: Some(width) }
    }

    fn line(look: Look, text: &str) -> String {
        let mut line = Line::new(look);
        line.push(PLAIN, text);
        line.end()
    }

    #[test]
    fn hazards_are_shown_not_obeyed() {
        assert_eq!(safe("a\u{1b}[31m\u{202e}b\0"), "a\\u{1b}[31m\\u{202e}b\\u{0}");
        assert_eq!(safe("\u{feff}x\u{e0041}\u{2066}"), "\\u{feff}x\\u{e0041}\\u{2066}");
        assert_eq!(safe("tab\tümlaut 漢字"), "tab\tümlaut 漢字");
        assert_eq!(safe("two\nlines\r"), "two\\u{a}lines\\u{d}");
    }

    #[test]
    fn lines_are_cut_on_a_terminal_only() {
        assert_eq!(line(PIPED, &"x".repeat(500)), "x".repeat(500));
        assert_eq!(line(terminal(5), "12345"), "12345");
        assert_eq!(line(terminal(5), "123456"), "1234…");
        assert_eq!(line(terminal(5), "漢字漢字"), "漢字…");
        assert_eq!(line(terminal(5), "\tab"), "    …");
        assert_eq!(line(terminal(8), "a\tb"), "a   b");
        assert_eq!(line(terminal(6), "abc\u{1b}"), "abc…");
    }

    #[test]
    fn a_cut_line_ends_its_colour() {
        let mut line = Line::new(Look { color: true, width: Some(4) });
        line.push(BOLD, "abcdef");
        line.push(PLAIN, "g");
        assert_eq!(line.end(), "\u{1b}[1mabc…\u{1b}[0m");
    }

    #[test]
    fn a_line_is_filled_up() {
        let padded = |color, text| {
            let mut line = Line::new(Look { color, width: Some(5) });
            line.push(BOLD, text);
            line.padded()
        };
        assert_eq!(padded(false, "ab"), "ab   ");
        assert_eq!(padded(false, "abcdef"), "abcd…");
        assert_eq!(padded(false, "a漢字漢"), "a漢… ");
        assert_eq!(padded(true, "a漢字漢"), "\u{1b}[1ma漢…\u{1b}[0m ");
    }

    #[test]
    fn tables_align_and_fit() {
        let titles = [("name", Side::Left), ("files", Side::Right)];
        let rows = [
            vec!["rust".to_owned(), "1,234".to_owned()],
            vec!["a-long-name-here".into(), "5".into()],
        ];
        assert_eq!(
            table(&titles, &rows, PIPED),
            "name              files\nrust              1,234\na-long-name-here      5\n"
        );
        assert_eq!(
            table(&titles, &rows, terminal(18)),
            "name         files\nrust         1,234\na-long-nam…      5\n"
        );
    }

    #[test]
    fn numbers_read_well() {
        assert_eq!(number(0_u64), "0");
        assert_eq!(number(999_u64), "999");
        assert_eq!(number(1_234_567_usize), "1,234,567");
        assert_eq!(count(1, "file"), "1 file");
        assert_eq!(count(1000, "file"), "1,000 files");
        assert_eq!(bytes(1023), "1023 bytes");
        assert_eq!(bytes(13_002_342), "12.4 MiB");
        assert_eq!(duration(59), "59 seconds");
        assert_eq!(duration(3600), "1 hour");
        assert_eq!(duration(200_000), "2 days");
    }

    #[test]
    fn an_error_names_the_next_step() {
        let error = Error::usage("no\u{1b} good").hint("try `sai index`");
        assert_eq!(error_text(&error, PIPED), "error: no\\u{1b} good\nhint: try `sai index`\n");
    }
}
