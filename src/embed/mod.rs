//! Here are texts: which vectors stand for them? The only door to models and HTTP.
//!
//! In: questions and [`Passage`]s. Out: unit vectors, and their cosines ([`Matrix`]). Always: one
//! model an [`Embedder`], one dimension a model, and an identity that changes with everything that
//! changes a passage's vector. The built-in model needs no network, no library and no file.

mod fastembed;
mod http;
mod neighbours;
mod scan;
mod static_model;

use crate::config::{EmbedderConfig, EmbedderKind};
use crate::error::Result;

pub use neighbours::{Neighbour, neighbours};
pub use scan::{Matrix, cosine, dot, quantise};

use self::fastembed::Transformer;
use self::http::Endpoint;
use self::static_model::StaticModel;

/// A piece of a file, as a model sees it.
#[derive(Clone, Copy, Debug)]
pub struct Passage<'a> {
    /// The file's path, relative, with `/`. Empty for a bare snippet.
    pub path: &'a str,
    /// The names that the code defines and the type that they belong to, separated by spaces (may be
    /// empty).
    pub names: &'a str,
    /// What the code alone does not say: enclosing types, signature, imports (may be empty).
    pub context: &'a str,
    /// The code.
    pub code: &'a str,
}

/// Names of one chunk that a model is told; a chunk with more is a table.
const NAMES_MAX: usize = 8;

/// The names of a passage: what it defines, and the type that it belongs to.
pub fn passage_names(defines: &[String], parents: &[String]) -> String {
    let names = defines.iter().take(NAMES_MAX).chain(parents.last());
    names.map(String::as_str).collect::<Vec<_>>().join(" ")
}

/// A passage's vector as an index keeps it.
#[derive(Clone, Copy, Debug)]
pub struct StoredVector<'a> {
    /// The passage's path; empty for a bare snippet.
    pub path: &'a str,
    /// The passage's names ([`passage_names`]).
    pub names: &'a str,
    /// Quantised, of the model's dimension.
    pub values: &'a [i8],
}

/// One model, ready to embed. Vectors are unit length, or all zero when no word is known.
pub struct Embedder {
    engine: Engine,
    model: String,
    dim: usize,
}

enum Engine {
    Static(StaticModel),
    Text(TextEngine),
}

/// An engine that takes whole texts, with the prefixes that its model asks for.
struct TextEngine {
    query_prefix: String,
    passage_prefix: String,
    source: TextSource,
}

enum TextSource {
    Transformer(Box<Transformer>),
    Endpoint(Box<Endpoint>),
}

impl Embedder {
    /// Loads the configured model. An endpoint is asked once, for its dimension.
    ///
    /// # Errors
    /// Environment, with the way out: a missing library, model folder or endpoint. Usage: an unknown
    /// model name, or a URL that is none.
    pub fn open(config: &EmbedderConfig) -> Result<Self> {
        match config.kind {
            EmbedderKind::Static => {
                let model = StaticModel::built_in().cut(config.dimensions);
                Ok(Self {
                    engine: Engine::Static(model),
                    model: static_model::NAME.to_owned(),
                    dim: model.dim(),
                })
            }
            EmbedderKind::Fastembed => {
                let transformer = Transformer::open(&config.fastembed)?;
                let (query, passage) = transformer.prefixes();
                let (query, passage) = (query.to_owned(), passage.to_owned());
                let (model, dim) = (transformer.name().to_owned(), transformer.dim());
                let source = TextSource::Transformer(Box::new(transformer));
                Ok(Self { engine: Engine::text(source, query, passage), model, dim })
            }
            EmbedderKind::Http => {
                let endpoint = Endpoint::open(&config.http)?;
                let (model, dim) = (endpoint.name(&config.http), endpoint.dim());
                let source = TextSource::Endpoint(Box::new(endpoint));
                let (query, passage) = (&config.http.query_prefix, &config.http.passage_prefix);
                let engine = Engine::text(source, query.clone(), passage.clone());
                Ok(Self { engine, model, dim })
            }
        }
    }

    /// The model's identity, stored in the index: name and version, for example `sai-code-v2`.
    ///
    /// Two models with one identity give the same passages the same vectors.
    pub fn model(&self) -> &str {
        &self.model
    }

    /// Dimensions of a vector.
    pub fn dim(&self) -> usize {
        self.dim
    }

