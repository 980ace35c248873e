//! Here is the outline of a text: which lines make which chunk?
//!
//! Each line gets an owner, the innermost definition that is cut out; neighbouring lines of one owner
//! are a run. Runs that are too small join a neighbour they belong with, runs that are too long are
//! cut, and what is left is described.

use std::ops::Range;

use super::cuts::{self, Limits};
use super::lines::Lines;
use super::{Chunk, SIGNATURE_CHARS_MAX, Sizes};
use crate::parse::{Definition, DefinitionKind, Outline};
use crate::types::ChunkKind;

/// Added to the level of a cut that only the looks of a line suggest.
const UNPARSED: u32 = 1 << 20;

/// The chunks of a text with an outline.
pub(super) fn chunks(lines: &Lines, outline: &Outline, sizes: &Sizes) -> Vec<Chunk> {
    let room = Room { lines, outline, sizes };
    let owners = room.owners();
    let runs = room.runs(&owners);
    let runs = room.join_tiny(runs);
    let runs = room.join_small(runs);
    let mut names = room.names(&owners);
    let mut chunks = Vec::with_capacity(runs.len());
    for run in &runs {
        for (position, rows) in room.pieces(run).into_iter().enumerate() {
            chunks.push(room.describe(run, rows, position > 0, &mut names));
        }
    }
    chunks
}

/// A stretch of lines with one owner.
#[derive(Clone, Debug)]
struct Run {
    /// The lines; blank ones at the ends are not among them.
    rows: Range<usize>,
    /// The innermost definition that is cut out; `None` outside of all.
    owner: Option<usize>,
    /// What it is.
    part: Part,
    /// Whether it is the owner's first run.
    first: bool,
    /// Whether it is the owner's last run.
    last: bool,
    /// Whether definitions of its size share a chunk.
    small: bool,
}

/// What a run is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Part {
    /// A whole definition.
    Whole,
    /// The beginning of a definition with others cut out of it.
    Head,
    /// A later part of a function with others cut out of it.
    Rest,
    /// Lines between definitions.
    Block,
}

/// What every step needs.
struct Room<'a> {
    lines: &'a Lines<'a>,
    outline: &'a Outline,
    sizes: &'a Sizes,
}

/// Lines, by row, and the definitions that were cut out.
struct Owners {
    /// The owner of each row.
    rows: Vec<Option<usize>>,
    /// Whether a definition was cut out.
    is_cut: Vec<bool>,
    /// Whether definitions were cut out of a definition.
    is_open: Vec<bool>,
}

