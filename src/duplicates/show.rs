//! Here is a group: how do its members look now, and how do they differ from the medoid?

use std::collections::HashMap;
use std::ops::Range;

use super::code::{self, Corpus};
use super::differs::{self, Changes};
use super::find::Piece;
use super::rank::{Draft, hex};
use super::read;
use super::report::{Cluster, CopyKind, Differences, Member, Side};
use crate::config::Config;
use crate::error::Result;
use crate::parse::Token;
use crate::retrieval::{Catalog, CodeVectors, Freshness, Members};
use crate::store::Reader;
use crate::text;
use crate::types::{ChunkKind, LineRange};

/// Members of a cluster that are named.
const MEMBERS_MAX: usize = 1_000;

/// Members that come with their text.
const SIDES_MAX: usize = 12;

/// Members that are compared with the medoid to say what differs.
const COMPARED_MAX: usize = 20;

/// Examples of what differs.
const EXAMPLES_MAX: usize = 4;

/// An example longer than this says nothing at a glance, in characters.
const EXAMPLE_CHARS_MAX: usize = 40;

/// What is needed to show the groups of a corpus.
pub(super) struct Shown<'a> {
    reader: &'a Reader,
    catalog: &'a Catalog,
    vectors: &'a CodeVectors,
    corpus: &'a Corpus,
    /// The chunk in which each unit begins.
    chunks: &'a [Option<usize>],
    members: Members<'a>,
    /// Whether members come with their text.
    sides: bool,
    /// By position in [`Corpus::files`].
    texts: HashMap<usize, Text>,
}

/// A file's text and its tokens.
struct Text {
    text: String,
    tokens: Vec<Token>,
}

impl<'a> Shown<'a> {
    pub(super) fn new(
        reader: &'a Reader,
        catalog: &'a Catalog,
        vectors: &'a CodeVectors,
        config: &'a Config,
        corpus: &'a Corpus,
        chunks: &'a [Option<usize>],
        sides: bool,
    ) -> Self {
        let members = Members::new(reader, catalog, config);
        let texts = HashMap::new();
        Self { reader, catalog, vectors, corpus, chunks, members, sides, texts }
    }

    /// # Errors
    /// Index: it is damaged.
    pub(super) fn cluster(&mut self, draft: Draft<'_>) -> Result<Cluster> {
        let group = draft.group;
        let medoid = &group.pieces[group.medoid];
        // The medoid is always named.
        let mut named: Vec<usize> = (0..group.pieces.len()).take(MEMBERS_MAX).collect();
        if group.medoid >= MEMBERS_MAX {
            named[MEMBERS_MAX - 1] = group.medoid;
        }
        let changes: Vec<Changes> = named
            .iter()
            .take(COMPARED_MAX)
            .map(|at| differs::changes(self.codes(medoid), self.codes(&group.pieces[*at])))
            .collect();
        let differs = self.differences(medoid, group.pieces.as_slice(), &named, &changes)?;
        let mut members = Vec::with_capacity(named.len());
        for (position, at) in named.iter().enumerate() {
            let mut member = self.member(&group.pieces[*at], medoid, group.kind)?;
            if self.sides && (position < SIDES_MAX || *at == group.medoid) {
                let shown = if *at == group.medoid {
                    &changes[..changes.len().min(SIDES_MAX)]
                } else {
                    changes.get(position..=position).unwrap_or_default()
                };
                let shown = shown.iter().flatten();
                member.side = Some(self.side(&group.pieces[*at], medoid, shown)?);
            }
            members.push(member);
        }
        Ok(Cluster {
            id: draft.id,
            kind: group.kind,
            size: group.pieces.len(),
            min_similarity: group.similarity.0,
            max_similarity: group.similarity.1,
            medoid: named.iter().position(|at| *at == group.medoid).expect("always named"),
            tokens: medoid.tokens.len(),
            lines: draft.lines,
            payoff: draft.worth.payoff,
            discounts: draft.worth.discounts,
            place: group.place,
            differs,
            omission: draft.omission,
            reason: draft.reason,
            is_touched: false,
            is_new: None,
            members,
        })
    }

