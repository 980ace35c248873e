//! The configuration as a file: where is it, what does it say, and where may the index lie?

use std::fs::{self, File};
use std::io::{ErrorKind, Read, Write};
use std::path::{Path, PathBuf};

use super::{Config, DEFAULT_YAML, FILE_NAME};
use crate::error::{Error, Result};

/// A larger file is no configuration.
const BYTES_MAX: u64 = 256 << 10;

/// The commented default configuration, as `sai init` writes it.
pub fn init_text() -> &'static str {
    DEFAULT_YAML
}

/// Writes the default configuration into `root` and says where.
///
/// # Errors
/// Usage when there is one already, which is left as it is; Environment when it cannot be written.
pub fn write_default(root: &Path) -> Result<PathBuf> {
    let path = root.join(FILE_NAME);
    let mut file = File::create_new(&path).map_err(|e| match e.kind() {
        ErrorKind::AlreadyExists => Error::usage(format!("`{}` exists already", path.display()))
            .hint("edit it, or remove it first to begin with the defaults"),
        _ => Error::environment(format!("cannot create `{}`", path.display())).because(e),
    })?;
    file.write_all(DEFAULT_YAML.as_bytes())
        .and_then(|()| file.sync_all())
        .map_err(|e| Error::environment(format!("cannot write `{}`", path.display())).because(e))?;
    Ok(path)
}

/// The file to read: the one that was named, else the one in the root if there is one.
///
/// # Errors
/// Usage when the named file does not exist, or when what lies in the root leads out of it.
pub(super) fn find(root: &Path, named: Option<&Path>) -> Result<Option<PathBuf>> {
    let Some(named) = named else { return in_root(root) };
    let under_root = root.join(named);
    if named.exists() {
        Ok(Some(named.to_path_buf()))
    } else if under_root.exists() {
        Ok(Some(under_root))
    } else {
        Err(Error::usage(format!("the configuration `{}` does not exist", named.display()))
            .hint("name another one, or write the defaults with `sai init`"))
    }
}

fn in_root(root: &Path) -> Result<Option<PathBuf>> {
    let path = root.join(FILE_NAME);
    let Ok(metadata) = fs::symlink_metadata(&path) else { return Ok(None) };
    let inside = || fs::canonicalize(&path).is_ok_and(|target| target.starts_with(root));
    if metadata.is_symlink() && !inside() {
        let message = format!("`{}` is a link that leads out of the repository", path.display());
        return Err(
            Error::usage(message).hint("if you trust it, name it yourself: `--config sai-cfg.yml`")
        );
    }
    Ok(Some(path))
}

/// The text of a configuration file.
///
/// # Errors
/// Usage when it is no regular file, too large, or not UTF-8; Environment when it cannot be read.
pub(super) fn text(path: &Path) -> Result<String> {
    let shown = path.display();
    let unreadable = |e| Error::environment(format!("cannot read `{shown}`")).because(e);
    // A pipe is told apart before it is opened, since opening one may wait for ever.
    if !fs::metadata(path).map_err(unreadable)?.is_file() {
        return Err(Error::usage(format!("`{shown}` is not a file"))
            .hint("`--config` takes the path of a YAML file"));
    }
    let mut bytes = Vec::new();
    let file = File::open(path).map_err(unreadable)?;
    file.take(BYTES_MAX + 1).read_to_end(&mut bytes).map_err(unreadable)?;
    if bytes.len() as u64 > BYTES_MAX {
        let message = format!("`{shown}` is larger than {} KiB", BYTES_MAX >> 10);
        return Err(Error::usage(message).hint("this is no configuration of SAI"));
    }
    String::from_utf8(bytes).map_err(|e| {
        let start = e.utf8_error().valid_up_to();
        let line = 1 + memchr::memchr_iter(b'\n', &e.as_bytes()[..start]).count();
        Error::usage(format!("`{shown}` line {line}: the text is not UTF-8"))
            .hint("save the file as UTF-8")
    })
}

/// Refuses an index folder that is the root or holds it, and one that a link leads out of the root
/// unless the user set it (`own`).
///
/// # Errors
/// Usage, naming the folder.
pub(super) fn check_index_dir(config: &Config, own: bool) -> Result<()> {
    let path = config.index_path();
    let folder = path.ancestors().find_map(|existing| {
        let rest = path.strip_prefix(existing).ok()?;
        Some(fs::canonicalize(existing).ok()?.join(rest))
    });
    let Some(folder) = folder else { return Ok(()) };
    let shown = config.index_dir.display();
    if config.root.starts_with(&folder) {
        return Err(Error::usage(format!("`index_dir` is `{shown}`, which holds the root itself"))
            .hint("name a folder that holds nothing else, such as `.index`"));
    }
    if !own && !folder.starts_with(&config.root) {
        return Err(Error::usage(format!(
            "the index folder `{shown}` is a link that leads out of the repository"
        ))
        .hint("remove the link, or set `index_dir` yourself by a flag or with `--config`"));
    }
    Ok(())
}
