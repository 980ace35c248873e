//! A transformer that is loaded: texts in, unit vectors out.
//!
//! Always: a text's vector does not depend on the texts beside it, beyond rounding. A panic below
//! becomes an error. Real models are tested by `tests/it/embed.rs` when it is told to.

use std::panic::{AssertUnwindSafe, catch_unwind};

use ::fastembed::{
    InitOptionsUserDefined, Pooling, QuantizationMode, TextEmbedding, TextInitOptions,
};
use ort::environment::Environment;

use super::super::{digest, normalise};
use super::{folder, named, runtime};
use crate::config::{self, FastembedConfig};
use crate::error::{Error, Result};

/// Texts a batch at most, whatever is configured: memory grows with it.
const BATCH_MAX: usize = 1_024;

/// One loaded model.
pub(in super::super) struct Transformer {
    session: TextEmbedding,
    name: String,
    dim: usize,
    batch: usize,
    query_prefix: String,
    passage_prefix: String,
}

/// What a source of models says of one, before it has embedded anything.
struct Loaded {
    session: TextEmbedding,
    /// The identity without the settings.
    name: String,
    one_by_one: bool,
    /// What the model itself asks to stand before questions and passages.
    prefixes: (&'static str, &'static str),
}

impl Transformer {
    /// Loads the configured model; a named one is fetched on its first use.
    ///
    /// # Errors
    /// Usage: no such model, or not one source. Environment: no library, files or network.
    pub(in super::super) fn open(config: &FastembedConfig) -> Result<Self> {
        let loaded = match (&config.model, &config.folder) {
            (Some(name), None) => by_name(config, name)?,
            (None, Some(_)) => by_folder(config)?,
            (None, None) => return Err(source_error("neither")),
            (Some(_), Some(_)) => return Err(source_error("both")),
        };
        // Settings of one's own count; a model that is known by name also knows what it asks for.
        let own = !(config.query_prefix.is_empty() && config.passage_prefix.is_empty());
        let (query, passage) = if own {
            (config.query_prefix.as_str(), config.passage_prefix.as_str())
        } else {
            loaded.prefixes
        };
        let tokens = config.tokens_max.to_string();
        let mut transformer = Self {
            session: loaded.session,
            name: format!("{}+{}", loaded.name, digest(&[passage, &tokens])),
            dim: 0,
            batch: if loaded.one_by_one { 1 } else { config.batch.clamp(1, BATCH_MAX) },
            query_prefix: query.to_owned(),
            passage_prefix: passage.to_owned(),
        };
        transformer.dim = transformer.run(&["dimension"])?.first().map_or(0, Vec::len);
        if transformer.dim == 0 {
            return Err(Error::environment(format!("model `{}` gives no vector", loaded.name)));
        }
        Ok(transformer)
    }

    /// The model's identity.
    pub(in super::super) fn name(&self) -> &str {
        &self.name
    }

    /// Dimensions of a vector.
    pub(in super::super) fn dim(&self) -> usize {
        self.dim
    }

    /// What stands before questions, and what before passages.
    pub(in super::super) fn prefixes(&self) -> (&str, &str) {
        (&self.query_prefix, &self.passage_prefix)
    }

    /// One vector a text, in order.
    ///
    /// # Errors
    /// Environment: the engine failed.
    pub(in super::super) fn embed(&mut self, texts: &[String]) -> Result<Vec<Vec<f32>>> {
        let mut vectors = vec![Vec::new(); texts.len()];
        // A batch is as wide as its longest text: like lengths together leave little to pad.
        let mut order: Vec<usize> = (0..texts.len()).collect();
        order.sort_by_key(|&at| texts[at].len());
        for batch in order.chunks(self.batch) {
            let input: Vec<&str> = batch.iter().map(|&at| texts[at].as_str()).collect();
            for (&at, vector) in batch.iter().zip(self.run(&input)?) {
                vectors[at] = vector;
            }
        }
        Ok(vectors)
    }

