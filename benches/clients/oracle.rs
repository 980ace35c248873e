//! Which answers can be right?
//!
//! Some files are markers: each revision of one says which it is. The writer notes which revisions
//! each generation can hold; an answer to the marker question must show exactly those. Any other
//! hit must show text that its file had at some time.

use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::Path;
use std::sync::{Mutex, RwLock};

use serde_json::Value;

/// How many files are markers.
pub(crate) const MARKERS: usize = 8;

/// What every marker holds and nothing else: it stands in two parts here.
pub(crate) const QUESTION: &str = concat!("clients_marker", "_revision");

/// The revision of each marker; 0 where the file is not there.
pub(crate) type Marks = [u32; MARKERS];

/// Revisions that each marker may have.
pub(crate) type Allowed = [BTreeSet<u32>; MARKERS];

pub(crate) fn marker_path(marker: usize) -> String {
    format!("clients_markers/marker_{marker}.rs")
}

pub(crate) fn marker_text(marker: usize, revision: u32) -> String {
    format!(
        "/// Marker {marker}, revision {revision}.\n\
         pub(crate) fn clients_marker_{marker}(value: u32) -> u32 {{\n    \
             // {QUESTION} {marker} {revision}\n    \
             let revision = {revision};\n    \
             value + revision + {marker}\n\
         }}\n"
    )
}

/// The line that an edit of another file puts at its end.
pub(crate) fn edit_line(revision: u32) -> String {
    format!("// clients edit {revision}")
}

/// What can be right, and which answers were seen.
#[derive(Default)]
pub(crate) struct Oracle {
    generations: Mutex<BTreeMap<u64, Allowed>>,
    /// The text of files that are edited or read, as they were at the start.
    texts: RwLock<HashMap<String, Option<String>>>,
    /// How often each answer to the marker question came.
    seen: Mutex<BTreeMap<(u64, Marks), u64>>,
}

impl Oracle {
    /// Notes what a generation may hold.
    pub(crate) fn note(&self, generation: u64, allowed: &Allowed) {
        let mut generations = self.generations.lock().expect("nobody panics with it");
        generations.entry(generation).or_insert_with(|| allowed.clone());
    }

    /// Takes an answer to the marker question; what it may be is judged at the end, when every
    /// generation is known.
    pub(crate) fn marks(&self, answer: &Value) -> Result<(), String> {
        let generation = generation_of(answer)?;
        let mut marks = Marks::default();
        for hit in hits_of(answer)? {
            let snippet = hit["snippet"].as_str().unwrap_or_default();
            let (marker, revision) =
                marker_of(snippet).ok_or_else(|| format!("a hit without a marker: {hit}"))?;
            if hit["path"] != marker_path(marker).as_str()
                || snippet != marker_text(marker, revision)
            {
                return Err(format!("generation {generation}: no marker is like {hit}"));
            }
            if marks[marker] != 0 {
                return Err(format!("generation {generation}: marker {marker} twice"));
            }
            marks[marker] = revision;
        }
        *self
            .seen
            .lock()
            .expect("nobody panics with it")
            .entry((generation, marks))
            .or_default() += 1;
        Ok(())
    }

    /// Holds that each hit shows text that its file in `root` had at some time.
    pub(crate) fn texts(&self, root: &Path, answer: &Value) -> Result<(), String> {
        for hit in hits_of(answer)? {
            let path = hit["path"].as_str().unwrap_or_default();
            let snippet = hit["snippet"].as_str().unwrap_or_default();
            let known = match marker_of(snippet) {
                Some((marker, revision)) => snippet == marker_text(marker, revision),
                None => self.is_text_of(root, path, snippet),
            };
            if !known {
                return Err(format!("`{path}` never held what is shown of it: {hit}"));
            }
        }
        Ok(())
    }

    fn is_text_of(&self, root: &Path, path: &str, snippet: &str) -> bool {
        self.learn(root, path);
        let texts = self.texts.read().expect("nobody panics with it");
        // What is no UTF-8 is shown in another encoding than it is compared in.
        let Some(Some(text)) = texts.get(path) else { return true };
        let shown: Vec<&str> = snippet.lines().map(str::trim_end).collect();
        let edited = shown.last().is_some_and(|line| line.starts_with("// clients edit "));
        let shown = if edited { &shown[..shown.len() - 1] } else { &shown[..] };
        text.contains(&shown.join("\n"))
    }

    /// Reads a file before it is edited for the first time.
    pub(crate) fn learn(&self, root: &Path, path: &str) {
        if self.texts.read().expect("nobody panics with it").contains_key(path) {
            return;
        }
        let mut texts = self.texts.write().expect("nobody panics with it");
        texts.entry(path.to_owned()).or_insert_with(|| {
            let bytes = std::fs::read(root.join(path)).ok()?;
            let text = String::from_utf8(bytes).ok()?;
            let lines = text.lines().filter(|line| !line.starts_with("// clients edit "));
            Some(lines.map(str::trim_end).collect::<Vec<_>>().join("\n"))
        });
    }

    /// Judges every answer to the marker question: how many there were, and what was wrong.
    pub(crate) fn judge(&self) -> (u64, Vec<String>) {
        let generations = self.generations.lock().expect("nobody panics with it");
        let seen = self.seen.lock().expect("nobody panics with it");
        let mut wrong = Vec::new();
        for ((generation, marks), times) in seen.iter() {
            let right = match generations.get(generation) {
                None => Err("nobody published it".to_owned()),
                Some(allowed) if marks.iter().zip(allowed).all(|(m, may)| may.contains(m)) => {
                    Ok(())
                }
                Some(allowed) => Err(format!("{marks:?} shown, {allowed:?} possible")),
            };
            if let Err(why) = right {
                wrong.push(format!("generation {generation}, {times} answers: {why}"));
            }
        }
        // One generation has one state, even where several are possible.
        for pair in seen.keys().collect::<Vec<_>>().windows(2) {
            if pair[0].0 == pair[1].0 {
                wrong.push(format!("generation {} has two contents: {pair:?}", pair[0].0));
            }
        }
        (seen.values().sum(), wrong)
    }

    /// Generations that were published, and those that some answer named.
    pub(crate) fn generations(&self) -> (usize, usize) {
        let seen = self.seen.lock().expect("nobody panics with it");
        let named: BTreeSet<u64> = seen.keys().map(|(generation, _)| *generation).collect();
        (self.generations.lock().expect("nobody panics with it").len(), named.len())
    }
}

/// The generation that an answer names.
pub(crate) fn generation_of(answer: &Value) -> Result<u64, String> {
    answer["generation"].as_u64().ok_or_else(|| format!("no generation in {answer}"))
}

fn hits_of(answer: &Value) -> Result<&Vec<Value>, String> {
    answer["hits"].as_array().ok_or_else(|| format!("no hits in {answer}"))
}

/// Which marker a text is of, and which revision.
fn marker_of(snippet: &str) -> Option<(usize, u32)> {
    let line = snippet.lines().find_map(|line| line.trim().strip_prefix("// clients_marker_"))?;
    let mut words = line.split(' ').skip(1);
    let marker = words.next()?.parse().ok().filter(|marker| *marker < MARKERS)?;
    Some((marker, words.next()?.parse().ok()?))
}
