//! Should an HNSW index go with what is about to be published, and does one have to be built?

use std::path::PathBuf;
use std::thread;

use super::Phase;
use super::run::Reporter;
use crate::config::Config;
use crate::error::{ErrorKind, Result};
use crate::store::{Reader, Writer, check_vss, find_vss};
use crate::turn::Turn;

/// Whether a generation that equals the tree still lacks the HNSW index that is wanted, and one can
/// be built.
pub(super) fn is_lacking(config: &Config, reader: &Reader) -> Result<bool> {
    let wanted = config.search.wants_hnsw(reader.totals()?.chunks);
    Ok(wanted && reader.hnsw_is_due()? && extension(config).and_then(|f| check_vss(&f)).is_ok())
}

/// Builds the index when one is wanted and due, drops it when none is wanted. One that cannot be
/// built is no failure of the run: the vectors are searched exactly, and `sai status` says why.
pub(super) fn settle(
    config: &Config,
    writer: &mut Writer,
    report: &Reporter,
    turn: &Turn,
) -> Result<()> {
    if !config.search.wants_hnsw(writer.reader().totals()?.chunks) {
        writer.drop_hnsw();
        return Ok(());
    }
    if !writer.hnsw_is_due()? {
        return Ok(());
    }
    let Ok(vss) = extension(config) else { return Ok(()) };
    report.phase(Phase::Connecting);
    let threads = match config.limits.threads {
        0 => thread::available_parallelism().map_or(1, usize::from),
        threads => threads,
    };
    match writer.build_hnsw(&vss, threads, &|| turn.check().is_err()) {
        Err(error) if error.kind() == ErrorKind::Stopped => turn.check().and(Err(error)),
        Err(error) => {
            tracing::warn!(%error, "no HNSW index was built; vectors are searched exactly");
            Ok(())
        }
        Ok(()) => Ok(()),
    }
}

fn extension(config: &Config) -> Result<PathBuf> {
    find_vss(config.vss_extension().as_deref())
}
