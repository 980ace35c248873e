//! Here is an index file: open it in a DuckDB of its own, within the memory allowed.
//!
//! Every open file has its own in-memory DuckDB instance that the file is attached to, so a damaged
//! file can take down nothing but its reader.

use std::path::Path;

use duckdb::{Config, Connection};

use super::explain::duck;
use super::vss::unusable;
use crate::error::{Error, Result};

/// The name that the attached file has in SQL.
const ATTACHED: &str = "idx";
/// Rows stored together: small enough that threads share a scan and that deleted rows soon leave
/// whole groups empty, large enough to compress.
const ROW_GROUP_ROWS: u32 = 16_384;
/// DuckDB needs some memory to work at all.
const MEMORY_MIB_MIN: usize = 32;
/// A reader streams; without a bound DuckDB would keep most of the file in memory beside what was
/// made of it.
const READ_MEMORY_MIB_MAX: usize = 64;
/// DuckDB works on the thread that asks: its own threads would wait by spinning, and whoever reads or
/// writes much has company for the other cores.
const THREADS: usize = 1;

/// How a file is opened.
#[derive(Clone, Copy)]
pub(super) enum Access<'a> {
    /// A published file: never written, never locked.
    Read,
    /// A private file, which is thrown away after a crash: no write-ahead log. `spill` is the
    /// folder for what exceeds the memory.
    Write { spill: &'a Path },
}

/// Opens the file at `path`, which is made when it is written and not there.
pub(super) fn open(path: &Path, access: Access<'_>, memory_mib: usize) -> Result<Connection> {
    let memory_mib = match access {
        Access::Read => memory_mib.min(READ_MEMORY_MIB_MAX),
        Access::Write { .. } => memory_mib,
    };
    let connection = instance(THREADS, memory_mib).map_err(|error| duck(path, &error))?;
    confine(&connection, path, access)?;
    Ok(connection)
}

/// Opens a file that holds an HNSW index, or will, with the extension at `vss` that such an index
/// needs.
pub(super) fn open_hnsw(
    path: &Path,
    access: Access<'_>,
    vss: &Path,
    threads: usize,
    memory_mib: usize,
) -> Result<Connection> {
    let connection = instance(threads, memory_mib).map_err(|error| duck(path, &error))?;
    load_vss(&connection, vss)?;
    confine(&connection, path, access)?;
    Ok(connection)
}

/// A DuckDB without a file.
pub(super) fn bare() -> duckdb::Result<Connection> {
    instance(1, MEMORY_MIB_MIN)
}

/// Loads the extension at `file`. DuckDB checks its signature.
pub(super) fn load_vss(connection: &Connection, file: &Path) -> Result<()> {
    // The private file that the index is built in is thrown away after a crash, and a published one
    // is never written: what is experimental about the persistence cannot happen. Rows looked up
    // after the index was asked would cost as much again as asking it.
    let sql = format!(
        "LOAD {}; SET hnsw_enable_experimental_persistence = true; \
         SET late_materialization_max_rows = 0",
        quoted(file)?
    );
    connection.execute_batch(&sql).map_err(|error| unusable(file, &error))
}

/// Attaches the file at `path`, and leaves nothing else within reach from here on.
fn confine(connection: &Connection, path: &Path, access: Access<'_>) -> Result<()> {
    if let Access::Write { spill } = access {
        prepare_writing(connection, spill)?;
    }
    attach(connection, path, ATTACHED, access)?;
    let settled =
        connection.execute_batch(&format!("USE {ATTACHED}; SET enable_external_access = false"));
    settled.map_err(|error| duck(path, &error))
}

/// One more connection to what `connection` has open, for another thread.
pub(super) fn another(connection: &Connection) -> duckdb::Result<Connection> {
    let another = connection.try_clone()?;
    another.execute_batch(&format!("USE {ATTACHED}"))?;
    Ok(another)
}

/// Writes what is alive in the file at `from` to a new file at `to`, without the space between.
pub(super) fn copy_alive(from: &Path, to: &Path, spill: &Path, memory_mib: usize) -> Result<()> {
    let connection = instance(THREADS, memory_mib).map_err(|error| duck(to, &error))?;
    prepare_writing(&connection, spill)?;
    attach(&connection, from, "old", Access::Read)?;
    attach(&connection, to, "new", Access::Write { spill })?;
    let copy = || {
        connection.execute_batch(&format!("USE new; {SCHEMA}"))?;
        for table in TABLES {
            connection.execute_batch(&format!("INSERT INTO new.{table} FROM old.{table}"))?;
        }
        connection.execute_batch("CHECKPOINT new; DETACH old")
    };
    copy().map_err(|error| duck(to, &error))
}

/// The statements that make the tables.
pub(super) const SCHEMA: &str = include_str!("schema.sql");
/// The tables that [`SCHEMA`] makes.
const TABLES: [&str; 7] = ["meta", "file", "chunk", "vector", "word", "blob", "skipped"];

fn instance(threads: usize, memory_mib: usize) -> duckdb::Result<Connection> {
    let config = Config::default()
        .with("autoinstall_known_extensions", "false")?
        .with("autoload_known_extensions", "false")?
        // A reader never spills: it may have no folder to write to.
        .with("temp_directory", "")?
        .max_memory(&format!("{}MiB", memory_mib.max(MEMORY_MIB_MIN)))?
        .threads(threads as i64)?;
    Connection::open_in_memory_with_flags(config)
}

/// Lets an instance that writes spill to `spill`. FSST, one of DuckDB's ways to compress texts, is left
/// out: it would take half of a checkpoint's time, and save a twentieth of the file.
fn prepare_writing(connection: &Connection, spill: &Path) -> Result<()> {
    let spilled = quoted(spill)?;
    let sql = format!("SET temp_directory = {spilled}; SET disabled_compression_methods = 'fsst'");
    connection.execute_batch(&sql).map_err(|error| duck(spill, &error))
}

fn attach(connection: &Connection, path: &Path, name: &str, access: Access<'_>) -> Result<()> {
    let options = match access {
        Access::Read => "READ_ONLY".to_owned(),
        Access::Write { .. } => {
            format!("RECOVERY_MODE 'NO_WAL_WRITES', ROW_GROUP_SIZE {ROW_GROUP_ROWS}")
        }
    };
    let sql = format!("ATTACH {} AS {name} (TYPE duckdb, {options})", quoted(path)?);
    connection.execute_batch(&sql).map_err(|error| duck(path, &error))
}

/// The path as an SQL text; absolute, for DuckDB reads `scheme:` at the start of a relative one.
fn quoted(path: &Path) -> Result<String> {
    let absolute = std::path::absolute(path).ok();
    match absolute.as_deref().unwrap_or(path).to_str() {
        Some(text) => Ok(format!("'{}'", text.replace('\'', "''"))),
        None => Err(Error::environment(format!("the path `{}` is not UTF-8", path.display()))
            .hint("set `index_dir` to a folder with a plain name")),
    }
}
