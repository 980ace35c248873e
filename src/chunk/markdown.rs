//! Here is a document: which sections does it fall into?

use std::ops::Range;

use super::cuts::{self, Limits};
use super::lines::Lines;
use super::{Chunk, Sizes};
use crate::types::ChunkKind;

/// Longer headings are cut, in characters.
const HEADING_CHARS_MAX: usize = 160;

/// The level of a cut inside a fenced block.
const IN_FENCE: u32 = 1 << 16;

/// A heading.
#[derive(Clone, Debug)]
struct Heading {
    /// Its first row.
    row: usize,
    /// 1 to 6.
    level: usize,
    title: String,
}

/// A heading with what stands under it, or what stands before all headings.
struct Section {
    rows: Range<usize>,
    /// The level of its heading; 0 without one.
    level: usize,
    title: Option<String>,
    parents: Vec<String>,
    /// Titles of small sections that joined it.
    others: Vec<String>,
}

/// The chunks of a Markdown text.
pub(super) fn chunks(lines: &Lines, sizes: &Sizes) -> Vec<Chunk> {
    let matter = front_matter(lines);
    let fenced = fenced(lines, matter);
    let headings = headings(lines, matter, &fenced);
    let sections = join_tiny(lines, sections(lines, headings), sizes);
    let limits = Limits { target: sizes.target, most: sizes.cap, lines: usize::MAX };
    let level = |row: usize| {
        lines.looks(row) + if fenced[row] && row > 0 && fenced[row - 1] { IN_FENCE } else { 0 }
    };
    let mut chunks = Vec::new();
    for section in sections {
        for (position, rows) in
            cuts::split(lines, section.rows, &limits, level).into_iter().enumerate()
        {
            let mut chunk = lines.chunk(rows, ChunkKind::Section);
            chunk.symbol.clone_from(&section.title);
            chunk.parents.clone_from(&section.parents);
            chunk.defines.extend(section.title.clone());
            if position == 0 {
                chunk.defines.extend(section.others.iter().cloned());
            }
            chunks.push(chunk);
        }
    }
    chunks
}

/// For each row whether it belongs to a fenced block, its fences included.
fn fenced(lines: &Lines, matter: usize) -> Vec<bool> {
    let mut fence: Option<(char, usize)> = None;
    let mut is_fenced = |row: usize| {
        let bare = lines.str(&(row..row + 1)).trim();
        let Some((mark, length)) = fence else {
            fence = opens_fence(bare).filter(|_| row >= matter);
            return fence.is_some();
        };
        let rest = bare.trim_start_matches(mark);
        fence = fence.filter(|_| !rest.is_empty() || bare.len() < length);
        true
    };
    (0..lines.count()).map(&mut is_fenced).collect()
}

/// The headings after the metadata, outside of fenced blocks.
fn headings(lines: &Lines, matter: usize, fenced: &[bool]) -> Vec<Heading> {
    let mut headings: Vec<Heading> = Vec::new();
    for row in (matter..lines.count()).filter(|row| !fenced[*row]) {
        let line = lines.str(&(row..row + 1)).trim_end();
        let bare = line.trim_start();
        if line.len() - bare.len() > 3 {
            continue;
        }
        let above = row.checked_sub(1).filter(|above| {
            *above >= matter
                && !fenced[*above]
                && headings.last().is_none_or(|last| last.row != *above)
                && is_paragraph(lines, *above)
        });
        if let Some((level, title)) = atx(bare) {
            headings.push(Heading { row, level, title: tidy(title) });
        } else if let (Some(level), Some(above)) = (setext(bare), above) {
            headings.push(Heading { row: above, level, title: tidy(lines.str(&(above..row))) });
        }
    }
    headings
}

/// The row after the metadata between `---` lines at the beginning; 0 without any.
fn front_matter(lines: &Lines) -> usize {
    let is_rule = |row: usize| lines.str(&(row..row + 1)).trim_end() == "---";
    if lines.count() == 0 || !is_rule(0) {
        return 0;
    }
    (1..lines.count()).find(|row| is_rule(*row)).map_or(0, |row| row + 1)
}

