//! Here are texts: which vectors stand for them? The only door to models and HTTP.

use crate::config::EmbedderConfig;
use crate::error::Result;

/// A piece of a file, as a model sees it.
#[derive(Clone, Copy, Debug)]
pub struct Passage<'a> {
    /// The file's path, relative, with `/`. Empty for a bare snippet.
    pub path: &'a str,
    /// What the code alone does not say: enclosing types, signature, imports (may be empty).
    pub context: &'a str,
    /// The code.
    pub code: &'a str,
}

/// One model, ready to embed. Vectors are unit length, or all zero when no word is known.
pub struct Embedder {}

impl Embedder {
    /// Loads the configured model.
    ///
    /// # Errors
    /// Environment, with the way out: a missing library, model folder or endpoint.
    pub fn open(_config: &EmbedderConfig) -> Result<Self> {
        unimplemented!()
    }

    /// The model's identity, stored in the index: name and version, for example `sai-code-v1`.
    pub fn model(&self) -> &str {
        unimplemented!()
    }

    /// Dimensions of a vector.
    pub fn dim(&self) -> usize {
        unimplemented!()
    }

    /// The vector of a question.
    pub fn query(&mut self, _text: &str) -> Result<Vec<f32>> {
        unimplemented!()
    }

    /// One vector a passage, in order. Uses all cores that rayon has.
    pub fn passages(&mut self, _passages: &[Passage<'_>]) -> Result<Vec<Vec<f32>>> {
        unimplemented!()
    }
}

/// A unit vector as int8: `round(127 × x / max|x|)`; cosines are computed on these.
pub fn quantise(_vector: &[f32]) -> Vec<i8> {
    unimplemented!()
}
