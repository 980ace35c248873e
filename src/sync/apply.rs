//! Turns a plan into rows: files are prepared in parallel, batch by batch, while the batch before is
//! being made into rows and inserted.

use std::collections::{HashMap, HashSet};

use rayon::prelude::*;

use super::plan::{Plan, ToRead};
use super::prepare::{Prepared, ReadyFile, prepare};
use super::run::Reporter;
use super::scope::SkipReason;
use super::{Phase, Progress};
use crate::config::Config;
use crate::embed::{Embedder, Passage, quantise};
use crate::error::{Error, ErrorKind, Result};
use crate::store::{Batch, ChunkRow, FileRow, FreeIds, VectorRow, Writer};
use crate::turn::Turn;
use crate::types::{Hash, RelPath};
use crate::words::{Dictionary, encode};

/// A batch ends at this many files or bytes: so that memory stays bounded, and that the last one,
/// beside which nothing is prepared any more, is soon inserted.
const BATCH_FILES: usize = 128;
const BATCH_BYTES: u64 = 2 << 20;

/// For so many files it is quicker to look up what is stored than to know all of it.
const FEW_FILES: usize = 64;

/// What was done.
#[derive(Debug, Default)]
pub(super) struct Applied {
    pub added: usize,
    pub changed: usize,
    /// Files that were stored, with their number of chunks.
    pub stored: Vec<(RelPath, usize)>,
    /// Rows of files that were read and whose content was as indexed.
    pub same: Vec<(u32, RelPath)>,
    /// Files that were indexed and are now left out for their content.
    pub dropped: Vec<RelPath>,
    pub embedded: usize,
    /// Files left out for their content.
    pub skipped: Vec<(String, SkipReason)>,
}

/// The first files of a plan, prepared; for doing it while the writer begins.
pub(super) struct First(Vec<Prepared>);

impl First {
    /// Prepares them.
    pub(super) fn of(config: &Config, plan: &Plan) -> Self {
        Self(batches(&plan.read).next().map_or_else(Vec::new, |batch| prepare_all(config, batch)))
    }
}

/// Prepares and inserts everything that `plan` names; `first` is of the same plan.
pub(super) fn apply(
    config: &Config,
    writer: &mut Writer,
    embedder: &mut Embedder,
    plan: &Plan,
    first: First,
    report: &Reporter,
    turn: &Turn,
) -> Result<Applied> {
    let removed: Vec<u32> = plan.removed.iter().map(|(id, _)| *id).collect();
    writer.delete_files(&removed)?;
    let mut applied = Applied::default();
    let total = plan.read.len();
    let First(first) = first;
    if total <= FEW_FILES && first.len() == total {
        let mut rows = Rows::of(writer, &first)?;
        let ready = rows.collect(first, embedder, &mut applied)?;
        let chunks = ready.batch.chunks.len();
        report.tell(Progress { phase: Phase::Indexing, done: total, total, chunks });
        ready.insert(writer)?;
        return Ok(applied);
    }
    let mut rows = Rows::new(writer)?;
    // The inserting thread lags one batch behind the preparing ones.
    std::thread::scope(|scope| -> Result<()> {
        let (send, receive) = crossbeam_channel::bounded::<Vec<Prepared>>(1);
        let (writer, applied) = (&mut *writer, &mut applied);
        let inserting = scope.spawn(move || -> Result<()> {
            let (mut done, mut chunks) = (0, 0);
            for prepared in receive {
                done += prepared.len();
                let ready = rows.collect(prepared, embedder, applied)?;
                chunks += ready.batch.chunks.len();
                report.tell(Progress { phase: Phase::Indexing, done, total, chunks });
                ready.insert(writer)?;
            }
            Ok(())
        });
        let rest = batches(&plan.read[first.len()..]).map(|batch| prepare_all(config, batch));
        for prepared in std::iter::once(first).chain(rest) {
            turn.check()?;
            // The inserting thread has failed, and says so below.
            if send.send(prepared).is_err() {
                break;
            }
        }
        drop(send);
        inserting
            .join()
            .unwrap_or_else(|_| Err(Error::new(ErrorKind::Bug, "the inserting thread panicked")))
    })?;
    Ok(applied)
}

