//! What does a name alone say? Secrets, lock files, binaries, data, folders of tools and of builds.

use super::SkipReason;
use crate::types::{Language, RelPath};

/// Folders of tools and of installed packages: never entered, even when git tracks them.
const PRUNED: &[&str] = &[
    ".git",
    ".hg",
    ".svn",
    ".jj",
    ".bzr",
    "_darcs",
    "CVS",
    "node_modules",
    "bower_components",
    "jspm_packages",
    "__pycache__",
    ".venv",
    ".tox",
    ".nox",
    ".eggs",
    ".mypy_cache",
    ".pytest_cache",
    ".ruff_cache",
    ".ipynb_checkpoints",
    ".gradle",
    ".next",
    ".nuxt",
    ".svelte-kit",
    ".parcel-cache",
    ".turbo",
    ".terraform",
    ".direnv",
    ".sass-cache",
    ".bundle",
    ".dart_tool",
    ".stack-work",
    ".zig-cache",
    "zig-cache",
    ".pnpm-store",
];

/// Folders that hold keys.
const SECRET_FOLDERS: &[&str] = &[".ssh", ".gnupg", ".aws", ".azure"];

/// Folders whose name is that of build results, but which a project may also use for its source.
pub(super) const BUILD_FOLDERS: &[&str] =
    &["target", "dist", "build", "out", "venv", "_build", "zig-out", "dist-newstyle"];

/// Files that stand beside a folder of build results.
pub(super) const MANIFESTS: &[&str] = &[
    "Cargo.toml",
    "pom.xml",
    "build.gradle",
    "build.gradle.kts",
    "build.sbt",
    "package.json",
    "setup.py",
    "pyproject.toml",
    "CMakeLists.txt",
    "meson.build",
    "mix.exs",
    "build.zig",
    "rebar.config",
    "dune-project",
    "pubspec.yaml",
    "Package.swift",
];

/// Files that stand inside a folder of build results.
pub(super) const MARKERS: &[&str] = &["CACHEDIR.TAG", "pyvenv.cfg", "CMakeCache.txt"];

const LOCK_FILES: &[&str] = &[
    "package-lock.json",
    "npm-shrinkwrap.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "bun.lock",
    "bun.lockb",
    "deno.lock",
    "cargo.lock",
    "composer.lock",
    "gemfile.lock",
    "poetry.lock",
    "pipfile.lock",
    "uv.lock",
    "pdm.lock",
    "pixi.lock",
    "conda-lock.yml",
    "go.sum",
    "go.work.sum",
    "flake.lock",
    "mix.lock",
    "rebar.lock",
    "pubspec.lock",
    "podfile.lock",
    "package.resolved",
    "cartfile.resolved",
    "packages.lock.json",
    "paket.lock",
    "gradle.lockfile",
    "buildscript-gradle.lockfile",
    "stack.yaml.lock",
    "cabal.project.freeze",
    "chart.lock",
    "renv.lock",
    "conan.lock",
    ".terraform.lock.hcl",
    "module.bazel.lock",
    "shard.lock",
];

const MINIFIED_ENDS: &[&str] = &[
    ".min.js", ".min.mjs", ".min.cjs", ".min.css", ".js.map", ".mjs.map", ".cjs.map", ".ts.map",
    ".css.map",
];

const DATA: &[&str] =
    &["csv", "tsv", "psv", "jsonl", "ndjson", "geojson", "topojson", "svg", "log"];

const BINARY: &[&str] = &[
    // Images and drawings.
    "png",
    "jpg",
    "jpeg",
    "gif",
    "bmp",
    "ico",
    "icns",
    "webp",
    "avif",
    "heic",
    "heif",
    "tif",
    "tiff",
    "psd",
    "xcf",
    "sketch",
    "dds",
    "ktx",
    "exr",
    // Fonts, sound, film, three dimensions.
    "ttf",
    "otf",
    "ttc",
    "woff",
    "woff2",
    "eot",
    "mp3",
    "wav",
    "ogg",
    "oga",
    "flac",
    "m4a",
    "aac",
    "mid",
    "mp4",
    "m4v",
    "mov",
    "avi",
    "mkv",
    "webm",
    "wmv",
    "mpg",
    "mpeg",
    "blend",
    "fbx",
    "glb",
    // Archives and packages.
    "zip",
    "tar",
    "gz",
    "tgz",
    "bz2",
    "tbz2",
    "xz",
    "txz",
    "zst",
    "lz4",
    "br",
    "7z",
    "rar",
    "jar",
    "war",
    "ear",
    "aar",
    "whl",
    "egg",
    "gem",
    "nupkg",
    "vsix",
    "crx",
    "apk",
    "ipa",
    "dmg",
    "iso",
    "img",
    "deb",
    "rpm",
    "msi",
    "cab",
    // Programs and what compilers leave.
    "exe",
    "dll",
    "so",
    "dylib",
    "a",
    "o",
    "obj",
    "lib",
    "pdb",
    "class",
    "dex",
    "pyc",
    "pyo",
    "pyd",
    "wasm",
    "rlib",
    "rmeta",
    "beam",
    "elc",
    "hi",
    "nib",
    "pch",
    "gch",
    // Documents of offices.
    "pdf",
    "doc",
    "docx",
    "xls",
    "xlsx",
    "ppt",
    "pptx",
    "odt",
    "ods",
    "odp",
    "rtf",
    "epub",
    // Data and models.
    "db",
    "sqlite",
    "sqlite3",
    "duckdb",
    "mdb",
    "parquet",
    "arrow",
    "feather",
    "avro",
    "npy",
    "npz",
    "pkl",
    "pickle",
    "joblib",
    "h5",
    "hdf5",
    "rds",
    "rdata",
    "onnx",
    "pth",
    "ckpt",
    "safetensors",
    "gguf",
    "ggml",
    "tflite",
    "mlmodel",
    "bin",
    "swp",
    // Keys and certificates in binary form.
    "der",
    "cer",
    "crt",
];

