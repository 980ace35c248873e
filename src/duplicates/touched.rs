//! Here are clusters and the lines that a change added: which clusters does the change touch?
//!
//! All code is compared whatever changed, since a new copy is a copy of something old; only what is
//! shown is narrowed.

use std::collections::BTreeMap;
use std::path::Path;

use super::report::{Cluster, DuplicatesQuery};
use crate::error::Result;
use crate::git;
use crate::types::LineRange;

/// Added lines by path.
pub(super) type Added = BTreeMap<String, Vec<LineRange>>;

/// The lines of the change that `query` asks about; `None` when it asks about none.
///
/// # Errors
/// Those of [`git::added_lines`].
pub(super) fn added(root: &Path, query: &DuplicatesQuery) -> Result<Option<Added>> {
    if query.since.is_none() && !query.staged {
        return Ok(None);
    }
    git::added_lines(root, query.since.as_deref(), query.staged).map(Some)
}

/// Marks members in which added lines lie, and their clusters.
pub(super) fn mark(clusters: &mut [Cluster], added: &Added) {
    for cluster in clusters {
        for member in &mut cluster.members {
            let lines = LineRange { start: member.start_line, end: member.end_line };
            member.is_touched = lies_in(added, member.path.as_str(), lines);
        }
        cluster.is_touched = cluster.members.iter().any(|member| member.is_touched);
    }
}

/// Whether added lines lie among some lines of a file.
pub(super) fn lies_in(added: &Added, path: &str, lines: LineRange) -> bool {
    let of_file = added.get(path).into_iter().flatten();
    of_file.into_iter().any(|range| range.start <= lines.end && lines.start <= range.end)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::duplicates::sample::{cluster, member};

    #[test]
    fn a_cluster_is_touched_by_a_line_in_a_member_and_by_nothing_beside_it() {
        let first = member("a.rs", "f", "aa", 10..=20);
        let second = member("b.rs", "g", "aa", 1..=9);
        let mut clusters = [cluster("aa", vec![first, second])];
        let touched = |clusters: &mut [Cluster], path: &str, start, end| {
            mark(clusters, &Added::from([(path.to_owned(), vec![LineRange { start, end }])]));
            let members = clusters[0].members.iter().map(|member| member.is_touched);
            (clusters[0].is_touched, members.collect::<Vec<_>>())
        };
        let none = (false, vec![false, false]);
        assert_eq!(touched(&mut clusters, "a.rs", 20, 40), (true, vec![true, false]));
        assert_eq!(touched(&mut clusters, "a.rs", 1, 9), none);
        assert_eq!(touched(&mut clusters, "a.rs", 21, u32::MAX), none);
        assert_eq!(touched(&mut clusters, "b.rs", 9, 9), (true, vec![false, true]));
        assert_eq!(touched(&mut clusters, "c.rs", 1, 99), none);
    }
}
