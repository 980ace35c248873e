//! Here is a model's name: which of fastembed's models is it, and how does it want to be asked?

use std::path::PathBuf;

use ::fastembed::{EmbeddingModel, ModelInfo, QuantizationMode, TextEmbedding};

use crate::error::{Error, Result};

/// Names that an unknown one is answered with.
const NEAR_MAX: usize = 4;

/// Finds a model by fastembed's own name (`BGESmallENV15`) or by its code on the hub
/// (`Xenova/bge-small-en-v1.5`), in any case. Of several with one code, the one that is not
/// quantised.
///
/// # Errors
/// Usage, with the nearest names.
pub(super) fn find(name: &str) -> Result<ModelInfo<EmbeddingModel>> {
    let mut models = TextEmbedding::list_supported_models();
    // The list comes in a different order each time.
    models.sort_by_key(|info| {
        let quantised = TextEmbedding::get_quantization_mode(&info.model) != QuantizationMode::None;
        (quantised, own_name(info))
    });
    let known = models.iter().position(|info| {
        own_name(info).eq_ignore_ascii_case(name) || info.model_code.eq_ignore_ascii_case(name)
    });
    match known {
        Some(at) => Ok(models.swap_remove(at)),
        None => Err(Error::usage(format!("fastembed knows no model `{name}`"))
            .hint(format!("near ones are {}", nearest(name, &models)))),
    }
}

/// The name that is stored in an index.
pub(super) fn own_name(info: &ModelInfo<EmbeddingModel>) -> String {
    info.model.to_string()
}

fn nearest(name: &str, models: &[ModelInfo<EmbeddingModel>]) -> String {
    let name = name.to_lowercase();
    let likeness = |info: &ModelInfo<EmbeddingModel>| {
        let code = info.model_code.to_lowercase();
        let bare = code.rsplit('/').next().unwrap_or_default();
        let asked = name.rsplit('/').next().unwrap_or_default();
        strsim::jaro_winkler(&name, &own_name(info).to_lowercase())
            .max(strsim::jaro_winkler(asked, bare))
    };
    let mut ranked: Vec<_> = models.iter().map(|info| (likeness(info), info)).collect();
    ranked.sort_by(|(a, _), (b, _)| b.total_cmp(a));
    let near: Vec<String> = (ranked.iter().take(NEAR_MAX))
        .map(|(_, info)| format!("`{}` ({})", own_name(info), info.model_code))
        .collect();
    near.join(", ")
}

/// What a family of models asks to stand before questions and passages, by a part of its code.
const PREFIXES: [(&str, &str, &str); 9] = [
    ("nomic-embed-text", "search_query: ", "search_document: "),
    ("modernbert-embed", "search_query: ", "search_document: "),
    ("multilingual-e5", "query: ", "passage: "),
    ("embeddinggemma", "task: code retrieval | query: ", "title: none | text: "),
    ("bge-small-en", SENTENCE, ""),
    ("bge-base-en", SENTENCE, ""),
    ("bge-large-en", SENTENCE, ""),
    ("mxbai-embed-large", SENTENCE, ""),
    ("snowflake-arctic-embed", SENTENCE, ""),
];
const SENTENCE: &str = "Represent this sentence for searching relevant passages: ";

/// What the model asks to stand before questions and before passages.
pub(super) fn prefixes(info: &ModelInfo<EmbeddingModel>) -> (&'static str, &'static str) {
    let code = info.model_code.to_lowercase();
    let family = PREFIXES.iter().find(|(part, _, _)| code.contains(part));
    family.map_or(("", ""), |(_, query, passage)| (query, passage))
}

/// Where fetched models are kept; the variable `HF_HOME` overrules it.
///
/// # Errors
/// Environment: the user has no cache folder.
pub(super) fn cache() -> Result<PathBuf> {
    let caches = dirs::cache_dir().ok_or_else(|| {
        Error::environment("there is no cache folder to keep models in")
            .hint("set HOME, or name a local model in `embedder.fastembed.folder`")
    })?;
    Ok(caches.join("sai").join("models"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn models_are_found_by_either_name() {
        for name in ["BGESmallENV15", "bgesmallenv15", "xenova/bge-small-en-v1.5"] {
            assert_eq!(find(name).unwrap().model, EmbeddingModel::BGESmallENV15, "{name}");
        }
        let shared = find("nomic-ai/nomic-embed-text-v1.5").unwrap();
        assert_eq!(shared.model, EmbeddingModel::NomicEmbedTextV15, "the one not quantised");
    }

    #[test]
    fn an_unknown_name_lists_near_ones() {
        let error = find("BAAI/bge-small-en-v15").expect_err("not a code on the list");
        assert_eq!(error.kind(), crate::error::ErrorKind::Usage);
        let hint = error.next_step().expect("near names").to_owned();
        assert!(hint.contains("`BGESmallENV15` (Xenova/bge-small-en-v1.5)"), "{hint}");
        assert!(find("").is_err());
    }

    #[test]
    fn models_are_asked_as_they_want() {
        let asked = |name| prefixes(&find(name).unwrap());
        assert_eq!(asked("NomicEmbedTextV15"), ("search_query: ", "search_document: "));
        assert_eq!(asked("BGESmallENV15Q").0, SENTENCE);
        assert_eq!(asked("JinaEmbeddingsV2BaseCode"), ("", ""));
        for (part, _, _) in PREFIXES {
            let models = TextEmbedding::list_supported_models();
            let known = models.iter().any(|info| info.model_code.to_lowercase().contains(part));
            assert!(known, "no model is named like `{part}`");
        }
    }
}
