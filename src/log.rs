//! Tracing to stderr; stdout belongs to results.

use tracing_subscriber::EnvFilter;

/// Starts logging to stderr at `level` (`SAI_LOG` overrides it). A second call does nothing.
pub fn start(level: &str) {
    let filter = EnvFilter::try_from_env("SAI_LOG").unwrap_or_else(|_| EnvFilter::new(level));
    let _ = tracing_subscriber::fmt()
        .with_env_filter(filter)
        .with_writer(std::io::stderr)
        .with_ansi(false)
        .try_init();
}