    fn codes(&self, piece: &Piece) -> &'a [code::Code] {
        &self.corpus.codes[piece.tokens.clone()]
    }

    fn member(&mut self, piece: &Piece, medoid: &Piece, kind: CopyKind) -> Result<Member> {
        let file = self.corpus.files[piece.file].at;
        let (lines, freshness) = self.present(piece)?;
        let chunk = |piece: &Piece| piece.unit.and_then(|unit| self.chunks[unit]);
        let cosine = chunk(piece).zip(chunk(medoid)).filter(|_| kind != CopyKind::Fragment);
        Ok(Member {
            path: self.catalog.files[file].row.path.clone(),
            start_line: lines.start,
            end_line: lines.end,
            symbol: piece.symbol.clone(),
            kind: self.kind(piece),
            place: piece.place,
            similarity: piece.similarity,
            cosine: cosine.map(|(a, b)| self.vectors.cosine(a, b)),
            hash: hex(piece.hash),
            is_touched: false,
            freshness,
            side: None,
        })
    }

    fn kind(&self, piece: &Piece) -> ChunkKind {
        match piece.unit.map(|unit| &self.corpus.units[unit]) {
            Some(unit) if unit.is_method => ChunkKind::Method,
            Some(unit) => match unit.level {
                code::Level::Function => ChunkKind::Function,
                code::Level::Type => ChunkKind::Type,
                code::Level::File => ChunkKind::Window,
            },
            None => ChunkKind::Block,
        }
    }

    /// Where a piece lies now, by the chunks that it lies in.
    fn present(&mut self, piece: &Piece) -> Result<(LineRange, Freshness)> {
        let chunks = self.catalog.files[self.corpus.files[piece.file].at].chunks.clone();
        let of_file = &self.catalog.chunks[chunks.clone()];
        let first = of_file.partition_point(|chunk| chunk.lines.end < piece.lines.start);
        let end = of_file.partition_point(|chunk| chunk.lines.start <= piece.lines.end);
        let mut lines = piece.lines;
        let mut freshness = Freshness::Unchanged;
        for (at, chunk) in of_file.iter().enumerate().take(end).skip(first) {
            let indexed = chunk.lines;
            let (now, state) = self.members.present(chunks.start + at)?;
            if at == first {
                let moved = |line: u32| (line + now.start).saturating_sub(indexed.start).max(1);
                lines = LineRange { start: moved(lines.start), end: moved(lines.end) };
            }
            freshness = worse(freshness, state);
        }
        Ok((lines, freshness))
    }

    /// How the members differ from the medoid, summed up.
    fn differences(
        &mut self,
        medoid: &Piece,
        pieces: &[Piece],
        named: &[usize],
        changes: &[Changes],
    ) -> Result<Differences> {
        let mut sum = Differences::default();
        for (at, changes) in named.iter().zip(changes) {
            let piece = &pieces[*at];
            let counted = differs::count(self.codes(medoid), self.codes(piece), changes);
            // The most that any one of them differs by.
            sum.names = sum.names.max(counted.names);
            sum.literals = sum.literals.max(counted.literals);
            sum.tokens = sum.tokens.max(counted.tokens);
            for (ours, theirs) in counted.pairs {
                if sum.examples.len() == EXAMPLES_MAX {
                    break;
                }
                let [ours, theirs] =
                    [self.token(medoid, ours)?.to_owned(), self.token(piece, theirs)?.to_owned()];
                let example = format!("{ours} → {theirs}");
                let is_short = example.chars().count() <= EXAMPLE_CHARS_MAX;
                if is_short && !example.contains('\n') && !sum.examples.contains(&example) {
                    sum.examples.push(example);
                }
            }
        }
        Ok(sum)
    }

    /// A token of a piece.
    fn token(&mut self, piece: &Piece, at: usize) -> Result<&str> {
        let first = piece.tokens.start - self.corpus.files[piece.file].tokens.start;
        let text = self.text(piece.file)?;
        let token = text.tokens.get(first + at);
        Ok(token
            .and_then(|token| text.text.get(token.start as usize..token.end as usize))
            .unwrap_or(""))
    }

    /// A piece's text with what of it and of the medoid differs.
    fn side<'c>(
        &mut self,
        piece: &Piece,
        medoid: &Piece,
        changes: impl Iterator<Item = &'c (Range<usize>, Range<usize>)>,
    ) -> Result<Side> {
        let (ours, theirs): (Vec<Range<usize>>, Vec<Range<usize>>) = changes.cloned().unzip();
        let (marks, medoid_marks) = if std::ptr::eq(piece, medoid) {
            (self.marks(medoid, ours)?, Vec::new())
        } else {
            (self.marks(piece, theirs)?, self.marks(medoid, ours)?)
        };
        let language = self.catalog.files[self.corpus.files[piece.file].at].row.language;
        let text = &self.text(piece.file)?.text;
        let text = text[bytes_of(text, piece.lines)].to_owned();
        Ok(Side { language, text, marks, medoid_marks })
    }

    /// The bytes of some of a piece's tokens in its text, in order and without overlap.
    fn marks(&mut self, piece: &Piece, mut marked: Vec<Range<usize>>) -> Result<Vec<Range<usize>>> {
        let first = piece.tokens.start - self.corpus.files[piece.file].tokens.start;
        let text = self.text(piece.file)?;
        let bytes = bytes_of(&text.text, piece.lines);
        marked.sort_unstable_by_key(|range| (range.start, range.end));
        let mut marks: Vec<Range<usize>> = Vec::new();
        for range in marked.into_iter().filter(|range| !range.is_empty()) {
            let tokens = text.tokens.get(first + range.start..first + range.end).unwrap_or(&[]);
            let (Some(head), Some(last)) = (tokens.first(), tokens.last()) else { continue };
            let (start, end) = (head.start as usize, last.end as usize);
            if start < bytes.start || end > bytes.end {
                continue;
            }
            let mark = start - bytes.start..end - bytes.start;
            match marks.last_mut() {
                Some(before) if mark.start <= before.end => before.end = before.end.max(mark.end),
                _ => marks.push(mark),
            }
        }
        Ok(marks)
    }

    fn text(&mut self, file: usize) -> Result<&Text> {
        if !self.texts.contains_key(&file) {
            let at = self.corpus.files[file].at;
            let bytes = self.reader.blob(self.catalog.files[at].row.hash)?.unwrap_or_default();
            let text = text::decode(&bytes).text.into_owned();
            let tokens = read::lex(self.catalog, at, &text).tokens;
            self.texts.insert(file, Text { text, tokens });
        }
        Ok(&self.texts[&file])
    }
}

/// The bytes of whole lines, the last line's break left off.
fn bytes_of(text: &str, lines: LineRange) -> Range<usize> {
    let mut starts =
        std::iter::once(0).chain(memchr::memchr_iter(b'\n', text.as_bytes()).map(|at| at + 1));
    let start = starts.nth(lines.start as usize - 1).unwrap_or(text.len());
    let after = starts.nth((lines.end - lines.start) as usize);
    let end = after.map_or(text.len(), |after| after - 1);
    start..end.max(start)
}

/// The state that a reader should rather know of.
fn worse(a: Freshness, b: Freshness) -> Freshness {
    let rank = |state| match state {
        Freshness::Unchanged | Freshness::NotIndexed => 0,
        Freshness::Moved => 1,
        Freshness::Changed => 2,
        Freshness::Missing => 3,
    };
    if rank(b) > rank(a) { b } else { a }
}
