//! Everything that can be asked of SAI: the table of contents.
//!
//! Queries and replies live in their rooms and are re-exported here, so that a door needs this
//! module and [`Handle`](crate::worker::Handle) alone.

use tokio::sync::oneshot;

use crate::error::Result;
use crate::turn::Turn;

pub use crate::duplicates::{
    Baseline, CLUSTERS_MAX, Cluster, ClusterOrder, CopyKind, CopyVerdict, Differences,
    DuplicatesQuery, DuplicatesReply, FailOn, Failing, Gate, GateReport, Gone, KnownCluster,
    KnownCopy, LeftOut, Member, Omission, Settings, Side, Totals,
};
pub use crate::retrieval::{
    Explanation, Freshness, Hit, LIMIT_MAX, SearchQuery, SearchReply, Searched, Signal,
    SimilarQuery, SimilarReply, Subject,
};
pub use crate::sync::{
    IndexQuery, IndexReply, PATHS_MAX, Phase, Progress, ProgressFn, RefreshQuery, RefreshReply,
    Refreshed, SyncQuery,
};
pub use crate::worker::doctor::{Check, DoctorReply, Verdict};
pub use crate::worker::status::{
    FlushReply, IndexState, LanguageCount, SkippedCount, StaleFiles, StatusQuery, StatusReply,
};

/// A question with the way back for its answer.
#[derive(Debug)]
pub struct Ask<Q, R> {
    /// What is asked.
    pub query: Q,
    /// How long it may take, and whether anybody still waits.
    pub turn: Turn,
    /// Where the answer goes.
    pub reply: oneshot::Sender<Result<R>>,
}

/// One variant a question.
#[derive(Debug)]
pub enum Request {
    /// Which chunks answer this question?
    Search(Ask<SearchQuery, SearchReply>),
    /// Which chunks are like this code?
    Similar(Ask<SimilarQuery, SimilarReply>),
    /// Which code repeats?
    Duplicates(Ask<DuplicatesQuery, DuplicatesReply>),
    /// What is in the index, and how fresh is it?
    Status(Ask<StatusQuery, StatusReply>),
    /// Make the index equal to the tree.
    Index(Ask<IndexQuery, IndexReply>),
    /// Make the index equal to the tree at named paths.
    Refresh(Ask<RefreshQuery, RefreshReply>),
    /// Make the index equal to the tree where it changed.
    Sync(Ask<SyncQuery, RefreshReply>),
    /// Could SAI work here?
    Doctor(Ask<(), DoctorReply>),
    /// Remove the index.
    Flush(Ask<(), FlushReply>),
}