fn prepare_all(config: &Config, files: &[ToRead]) -> Vec<Prepared> {
    files.par_iter().map(|file| prepare(config, file)).collect()
}

/// Slices of `files` within the bounds of a batch.
fn batches(files: &[ToRead]) -> impl Iterator<Item = &[ToRead]> {
    let mut rest = files;
    std::iter::from_fn(move || {
        let mut bytes = 0;
        let fits = rest.iter().take(BATCH_FILES).take_while(|file| {
            let first = bytes == 0;
            bytes += file.file.size.max(1);
            first || bytes <= BATCH_BYTES
        });
        let (batch, after) = rest.split_at(fits.count());
        rest = after;
        (!batch.is_empty()).then_some(batch)
    })
}

/// One batch, ready to insert.
#[derive(Default)]
struct Ready {
    batch: Batch,
    replaced: Vec<u32>,
    touched: Vec<(u32, u64, i64)>,
}

impl Ready {
    fn insert(&self, writer: &mut Writer) -> Result<()> {
        writer.delete_files(&self.replaced)?;
        writer.touch_files(&self.touched)?;
        writer.insert(&self.batch)
    }
}

/// Gives out ids and knows what is stored already.
struct Rows {
    next_file: u32,
    next_vector: u32,
    vectors: HashMap<Hash, u32, foldhash::fast::RandomState>,
    words: Dictionary,
    next_word: u32,
}

impl Rows {
    /// Knows everything that is stored.
    fn new(writer: &Writer) -> Result<Self> {
        let base = writer.reader();
        let mut words = Dictionary::default();
        base.each_word(&mut |id, word| words.insert(id, word))?;
        Ok(Self::with(base.free_ids(), base.vector_keys()?, words))
    }

    /// Knows what is stored of what some prepared files need.
    fn of(writer: &Writer, prepared: &[Prepared]) -> Result<Self> {
        let (mut keys, mut words) = (HashSet::new(), HashSet::new());
        for file in prepared {
            if let Prepared::Ready(file) = file {
                keys.extend(passages(file).map(|passage| vector_key(&passage)));
                words.extend(file.words.words.iter().map(String::as_str));
            }
        }
        let base = writer.reader();
        let words = base.words_of(&words)?.into_iter().collect();
        Ok(Self::with(base.free_ids(), base.vectors_of(&keys)?, words))
    }

    fn with(free: FreeIds, vectors: Vec<(Hash, u32)>, words: Dictionary) -> Self {
        Self {
            next_file: free.file,
            next_vector: free.vector,
            next_word: free.word,
            vectors: vectors.into_iter().collect(),
            words,
        }
    }

    /// Rows for a batch of prepared files.
    fn collect(
        &mut self,
        prepared: Vec<Prepared>,
        embedder: &mut Embedder,
        applied: &mut Applied,
    ) -> Result<Ready> {
        let mut ready = Ready::default();
        let mut files = Vec::with_capacity(prepared.len());
        for file in prepared {
            match file {
                Prepared::Same { path, id, size, mtime_ns } => {
                    ready.touched.push((id, size, mtime_ns));
                    applied.same.push((id, path));
                }
                Prepared::Skipped { path, reason, known } => {
                    applied.skipped.push((path.as_str().to_owned(), reason));
                    applied.dropped.extend(known.map(|_| path));
                    ready.replaced.extend(known);
                }
                Prepared::Ready(file) => {
                    applied.changed += usize::from(file.known.is_some());
                    applied.added += usize::from(file.known.is_none());
                    applied.stored.push((file.path.clone(), file.pieces.chunks.len()));
                    ready.replaced.extend(file.known);
                    files.push(*file);
                }
            }
        }
        let vector_ids = self.embed(&files, embedder, &mut ready.batch)?;
        applied.embedded += ready.batch.vectors.len();
        let mut vector_ids = vector_ids.into_iter();
        for file in files {
            self.add_file(file, &mut vector_ids, &mut ready.batch);
        }
        Ok(ready)
    }

