//! How far is the indexing job? A bar on stderr, when a terminal is there to show it.

use std::io::{self, IsTerminal};
use std::sync::Arc;
use std::time::Duration;

use indicatif::{ProgressBar, ProgressDrawTarget, ProgressStyle};

use super::print;
use crate::request::{Phase, Progress, ProgressFn};

/// A bar; hidden when stderr is no terminal.
pub(super) struct Bar {
    bar: ProgressBar,
}

impl Bar {
    /// Shows a bar, unless `hidden`.
    pub(super) fn start(hidden: bool) -> Self {
        let hidden = hidden || !io::stderr().is_terminal();
        let target =
            if hidden { ProgressDrawTarget::hidden() } else { ProgressDrawTarget::stderr() };
        let bar = ProgressBar::with_draw_target(None, target);
        bar.set_style(spinner());
        if !hidden {
            bar.enable_steady_tick(Duration::from_millis(100));
        }
        Self { bar }
    }

    /// What an indexing job tells its progress to.
    pub(super) fn listener(&self) -> ProgressFn {
        let bar = self.bar.clone();
        Arc::new(move |progress| update(&bar, progress))
    }

    /// Shows what is waited for, when it has no known end.
    pub(super) fn say(&self, message: &'static str) {
        self.bar.set_message(message);
    }

    /// Takes the bar away.
    pub(super) fn clear(&self) {
        self.bar.finish_and_clear();
    }
}

fn update(bar: &ProgressBar, progress: Progress) {
    let total = progress.total as u64;
    if progress.phase == Phase::Indexing && total > 0 {
        if bar.length() != Some(total) {
            // The rate counts from the first file, not from the start of the walk.
            bar.reset_elapsed();
            bar.set_length(total);
            bar.set_style(files());
        }
        bar.set_position(progress.done as u64);
        bar.set_message(rate(progress.chunks, bar.elapsed()));
    } else {
        bar.set_style(spinner());
        bar.unset_length();
        bar.set_message(phase_text(progress.phase));
    }
}

/// A style without a known end.
fn spinner() -> ProgressStyle {
    ProgressStyle::with_template("{spinner} {msg}").expect("a constant template")
}

fn files() -> ProgressStyle {
    ProgressStyle::with_template("{spinner} indexing {bar:24} {pos}/{len} files  {msg}")
        .expect("a constant template")
}

fn phase_text(phase: Phase) -> &'static str {
    match phase {
        Phase::Waiting => "waiting for the lock of the index",
        Phase::Walking => "listing files",
        Phase::Indexing => "indexing",
        Phase::Connecting => "building the HNSW index",
        Phase::Publishing => "publishing",
    }
}

fn rate(chunks: usize, elapsed: Duration) -> String {
    let seconds = elapsed.as_secs_f64();
    if seconds < 0.1 {
        return print::count(chunks, "chunk");
    }
    let per_second = (chunks as f64 / seconds) as u64;
    format!("{}, {}/s", print::count(chunks, "chunk"), print::number(per_second))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_bar_follows_the_phases() {
        let bar = ProgressBar::hidden();
        let progress = |phase, done, total| Progress { phase, done, total, chunks: 1500 };
        update(&bar, progress(Phase::Walking, 0, 0));
        assert_eq!((bar.message().as_str(), bar.length()), ("listing files", None));
        update(&bar, progress(Phase::Indexing, 40, 120));
        assert_eq!((bar.position(), bar.length()), (40, Some(120)));
        assert!(bar.message().starts_with("1,500 chunks"), "{}", bar.message());
        update(&bar, progress(Phase::Publishing, 120, 120));
        assert_eq!((bar.message().as_str(), bar.length()), ("publishing", None));
    }

    #[test]
    fn the_rate_waits_for_a_measurable_time() {
        assert_eq!(rate(10, Duration::from_millis(1)), "10 chunks");
        assert_eq!(rate(10_000, Duration::from_secs(2)), "10,000 chunks, 5,000/s");
    }
}