impl Room<'_> {
    fn definition(&self, at: usize) -> &Definition {
        &self.outline.definitions[at]
    }

    /// Decides which definitions are cut out, and which lines are theirs.
    fn owners(&self) -> Owners {
        let count = self.outline.definitions.len();
        let mut has_inner = vec![false; count];
        for parent in self.outline.definitions.iter().filter_map(|d| d.parent) {
            has_inner[parent] = true;
        }
        let mut owners = Owners {
            rows: vec![None; self.lines.count()],
            is_cut: vec![false; count],
            is_open: vec![false; count],
        };
        let mut opens = vec![false; count];
        let mut spans: Vec<Range<usize>> = vec![0..0; count];
        // The first row that is still free, outside of all definitions and inside each.
        let mut free = vec![0; count + 1];
        for (at, definition) in self.outline.definitions.iter().enumerate() {
            let outer = definition.parent;
            if outer.is_some_and(|outer| !opens[outer]) {
                continue;
            }
            let slot = outer.map_or(count, |outer| outer);
            let bounds = outer.map_or(0..self.lines.count(), |outer| spans[outer].clone());
            let mut rows = self.lines.rows(&definition.bytes);
            rows = rows.start.max(free[slot])..rows.end.min(bounds.end);
            if rows.is_empty() {
                continue;
            }
            owners.rows[rows.clone()].fill(Some(at));
            owners.is_cut[at] = true;
            if let Some(outer) = outer {
                owners.is_open[outer] = true;
            }
            free[slot] = rows.end;
            opens[at] = has_inner[at] && !self.is_whole(definition, &rows);
            free[at] = rows.start + usize::from(has_own_chunk(definition.kind));
            spans[at] = rows;
        }
        owners
    }

    /// Whether a definition stays in one piece, with what it holds.
    fn is_whole(&self, definition: &Definition, rows: &Range<usize>) -> bool {
        let chars = self.lines.chars(rows);
        match definition.kind {
            DefinitionKind::Function | DefinitionKind::Method => chars <= self.sizes.suite,
            DefinitionKind::Type | DefinitionKind::Module => chars <= self.sizes.small_type,
            DefinitionKind::Extension | DefinitionKind::Namespace => false,
        }
    }

    /// The runs, in order.
    fn runs(&self, owners: &Owners) -> Vec<Run> {
        let mut runs: Vec<Run> = Vec::new();
        let mut latest = vec![None; self.outline.definitions.len()];
        for row in (0..self.lines.count()).filter(|row| !self.lines.is_blank(*row)) {
            let owner = owners.rows[row];
            if let Some(run) = runs.last_mut().filter(|run| run.owner == owner) {
                run.rows.end = row + 1;
                continue;
            }
            let before = owner.and_then(|owner| latest[owner].replace(runs.len()));
            if let Some(before) = before {
                let before: &mut Run = &mut runs[before];
                before.last = false;
            }
            let first = before.is_none();
            let part = self.part(owners, owner, first);
            runs.push(Run { rows: row..row + 1, owner, part, first, last: true, small: false });
        }
        for run in &mut runs {
            run.small = self.lines.chars(&run.rows) <= self.sizes.small;
        }
        runs
    }

    fn part(&self, owners: &Owners, owner: Option<usize>, first: bool) -> Part {
        let Some(owner) = owner else { return Part::Block };
        let kind = self.definition(owner).kind;
        let is_function = matches!(kind, DefinitionKind::Function | DefinitionKind::Method);
        match (has_own_chunk(kind), owners.is_open[owner]) {
            (true, false) => Part::Whole,
            (true, true) if first => Part::Head,
            (true, true) if is_function => Part::Rest,
            _ => Part::Block,
        }
    }

    /// The definition around a run: around the whole definition, or that which a block is a part of.
    fn around(&self, run: &Run) -> Option<usize> {
        match run.part {
            Part::Whole | Part::Head => run.owner.and_then(|owner| self.definition(owner).parent),
            Part::Rest | Part::Block => run.owner,
        }
    }

    /// Whether `inner` is `outer` or stands in it.
    fn is_within(&self, inner: Option<usize>, outer: Option<usize>) -> bool {
        let Some(outer) = outer else { return true };
        let up = |at: &usize| self.definition(*at).parent;
        std::iter::successors(inner, up).any(|at| at == outer)
    }

    /// Tiny blocks join a neighbour that they belong with.
    fn join_tiny(&self, runs: Vec<Run>) -> Vec<Run> {
        let mut joined: Vec<Run> = Vec::with_capacity(runs.len());
        let mut runs = runs.into_iter().peekable();
        while let Some(run) = runs.next() {
            if !self.is_tiny(&run, joined.is_empty()) {
                joined.push(run);
                continue;
            }
            let up = joined.last().is_some_and(|before| self.may_join(before, &run));
            let down = runs.peek().is_some_and(|after| self.may_join_down(&run, after));
            let prefers_up = self.prefers_up(joined.last(), &run, runs.peek());
            if up && (prefers_up || !down) {
                let before = joined.last_mut().expect("there is one to join");
                before.rows.end = run.rows.end;
                if before.part == Part::Block {
                    before.owner = self.common(before.owner, run.owner);
                }
            } else if down {
                let after = runs.peek_mut().expect("there is one to join");
                after.rows.start = run.rows.start;
            } else {
                joined.push(run);
            }
        }
        joined
    }

    /// Whether a run is too little to stand alone: a few characters, or a short comment (which at the
    /// top of a file speaks of the file).
    fn is_tiny(&self, run: &Run, on_top: bool) -> bool {
        let is_comment = |row: usize| {
            let line = self.lines.str(&(row..row + 1)).trim();
            let marks = ["//", "/*", "*", "--", "# ", "##"];
            line.is_empty() || line == "#" || marks.iter().any(|mark| line.starts_with(mark))
        };
        let is_remark = || !on_top && run.small && run.rows.clone().all(is_comment);
        matches!(run.part, Part::Block | Part::Rest)
            && (self.lines.ink(&run.rows) < self.sizes.tiny || is_remark())
    }

    /// Whether a tiny run that could go either way goes with the one before it: the end of something
    /// with what it ends, a namespace's beginning with the imports above, a line with its nearest.
    fn prefers_up(&self, before: Option<&Run>, run: &Run, after: Option<&Run>) -> bool {
        let Some(before) = before else { return false };
        let is_near = |a: &Run, b: &Run| a.rows.end == b.rows.start;
        match run.owner.map(|owner| self.definition(owner).kind) {
            Some(_) if run.last && !run.first => self.is_within(before.owner, run.owner),
            Some(DefinitionKind::Namespace) if run.first => before.part == Part::Block,
            Some(_) if run.first => false,
            _ => is_near(before, run) && after.is_some_and(|after| !is_near(run, after)),
        }
    }

    /// Whether a tiny run may become the end of the one before it.
    fn may_join(&self, before: &Run, run: &Run) -> bool {
        let joined = before.rows.start..run.rows.end;
        if before.part == Part::Block {
            return self.lines.chars(&joined) <= self.sizes.target;
        }
        let ends_around = run.last && !run.first && self.is_within(before.owner, run.owner);
        let is_sibling = before.part == Part::Whole && self.around(before) == run.owner
            || before.part != Part::Whole && before.owner == run.owner;
        (ends_around || is_sibling) && self.has_room(before, &joined)
    }

    /// Whether a tiny run may become the beginning of the one after it.
    fn may_join_down(&self, run: &Run, after: &Run) -> bool {
        run.part == Part::Block
            && after.part != Part::Block
            && after.first
            && self.around(after) == run.owner
            && self.has_room(after, &(run.rows.start..after.rows.end))
    }

    /// Whether a run may grow: it stays below the cap, or will be cut anyway.
    fn has_room(&self, run: &Run, grown: &Range<usize>) -> bool {
        self.lines.chars(grown) <= self.sizes.cap || self.lines.chars(&run.rows) > self.sizes.cap
    }

    /// The innermost definition around both.
    fn common(&self, a: Option<usize>, b: Option<usize>) -> Option<usize> {
        let up = |at: &usize| self.definition(*at).parent;
        std::iter::successors(a, up).find(|at| self.is_within(b, Some(*at)))
    }

    /// Small neighbouring definitions of one kind share a chunk.
    fn join_small(&self, runs: Vec<Run>) -> Vec<Run> {
        let mut joined: Vec<Run> = Vec::with_capacity(runs.len());
        for run in runs {
            match joined.last_mut() {
                Some(before) if self.may_share(before, &run) => before.rows.end = run.rows.end,
                _ => joined.push(run),
            }
        }
        joined
    }

    fn may_share(&self, before: &Run, run: &Run) -> bool {
        let (Some(a), Some(b)) = (before.owner, run.owner) else { return false };
        let chars = self.lines.chars(&(before.rows.start..run.rows.end));
        let (outer, inner) = (self.definition(a), self.definition(b));
        let are_small = before.small && run.small && run.part == Part::Whole;
        let neighbours = before.part == Part::Whole
            && outer.parent == inner.parent
            && chunk_kind(outer.kind) == chunk_kind(inner.kind)
            && chars <= self.sizes.target;
        let begins = before.part == Part::Head
            && inner.parent == Some(a)
            && self.lines.ink(&before.rows) < self.sizes.tiny
            && chars <= self.sizes.small_type;
        are_small && (neighbours || begins)
    }

    /// The names that are defined in each row, in order.
    fn names(&self, owners: &Owners) -> Names<'_> {
        let mut names: Vec<(usize, &str)> = Vec::new();
        for (at, definition) in self.outline.definitions.iter().enumerate() {
            let is_own = has_own_chunk(definition.kind) && !definition.name.is_empty();
            if is_own {
                let row = self.lines.row(definition.head);
                // A definition that begins on a line of another one still begins its own chunk.
                let row = if owners.is_cut[at] {
                    let rows = self.lines.rows(&definition.bytes);
                    rows.clone()
                        .find(|row| owners.rows[*row] == Some(at))
                        .map_or(row, |own| own.max(row))
                } else {
                    row
                };
                names.push((row, &definition.name));
            }
        }
        names.extend(self.outline.values.iter().map(|v| (self.lines.row(v.at), v.name.as_str())));
        names.sort_by_key(|(row, _)| *row);
        Names { names, next: 0 }
    }

    /// The rows of a run, cut where it is too long.
    fn pieces(&self, run: &Run) -> Vec<Range<usize>> {
        let most = match run.part {
            Part::Block => self.sizes.target * 4 / 3,
            _ => self.sizes.cap,
        };
        if self.lines.chars(&run.rows) <= most {
            return vec![run.rows.clone()];
        }
        let limits = Limits { target: self.sizes.target, most, lines: usize::MAX };
        let levels = self.levels(&run.rows);
        cuts::split(self.lines, run.rows.clone(), &limits, |row| {
            levels[row - run.rows.start].unwrap_or_else(|| UNPARSED + self.lines.looks(row))
        })
    }

    /// How deeply what begins in each row is nested.
    fn levels(&self, rows: &Range<usize>) -> Vec<Option<u32>> {
        let bytes = self.lines.bytes(rows);
        let cuts = &self.outline.cuts;
        let first = cuts.partition_point(|cut| cut.at < bytes.start);
        let mut levels: Vec<Option<u32>> = vec![None; rows.len()];
        for cut in cuts[first..].iter().take_while(|cut| cut.at < bytes.end) {
            let level = &mut levels[self.lines.row(cut.at) - rows.start];
            if level.is_none_or(|level| level > cut.depth) && self.lines.begins_row(cut.at) {
                *level = Some(cut.depth);
            }
        }
        levels
    }

    /// The chunk of a piece of a run. Pieces are described in order. Later pieces of a function keep
    /// its name; later pieces of a type are blocks in it.
    fn describe(&self, run: &Run, rows: Range<usize>, later: bool, names: &mut Names) -> Chunk {
        let own = run.owner.filter(|_| run.part != Part::Block).map(|owner| self.definition(owner));
        let own = own.filter(|own| !later || chunk_kind(own.kind) != ChunkKind::Type);
        let kind = own.map_or(ChunkKind::Block, |own| chunk_kind(own.kind));
        let mut chunk = self.lines.chunk(rows, kind);
        chunk.parents = match own {
            Some(_) => self.outer_path(run.owner),
            None => self.path(run.owner),
        };
        if let Some(own) = own {
            chunk.symbol = Some(own.name.clone()).filter(|name| !name.is_empty());
            chunk.signature = signature(&own.signature);
            chunk.doc = own.doc.clone().and_then(|doc| self.doc_in(doc, &chunk.bytes));
        }
        chunk.defines.extend(chunk.symbol.clone());
        for name in names.until(chunk.lines.end as usize) {
            if !chunk.defines.iter().any(|known| known == name) {
                chunk.defines.push(name.to_owned());
            }
        }
        chunk
    }

    /// The names from the outermost definition down to `at`, with what qualifies them.
    fn path(&self, at: Option<usize>) -> Vec<String> {
        let mut path = self.outer_path(at);
        let name = at.map(|at| &self.definition(at).name).filter(|name| !name.is_empty());
        path.extend(name.cloned());
        path
    }

    /// The names around `at`, with those that qualify it.
    fn outer_path(&self, at: Option<usize>) -> Vec<String> {
        let Some(at) = at else { return Vec::new() };
        let up = |at: &usize| self.definition(*at).parent;
        let mut chain: Vec<usize> = std::iter::successors(up(&at), up).collect();
        chain.reverse();
        let mut path: Vec<String> = Vec::new();
        for outer in chain {
            let definition = self.definition(outer);
            path.extend(definition.outer.iter().cloned());
            path.push(definition.name.clone());
        }
        path.extend(self.definition(at).outer.iter().cloned());
        path.retain(|name| !name.is_empty());
        path
    }

    /// The part of a documentation that lies in a chunk.
    fn doc_in(&self, doc: Range<usize>, bytes: &Range<usize>) -> Option<Range<usize>> {
        let clipped = doc.start.max(bytes.start)..doc.end.min(bytes.end);
        let text = self.lines.text.get(clipped.clone())?.trim_end();
        (!text.is_empty()).then(|| clipped.start..clipped.start + text.len())
    }
}

