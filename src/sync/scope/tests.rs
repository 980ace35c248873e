//! Names, globs and reasons, without a disk.

use super::globs::Globs;
use super::names;
use std::collections::BTreeSet;

use super::*;

fn rel(path: &str) -> RelPath {
    RelPath::new(Path::new(path)).unwrap()
}

#[test]
fn reasons_are_read_as_they_are_written() {
    for reason in SkipReason::ALL {
        assert_eq!(SkipReason::from_name(reason.name()).unwrap(), *reason);
        assert_eq!(serde_json::to_value(reason).unwrap(), reason.name());
        assert!(reason.describe().ends_with('.'), "{}", reason.describe());
    }
    let names: BTreeSet<_> = SkipReason::ALL.iter().map(|reason| reason.name()).collect();
    assert_eq!(names.len(), SkipReason::ALL.len());
    let error = SkipReason::from_name("binray").unwrap_err();
    assert!(error.next_step().unwrap().contains("did you mean `binary`"));
}

#[test]
fn secrets_are_known_by_name() {
    for name in [
        ".env",
        ".env.local",
        ".envrc",
        "prod.env",
        "server.pem",
        "SERVER.PEM",
        "tls.key",
        "id_rsa",
        "id_ed25519.pub",
        "a.p12",
        "a.pfx",
        "my.keystore",
        ".npmrc",
        ".pypirc",
        ".netrc",
        ".htpasswd",
        "credentials",
        "credentials.json",
        "Credentials.yaml",
        "secrets.yml",
        "secrets.prod.yaml",
        "secret.toml",
        "client_secret_12.json",
        "service-account.json",
        "a/b/.env",
        "terraform.tfstate",
    ] {
        assert!(names::is_secret(&rel(name)), "{name}");
    }
    for name in [
        "credentials.rs",
        "secrets.py",
        "secret_santa.go",
        "environment.ts",
        "key.rs",
        "keys.txt",
        "monkey.json",
        "credentials.md",
        "env.py",
        "secretary.json",
        "pem.rs",
    ] {
        assert!(!names::is_secret(&rel(name)), "{name}");
    }
}

#[test]
fn kinds_of_files_are_known_by_name() {
    use SkipReason::{Binary, Data, LockFile, Minified};
    for (name, expected) in [
        ("a.png", Some(Binary)),
        ("A.PNG", Some(Binary)),
        ("libx.so", Some(Binary)),
        ("Cargo.lock", Some(LockFile)),
        ("web/package-lock.json", Some(LockFile)),
        ("go.sum", Some(LockFile)),
        ("jquery.min.js", Some(Minified)),
        ("app.js.map", Some(Minified)),
        ("table.csv", Some(Data)),
        ("logo.svg", Some(Data)),
        ("main.rs", None),
        ("lock.rs", None),
        ("min.js", None),
        ("Makefile", None),
        ("png", None),
    ] {
        assert_eq!(names::file(&rel(name)), expected, "{name}");
    }
}

/// Whether `glob` matches `path` itself.
fn matches(glob: &str, path: &str) -> bool {
    Globs::new("files.include", &[glob.to_owned()]).unwrap().matches(path)
}

#[test]
fn globs_are_read_from_the_root_or_match_a_name_anywhere() {
    for (glob, path) in [
        ("*.rs", "a.rs"),
        ("*.rs", "a/b/c.rs"),
        ("src", "src"),
        ("src", "a/src"),
        ("src/", "a/src"),
        ("/src", "src"),
        ("./src", "src"),
        ("src/**", "src"),
        ("src/*.rs", "src/a.rs"),
        ("src/**/*.rs", "src/a.rs"),
        ("**/b/*.rs", "a/b/c.rs"),
        ("*.{rs,go}", "x/a.go"),
        ("**", "anything"),
        ("[ab].rs", "a.rs"),
    ] {
        assert!(matches(glob, path), "{glob} does not match {path}");
    }
    for (glob, path) in [
        ("*.rs", "a.rst"),
        ("/src", "a/src"),
        ("src/*.rs", "a/src/a.rs"),
        ("src/*.rs", "src/a/b.rs"),
        ("s?c", "s/c"),
        ("src/**", "a/src"),
    ] {
        assert!(!matches(glob, path), "{glob} matches {path}");
    }
}

#[test]
fn a_bad_glob_is_named_with_its_key() {
    for (glob, why) in [
        ("[a", "is not a glob"),
        ("{a", "is not a glob"),
        ("!a", "starts with `!`"),
        ("../a", "leads out of the root"),
        ("a/../../b", "leads out of the root"),
        ("", "matches nothing"),
        ("/", "matches nothing"),
    ] {
        let error = Globs::new("files.exclude", &[glob.to_owned()]).unwrap_err();
        let text = error.to_string();
        assert!(text.contains(why) && text.contains("files.exclude"), "{glob}: {text}");
        assert!(error.next_step().is_some(), "{glob}");
    }
}

#[test]
fn the_index_folder_is_known_relative_to_the_root() {
    let root = Path::new("/r/p");
    let found = |dir: &str| inside(root, Path::new(dir));
    assert_eq!(found(".index").as_deref(), Some(".index"));
    assert_eq!(found("./a//b").as_deref(), Some("a/b"));
    assert_eq!(found("a/../b").as_deref(), Some("b"));
    assert_eq!(found("/r/p/x").as_deref(), Some("x"));
    assert_eq!(found("/r/q"), None);
    assert_eq!(found("../q"), None);
}
