//! Settings: what is in force, where it comes from, what is refused; and which folder is the root.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};

use sai::config::{self, Config, EmbedderKind, Loaded, Origin, Sources, find_root};
use sai::error::{Error, ErrorKind};
use tempfile::TempDir;

/// A folder with `text` as its `sai-cfg.yml`.
fn root_with(text: &str) -> (TempDir, PathBuf) {
    let dir = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(dir.path()).unwrap();
    fs::write(root.join(config::FILE_NAME), text).unwrap();
    (dir, root)
}

/// Loads `text` as a configuration that was found in the root.
fn found(text: &str) -> Result<Loaded, Error> {
    let (_dir, root) = root_with(text);
    Config::load(&Sources::new(root))
}

/// Loads `text` as a configuration that the user named.
fn named(text: &str) -> Result<Loaded, Error> {
    let (_dir, root) = root_with(text);
    let file = Some(root.join(config::FILE_NAME));
    Config::load(&Sources { file, ..Sources::new(root) })
}

/// Loads a flag over the defaults.
fn flag(key: &str, value: &str) -> Result<Loaded, Error> {
    let dir = tempfile::tempdir().unwrap();
    let overrides = vec![(key.to_owned(), value.to_owned())];
    let root = fs::canonicalize(dir.path()).unwrap();
    Config::load(&Sources { overrides, ..Sources::new(root) })
}

fn row<'a>(rows: &'a [(String, String, Origin)], key: &str) -> (&'a str, &'a Origin) {
    let found = rows.iter().find(|(known, ..)| known == key);
    let (_, value, origin) = found.unwrap_or_else(|| panic!("no row `{key}`"));
    (value, origin)
}

#[test]
fn without_a_file_the_defaults_are_in_force() {
    let dir = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(dir.path()).unwrap();
    let loaded = Config::load(&Sources::new(&root)).unwrap();
    assert_eq!(loaded.file, None);
    assert_eq!(loaded.config, Config::built_in(&root));
    assert_eq!(loaded.config.search.limit, 10);
    assert_eq!(loaded.config.index_path(), root.join(".index"));
    assert!(loaded.rows().iter().all(|(.., origin)| *origin == Origin::Default));
    assert_eq!(loaded.rows()[0], ("index_dir".into(), ".index".into(), Origin::Default));
    assert_eq!(row(&loaded.rows(), "files.include").0, "[]");
    assert_eq!(row(&loaded.rows(), "embedder.fastembed.model").0, "null");
}