/// The mark and length of a fence that a line opens.
fn opens_fence(bare: &str) -> Option<(char, usize)> {
    let mark = bare.chars().next().filter(|mark| matches!(mark, '`' | '~'))?;
    let rest = bare.trim_start_matches(mark);
    let length = bare.len() - rest.len();
    (length >= 3 && !(mark == '`' && rest.contains('`'))).then_some((mark, length))
}

/// The level and title of a `#` heading.
fn atx(bare: &str) -> Option<(usize, &str)> {
    let rest = bare.trim_start_matches('#');
    let level = bare.len() - rest.len();
    let is_heading = (1..=6).contains(&level) && (rest.is_empty() || rest.starts_with([' ', '\t']));
    is_heading.then(|| {
        let title = rest.trim();
        let shorn = title.trim_end_matches('#');
        (
            level,
            if shorn.ends_with([' ', '\t']) || shorn.is_empty() { shorn.trim_end() } else { title },
        )
    })
}

/// The level that an underline gives to the line above.
fn setext(bare: &str) -> Option<usize> {
    let mark = bare.chars().next().filter(|mark| matches!(mark, '=' | '-'))?;
    let is_underline = bare.len() >= 2 && bare.chars().all(|c| c == mark);
    is_underline.then_some(if mark == '=' { 1 } else { 2 })
}

/// Whether a row is text that an underline can make a heading.
fn is_paragraph(lines: &Lines, row: usize) -> bool {
    let line = lines.str(&(row..row + 1));
    let bare = line.trim();
    !bare.is_empty()
        && !bare.starts_with(['#', '>', '|', '-', '*', '+', '`', '~', '<'])
        && line.len() - line.trim_start().len() <= 3
}

/// A heading without marks, on one line, not too long.
fn tidy(title: &str) -> String {
    let words: Vec<&str> = title.split_whitespace().collect();
    let joined = words.join(" ").replace("**", "").replace('`', "");
    joined.trim().chars().take(HEADING_CHARS_MAX).collect()
}

/// The sections, with the headings around each.
fn sections(lines: &Lines, headings: Vec<Heading>) -> Vec<Section> {
    let mut sections = Vec::new();
    let first = headings.first().map_or(lines.count(), |heading| heading.row);
    let push =
        |rows: Range<usize>, level, title: Option<String>, parents, sections: &mut Vec<Section>| {
            if let Some(rows) = lines.trim(rows) {
                sections.push(Section { rows, level, title, parents, others: Vec::new() });
            }
        };
    push(0..first, 0, None, Vec::new(), &mut sections);
    let mut open: Vec<Heading> = Vec::new();
    let ends: Vec<usize> =
        headings.iter().skip(1).map(|next| next.row).chain([lines.count()]).collect();
    for (heading, end) in headings.into_iter().zip(ends) {
        open.retain(|outer| outer.level < heading.level);
        let parents: Vec<String> = open
            .iter()
            .map(|outer| outer.title.clone())
            .filter(|title| !title.is_empty())
            .collect();
        let title = Some(heading.title.clone()).filter(|title| !title.is_empty());
        push(heading.row..end, heading.level, title, parents, &mut sections);
        open.push(heading);
    }
    sections
}

/// Sections with little in them take in the next one, when it is no higher. A long next one takes in
/// the heading above it instead.
fn join_tiny(lines: &Lines, sections: Vec<Section>, sizes: &Sizes) -> Vec<Section> {
    let mut joined: Vec<Section> = Vec::with_capacity(sections.len());
    for mut section in sections {
        let Some(before) = joined
            .last_mut()
            .filter(|before| lines.ink(&before.rows) < sizes.tiny && before.level <= section.level)
        else {
            joined.push(section);
            continue;
        };
        let both = before.rows.start..section.rows.end;
        if before.title.is_some() && lines.chars(&both) <= sizes.target {
            before.rows = both;
            let title = section.title.filter(|title| before.title.as_ref() != Some(title));
            before.others.extend(title.filter(|title| !before.others.contains(title)));
        } else if before.level < section.level {
            section.rows = both;
            section.others =
                before.title.take().into_iter().chain(before.others.drain(..)).collect();
            section.others.retain(|title| section.title.as_ref() != Some(title));
            *before = section;
        } else {
            joined.push(section);
        }
    }
    joined
}
