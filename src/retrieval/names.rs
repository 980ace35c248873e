//! What file names say: the words of each file's name, and how a question bears on them.

use super::catalog::Map;
use super::question::Question;
use crate::types::RelPath;
use crate::words::{parts, stem};

/// File names that say nothing: their folder stands in for them.
const GENERIC_STEMS: &[&str] =
    &["index", "mod", "lib", "main", "init", "__init__", "package", "default"];

/// A word of fewer letters begins too many others to say anything.
const BEGINNING_LENGTH_MIN: usize = 3;

/// The words of every file's name, by number.
#[derive(Debug, Default)]
pub(super) struct Names {
    words: Vec<String>,
    /// The words' numbers, in the order of their letters.
    sorted: Vec<u32>,
    /// How telling a word is: high when few files have it in their name.
    idf: Vec<f32>,
    /// The words of each file's name, or of its folder where the name says nothing, file by file.
    name_words: Vec<u32>,
    /// By file: where its words end in `name_words`.
    ends: Vec<u32>,
}

/// How a question's words bear on the words of names.
pub(super) struct Asked {
    /// By word: 1 when the question has the very word, else 0.
    same: Vec<f32>,
    /// By word: 1 when a word of the question begins it or is begun by it, and none is the same.
    begun: Vec<f32>,
}

impl Names {
    /// Takes the paths of all files apart, in their order.
    pub(super) fn new<'a>(paths: impl Iterator<Item = &'a RelPath>) -> Self {
        let mut names = Self::default();
        let mut ids: Map<String, u32> = Map::default();
        let mut files_with: Vec<u32> = Vec::new();
        for path in paths {
            let words = stemmed_parts(telling_part(path)).into_iter();
            for word in words {
                let word = names.intern(word, &mut ids);
                files_with.resize(names.words.len(), 0);
                files_with[word as usize] += 1;
                names.name_words.push(word);
            }
            names.ends.push(names.name_words.len() as u32);
        }
        let all = names.ends.len() as f32;
        let idf = |files: &u32| (1.0 + all / (1.0 + *files as f32)).ln();
        names.idf = files_with.iter().map(idf).collect();
        names.sorted = (0..names.words.len() as u32).collect();
        names.sorted.sort_unstable_by_key(|word| names.words[*word as usize].as_str());
        names
    }

    fn intern(&mut self, word: String, ids: &mut Map<String, u32>) -> u32 {
        *ids.entry(word).or_insert_with_key(|word| {
            self.words.push(word.clone());
            self.words.len() as u32 - 1
        })
    }

    /// Which words of names the question has, and which it begins or that begin one of its words.
    pub(super) fn ask(&self, question: &Question) -> Asked {
        let none = vec![0.0; self.words.len()];
        let mut asked = Asked { same: none.clone(), begun: none };
        for word in question.stems.iter().filter_map(|stem| self.find(stem)) {
            asked.same[word] = 1.0;
        }
        for stem in question.stems.iter().filter(|stem| stem.len() >= BEGINNING_LENGTH_MIN) {
            let ends = (BEGINNING_LENGTH_MIN..stem.len()).filter(|end| stem.is_char_boundary(*end));
            let beginnings = ends.filter_map(|end| self.find(&stem[..end]));
            for word in self.beginning_with(stem).chain(beginnings) {
                if asked.same[word] == 0.0 {
                    asked.begun[word] = 1.0;
                }
            }
        }
        asked
    }

    fn find(&self, text: &str) -> Option<usize> {
        let found = self.sorted.binary_search_by_key(&text, |word| &self.words[*word as usize]);
        found.ok().map(|at| self.sorted[at] as usize)
    }

    fn beginning_with(&self, text: &str) -> impl Iterator<Item = usize> {
        let word = |word: &u32| self.words[*word as usize].as_str();
        let first = self.sorted.partition_point(|at| word(at) < text);
        let begun = self.sorted[first..].iter().take_while(move |at| word(at).starts_with(text));
        begun.map(|word| *word as usize)
    }

    /// The share of the file's name that the question names, and the share whose beginning it names;
    /// each word weighs as much as it is telling.
    pub(super) fn name(&self, asked: &Asked, file: usize) -> (f32, f32) {
        let (mut all, mut same, mut begun) = (0.0, 0.0, 0.0);
        let start = file.checked_sub(1).map_or(0, |before| self.ends[before] as usize);
        for &word in &self.name_words[start..self.ends[file] as usize] {
            let word = word as usize;
            all += self.idf[word];
            same += self.idf[word] * asked.same[word];
            begun += self.idf[word] * asked.begun[word];
        }
        if all > 0.0 { (same / all, begun / all) } else { (0.0, 0.0) }
    }
}

/// Calls `each` with the stemmed parts of a text's identifiers, in order.
pub(super) fn each_stem(text: &str, each: &mut impl FnMut(&str)) {
    let mut lower = String::new();
    parts(text, &mut |part| {
        lower.clear();
        lower.push_str(part);
        lower.make_ascii_lowercase();
        each(&stem(&lower));
    });
}

/// The stemmed parts of a text's identifiers, each once.
pub(super) fn stemmed_parts(text: &str) -> Vec<String> {
    let mut out: Vec<String> = Vec::new();
    each_stem(text, &mut |part| {
        if !out.iter().any(|known| known == part) {
            out.push(part.to_owned());
        }
    });
    out
}

/// The file's name without its extension, or its folder where the name says nothing.
fn telling_part(path: &RelPath) -> &str {
    let name = path.stem();
    if GENERIC_STEMS.contains(&name.to_ascii_lowercase().as_str()) {
        return path.folders().next_back().unwrap_or(name);
    }
    name
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn names(paths: &[&str]) -> Names {
        let paths: Vec<RelPath> =
            paths.iter().map(|path| RelPath::new(Path::new(path)).expect("a path")).collect();
        Names::new(paths.iter())
    }

    #[test]
    fn a_name_is_named_in_full_in_part_or_by_its_beginning() {
        let names = names(&["src/retry_policy.rs", "src/router/index.ts", "src/configuration.rs"]);
        let shares = |text: &str, file| {
            let asked = names.ask(&Question::new(text));
            names.name(&asked, file)
        };
        assert_eq!(shares("how does the retry policy work", 0), (1.0, 0.0));
        let (part, _) = shares("retry", 0);
        assert!(part > 0.0 && part < 1.0, "{part}");
        assert_eq!(shares("router", 1), (1.0, 0.0));
        assert_eq!(shares("config", 2), (0.0, 1.0));
        assert_eq!(shares("unrelated", 2), (0.0, 0.0));
    }
}
