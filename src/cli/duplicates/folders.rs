//! Here are folders with the copied lines in each: which of them are told apart on a map?
//!
//! The map begins with the whole tree as one folder. The folder that weighs most is opened into its
//! own folders, again and again, as long as the map stays readable.

use std::collections::{BTreeMap, BTreeSet};

/// Folders that a map shows.
const FOLDERS_MAX: usize = 18;

/// The folders of the map. A file belongs to the longest that holds it ([`find`]); the root is the
/// empty string.
pub(super) fn opened(weights: &BTreeMap<&str, usize>) -> BTreeSet<String> {
    let mut shown = BTreeSet::from([String::new()]);
    let mut closed: BTreeSet<String> = BTreeSet::new();
    loop {
        let mut sums: BTreeMap<&str, usize> = BTreeMap::new();
        for (folder, weight) in weights {
            *sums.entry(find(&shown, folder)).or_default() += weight;
        }
        let openable = sums.into_iter().filter(|(folder, _)| !closed.contains(*folder));
        let Some((heaviest, _)) = openable.max_by_key(|(_, weight)| *weight) else { break };
        let heaviest = heaviest.to_owned();
        let inner = inner_folders(weights, &shown, &heaviest);
        let has_files = weights.contains_key(heaviest.as_str());
        let more = inner.len() - usize::from(!has_files && !inner.is_empty());
        if inner.is_empty() || shown.len() + more > FOLDERS_MAX {
            closed.insert(heaviest);
            continue;
        }
        shown.extend(inner);
        if has_files {
            closed.insert(heaviest);
        } else {
            shown.remove(&heaviest);
        }
    }
    shown
}

/// The folders directly in `folder` that hold what belongs to it.
fn inner_folders(
    weights: &BTreeMap<&str, usize>,
    shown: &BTreeSet<String>,
    folder: &str,
) -> BTreeSet<String> {
    let belonging = weights.keys().filter(|inner| find(shown, inner) == folder);
    belonging
        .filter_map(|inner| {
            let below = if folder.is_empty() {
                *inner
            } else {
                inner.strip_prefix(folder)?.strip_prefix('/')?
            };
            let first = below.split('/').next().filter(|first| !first.is_empty())?;
            Some(if folder.is_empty() { first.to_owned() } else { format!("{folder}/{first}") })
        })
        .collect()
}

/// The longest of `shown` that is `folder` or holds it; the root when none does.
pub(super) fn find<'a>(shown: &'a BTreeSet<String>, folder: &str) -> &'a str {
    let mut rest = folder;
    loop {
        if let Some(found) = shown.get(rest) {
            return found;
        }
        match rest.rsplit_once('/') {
            Some((parent, _)) => rest = parent,
            None => return shown.get("").map_or("", String::as_str),
        }
    }
}

/// The folder of a file's path; the empty string for the root.
pub(super) fn of(path: &str) -> &str {
    path.rsplit_once('/').map_or("", |(folder, _)| folder)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn names(weights: &[(&str, usize)]) -> Vec<String> {
        opened(&weights.iter().copied().collect()).into_iter().collect()
    }

    #[test]
    fn heavy_folders_are_opened() {
        assert_eq!(
            names(&[("src/a", 9), ("src/b/c", 5), ("src/b/d", 5), ("docs", 1)]),
            ["docs", "src/a", "src/b/c", "src/b/d"]
        );
    }

    #[test]
    fn a_folder_with_files_of_its_own_stays() {
        assert_eq!(names(&[("", 1), ("src", 4), ("src/a", 9)]), ["", "src", "src/a"]);
        assert_eq!(names(&[]), [""]);
    }

    #[test]
    fn a_map_stays_readable() {
        let many: Vec<String> =
            (0..40).flat_map(|n| [format!("lib/p{n}"), format!("app/m/{}", n % 3)]).collect();
        let weights: Vec<(&str, usize)> = many.iter().map(|name| (name.as_str(), 1)).collect();
        assert_eq!(names(&weights), ["app/m/0", "app/m/1", "app/m/2", "lib"]);
    }

    #[test]
    fn a_file_belongs_to_the_longest_folder() {
        let shown = BTreeSet::from(["a".to_owned(), "a/b".to_owned()]);
        assert_eq!(find(&shown, "a/b/c"), "a/b");
        assert_eq!(find(&shown, "a/bc"), "a");
        assert_eq!(find(&shown, "x"), "");
        assert_eq!((of("x/y/z.rs"), of("z.rs")), ("x/y", ""));
    }
}