    /// The vector of a question. `weigh` says how much each of its words (lower case) counts, 1 by
    /// rights; only the built-in model can weigh words.
    ///
    /// # Errors
    /// Environment: the engine failed. The built-in model never does.
    pub fn query(&mut self, text: &str, weigh: impl Fn(&str) -> f32) -> Result<Vec<f32>> {
        match &mut self.engine {
            Engine::Static(model) => Ok(model.query(text, weigh)),
            Engine::Text(engine) => {
                let text = format!("{}{text}", engine.query_prefix);
                Ok(engine.embed(&[text])?.swap_remove(0))
            }
        }
    }

    /// One vector a passage, in order. Uses all cores that rayon has.
    ///
    /// The built-in model is quickest when a file's passages follow each other.
    ///
    /// # Errors
    /// Environment: the engine failed. The built-in model never does.
    pub fn passages(&mut self, passages: &[Passage<'_>]) -> Result<Vec<Vec<f32>>> {
        match &mut self.engine {
            Engine::Static(model) => Ok(model.passages(passages)),
            Engine::Text(engine) => {
                let prefix = &engine.passage_prefix;
                let texts: Vec<String> =
                    passages.iter().map(|passage| passage_text(prefix, passage)).collect();
                engine.embed(&texts)
            }
        }
    }
}

impl Embedder {
    /// What stored vectors say of their code alone, one row a passage, in order: code is compared
    /// with code, wherever it lies. The built-in model's shares for the path and the names are taken
    /// out again, a row is zero where the code has no word; other models read all as one text, so
    /// their vectors stay as they are. Quickest when a file's passages follow each other.
    ///
    /// # Panics
    /// When a vector is not of the model's dimension.
    pub fn code_matrix(&self, stored: &[StoredVector<'_>]) -> Matrix {
        let rows = match &self.engine {
            Engine::Static(model) => model.code_rows(stored),
            Engine::Text(_) => stored.iter().flat_map(|stored| stored.values).copied().collect(),
        };
        Matrix::new(self.dim, rows)
    }
}

impl Engine {
    fn text(source: TextSource, query_prefix: String, passage_prefix: String) -> Self {
        Self::Text(TextEngine { query_prefix, passage_prefix, source })
    }
}

impl TextEngine {
    /// One vector a text, in order, all of the model's dimension.
    fn embed(&mut self, texts: &[String]) -> Result<Vec<Vec<f32>>> {
        match &mut self.source {
            TextSource::Transformer(transformer) => transformer.embed(texts),
            TextSource::Endpoint(endpoint) => endpoint.embed(texts),
        }
    }
}

/// The variable, and its value, that the process lacks for the configured engine. It is read when a
/// library is loaded and a running process cannot set it safely: a door starts itself again with it.
pub fn variable_needed(config: &EmbedderConfig) -> Option<(&'static str, &'static str)> {
    let needed = config.kind == EmbedderKind::Fastembed && fastembed::is_talkative();
    needed.then_some(fastembed::QUIET)
}

/// What a transformer reads: path and context come first, since what follows may be cut off.
fn passage_text(prefix: &str, passage: &Passage<'_>) -> String {
    let mut text = prefix.to_owned();
    for line in [passage.path, passage.context] {
        if !line.is_empty() {
            text.push_str(line);
            text.push('\n');
        }
    }
    text.push_str(passage.code);
    text
}

/// Makes a unit vector; a zero vector stays zero.
fn normalise(vector: &mut [f32]) {
    let norm = norm(vector);
    if norm > 0.0 {
        for value in vector {
            *value /= norm;
        }
    }
}

/// The Euclidean norm, in eight sums side by side so that the compiler can use vector registers.
fn norm(vector: &[f32]) -> f32 {
    let (blocks, rest) = vector.as_chunks::<8>();
    let mut sums = [0f32; 8];
    for block in blocks {
        for (sum, value) in sums.iter_mut().zip(block) {
            *sum += value * value;
        }
    }
    let rest: f32 = rest.iter().map(|value| value * value).sum();
    (sums.iter().sum::<f32>() + rest).sqrt()
}

/// Eight hexadecimal digits that stand for settings in a model's identity.
fn digest(parts: &[&str]) -> String {
    let mut hasher = blake3::Hasher::new();
    for part in parts {
        hasher.update(&(part.len() as u64).to_le_bytes());
        hasher.update(part.as_bytes());
    }
    hasher.finalize().to_hex()[..8].to_owned()
}