const SECRET_ENDS: &[&str] = &[
    "pem", "key", "p12", "pfx", "pkcs12", "p8", "keystore", "jks", "bks", "kdbx", "kdb", "ppk",
    "gpg", "pgp", "ovpn", "tfstate", "env",
];

const SECRET_FILES: &[&str] = &[
    ".npmrc",
    ".yarnrc",
    ".pypirc",
    ".netrc",
    "_netrc",
    ".htpasswd",
    "htpasswd",
    ".pgpass",
    ".my.cnf",
    ".dockercfg",
    ".git-credentials",
    ".s3cfg",
    ".boto",
    ".vault-token",
    ".terraformrc",
    "terraform.rc",
    "known_hosts",
    "authorized_keys",
    "terraform.tfstate.backup",
    "gha-creds.json",
    "firebase-adminsdk.json",
    "kubeconfig",
];

const SECRET_STARTS: &[&str] = &[".env", "id_rsa", "id_dsa", "id_ecdsa", "id_ed25519"];

/// First words of a name that holds secrets when the rest of it is that of a data file.
const SECRET_WORDS: &[&str] = &["credential", "credentials", "secret", "secrets"];

const SECRET_PAIRS: &[&str] =
    &["client_secret", "client-secret", "service-account", "service_account", "serviceaccount"];

/// Why a folder of this name is never entered.
pub(super) fn folder(name: &str) -> Option<SkipReason> {
    if SECRET_FOLDERS.contains(&name) {
        return Some(SkipReason::Secret);
    }
    PRUNED.contains(&name).then_some(SkipReason::Pruned)
}

/// Whether a file's name says that it holds secrets. Nothing overrules this.
pub(super) fn is_secret(path: &RelPath) -> bool {
    let name = path.file_name().to_ascii_lowercase();
    SECRET_FILES.contains(&name.as_str())
        || SECRET_STARTS.iter().any(|start| name.starts_with(start))
        || SECRET_ENDS.contains(&extension(&name))
        || (speaks_of_secrets(&name) && holds_data(path))
}

fn speaks_of_secrets(name: &str) -> bool {
    let first = name.split(|c: char| !c.is_ascii_alphanumeric()).find(|word| !word.is_empty());
    first.is_some_and(|word| SECRET_WORDS.contains(&word))
        || SECRET_PAIRS.iter().any(|pair| name.starts_with(pair))
}

/// Whether the file is one that programs read values from, rather than code or prose.
fn holds_data(path: &RelPath) -> bool {
    use Language::{Ini, Json, Other, Text, Toml, Xml, Yaml};
    matches!(Language::of(path, ""), Ini | Json | Other | Text | Toml | Xml | Yaml)
}

/// Why a file of this name is not worth indexing. A `!` line in `.saiignore` overrules all but
/// [`SkipReason::Binary`].
pub(super) fn file(path: &RelPath) -> Option<SkipReason> {
    let name = path.file_name().to_ascii_lowercase();
    let extension = extension(&name);
    if BINARY.contains(&extension) {
        Some(SkipReason::Binary)
    } else if LOCK_FILES.contains(&name.as_str()) {
        Some(SkipReason::LockFile)
    } else if MINIFIED_ENDS.iter().any(|end| name.ends_with(end)) {
        Some(SkipReason::Minified)
    } else {
        DATA.contains(&extension).then_some(SkipReason::Data)
    }
}

/// What follows the last dot; empty without one. The dot of a hidden name starts an extension too,
/// so that `.pem` is one.
fn extension(name: &str) -> &str {
    name.rsplit_once('.').map_or("", |(_, extension)| extension)
}
