//! Clusters for tests: only what a test is about has a value of its own.

use std::ops::RangeInclusive;
use std::path::Path;

use super::report::{Cluster, CopyKind, Differences, Member};
use crate::retrieval::Freshness;
use crate::types::{ChunkKind, Place, RelPath};

/// A member at some lines, whose tokens have `hash`.
pub(super) fn member(path: &str, symbol: &str, hash: &str, lines: RangeInclusive<u32>) -> Member {
    Member {
        path: RelPath::new(Path::new(path)).unwrap(),
        start_line: *lines.start(),
        end_line: *lines.end(),
        symbol: (!symbol.is_empty()).then(|| symbol.to_owned()),
        kind: ChunkKind::Function,
        place: Place::Source,
        similarity: 1.0,
        cosine: None,
        hash: hash.to_owned(),
        is_touched: false,
        freshness: Freshness::Unchanged,
        side: None,
    }
}

/// A cluster of the product's code whose medoid has `hash`.
pub(super) fn cluster(hash: &str, members: Vec<Member>) -> Cluster {
    Cluster {
        id: format!("{hash}-{}", members.len()),
        kind: CopyKind::Exact,
        size: members.len(),
        min_similarity: 1.0,
        max_similarity: 1.0,
        medoid: 0,
        tokens: 60,
        lines: 10,
        payoff: 1.0,
        discounts: Vec::new(),
        place: Place::Source,
        differs: Differences::default(),
        omission: None,
        reason: None,
        is_touched: false,
        is_new: None,
        members,
    }
}
