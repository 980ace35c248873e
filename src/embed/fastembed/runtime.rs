//! Where is ONNX Runtime? Loads the library once a process, and never panics when it is not there.
//!
//! Loading a library runs its code. The path is therefore taken from the user's own settings, from
//! `ORT_DYLIB_PATH` or from the system, and must never come from the indexed repository's
//! configuration: `config` refuses it there. A library that would report its use is not loaded.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::sync::{Mutex, PoisonError};

use ort::environment::Environment;

use super::{QUIET, is_talkative};
use crate::error::{Error, Result};

/// ONNX Runtime is global to the process: the first library that loads stays.
enum Runtime {
    Unloaded,
    Loaded(Environment),
    /// A panic came out of the library or its binding. Its locks may be held, so it is not tried
    /// again.
    Broken,
}

static RUNTIME: Mutex<Runtime> = Mutex::new(Runtime::Unloaded);

/// The process's one ONNX Runtime environment.
///
/// # Errors
/// Environment: there is no library, or not one that fits, or it would report its use.
pub(super) fn environment(configured: Option<&Path>) -> Result<Environment> {
    if is_talkative() {
        let (name, value) = QUIET;
        let what = format!("ONNX Runtime reports its use to its maker where `{name}` is not set");
        return Err(Error::environment(what)
            .hint(format!("start `sai` with `{name}={value}` in its environment")));
    }
    let mut runtime = RUNTIME.lock().unwrap_or_else(PoisonError::into_inner);
    match &*runtime {
        Runtime::Loaded(environment) => return Ok(environment.clone()),
        Runtime::Broken => return Err(broken("was not tried again after it broke down")),
        Runtime::Unloaded => {}
    }
    let path = library(configured);
    // Fewer panics than one hopes for are promised by what lies below: an old library has some.
    match catch_unwind(AssertUnwindSafe(|| load(&path))) {
        Ok(Ok(environment)) => {
            tracing::debug!(path = %path.display(), "ONNX Runtime is loaded");
            *runtime = Runtime::Loaded(environment.clone());
            Ok(environment)
        }
        Ok(Err(error)) => Err(error),
        Err(_) => {
            *runtime = Runtime::Broken;
            Err(broken("broke down while it was loaded"))
        }
    }
}

fn load(path: &Path) -> Result<Environment> {
    let failed = |error: Box<dyn std::error::Error + Send + Sync>| {
        Error::environment("ONNX Runtime cannot be loaded").because(error).hint(way_out())
    };
    let builder = ort::init_from(path).map_err(|error| failed(error.to_string().into()))?;
    builder.with_telemetry(false).build().map_err(|error| failed(error.to_string().into()))
}

/// The library's path, or its bare name for the system's loader to find.
fn library(configured: Option<&Path>) -> PathBuf {
    let named = std::env::var_os("ORT_DYLIB_PATH").filter(|path| !path.is_empty());
    configured.map(Path::to_owned).or(named.map(PathBuf::from)).unwrap_or_else(|| {
        let (prefix, suffix) = (std::env::consts::DLL_PREFIX, std::env::consts::DLL_SUFFIX);
        format!("{prefix}onnxruntime{suffix}").into()
    })
}

fn broken(what: &str) -> Error {
    Error::environment(format!("ONNX Runtime {what}")).hint(way_out())
}

fn way_out() -> String {
    format!(
        "run `pip install onnxruntime` and set `embedder.fastembed.onnx_runtime` or \
         ORT_DYLIB_PATH to the library in its folder `onnxruntime/capi` (1.{} or newer), or set \
         `embedder.kind: static`",
        ort::MINOR_VERSION
    )
}
