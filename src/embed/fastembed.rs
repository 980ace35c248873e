//! Which vectors does a transformer give? fastembed on ONNX Runtime, where it is compiled in.
//!
//! This file alone asks whether the feature `fastembed` is on; without it, opening a transformer
//! says how to build with it. ONNX Runtime itself is a library that is loaded at run time.

#[cfg(feature = "fastembed")]
mod engine;
#[cfg(feature = "fastembed")]
mod folder;
#[cfg(feature = "fastembed")]
mod named;
#[cfg(feature = "fastembed")]
mod runtime;

#[cfg(feature = "fastembed")]
pub(super) use engine::Transformer;

/// What the process must be started with: ONNX Runtime otherwise reports its use to its maker as
/// soon as it is loaded, before any of its functions can forbid it.
pub(super) const QUIET: (&str, &str) = ("ORT_DISABLE_TELEMETRY", "1");

/// Whether [`QUIET`] is missing. Another value than ours is the user's own decision.
pub(super) fn is_talkative() -> bool {
    std::env::var_os(QUIET.0).is_none_or(|value| value.is_empty())
}

/// A transformer that cannot exist: this binary is built without the engine.
#[cfg(not(feature = "fastembed"))]
pub(super) enum Transformer {}

#[cfg(not(feature = "fastembed"))]
impl Transformer {
    pub(super) fn open(_: &crate::config::FastembedConfig) -> crate::error::Result<Self> {
        Err(crate::error::Error::environment("this `sai` is built without transformer models")
            .hint(
                "build it with `cargo build --release --features fastembed`, or set \
             `embedder.kind: static`",
            ))
    }

    pub(super) fn name(&self) -> &str {
        match *self {}
    }

    pub(super) fn dim(&self) -> usize {
        match *self {}
    }

    pub(super) fn prefixes(&self) -> (&str, &str) {
        match *self {}
    }

    pub(super) fn embed(&mut self, _: &[String]) -> crate::error::Result<Vec<Vec<f32>>> {
        match *self {}
    }
}
