//! One file, made ready to store: read, split, described, its words counted. Runs on many threads.

use std::fmt::Write as _;
use std::panic::{AssertUnwindSafe, catch_unwind};

use super::plan::ToRead;
use super::read::{self, Content};
use super::scope::{Candidate, SkipReason};
use crate::chunk::{self, Chunk, Pieces};
use crate::config::Config;
use crate::embed::passage_names;
use crate::types::{Place, RelPath};
use crate::words::{Counted, Counter, Fields};

/// What reading a file led to.
pub(super) enum Prepared {
    /// The content is as it was indexed; only size and time are new.
    Same { path: RelPath, id: u32, size: u64, mtime_ns: i64 },
    /// Left out for its content.
    Skipped { path: RelPath, reason: SkipReason, known: Option<u32> },
    /// To be stored, in place of row `known`.
    Ready(Box<ReadyFile>),
}

/// A file to be stored.
pub(super) struct ReadyFile {
    pub path: RelPath,
    pub known: Option<u32>,
    pub content: Content,
    pub place: Place,
    pub pieces: Pieces,
    pub words: Counted,
    /// One a chunk.
    pub capsules: Vec<Capsule>,
}

/// What a model is told of a chunk besides its path and its code.
pub(super) struct Capsule {
    /// The names that it defines, and the type that they belong to.
    pub names: String,
    /// What the code alone does not say: where it belongs and what the file imports.
    pub context: String,
}

/// A file's content and what kind of place it is, when its content is in scope.
///
/// # Errors
/// Why it is left out.
pub fn content(config: &Config, file: &Candidate) -> Result<(Content, Place), SkipReason> {
    guarded(|| read(config, file))
}

fn read(config: &Config, file: &Candidate) -> Result<(Content, Place), SkipReason> {
    let content = read::read(&config.root, file)?;
    let place = chunk::place(&file.path, content.language, &content.text);
    if place == Place::Generated && !config.files.generated {
        return Err(SkipReason::Generated);
    }
    Ok((content, place))
}

/// Reads and splits one file. A panic, which is a defect, costs that file and no other.
pub(super) fn prepare(config: &Config, wanted: &ToRead) -> Prepared {
    let path = wanted.file.path.clone();
    let known = wanted.known.map(|(id, _)| id);
    guarded(|| ready(config, wanted)).unwrap_or_else(|reason| Prepared::Skipped {
        path,
        reason,
        known,
    })
}

/// What `work` gives; [`SkipReason::Failed`] when it panics.
fn guarded<R>(work: impl FnOnce() -> Result<R, SkipReason>) -> Result<R, SkipReason> {
    catch_unwind(AssertUnwindSafe(work)).unwrap_or(Err(SkipReason::Failed))
}

fn ready(config: &Config, wanted: &ToRead) -> Result<Prepared, SkipReason> {
    let path = wanted.file.path.clone();
    let (content, place) = read(config, &wanted.file)?;
    if let Some((id, hash)) = wanted.known
        && hash == content.hash
    {
        return Ok(Prepared::Same { path, id, size: content.size, mtime_ns: content.mtime_ns });
    }
    let pieces = chunk::split(&path, content.language, &content.text);
    let words = count_words(&path, &content.text, &pieces);
    let capsules = pieces.chunks.iter().map(|chunk| capsule(chunk, &pieces.imports)).collect();
    let known = wanted.known.map(|(id, _)| id);
    Ok(Prepared::Ready(Box::new(ReadyFile {
        path,
        known,
        content,
        place,
        pieces,
        words,
        capsules,
    })))
}

/// The words of a file's chunks, each with its capsule.
fn count_words(path: &RelPath, text: &str, pieces: &Pieces) -> Counted {
    let path_words = path_words(path);
    let mut counter = Counter::default();
    let mut signature = String::new();
    for chunk in &pieces.chunks {
        signature.clear();
        let parents = chunk.parents.iter().map(String::as_str);
        for word in parents.chain(chunk.signature.as_deref()) {
            let _ = write!(signature, "{word} ");
        }
        counter.add(&Fields {
            body: &text[chunk.bytes.clone()],
            names: &chunk.defines.join(" "),
            signature: &signature,
            doc: chunk.doc.clone().map_or("", |doc| &text[doc]),
            path: &path_words,
        });
    }
    counter.finish()
}

/// The file's stem and its last three folders.
fn path_words(path: &RelPath) -> String {
    let mut folders: Vec<&str> = path.folders().rev().take(3).collect();
    folders.push(path.stem());
    folders.join(" ")
}

fn capsule(chunk: &Chunk, imports: &[String]) -> Capsule {
    let names = passage_names(&chunk.defines, &chunk.parents);
    Capsule { names, context: context(chunk, imports) }
}

/// Where a chunk belongs, and what the file imports of the names that it may use.
fn context(chunk: &Chunk, imports: &[String]) -> String {
    let mut out = chunk.parents.join(" ");
    if let (None, Some(symbol)) = (&chunk.signature, &chunk.symbol) {
        let _ = write!(out, " {symbol}");
    }
    for import in imports.iter().take(12) {
        let _ = write!(out, " {import}");
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_panic_is_a_reason() {
        assert_eq!(guarded(|| Ok(1)), Ok(1));
        assert_eq!(guarded::<()>(|| Err(SkipReason::Binary)), Err(SkipReason::Binary));
        assert_eq!(guarded::<()>(|| panic!("a defect")), Err(SkipReason::Failed));
    }
}
