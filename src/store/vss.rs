//! Where is DuckDB's vss extension, which HNSW indexes need? Looked for on this machine, never fetched.
//!
//! An extension is code. It is loaded only from a path that the user's own configuration names (one
//! found in the repository may not: `config` refuses it) or from the user's own folders, and only
//! when DuckDB finds its signature valid.

use std::env;
use std::path::{Path, PathBuf};

use super::connect;
use super::explain::first_line;
use crate::error::{Error, Result};

/// DuckDB takes the name of the function that it calls from the file's name.
const FILE_NAME: &str = "vss.duckdb_extension";

/// What DuckDB asks for, and where else it could be.
const HINT: &str = "get it with `mcp-setup/setup.sh`, or name the file by `search.vss_extension`";

/// The extension's file: `configured`, else the copy in SAI's data folder, else DuckDB's own.
///
/// # Errors
/// Environment, naming where it was looked for.
pub fn find_vss(configured: Option<&Path>) -> Result<PathBuf> {
    if let Some(file) = configured {
        return if file.is_file() {
            Ok(file.to_owned())
        } else {
            let named = file.display();
            Err(Error::environment(format!("no vss extension at `{named}`"))
                .hint("correct or remove `search.vss_extension`"))
        };
    }
    let places: Vec<PathBuf> = [own_copy(), duckdb_copy()?].into_iter().flatten().collect();
    places.iter().find(|file| file.is_file()).cloned().ok_or_else(|| {
        let looked: Vec<String> =
            places.iter().map(|file| format!("`{}`", file.display())).collect();
        Error::environment(format!("no vss extension at {}", looked.join(" or "))).hint(HINT)
    })
}

/// Loads the extension at `file` once, to see whether it can be used.
///
/// # Errors
/// Environment: it is damaged, unsigned, or made for another DuckDB.
pub fn check_vss(file: &Path) -> Result<()> {
    let connection = connect::bare().map_err(|error| unusable(file, &error))?;
    connect::load_vss(&connection, file)
}

/// The failure to load the extension at `file`.
pub(super) fn unusable(file: &Path, error: &duckdb::Error) -> Error {
    Error::environment(format!("the vss extension `{}` cannot be loaded", file.display()))
        .because(first_line(error))
        .hint(HINT)
}

/// The copy that the set-up script fetches. The script is a shell script, so its folder is the same
/// on every system that has one.
fn own_copy() -> Option<PathBuf> {
    let named = env::var_os("XDG_DATA_HOME").map(PathBuf::from).filter(|path| path.is_absolute());
    let data = named.or_else(|| Some(env::home_dir()?.join(".local/share")))?;
    Some(data.join("sai/extensions").join(FILE_NAME))
}

/// Where DuckDB's own `INSTALL vss` puts it, by version and platform.
fn duckdb_copy() -> Result<Option<PathBuf>> {
    let Some(home) = env::home_dir() else { return Ok(None) };
    let ask = || {
        let connection = connect::bare()?;
        let version: String =
            connection
                .query_row("SELECT library_version FROM pragma_version()", [], |row| row.get(0))?;
        let platform: String =
            connection.query_row("SELECT platform FROM pragma_platform()", [], |row| row.get(0))?;
        Ok((version, platform))
    };
    let (version, platform) = ask().map_err(|error: duckdb::Error| {
        Error::environment("DuckDB does not say its version").because(first_line(&error))
    })?;
    let folder = home.join(".duckdb/extensions").join(version).join(platform);
    Ok(Some(folder.join(FILE_NAME)))
}