#[test]
fn a_file_lies_over_the_defaults_and_a_flag_over_the_file() {
    let (_dir, root) =
        root_with("search:\n  limit: 7\n  mode: lexical\nfiles:\n  exclude: [a, b]\n");
    let path = root.join(config::FILE_NAME);
    let overrides = vec![("search.limit".to_owned(), "9".to_owned())];
    let loaded = Config::load(&Sources { overrides, ..Sources::new(&root) }).unwrap();
    assert_eq!(loaded.config.search.limit, 9);
    assert_eq!(loaded.config.search.mode, "lexical");
    assert_eq!(loaded.file.as_deref(), Some(path.as_path()));
    let rows = loaded.rows();
    assert_eq!(row(&rows, "search.limit"), ("9", &Origin::Flag));
    assert_eq!(row(&rows, "search.mode"), ("lexical", &Origin::File(path.clone())));
    assert_eq!(row(&rows, "files.exclude"), (r#"["a","b"]"#, &Origin::File(path)));
    assert_eq!(row(&rows, "limits.threads"), ("0", &Origin::Default));
    let again = named(&loaded.effective_yaml()).unwrap();
    assert_eq!(again.config.files, loaded.config.files);
    assert_eq!(again.config.search, loaded.config.search);
}

#[test]
fn a_file_without_content_sets_nothing() {
    let texts = ["", "\n", "# nothing\n", "---\n", "files:\n", "files:\n  include:\n", "\u{feff}"];
    for text in texts {
        let loaded = found(text).unwrap_or_else(|e| panic!("{text:?}: {e}"));
        let changed = loaded.origins.values().filter(|origin| **origin != Origin::Default);
        assert_eq!(changed.count(), 0, "{text:?}");
    }
}

#[test]
fn what_is_wrong_is_named_with_its_line_and_the_way_out() {
    let cases = [
        ("files:\n  hiden: true\n", "line 2: unknown key `files.hiden`", "`files.hidden`"),
        ("limit: 3\n", "line 1: unknown key `limit`", "`search.limit`"),
        ("zzzz: 1\n", "line 1: unknown key `zzzz`", "`sai config`"),
        ("search:\n  limit: many\n", "line 2: `search.limit` takes a whole number", ""),
        ("search:\n  limit: 1.5\n", "takes a whole number, not `1.5`", ""),
        ("search:\n  limit: -1\n", "takes a whole number, not `-1`", ""),
        ("search:\n  limit: 1e30\n", "takes a whole number", ""),
        ("search:\n  limit: 0\n", "line 2: `search.limit` is 0", "1 to 50"),
        ("search:\n  limit: 51\n", "line 2: `search.limit` is 51", "1 to 50"),
        ("search:\n  limit:\n", "line 2: `search.limit` takes a whole number, not nothing", ""),
        ("search:\n  limit: [1]\n", "`search.limit` takes a whole number, not a list", ""),
        ("search:\n  limit: {a: 1}\n", "takes a whole number, not a section", ""),
        ("files:\n  hidden: \"yes\"\n", "`files.hidden` takes true or false", ""),
        ("files: 3\n", "line 1: files is a section of keys", ""),
        ("- a\n- b\n", "a configuration is a section of keys", ""),
        ("files:\n  include: '*.rs'\n", "takes a list such as [a, b], not the text `*.rs`", ""),
        ("files:\n  include: [{a: 1}]\n", "line 2", ""),
        ("search:\n  mode: fuzzy\n", "line 2: unknown `search.mode` `fuzzy`", "hybrid, semantic"),
        ("search:\n  mode: lexcal\n", "unknown `search.mode`", "did you mean `lexical`"),
        (
            "files:\n  languages:\n    - rust\n    - pyhton\n",
            "line 4: unknown language",
            "`python`",
        ),
        ("search:\n  limit: 1\n  limit: 2\n", "line 3: `search.limit` stands here a second", ""),
        ("files: {}\nsearch: {}\nfiles: {}\n", "line 3: `files` stands here a second time", ""),
        ("files:\n\thidden: true\n", "line 2", ""),
        ("files: [\n", "line", ""),
        ("a: &x 1\nb: *y\n", "line", ""),
        ("files: !tag 1\n", "line 1", ""),
        ("index_dir: ''\n", "line 1: `index_dir` is ``, the root itself", "`.index`"),
        ("index_dir: .\n", "the root itself", "`.index`"),
        ("\"a\\u001b[31m\": 1\n", "unknown key `a\\u{1b}[31m`", ""),
        ("a: 1\n---\nb: 1\n", "", ""),
    ];
    for (text, message, hint) in cases {
        let error = found(text).expect_err(text);
        assert_eq!(error.kind(), ErrorKind::Usage, "{text}");
        assert!(error.to_string().contains(message), "{text:?}: {error}");
        assert!(error.to_string().contains(config::FILE_NAME), "{text:?}: {error}");
        let step = error.next_step().unwrap_or_default();
        assert!(step.contains(hint), "{text:?}: {step}");
    }
}

#[test]
fn a_found_file_may_narrow_what_is_indexed() {
    let text = "files:\n  include: [src]\n  exclude: ['*.sql']\n  languages: [rust]\n  \
                file_bytes_max: 1000\n  generated: false\n";
    let files = found(text).unwrap().config.files;
    assert_eq!(files.include, ["src"]);
    assert_eq!(files.file_bytes_max, 1000);
    assert!(!files.generated);
}

#[test]
fn a_found_file_may_not_widen_what_is_read_sent_or_written() {
    let cases = [
        "files:\n  hidden: true\n",
        "files:\n  submodules: true\n",
        "files:\n  respect_ignore_files: false\n",
        "files:\n  file_bytes_max: 1048577\n",
        "embedder:\n  kind: http\n",
        "embedder:\n  kind: fastembed\n",
        "embedder:\n  http:\n    url: http://example.org\n",
        "embedder:\n  http:\n    token_env: AWS_SECRET_ACCESS_KEY\n",
        "embedder:\n  fastembed:\n    folder: models\n",
        "embedder:\n  fastembed:\n    onnx_runtime: ./evil.so\n",
        "index_dir: /elsewhere\n",
        "index_dir: ../elsewhere\n",
        "index_dir: a/../../elsewhere\n",
        "index_dir: .git/hooks\n",
    ];
    for text in cases {
        let error = found(text).expect_err(text);
        assert_eq!(error.kind(), ErrorKind::Usage);
        assert!(error.to_string().contains("may not set"), "{text}: {error}");
        assert!(error.next_step().unwrap().contains("--config sai-cfg.yml"), "{text}");
        named(text).unwrap_or_else(|e| panic!("named by the user, {text} is refused: {e}"));
    }
}

#[test]
fn the_file_that_init_writes_is_accepted_without_trust_and_never_overwritten() {
    let dir = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(dir.path()).unwrap();
    let path = config::write_default(&root).unwrap();
    assert_eq!(fs::read_to_string(&path).unwrap(), config::init_text());
    let loaded = Config::load(&Sources::new(&root)).unwrap();
    assert_eq!(loaded.config, Config::built_in(&root));
    fs::write(&path, "# mine\n").unwrap();
    let error = config::write_default(&root).unwrap_err();
    assert!(error.to_string().contains("exists already"), "{error}");
    assert_eq!(fs::read_to_string(&path).unwrap(), "# mine\n");
}

#[test]
fn flags_are_checked_and_need_no_quotes_for_text() {
    assert_eq!(flag("search.limit", "3").unwrap().config.search.limit, 3);
    assert_eq!(
        flag("index_dir", "/elsewhere/x").unwrap().config.index_path(),
        Path::new("/elsewhere/x")
    );
    assert_eq!(
        flag("files.include", r#"["*.rs","a"]"#).unwrap().config.files.include,
        ["*.rs", "a"]
    );
    let http =
        |key: &str, value: &str| flag(&format!("embedder.http.{key}"), value).unwrap().config;
    assert_eq!(http("url", "*x: [").embedder.http.url, "*x: [");
    assert_eq!(http("model", "123").embedder.http.model, "123");
    assert_eq!(http("token_env", "TOKEN").embedder.http.token_env.as_deref(), Some("TOKEN"));
    assert_eq!(http("token_env", "null").embedder.http.token_env, None);
    assert_eq!(flag("embedder.kind", "http").unwrap().config.embedder.kind, EmbedderKind::Http);
    for (key, value) in [
        ("search.limit", "99"),
        ("search.limit", "x"),
        ("search.limt", "1"),
        ("files.hidden", "maybe"),
        ("files.include", "*.rs"),
        ("files.include", "[1, {a: b}]"),
        ("files.languages", "[klingon]"),
        ("index_dir", "."),
        ("index_dir", ".."),
        ("index_dir", "/"),
        ("files", "{}"),
        ("", "1"),
    ] {
        let error = flag(key, value).expect_err(key);
        assert_eq!(error.kind(), ErrorKind::Usage, "{key}={value}");
    }
}

#[test]
fn paths_of_models_are_read_from_the_root() {
    let (_dir, root) = root_with("");
    let overrides = vec![("embedder.fastembed.folder".to_owned(), "models/x".to_owned())];
    let config = Config::load(&Sources { overrides, ..Sources::new(&root) }).unwrap().config;
    assert_eq!(config.embedder.fastembed.folder, Some(root.join("models/x")));
}

#[test]
fn a_file_that_is_no_configuration_is_refused() {
    let bomb = "a: &a [x,x,x,x,x,x,x,x,x]\nb: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a]\n\
                c: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b]\nd: [*c,*c,*c,*c,*c,*c,*c,*c,*c]\n";
    let nested = format!("files: {}{}\n", "[".repeat(10_000), "]".repeat(10_000));
    let wide = format!("files:\n  include: [{}]\n", "x,".repeat(200_000));
    for text in [bomb, &nested, &wide] {
        assert_eq!(found(text).unwrap_err().kind(), ErrorKind::Usage);
    }
    let aliased = "files:\n  include: &a [x, y]\n  exclude: *a\n";
    assert_eq!(found(aliased).unwrap().config.files.exclude, ["x", "y"]);

    let (_dir, root) = root_with("");
    let path = root.join(config::FILE_NAME);
    fs::write(&path, b"files:\n  include: [\"\xff\"]\n").unwrap();
    let error = Config::load(&Sources::new(&root)).unwrap_err();
    assert!(error.to_string().contains("line 2: the text is not UTF-8"), "{error}");
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    let error = Config::load(&Sources::new(&root)).unwrap_err();
    assert!(error.to_string().contains("is not a file"), "{error}");
    let missing = Sources { file: Some("no-such.yml".into()), ..Sources::new(&root) };
    let error = Config::load(&missing).unwrap_err();
    assert!(error.to_string().contains("`no-such.yml` does not exist"), "{error}");
}

#[test]
fn a_named_file_is_also_looked_for_under_the_root() {
    let (_dir, root) = root_with("search:\n  limit: 4\n");
    let sources = Sources { file: Some(config::FILE_NAME.into()), ..Sources::new(&root) };
    assert_eq!(Config::load(&sources).unwrap().config.search.limit, 4);
}

#[cfg(unix)]
#[test]
fn links_do_not_lead_the_configuration_or_the_index_out_of_the_root() {
    use std::os::unix::fs::symlink;
    let outside = tempfile::tempdir().unwrap();
    fs::write(outside.path().join("x.yml"), "search:\n  limit: 3\n").unwrap();
    let dir = tempfile::tempdir().unwrap();
    let root = fs::canonicalize(dir.path()).unwrap();
    symlink(outside.path().join("x.yml"), root.join(config::FILE_NAME)).unwrap();
    let error = Config::load(&Sources::new(&root)).unwrap_err();
    assert!(error.to_string().contains("leads out of the repository"), "{error}");
    let named = Sources { file: Some(root.join(config::FILE_NAME)), ..Sources::new(&root) };
    assert_eq!(Config::load(&named).unwrap().config.search.limit, 3);

    fs::remove_file(root.join(config::FILE_NAME)).unwrap();
    symlink(outside.path(), root.join(".index")).unwrap();
    let error = Config::load(&Sources::new(&root)).unwrap_err();
    assert!(error.to_string().contains("`.index` is a link"), "{error}");
    let overrides = vec![("index_dir".to_owned(), ".index".to_owned())];
    Config::load(&Sources { overrides, ..Sources::new(&root) }).unwrap();
}

#[test]
fn the_fingerprint_follows_what_decides_which_files_are_indexed() {
    let print = |text: &str| config::scope_fingerprint(&named(text).unwrap().config);
    let plain = print("");
    assert_eq!(plain.len(), 32);
    assert_eq!(plain, print("search:\n  limit: 3\nindex_dir: other\n"));
    assert_eq!(
        print("files:\n  languages: [rs, py]\n"),
        print("files:\n  languages: [python, rust]\n")
    );
    for other in [
        "files:\n  hidden: true\n",
        "files:\n  exclude: [a]\n",
        "files:\n  include: [a]\n",
        "files:\n  generated: false\n",
        "files:\n  file_bytes_max: 5\n",
    ] {
        assert_ne!(plain, print(other), "{other}");
    }
}

#[test]
fn the_page_is_made_from_the_default_configuration() {
    let path = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/configuration.md");
    if std::env::var_os("SAI_BLESS").is_some() {
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, config::page()).unwrap();
    }
    let page = fs::read_to_string(&path).unwrap_or_default();
    assert_eq!(page, config::page(), "run `SAI_BLESS=1 cargo test config` and commit the page");
}

/// Folders for `find_root`, with a home of their own.
struct Ground {
    _dir: TempDir,
    base: PathBuf,
}

impl Ground {
    fn new(folders: &[&str]) -> Self {
        let dir = tempfile::tempdir().unwrap();
        let base = fs::canonicalize(dir.path()).unwrap();
        for folder in folders {
            fs::create_dir_all(base.join(folder)).unwrap();
        }
        Self { _dir: dir, base }
    }

    /// `find_root` from `cwd` with a flag and with variables, all relative to the ground.
    fn root(&self, cwd: &str, flag: Option<&str>, env: &[(&str, &str)]) -> Result<PathBuf, Error> {
        let home = self.base.join("home");
        let look = |name: &str| match env.iter().find(|(known, _)| *known == name) {
            Some((_, "")) => Some(OsString::new()),
            Some((_, value)) => Some(self.base.join(value).into_os_string()),
            None => (name == "HOME").then(|| home.clone().into_os_string()),
        };
        let flag = flag.map(|flag| self.base.join(flag));
        find_root(flag.as_deref(), &self.base.join(cwd), &look)
    }

    fn check(&self, cwd: &str, flag: Option<&str>, env: &[(&str, &str)], expected: &str) {
        let found = self.root(cwd, flag, env).unwrap_or_else(|e| panic!("from `{cwd}`: {e}"));
        let expected = fs::canonicalize(self.base.join(expected)).unwrap();
        assert_eq!(found, expected, "from `{cwd}` with {flag:?} and {env:?}");
    }
}

#[test]
fn the_root_is_found_in_order() {
    let ground = Ground::new(&["home/p/.git", "home/p/a/b", "home/q/.index", "home/q/c", "r", "e"]);
    let env = [("SAI_ROOT", "r"), ("CLAUDE_PROJECT_DIR", "e")];
    ground.check("home/p/a", Some("home/q/c"), &env, "home/q/c");
    ground.check("home/p/a", None, &env, "r");
    ground.check("home/p/a", None, &env[1..], "e");
    ground.check("home/p/a", None, &[("SAI_ROOT", "")], "home/p");
    ground.check("home/p/a/b", None, &[], "home/p");
    ground.check("home/q/c", None, &[], "home/q");
    ground.check("e", None, &[], "e");
    fs::write(ground.base.join("home/p/a").join(config::FILE_NAME), "").unwrap();
    ground.check("home/p/a/b", None, &[], "home/p/a");
    ground.check("home/p", None, &[], "home/p");
}

#[test]
fn home_and_the_disk_are_no_roots() {
    let ground = Ground::new(&["home/.git", "home/.index", "home/p/a"]);
    ground.check("home/p/a", None, &[], "home/p/a");
    for (cwd, flag, env) in [
        ("home", None, vec![]),
        ("home/p", Some("home"), vec![]),
        ("home/p", Some("home/p/.."), vec![]),
        ("home/p", Some("/"), vec![]),
        ("home/p", Some("."), vec![]),
        ("home/p", None, vec![("SAI_ROOT", "home")]),
        ("home/p", None, vec![("CLAUDE_PROJECT_DIR", "/")]),
        ("/", None, vec![]),
    ] {
        let error = ground.root(cwd, flag, &env).expect_err("refused");
        assert_eq!(error.kind(), ErrorKind::Usage);
        assert!(error.to_string().contains("not a project"), "{error}");
        assert!(error.next_step().unwrap().contains("--root"), "{error}");
    }
}

#[test]
fn a_root_that_is_no_folder_is_refused() {
    let ground = Ground::new(&["home", "p"]);
    fs::write(ground.base.join("p/file"), "").unwrap();
    let error = ground.root("p", Some("gone"), &[]).unwrap_err();
    assert!(error.to_string().contains("there is no folder"), "{error}");
    let error = ground.root("p", None, &[("SAI_ROOT", "gone")]).unwrap_err();
    assert!(error.to_string().contains("SAI_ROOT"), "{error}");
    let error = ground.root("p", Some("p/file"), &[]).unwrap_err();
    assert!(error.to_string().contains("is a file, not a folder"), "{error}");
}

#[cfg(unix)]
#[test]
fn a_strangers_marker_is_passed_over() {
    use std::os::unix::fs::chown;
    let ground = Ground::new(&["home", "shared/mine/p"]);
    let marker = ground.base.join("shared").join(config::FILE_NAME);
    fs::write(&marker, "").unwrap();
    ground.check("shared/mine/p", None, &[], "shared");
    if chown(&marker, Some(12345), None).is_err() {
        println!("left out: only root may give a file away");
        return;
    }
    ground.check("shared/mine/p", None, &[], "shared/mine/p");
}
