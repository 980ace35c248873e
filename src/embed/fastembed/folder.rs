//! Here is a folder: which model lies in it? An ONNX file and four tokenizer files, as bytes.

use std::path::{Path, PathBuf};

use ::fastembed::{TokenizerFiles, UserDefinedEmbeddingModel};

use crate::error::{Error, Result};

const TOKENIZER_FILES: [&str; 4] =
    ["tokenizer.json", "config.json", "special_tokens_map.json", "tokenizer_config.json"];

/// How a large model's file with weights is named after its ONNX file.
const WEIGHTS_SUFFIXES: [&str; 2] = ["_data", ".data"];

/// How the operations are named that make a vector depend on the other texts of its batch.
const DYNAMIC_QUANTISATION: &[u8] = b"DynamicQuantize";

/// A model that was read.
pub(super) struct Folder {
    pub(super) model: UserDefinedEmbeddingModel,
    /// The folder's own name.
    pub(super) name: String,
    /// The content's hash: it changes with any byte of the model.
    pub(super) hash: String,
    /// Whether texts must be embedded one by one to get the same vector each time.
    pub(super) one_by_one: bool,
}

/// Reads the model of a folder: `model.onnx`, or the only ONNX file there.
///
/// # Errors
/// Environment, naming each file that is missing.
pub(super) fn read(folder: &Path) -> Result<Folder> {
    let onnx = onnx_file(folder)?;
    let missing: Vec<_> =
        TOKENIZER_FILES.iter().filter(|name| !folder.join(name).is_file()).collect();
    if !missing.is_empty() {
        let missing: Vec<_> = missing.iter().map(|name| format!("`{name}`")).collect();
        let what = format!("model folder `{}` lacks {}", folder.display(), missing.join(", "));
        return Err(Error::environment(what).hint("copy them from the model's own repository"));
    }
    let mut hasher = blake3::Hasher::new();
    let mut take = |path: &Path| -> Result<Vec<u8>> {
        let bytes = std::fs::read(path).map_err(|error| {
            Error::environment(format!("cannot read `{}`", path.display())).because(error)
        })?;
        hasher.update(&(bytes.len() as u64).to_le_bytes());
        hasher.update(&bytes);
        Ok(bytes)
    };
    let onnx_bytes = take(&onnx)?;
    let one_by_one = memchr::memmem::find(&onnx_bytes, DYNAMIC_QUANTISATION).is_some();
    let files = TokenizerFiles {
        tokenizer_file: take(&folder.join(TOKENIZER_FILES[0]))?,
        config_file: take(&folder.join(TOKENIZER_FILES[1]))?,
        special_tokens_map_file: take(&folder.join(TOKENIZER_FILES[2]))?,
        tokenizer_config_file: take(&folder.join(TOKENIZER_FILES[3]))?,
    };
    let mut model = UserDefinedEmbeddingModel::new(onnx_bytes, files);
    for (name, path) in weights_files(&onnx) {
        model = model.with_external_initializer(name, take(&path)?);
    }
    let hash = hasher.finalize().to_hex()[..16].to_owned();
    let name = std::path::absolute(folder)
        .ok()
        .and_then(|path| path.file_name().map(|name| name.to_string_lossy().into_owned()))
        .unwrap_or_else(|| "model".to_owned());
    Ok(Folder { model, name, hash, one_by_one })
}

fn onnx_file(folder: &Path) -> Result<PathBuf> {
    let cannot = |what: String| {
        Error::environment(format!("model folder `{}` {what}", folder.display()))
            .hint("set `embedder.fastembed.folder` to a folder with `model.onnx` in it")
    };
    let entries = std::fs::read_dir(folder)
        .map_err(|error| cannot("cannot be read".into()).because(error))?;
    let mut found: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| path.extension().is_some_and(|extension| extension == "onnx"))
        .collect();
    found.sort();
    let model = folder.join("model.onnx");
    match found.as_slice() {
        _ if found.contains(&model) => Ok(model),
        [only] => Ok(only.clone()),
        [] => Err(cannot("holds no ONNX file".into())),
        several => Err(cannot(format!(
            "holds {} ONNX files and none is named `model.onnx`",
            several.len()
        ))),
    }
}

/// Files beside the ONNX file that hold its weights, and the names it knows them by.
fn weights_files(onnx: &Path) -> Vec<(String, PathBuf)> {
    let Some(name) = onnx.file_name().and_then(|name| name.to_str()) else {
        return Vec::new();
    };
    WEIGHTS_SUFFIXES
        .iter()
        .map(|suffix| format!("{name}{suffix}"))
        .map(|name| (name.clone(), onnx.with_file_name(name)))
        .filter(|(_, path)| path.is_file())
        .collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn folder(files: &[(&str, &str)]) -> tempfile::TempDir {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            std::fs::write(folder.path().join(name), text).unwrap();
        }
        folder
    }

    fn whole<'a>(more: &[(&'a str, &'a str)]) -> Vec<(&'a str, &'a str)> {
        TOKENIZER_FILES.iter().map(|name| (*name, "{}")).chain(more.iter().copied()).collect()
    }

    fn failure(folder: &Path) -> String {
        read(folder).err().expect("the folder is not whole").to_string()
    }

    #[test]
    fn the_onnx_file_is_model_or_the_only_one() {
        let only = folder(&whole(&[("minilm.onnx", "a")]));
        assert_eq!(read(only.path()).unwrap().model.onnx_file, b"a");
        let two = folder(&whole(&[("a.onnx", "a"), ("model.onnx", "m")]));
        assert_eq!(read(two.path()).unwrap().model.onnx_file, b"m");
        let unclear = folder(&whole(&[("a.onnx", "a"), ("b.onnx", "b")]));
        assert!(failure(unclear.path()).contains("holds 2 ONNX files"));
    }

    #[test]
    fn what_is_missing_is_named() {
        let some = folder(&[("model.onnx", ""), ("config.json", "{}")]);
        let text = failure(some.path());
        assert!(text.contains("`tokenizer.json`, `special_tokens_map.json`"), "{text}");
        assert!(text.contains("`tokenizer_config.json`") && !text.contains("`config.json`"));
        assert!(failure(folder(&whole(&[])).path()).contains("holds no ONNX file"));
        assert!(failure(&some.path().join("nowhere")).contains("cannot be read"));
    }

    #[test]
    fn the_hash_is_of_the_content() {
        let one = read(folder(&whole(&[("model.onnx", "m")])).path()).unwrap();
        let same = read(folder(&whole(&[("other.onnx", "m")])).path()).unwrap();
        let other = read(folder(&whole(&[("model.onnx", "n")])).path()).unwrap();
        let weights = whole(&[("model.onnx", "m"), ("model.onnx_data", "w")]);
        let with_weights = read(folder(&weights).path()).unwrap();
        assert_eq!(one.hash, same.hash);
        assert_ne!(one.hash, other.hash);
        assert_ne!(one.hash, with_weights.hash);
        assert_eq!(with_weights.model.external_initializers[0].file_name, "model.onnx_data");
    }

    #[test]
    fn dynamic_quantisation_is_recognised() {
        let plain = read(folder(&whole(&[("model.onnx", "MatMul")])).path()).unwrap();
        let dynamic = whole(&[("model.onnx", "..DynamicQuantizeLinear..")]);
        assert!(!plain.one_by_one);
        assert!(read(folder(&dynamic).path()).unwrap().one_by_one);
    }
}