    /// The vector's id of every chunk of every file; new vectors go into `batch`.
    fn embed(
        &mut self,
        files: &[ReadyFile],
        embedder: &mut Embedder,
        batch: &mut Batch,
    ) -> Result<Vec<u32>> {
        let mut ids = Vec::new();
        let mut missing = Vec::new();
        for file in files {
            for passage in passages(file) {
                let key = vector_key(&passage);
                let id = *self.vectors.entry(key).or_insert_with(|| {
                    missing.push((key, self.next_vector, passage));
                    self.next_vector += 1;
                    self.next_vector - 1
                });
                ids.push(id);
            }
        }
        let passages: Vec<Passage<'_>> = missing.iter().map(|(_, _, passage)| *passage).collect();
        let vectors = embedder.passages(&passages)?;
        batch.vectors = missing
            .iter()
            .zip(vectors)
            .map(|((key, id, _), vector)| VectorRow {
                id: *id,
                key: *key,
                values: quantise(&vector),
            })
            .collect();
        Ok(ids)
    }

    fn add_file(
        &mut self,
        file: ReadyFile,
        vector_ids: &mut impl Iterator<Item = u32>,
        batch: &mut Batch,
    ) {
        let id = self.next_file;
        self.next_file += 1;
        let global: Vec<u32> =
            file.words.words.into_iter().map(|word| self.word(word, batch)).collect();
        let counted = file.words.chunks.iter();
        for ((pos, chunk), words) in (0..).zip(file.pieces.chunks).zip(counted) {
            batch.chunks.push(ChunkRow {
                file_id: id,
                pos,
                lines: chunk.lines,
                byte_start: offset(chunk.bytes.start),
                byte_end: offset(chunk.bytes.end),
                kind: chunk.kind,
                symbol: chunk.symbol,
                defines: chunk.defines,
                parents: chunk.parents,
                signature: chunk.signature,
                doc: chunk.doc.map(|doc| (offset(doc.start), offset(doc.end))),
                vector_id: vector_ids.next().expect("one vector a chunk"),
                words: encode(words, &global),
            });
        }
        batch.files.push(FileRow {
            id,
            path: file.path,
            hash: file.content.hash,
            size: file.content.size,
            mtime_ns: file.content.mtime_ns,
            encoding: file.content.encoding.to_owned(),
            language: file.content.language,
            place: file.place,
            lines: offset(file.content.text.lines().count()),
            imports: file.pieces.imports,
        });
        batch.blobs.push((file.content.hash, file.content.bytes));
    }

    fn word(&mut self, word: String, batch: &mut Batch) -> u32 {
        if let Some(id) = self.words.id(&word) {
            return id;
        }
        let id = self.next_word;
        self.next_word += 1;
        self.words.insert(id, &word);
        batch.words.push((id, word));
        id
    }
}

/// What is embedded of a file, chunk by chunk.
fn passages(file: &ReadyFile) -> impl Iterator<Item = Passage<'_>> {
    file.pieces.chunks.iter().zip(&file.capsules).map(|(chunk, capsule)| Passage {
        path: file.path.as_str(),
        names: &capsule.names,
        context: &capsule.context,
        code: &file.content.text[chunk.bytes.clone()],
    })
}

/// Everything that decides a vector, within one model.
fn vector_key(passage: &Passage<'_>) -> Hash {
    let parts = [passage.path, passage.names, passage.context, passage.code];
    Hash::of_parts(&parts.map(str::as_bytes))
}

/// Offsets and counts of one file fit: files over 4 GiB are never read.
fn offset(value: usize) -> u32 {
    u32::try_from(value).unwrap_or(u32::MAX)
}
