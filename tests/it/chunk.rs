//! Splitting files as they are in the world: the properties that `sai::chunk::check` asks for hold.

use std::collections::BTreeMap;
use std::path::{Path, PathBuf};

use sai::chunk::{check, place, split};
use sai::types::{Language, RelPath};

/// Larger files are data.
const BYTES_MAX: usize = 1 << 20;

/// Every `stride`-th file below `root`, in order of its path.
fn files_below(root: &Path, stride: usize) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut folders = vec![root.to_owned()];
    while let Some(folder) = folders.pop() {
        for entry in std::fs::read_dir(folder).into_iter().flatten().flatten() {
            match entry.file_type() {
                Ok(kind) if kind.is_dir() && entry.file_name() != ".git" => {
                    folders.push(entry.path());
                }
                Ok(kind) if kind.is_file() => files.push(entry.path()),
                _ => {}
            }
        }
    }
    files.sort();
    files.into_iter().step_by(stride).collect()
}

/// Splits files and fails at the first improper split. Returns how many chunks each language has.
fn split_files(root: &Path, files: &[PathBuf]) -> BTreeMap<Language, usize> {
    let mut counts = BTreeMap::new();
    for file in files {
        let Ok(bytes) = std::fs::read(file) else { continue };
        if bytes.len() > BYTES_MAX || bytes.contains(&0) {
            continue;
        }
        let text = String::from_utf8_lossy(&bytes);
        let relative = file.strip_prefix(root).expect("below the root");
        let Some(path) = RelPath::new(relative) else { continue };
        let language = Language::of(&path, text.lines().next().unwrap_or_default());
        let pieces = split(&path, language, &text);
        if let Err(broken) = check(&text, &pieces) {
            panic!("{}: {broken}", file.display());
        }
        place(&path, language, &text);
        *counts.entry(language).or_default() += pieces.chunks.len();
    }
    counts
}

#[test]
fn this_repository_splits_properly() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR")).join("src");
    let counts = split_files(&root, &files_below(&root, 1));
    assert!(counts[&Language::Rust] > 100);
}

#[test]
fn the_sources_of_dependencies_split_properly() {
    let home = std::env::var_os("CARGO_HOME").map(PathBuf::from);
    let home = home.or_else(|| std::env::home_dir().map(|home| home.join(".cargo")));
    let sources = home.map(|home| home.join("registry/src")).filter(|sources| sources.is_dir());
    match sources {
        Some(sources) => drop(split_files(&sources, &files_below(&sources, 50))),
        None => eprintln!("left out: no sources of dependencies here"),
    }
}

#[test]
fn a_corpus_splits_properly() {
    let Some(corpus) = std::env::var_os("SAI_CORPUS").map(PathBuf::from) else {
        eprintln!("left out: SAI_CORPUS names no folder of repositories");
        return;
    };
    let counts = split_files(&corpus, &files_below(&corpus, 1));
    assert!(!counts.is_empty(), "no text files under {}", corpus.display());
}