/// Names by the row in which they are defined, handed out in order.
struct Names<'a> {
    names: Vec<(usize, &'a str)>,
    next: usize,
}

impl<'a> Names<'a> {
    /// The names before `row` that were not handed out yet.
    fn until(&mut self, row: usize) -> impl Iterator<Item = &'a str> + use<'a, '_> {
        let from = self.next;
        let count = self.names[from..].iter().take_while(|(at, _)| *at < row).count();
        self.next = from + count;
        self.names[from..self.next].iter().map(|(_, name)| *name)
    }
}

/// A head as a signature: without the mark that opens the body, not too long.
fn signature(head: &str) -> Option<String> {
    let end = head.char_indices().nth(SIGNATURE_CHARS_MAX).map_or(head.len(), |(at, _)| at);
    let trimmed = head[..end].trim_end_matches([' ', '{', ':', '=']);
    let trimmed = trimmed.strip_suffix(" do").unwrap_or(trimmed).trim_end();
    (!trimmed.is_empty()).then(|| trimmed.to_owned())
}

/// Whether a definition of this kind has a chunk of its own, and is not a mere shell.
fn has_own_chunk(kind: DefinitionKind) -> bool {
    !matches!(kind, DefinitionKind::Extension | DefinitionKind::Namespace)
}

fn chunk_kind(kind: DefinitionKind) -> ChunkKind {
    match kind {
        DefinitionKind::Function => ChunkKind::Function,
        DefinitionKind::Method => ChunkKind::Method,
        DefinitionKind::Type | DefinitionKind::Module => ChunkKind::Type,
        DefinitionKind::Extension | DefinitionKind::Namespace => ChunkKind::Block,
    }
}