    /// Embeds one batch.
    fn run(&mut self, batch: &[&str]) -> Result<Vec<Vec<f32>>> {
        let session = &mut self.session;
        let mut vectors = guarded("embedding", || session.embed(batch, Some(batch.len())))?;
        let fits = |vector: &Vec<f32>| self.dim == 0 || vector.len() == self.dim;
        if vectors.len() != batch.len() || !vectors.iter().all(fits) {
            let what = format!("model `{}` gave vectors of another number or length", self.name);
            return Err(Error::environment(what).hint("is it a text embedding model?"));
        }
        for vector in &mut vectors {
            normalise(vector);
            if !vector.iter().all(|value| value.is_finite()) {
                let what = format!("model `{}` gave values that are not finite", self.name);
                return Err(Error::environment(what).hint("check the model's files"));
            }
        }
        Ok(vectors)
    }
}

fn source_error(which: &str) -> Error {
    Error::usage(format!(
        "{which} of `embedder.fastembed.model` and `embedder.fastembed.folder` is set"
    ))
    .hint("set one of them: a model's name, or a folder with `model.onnx` and its tokenizer files")
}

fn by_name(config: &FastembedConfig, name: &str) -> Result<Loaded> {
    let info = named::find(name)?;
    let cache = named::cache()?;
    let environment = environment(config)?;
    let own_name = named::own_name(&info);
    tracing::info!(model = %info.model_code, cache = %cache.display(), "loading a model by name");
    let options = TextInitOptions::new(info.model.clone())
        .with_environment(environment)
        .with_cache_dir(cache)
        .with_max_length(config.tokens_max)
        .with_show_download_progress(false);
    let session =
        guarded("loading a model", || TextEmbedding::try_new(options)).map_err(|error| {
            Error::environment(format!("model `{own_name}` cannot be loaded")).because(error).hint(
                "its first use needs the network; without one, name a local copy in \
                 `embedder.fastembed.folder`",
            )
        })?;
    let quantisation = TextEmbedding::get_quantization_mode(&info.model);
    Ok(Loaded {
        session,
        name: format!("fastembed:{own_name}"),
        one_by_one: quantisation == QuantizationMode::Dynamic,
        prefixes: named::prefixes(&info),
    })
}

fn by_folder(config: &FastembedConfig) -> Result<Loaded> {
    let path = config.folder.as_deref().expect("the caller saw that a folder is set");
    let folder = folder::read(path)?;
    let environment = environment(config)?;
    let (pooling, pooling_name) = match config.pooling {
        config::Pooling::Mean => (Pooling::Mean, "mean"),
        config::Pooling::Cls => (Pooling::Cls, "cls"),
    };
    let model = folder.model.with_pooling(pooling).with_quantization(QuantizationMode::None);
    let options = InitOptionsUserDefined::new()
        .with_environment(environment)
        .with_max_length(config.tokens_max);
    let session =
        guarded("loading a model", || TextEmbedding::try_new_from_user_defined(model, options))
            .map_err(|error| {
                Error::environment(format!("the model in `{}` cannot be loaded", path.display()))
                    .because(error)
                    .hint(
                        "the ONNX file and the tokenizer files must be of one text embedding model",
                    )
            })?;
    Ok(Loaded {
        session,
        name: format!("onnx:{}:{}:{pooling_name}", folder.name, folder.hash),
        one_by_one: folder.one_by_one,
        prefixes: ("", ""),
    })
}

fn environment(config: &FastembedConfig) -> Result<Environment> {
    runtime::environment(config.onnx_runtime.as_deref())
}

/// Runs foreign code: its errors are told as the environment's, and so are its panics.
fn guarded<T>(what: &str, work: impl FnOnce() -> Result<T, ::fastembed::Error>) -> Result<T> {
    match catch_unwind(AssertUnwindSafe(work)) {
        Ok(Ok(value)) => Ok(value),
        Ok(Err(error)) => {
            Err(Error::environment(format!("the transformer engine failed at {what}"))
                .because(error))
        }
        Err(_) => Err(Error::environment(format!("the transformer engine broke down at {what}"))
            .hint("set `embedder.kind: static`, and report this with the model's name")),
    }
}
