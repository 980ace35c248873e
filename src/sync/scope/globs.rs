//! The globs of `files.include` and `files.exclude`: does one match this path?

use globset::{Glob, GlobBuilder, GlobSet, GlobSetBuilder};

use crate::error::{Error, Result};

/// Globs, compiled. One without `/` matches a name at any depth, one with `/` is read from the
/// root. `*` and `?` never match a `/`. What they match may be a folder, which then stands for
/// everything in it; whoever asks goes from the root down.
#[derive(Debug)]
pub(super) struct Globs(GlobSet);

impl Globs {
    /// Compiles the globs at `key`.
    ///
    /// # Errors
    /// Usage, naming the key and the glob.
    pub(super) fn new(key: &str, globs: &[String]) -> Result<Self> {
        let mut set = GlobSetBuilder::new();
        for glob in globs {
            set.add(compiled(key, glob)?);
        }
        let set = set.build().map_err(|e| {
            Error::usage(format!("the globs of `{key}` are too large together")).because(e)
        })?;
        Ok(Self(set))
    }

    pub(super) fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// Whether one matches `path` itself, whatever folder it lies in.
    pub(super) fn matches(&self, path: &str) -> bool {
        self.0.is_match(path)
    }
}

fn compiled(key: &str, glob: &str) -> Result<Glob> {
    let bad = |why: &str| Error::usage(format!("the glob `{glob}` of `{key}` {why}"));
    if glob.starts_with('!') {
        return Err(bad("starts with `!`")
            .hint("write what is to be left out under `files.exclude`, without `!`"));
    }
    let anchored = glob.strip_prefix("./").or_else(|| glob.strip_prefix('/')).unwrap_or(glob);
    let inner = anchored.trim_end_matches('/');
    // `src/**` stands for everything in `src`, as `src` does.
    let inner = inner.strip_suffix("/**").unwrap_or(inner);
    if inner.is_empty() {
        return Err(bad("matches nothing").hint("name a file or folder, such as `src` or `*.rs`"));
    }
    if inner.split('/').any(|part| part == "..") {
        return Err(bad("leads out of the root").hint("globs are read from the root"));
    }
    let anywhere = !glob.trim_end_matches('/').contains('/') && inner != "**";
    let pattern = if anywhere { format!("**/{inner}") } else { inner.to_owned() };
    GlobBuilder::new(&pattern)
        .literal_separator(true)
        .backslash_escape(true)
        .build()
        .map_err(|e| bad("is not a glob").hint(format!("{}", e.kind())))
}
