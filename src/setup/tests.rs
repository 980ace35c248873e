//! Every client, into an empty folder and into a file that a person has written in: what it looks
//! like afterwards (`golden.txt`), twice, and taken out again. Broken files stay as they are.

use std::fs;
use std::path::{Path, PathBuf};

use super::*;

const BOM: &str = "\u{feff}";

fn launch(root: &Path) -> Launch {
    Launch {
        root: root.to_owned(),
        program: "/opt/sai/bin/sai".to_owned(),
        shared_program: "sai".to_owned(),
        allow_write: false,
        allow_setup: false,
    }
}

fn machine(home: &Path) -> Machine {
    let home = home.as_os_str().to_owned();
    Machine::new(Platform::Linux, &|name| (name == "HOME").then(|| home.clone())).unwrap()
}

/// A project and a home, both empty.
struct Folders {
    folder: tempfile::TempDir,
}

impl Folders {
    fn new() -> Self {
        let folder = tempfile::tempdir().unwrap();
        fs::create_dir(folder.path().join("project")).unwrap();
        fs::create_dir(folder.path().join("home")).unwrap();
        Self { folder }
    }

    fn root(&self) -> PathBuf {
        self.folder.path().join("project")
    }

    fn home(&self) -> PathBuf {
        self.folder.path().join("home")
    }

    fn change(&self, client: &Client, scope: Scope, wanted: Wanted) -> Result<Change> {
        client_change(client, scope, wanted, &launch(&self.root()), &machine(&self.home()))
    }

    /// Every file below, with its text.
    fn files(&self) -> Vec<(String, String)> {
        fn walk(folder: &Path, top: &Path, out: &mut Vec<(String, String)>) {
            for entry in fs::read_dir(folder).unwrap().flatten() {
                let path = entry.path();
                let name = path.strip_prefix(top).unwrap().display().to_string();
                if path.is_dir() {
                    out.push((name, "a folder".to_owned()));
                    walk(&path, top, out);
                } else {
                    out.push((name, fs::read_to_string(&path).unwrap()));
                }
            }
        }
        let mut out = Vec::new();
        walk(self.folder.path(), self.folder.path(), &mut out);
        out.sort();
        out
    }

    /// Paths of this run as a reader of the golden file sees them.
    fn shown(&self, text: &str) -> String {
        text.replace(&*self.folder.path().to_string_lossy(), "")
    }
}

/// Each client with each scope that it has.
fn cases() -> Vec<(&'static Client, Scope)> {
    let folders = Folders::new();
    let mut cases = Vec::new();
    for client in CLIENTS {
        for scope in [Scope::Project, Scope::User] {
            if client.file(scope, &folders.root(), &machine(&folders.home())).is_ok() {
                cases.push((client, scope));
            }
        }
    }
    cases
}

/// A file that a person has written in, without SAI.
fn populated(client: &Client) -> String {
    let key = client.keys[0];
    match client.format {
        Format::Json => format!(
            "// Of a person: this comment stays.\n{{\n    \"theme\": \"dark\", // and this one\n    \
             \"{key}\": {{\n        /* of another server */\n        \"other\": {{\n            \
             \"command\": \"npx\",\n            \"args\": [\"-y\",   \"other-mcp\"],\n            \
             \"unknown\": {{\"deep\": [1,2, 3]}}\n        }}\n    }},\n    \"last\": [1,\n      2]\n}}\n"
        ),
        Format::Toml => format!(
            "# Of a person: this comment stays.\nmodel = 'o9'   # and this one\n\n\
             [{key}.other]  # of another server\ncommand = \"npx\"\nargs = [ \"-y\",\"other-mcp\" ]\n\
             unknown = {{ deep = [1,2, 3] }}\n\n[last]\nvalue = 1_000\n"
        ),
        Format::Yaml => format!(
            "# Of a person: this comment stays.\nGOOSE_MODE: 'auto'   # and this one\n{key}:\n  \
             # of another server\n  other:\n    cmd: npx\n    args:\n    - -y\n    - other-mcp\n    \
             unknown: {{deep: [1,2, 3]}}\n\nlast:\n  - 1\n"
        ),
    }
}

/// The same with an entry of SAI's that is out of date and that the person has added to.
fn out_of_date(client: &Client) -> String {
    let key = client.keys[0];
    let text = populated(client);
    let command = client.shape.fields(String::new(), Vec::new());
    let command = command.iter().find(|field| field.when == launch::When::Always).unwrap().key;
    match client.format {
        Format::Json => text.replace(
            "\n    },\n    \"last\"",
            &format!(
                ",\n        \"sai\": {{\n            // mine\n            \"env\": {{ \"A\": \"b\" }},\n            \
                 \"{command}\": \"/old/sai\", // was\n            \"disabled\": true,\n            \
                 \"timeout\": 5\n        }}\n    }},\n    \"last\""
            ),
        ),
        Format::Toml => text.replace(
            "\n[last]",
            &format!(
                "\n[{key}.sai]\n# mine\nstartup_timeout_sec = 5\n{command} = \"/old/sai\" # was\n\
                 env = {{ A = \"b\" }}\n\n[last]"
            ),
        ),
        Format::Yaml => text.replace(
            "\n\nlast",
            &format!(
                "\n  sai:\n    # mine\n    enabled: false\n    {command}: /old/sai\n    args:\n    - mcp\n    \
                 timeout: 5\n\nlast"
            ),
        ),
    }
}

fn broken(client: &Client) -> &'static str {
    match client.format {
        Format::Json => "{\n  \"a\": 1,\n  \"b\": }\n",
        Format::Toml => "a = 1\nb = 2\nb = = 3\n",
        Format::Yaml => "a: 1\nb: 2\nc: [1\nd: }\n",
    }
}

/// Lines of `old` that are missing from `new`, or stand in another order there.
fn lost<'a>(old: &'a str, new: &str) -> Vec<&'a str> {
    let bare = |line: &str| line.trim_end_matches(',').to_owned();
    let new: Vec<String> = new.lines().map(bare).collect();
    let mut next = 0;
    let mut lost = Vec::new();
    for line in old.lines() {
        match new[next..].iter().position(|other| *other == bare(line)) {
            Some(at) => next += at + 1,
            None => lost.push(line),
        }
    }
    lost
}

#[test]
fn every_client_looks_as_the_golden_file_says() {
    let mut made = String::new();
    for (client, scope) in cases() {
        for (what, text) in [
            ("empty", None),
            ("populated", Some(populated(client))),
            ("out of date", Some(out_of_date(client))),
        ] {
            let folders = Folders::new();
            let file = folders.change(client, scope, Wanted::Present).unwrap().file;
            if let Some(text) = text {
                fs::create_dir_all(file.parent().unwrap()).unwrap();
                fs::write(&file, text).unwrap();
            }
            let change = folders.change(client, scope, Wanted::Present).unwrap();
            let shown = folders.shown(&format!(
                "=== {} {} {what}: {}\n{}",
                client.name,
                scope.name(),
                file.display(),
                change.after.unwrap()
            ));
            made.push_str(&shown);
            made.push('\n');
        }
    }
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("src/setup/golden.txt");
    if std::env::var_os("SAI_BLESS").is_some() {
        fs::write(&file, &made).unwrap();
    }
    let kept = fs::read_to_string(&file).unwrap_or_default();
    assert!(kept == made, "src/setup/golden.txt differs: look, then run with SAI_BLESS=1\n{made}");
}

#[test]
fn into_an_empty_folder_twice_and_out_again() {
    for (client, scope) in cases() {
        let name = client.name;
        let folders = Folders::new();
        let before = folders.files();
        let change = folders.change(client, scope, Wanted::Present).unwrap();
        assert!(folders.files() == before, "{name}: planning writes nothing");
        assert!(!change.diff().is_empty() && change.diff().contains("--- /dev/null"), "{name}");
        assert_eq!(change.write().unwrap().backup, None, "{name}");
        let text = fs::read_to_string(&change.file).unwrap();
        assert!(text.ends_with('\n') && text.contains("mcp"), "{name}: {text}");
        assert!(merge::has(client, &text).unwrap(), "{name}");
        let again = folders.change(client, scope, Wanted::Present).unwrap();
        assert!(again.is_nothing() && again.diff().is_empty(), "{name}: {}", again.diff());
        folders.change(client, scope, Wanted::Absent).unwrap().write().unwrap();
        assert!(folders.files() == before, "{name}: {:?}", folders.files());
        assert!(folders.change(client, scope, Wanted::Absent).unwrap().is_nothing(), "{name}");
    }
}

/// The file itself, and when asked with other line ends, a byte order mark, and tabs.
fn variants(text: &str, all: bool) -> Vec<String> {
    if !all {
        return vec![text.to_owned()];
    }
    vec![
        text.to_owned(),
        text.replace('\n', "\r\n"),
        format!("{BOM}{}", text.replace('\n', "\r\n")),
        format!("{BOM}{text}"),
        text.replace("    ", "\t"),
        text.replacen('\n', "\r\n", 3),
    ]
}

#[test]
fn into_a_populated_file_twice_and_out_again() {
    for (client, scope) in cases() {
        let name = client.name;
        for text in variants(&populated(client), client.default_scope() == scope) {
            if client.format == Format::Yaml && text.contains('\t') {
                continue;
            }
            let folders = Folders::new();
            let file = folders.change(client, scope, Wanted::Present).unwrap().file;
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, &text).unwrap();
            let change = folders.change(client, scope, Wanted::Present).unwrap();
            let backup = change.write().unwrap().backup.unwrap();
            assert_eq!(fs::read_to_string(&backup).unwrap(), text, "{name}");
            let after = fs::read_to_string(&file).unwrap();
            assert_eq!(lost(&text, &after), Vec::<&str>::new(), "{name}:\n{after}");
            assert_eq!(after.starts_with(BOM), text.starts_with(BOM), "{name}");
            let ends = |text: &str| (text.matches("\r\n").count(), text.matches('\n').count());
            let (old, new) = (ends(&text), ends(&after));
            if old.0 == old.1 {
                assert_eq!(new.0, new.1, "{name}: {after:?}");
            } else if old.0 == 0 {
                assert_eq!(new.0, 0, "{name}: {after:?}");
            }
            let again = folders.change(client, scope, Wanted::Present).unwrap();
            assert!(again.is_nothing(), "{name}: {}", again.diff());
            folders.change(client, scope, Wanted::Absent).unwrap().write().unwrap();
            let out = fs::read_to_string(&file).unwrap();
            assert_eq!(out, text, "{name}");
            assert!(folders.change(client, scope, Wanted::Absent).unwrap().is_nothing(), "{name}");
        }
    }
}

#[test]
fn an_entry_that_is_there_keeps_what_a_person_added() {
    for (client, scope) in cases() {
        let name = client.name;
        for text in variants(&out_of_date(client), client.default_scope() == scope) {
            if client.format == Format::Yaml && text.contains('\t') {
                continue;
            }
            let folders = Folders::new();
            let file = folders.change(client, scope, Wanted::Present).unwrap().file;
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, &text).unwrap();
            folders.change(client, scope, Wanted::Present).unwrap().write().unwrap();
            let after = fs::read_to_string(&file).unwrap();
            assert!(!after.contains("/old/sai"), "{name}: {after}");
            let gone = lost(&text, &after);
            let replaced = |line: &str| {
                line.contains("/old/sai") || line.trim() == "args:" || line.trim() == "- mcp"
            };
            assert!(gone.iter().all(|line| replaced(line)), "{name}: {gone:?}\n{after}");
            assert!(after.contains("mine") && after.contains("other"), "{name}: {after}");
            let again = folders.change(client, scope, Wanted::Present).unwrap();
            assert!(again.is_nothing(), "{name}: {}", again.diff());
        }
    }
}

#[test]
fn a_broken_file_is_named_with_its_line_and_stays() {
    for (client, scope) in cases() {
        let name = client.name;
        for wanted in [Wanted::Present, Wanted::Absent] {
            let folders = Folders::new();
            let file = folders.change(client, scope, Wanted::Present).unwrap().file;
            fs::create_dir_all(file.parent().unwrap()).unwrap();
            fs::write(&file, broken(client)).unwrap();
            let error = folders.change(client, scope, wanted).unwrap_err();
            let text = error.to_string();
            let line = if client.format == Format::Yaml { "line " } else { "line 3: " };
            assert!(
                text.contains(&*file.to_string_lossy()) && text.contains(line),
                "{name}: {text}"
            );
            let hint = error.next_step().unwrap();
            assert!(hint.starts_with("nothing was changed; "), "{name}: {hint}");
            assert_eq!(hint.contains("mcp"), wanted == Wanted::Present, "{name}: {hint}");
            assert_eq!(fs::read_to_string(&file).unwrap(), broken(client), "{name}");
            let places = places(client, &folders.root(), &machine(&folders.home()));
            let place = places.iter().find(|place| place.scope == scope).unwrap();
            assert_eq!(place.state, State::Unreadable, "{name}");
        }
    }
}

#[test]
fn what_is_not_a_map_is_left_alone() {
    for (name, text) in [
        ("claude-code", "[]"),
        ("claude-code", "{\"mcpServers\": []}"),
        ("claude-code", "{\"mcpServers\": {\"sai\": \"x\"}}"),
        ("claude-code", "{} {}"),
        ("codex", "mcp_servers = 3"),
        ("codex", "[mcp_servers]\nsai = 3"),
        ("goose", "- a"),
        ("goose", "extensions: 3"),
        ("goose", "extensions: {other: {cmd: x}}"),
        ("goose", "{extensions: {}}"),
        ("goose", "extensions:\n  sai: {cmd: old}\n"),
        ("goose", "extensions:\n  sai: x\n"),
        ("goose", "a: 1\n---\nb: 2\n"),
        ("goose", "text: |\n extensions:\n  a: 1\nextensions: {b: 1}\n"),
    ] {
        let client = find(name).unwrap();
        let fields = client.fields(&launch(Path::new("/p")), Scope::User);
        let set = merge::set(client, text, &fields);
        assert!(set.is_err(), "{text}: {set:?}");
    }
}

#[test]
fn unusual_but_valid_files_take_an_entry() {
    for (name, text) in [
        ("claude-code", ""),
        ("claude-code", "  \n"),
        ("claude-code", "{}"),
        ("claude-code", "{\"mcpServers\":{\"a\":{\"command\":\"b\"}}}"),
        ("claude-code", "{ // only a comment\n}"),
        ("codex", "mcp_servers = { a = { command = 'b' } }"),
        ("codex", "mcp_servers.a.command = 'b'\n"),
        ("codex", "[mcp_servers]\n[mcp_servers.a]\ncommand='b'"),
        ("goose", ""),
        ("goose", "# nothing yet\n"),
        ("goose", "extensions:\n"),
        ("goose", "extensions:\n# left\n      other:\n          cmd: x\n  # end\na: 1"),
        ("goose", "a: 1"),
    ] {
        let client = find(name).unwrap();
        let fields = client.fields(&launch(Path::new("/p")), Scope::User);
        let after = merge::set(client, text, &fields).unwrap_or_else(|e| panic!("{text}: {e:?}"));
        assert!(merge::has(client, &after).unwrap(), "{after}");
        assert_eq!(merge::set(client, &after, &fields).unwrap(), after);
        let out = merge::unset(client, &after).unwrap().unwrap_or_default();
        assert!(!merge::has(client, &out).unwrap(), "{out}");
    }
}

#[test]
fn what_a_comment_stands_beside_is_not_taken_out() {
    let client = find("claude-code").unwrap();
    let fields = client.fields(&launch(Path::new("/p")), Scope::User);
    for text in [
        "{\n  \"mcpServers\": {} // none\n}\n",
        "{\n  // above\n  \"mcpServers\": {}\n}\n",
        "{\n  \"mcpServers\": {\n    // inside\n  }\n}\n",
    ] {
        let after = merge::set(client, text, &fields).unwrap();
        let out = merge::unset(client, &after).unwrap().unwrap();
        assert_eq!(out.matches("//").count(), 1, "{text}: {out}");
        assert!(out.contains("mcpServers") || out.contains("above"), "{text}: {out}");
    }
}

#[test]
fn opencode_has_two_places() {
    let client = find("opencode").unwrap();
    let fields = client.fields(&launch(Path::new("/p")), Scope::Project);
    let newer = "{\"mcp\": {\"timeout\": 3, \"servers\": {}}}";
    let after = merge::set(client, newer, &fields).unwrap();
    let value: serde_json::Value = serde_json::from_str(&after).unwrap();
    assert_eq!(value["mcp"]["servers"]["sai"]["command"][1], "mcp");
    // A server that is called `servers` is no map of servers.
    let older = "{\"mcp\": {\"servers\": {\"type\": \"local\", \"command\": [\"x\"]}}}";
    let after = merge::set(client, older, &fields).unwrap();
    let value: serde_json::Value = serde_json::from_str(&after).unwrap();
    assert_eq!(value["mcp"]["sai"]["command"][1], "mcp");
}

#[test]
fn flags_become_arguments() {
    let (client, root) = (find("codex").unwrap(), Path::new("/p q"));
    let launch = Launch { allow_write: true, allow_setup: true, ..launch(root) };
    let (program, args) = launch.command(client, Scope::Project);
    assert_eq!(program, "/opt/sai/bin/sai");
    assert_eq!(args, ["mcp", "--root", "/p q", "--allow-write", "--allow-setup"]);
    let (program, args) = launch.command(find("vscode").unwrap(), Scope::Project);
    assert_eq!(program, "sai");
    assert_eq!(args[1..3], ["--root", "${workspaceFolder}"]);
    let (program, args) = launch.command(find("vscode").unwrap(), Scope::User);
    assert_eq!((program.as_str(), args[2].as_str()), ("/opt/sai/bin/sai", "/p q"));
    assert_eq!(
        launch.command(find("claude").unwrap(), Scope::Project).1[0..2],
        ["mcp", "--allow-write"]
    );
}

#[test]
fn names_are_distinct_and_wrong_ones_answered_with_the_nearest() {
    let mut names: Vec<&str> = Vec::new();
    for client in CLIENTS {
        names.push(client.name);
        names.extend(client.aliases);
    }
    assert!(CLIENTS.iter().map(|client| client.name).is_sorted());
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
    assert_eq!(find("Claude Code").unwrap().name, "claude-code");
    let error = find("curser").unwrap_err();
    assert!(error.next_step().unwrap().starts_with("did you mean `cursor`?"));
}

#[test]
fn files_lie_where_the_platform_and_the_environment_say() {
    let file = |platform, variables: &[(&str, &str)], name: &str| {
        let look = |wanted: &str| {
            let found = variables.iter().find(|(name, _)| *name == wanted);
            found.map(|(_, value)| (*value).into())
        };
        let machine = Machine::new(platform, &look).unwrap();
        let file = find(name).unwrap().file(Scope::User, Path::new("/p"), &machine).unwrap();
        file.to_string_lossy().replace('\\', "/")
    };
    let home = ("HOME", "/h");
    for (platform, variables, name, wanted) in [
        (Platform::Linux, &[home][..], "vscode", "/h/.config/Code/User/mcp.json"),
        (Platform::Linux, &[home, ("XDG_CONFIG_HOME", "/x")], "vscode", "/x/Code/User/mcp.json"),
        (Platform::Linux, &[home, ("XDG_CONFIG_HOME", "x")], "zed", "/h/.config/zed/settings.json"),
        (Platform::Mac, &[home], "vscode", "/h/Library/Application Support/Code/User/mcp.json"),
        (Platform::Mac, &[home], "zed", "/h/.config/zed/settings.json"),
        (
            Platform::Windows,
            &[("USERPROFILE", "/h")],
            "goose",
            "/h/AppData/Roaming/Block/goose/config/config.yaml",
        ),
        (
            Platform::Windows,
            &[home, ("APPDATA", "/a")],
            "claude-desktop",
            "/a/Claude/claude_desktop_config.json",
        ),
        (Platform::Linux, &[home, ("CODEX_HOME", "/c")], "codex", "/c/config.toml"),
        (Platform::Linux, &[home, ("CODEX_HOME", "")], "codex", "/h/.codex/config.toml"),
    ] {
        assert_eq!(file(platform, variables, name), wanted);
    }
}

#[test]
fn the_first_existing_file_of_a_project_is_used() {
    let folders = Folders::new();
    let client = find("opencode").unwrap();
    fs::write(folders.root().join("opencode.jsonc"), "{}").unwrap();
    let change = folders.change(client, Scope::Project, Wanted::Present).unwrap();
    assert!(change.file.ends_with("opencode.jsonc"));
    let user = folders.home().join(".config/opencode");
    fs::create_dir_all(&user).unwrap();
    fs::write(user.join("opencode.jsonc"), "{}").unwrap();
    let change = folders.change(client, Scope::User, Wanted::Present).unwrap();
    assert!(change.file.ends_with("opencode.jsonc"));
}

#[test]
fn backups_are_never_overwritten() {
    let folders = Folders::new();
    let file = folders.root().join(".mcp.json");
    fs::write(folders.root().join(".mcp.json.bak"), "mine").unwrap();
    fs::write(folders.root().join(".mcp.json.bak.1"), "mine too").unwrap();
    fs::write(&file, "{\"a\": 1}").unwrap();
    let client = find("claude-code").unwrap();
    let change = folders.change(client, Scope::Project, Wanted::Present).unwrap();
    assert!(change.write().unwrap().backup.unwrap().ends_with(".mcp.json.bak.2"));
    assert_eq!(fs::read_to_string(folders.root().join(".mcp.json.bak")).unwrap(), "mine");
    fs::write(&file, "{}").unwrap();
    let error = change.write().unwrap_err();
    assert!(error.to_string().contains("has changed meanwhile"), "{error}");
    assert_eq!(fs::read_to_string(&file).unwrap(), "{}");
}

#[cfg(unix)]
#[test]
fn links_are_written_through_but_not_out_of_a_project() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let folders = Folders::new();
    let client = find("claude-code").unwrap();
    // The user's file is a link into a folder of settings: it stays one.
    let real = folders.folder.path().join("dotfiles.json");
    fs::write(&real, "{\"a\": 1}").unwrap();
    fs::set_permissions(&real, fs::Permissions::from_mode(0o600)).unwrap();
    let link = folders.home().join(".claude.json");
    symlink(&real, &link).unwrap();
    folders.change(client, Scope::User, Wanted::Present).unwrap().write().unwrap();
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert!(fs::read_to_string(&real).unwrap().contains("\"sai\""));
    assert_eq!(fs::metadata(&real).unwrap().permissions().mode() & 0o777, 0o600);
    let backup = folders.folder.path().join("dotfiles.json.bak");
    assert_eq!(fs::metadata(backup).unwrap().permissions().mode() & 0o777, 0o600);
    // A repository brings a file or a folder that leads out of it.
    let outside = folders.folder.path().join("outside.json");
    fs::write(&outside, "{}").unwrap();
    symlink(&outside, folders.root().join(".mcp.json")).unwrap();
    symlink(folders.home(), folders.root().join(".cursor")).unwrap();
    symlink("nowhere.json", folders.root().join("kilo.json")).unwrap();
    for name in ["claude-code", "cursor"] {
        let change = folders.change(find(name).unwrap(), Scope::Project, Wanted::Present).unwrap();
        let error = change.write().unwrap_err();
        assert!(error.to_string().contains("leads out of the project"), "{error}");
    }
    assert!(folders.change(find("kilo").unwrap(), Scope::Project, Wanted::Present).is_err());
    assert_eq!(fs::read_to_string(&outside).unwrap(), "{}");
    assert!(!folders.home().join("mcp.json").exists());
}

#[test]
fn skills_come_and_go_and_a_changed_one_is_kept() {
    let folders = Folders::new();
    let (root, before) = (folders.root(), folders.files());
    let write = |wanted| {
        for change in skills(&root, wanted).unwrap() {
            change.write().unwrap();
        }
    };
    write(Wanted::Present);
    assert!(root.join(".agents/skills/sai/SKILL.md").is_file());
    assert!(root.join(".claude/agents/dedup-auditor.md").is_file());
    assert!(skills(&root, Wanted::Present).unwrap().iter().all(Change::is_nothing));
    write(Wanted::Absent);
    assert!(folders.files() == before, "{:?}", folders.files());

    write(Wanted::Present);
    let mine = root.join(".agents/skills/sai/SKILL.md");
    fs::write(&mine, "mine").unwrap();
    write(Wanted::Absent);
    assert_eq!(fs::read_to_string(&mine).unwrap(), "mine");
    assert!(!root.join(".claude").exists());
    write(Wanted::Present);
    assert_eq!(fs::read_to_string(mine.with_file_name("SKILL.md.bak")).unwrap(), "mine");
}

/// The `key: value` lines between the marks at a file's top.
fn front_matter(text: &str) -> (serde_yaml::Mapping, &str) {
    let rest = text.strip_prefix("---\n").expect("it begins with front matter");
    let (head, body) = rest.split_once("\n---\n").expect("front matter ends");
    (serde_yaml::from_str(head).unwrap(), body)
}

#[test]
fn skills_follow_the_rules_for_skills() {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    for name in ["sai", "sai-deslop"] {
        let file = root.join(format!(".agents/skills/{name}/SKILL.md"));
        let text = fs::read_to_string(file).unwrap();
        let (front, body) = front_matter(&text);
        let field = |key: &str| front.get(key).and_then(serde_yaml::Value::as_str).unwrap_or("");
        assert_eq!(field("name"), name);
        let legal = |c: char| c.is_ascii_lowercase() || c.is_ascii_digit() || c == '-';
        assert!(name.len() <= 64 && name.chars().all(legal) && !name.contains("--"));
        let description = field("description").chars().count();
        assert!((1..=1024).contains(&description), "{name}: {description}");
        assert!(field("description").contains("Use it"), "{name}: says when to use it");
        assert!(field("compatibility").chars().count() <= 500);
        for key in front.keys() {
            let known =
                ["name", "description", "license", "compatibility", "metadata", "allowed-tools"];
            assert!(known.contains(&key.as_str().unwrap()), "{name}: {key:?}");
        }
        assert!(body.lines().count() < 500 && body.split_whitespace().count() < 3000);
        assert!(body.contains("docs/mcp.md"), "{name}: names the tools' contracts");
    }
}

#[test]
fn the_subagent_has_what_a_subagent_needs() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join(".claude/agents/dedup-auditor.md");
    let text = fs::read_to_string(file).unwrap();
    let (front, body) = front_matter(&text);
    let field = |key: &str| front.get(key).and_then(serde_yaml::Value::as_str).unwrap_or("");
    assert_eq!(field("name"), "dedup-auditor");
    assert!(!field("description").is_empty());
    assert!(field("tools").contains("mcp__sai__sai_find_duplicates"));
    assert!(!field("tools").contains("Edit") && !field("tools").contains("Write"));
    for word in ["real", "boilerplate", "intentional", "fragment"] {
        assert!(body.contains(&format!("**{word}**")), "{word}");
    }
}

#[test]
fn the_block_of_agents_md_leaves_the_rest_alone() {
    for text in ["", "# Mine\n\nText.\n", "\u{feff}# Mine\r\n\r\nText.\r\n"] {
        let folders = Folders::new();
        let (root, file) = (folders.root(), folders.root().join("AGENTS.md"));
        if !text.is_empty() {
            fs::write(&file, text).unwrap();
        }
        let change = agents_md(&root, Wanted::Present).unwrap();
        change.write().unwrap();
        let after = fs::read_to_string(&file).unwrap();
        assert!(after.starts_with(text), "{after:?}");
        assert_eq!(after.contains("\r\n## Finding code"), text.contains('\r'), "{after:?}");
        assert!(agents_md(&root, Wanted::Present).unwrap().is_nothing());
        // What a person writes around the block stays; what is in it is SAI's.
        let mut edited = format!("Before.\n{}After.\n", after.replace("grep or", "ack or"));
        fs::write(&file, &edited).unwrap();
        agents_md(&root, Wanted::Present).unwrap().write().unwrap();
        edited = fs::read_to_string(&file).unwrap();
        assert!(edited.starts_with("Before.\n") && edited.ends_with("After.\n"), "{edited}");
        fs::write(&file, &after).unwrap();
        agents_md(&root, Wanted::Absent).unwrap().write().unwrap();
        assert_eq!(fs::read_to_string(&file).unwrap_or_default(), text);
    }
    let folders = Folders::new();
    fs::write(folders.root().join("AGENTS.md"), "<!-- sai: begin -->\nx\n").unwrap();
    let error = agents_md(&folders.root(), Wanted::Present).unwrap_err();
    assert!(error.to_string().contains("not one pair"), "{error}");
    let block = agents_md(&Folders::new().root(), Wanted::Present).unwrap().after.unwrap();
    assert!(block.lines().count() <= 15, "{block}");
}

#[test]
fn the_page_of_clients_is_the_table() {
    let file = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/clients.md");
    let made = page();
    if std::env::var_os("SAI_BLESS").is_some() {
        fs::write(&file, &made).unwrap();
    }
    let kept = fs::read_to_string(&file).unwrap_or_default();
    assert!(kept == made, "docs/clients.md differs from the table: run with SAI_BLESS=1");
}

fn around(folders: &Folders, program: &Path, allow_setup: bool) -> Surroundings {
    Surroundings {
        root: folders.root().canonicalize().unwrap(),
        program: program.to_owned(),
        allow_setup,
        machine: machine(&folders.home()),
    }
}

/// A checkout with a script in place of the real one, and a program in it.
fn checkout(folders: &Folders, script: &str) -> PathBuf {
    let checkout = folders.folder.path().join("check out");
    let program = checkout.join("target/release/sai");
    fs::create_dir_all(program.parent().unwrap()).unwrap();
    fs::create_dir_all(checkout.join("mcp-setup")).unwrap();
    fs::write(checkout.join("Cargo.toml"), "").unwrap();
    fs::write(checkout.join("mcp-setup/setup.sh"), script).unwrap();
    fs::write(&program, "").unwrap();
    program
}

const ANY_TIME: Option<std::time::Duration> = None;

fn ask(query: &PrepareQuery, around: &Surroundings) -> PrepareReply {
    prepare(query, around, &crate::turn::Turn::new(ANY_TIME)).unwrap()
}

#[test]
fn preparing_returns_commands_and_runs_nothing() {
    let folders = Folders::new();
    let program = checkout(&folders, "touch \"$0.ran\"\n");
    let reply = ask(&PrepareQuery::default(), &around(&folders, &program, true));
    assert_eq!(reply.status, PrepareStatus::Ready);
    let words = shlex::split(&reply.recommended_command).unwrap();
    assert_eq!(words[0], "bash");
    assert!(words[1].ends_with("check out/mcp-setup/setup.sh"), "{words:?}");
    let root = folders.root().canonicalize().unwrap();
    let after = |name: &str| {
        let at = words.iter().position(|word| word == name).unwrap();
        words[at + 1].clone()
    };
    assert_eq!(Path::new(&after("--target-dir")), root);
    let features = after("--features");
    assert_eq!(features.contains("fastembed"), cfg!(feature = "fastembed"));
    assert_eq!(features.contains("bundled-duckdb"), cfg!(feature = "bundled-duckdb"));
    assert!(reply.mcp_server_config_example.contains("\"mcpServers\""));
    assert!(reply.next_steps[0].starts_with("1. Run: "), "{:?}", reply.next_steps);
    assert!(reply.next_steps[1].starts_with("2. "), "{:?}", reply.next_steps);
    assert!(reply.notes[0].contains("can take several minutes"), "{:?}", reply.notes);
    assert!(reply.blocked_reason.is_none() && reply.output_tail.is_none());
    assert!(!program.parent().unwrap().join("../../mcp-setup/setup.sh.ran").exists());
}

#[test]
fn preparing_takes_a_folder_and_a_client() {
    let folders = Folders::new();
    let program = checkout(&folders, "");
    let around = around(&folders, &program, false);
    let odd = folders.root().join("it's $(odd)");
    fs::create_dir(&odd).unwrap();
    let query = PrepareQuery {
        target_dir: Some("it's $(odd)".to_owned()),
        client: Some("Codex".to_owned()),
        ..PrepareQuery::default()
    };
    let reply = ask(&query, &around);
    let words = shlex::split(&reply.recommended_command).unwrap();
    assert!(words.contains(&odd.canonicalize().unwrap().to_string_lossy().into_owned()));
    assert!(reply.mcp_server_config_example.contains("[mcp_servers.sai]"));
    assert!(reply.config_file.ends_with(".codex/config.toml"));
    for (target, client, scope) in [
        (Some("nowhere"), None, None),
        (Some("/"), None, None),
        (Some("../home"), None, None),
        (Some("a\0b"), None, None),
        (None, Some("no-such-client"), None),
        (None, None, Some("planet")),
        (None, Some("windsurf"), Some("project")),
    ] {
        let query = PrepareQuery {
            target_dir: target.map(str::to_owned),
            client: client.map(str::to_owned),
            scope: scope.map(str::to_owned),
            execute: true,
        };
        let turn = crate::turn::Turn::new(ANY_TIME);
        let error = prepare(&query, &around, &turn).unwrap_err();
        assert_eq!(error.kind(), crate::error::ErrorKind::Usage, "{error}");
    }
}

#[test]
fn a_run_is_blocked_without_leave_or_without_a_checkout() {
    let folders = Folders::new();
    let program = checkout(&folders, "touch \"$0.ran\"\n");
    let query = PrepareQuery { execute: true, ..PrepareQuery::default() };
    let reply = ask(&query, &around(&folders, &program, false));
    assert_eq!(reply.status, PrepareStatus::Blocked);
    assert_eq!(reply.blocked_reason.unwrap(), "Server not started with --allow-setup");
    let script = program.parent().unwrap().join("../../mcp-setup/setup.sh.ran");
    assert!(!script.exists());

    let prebuilt = folders.folder.path().join("bin/sai");
    let reply = ask(&query, &around(&folders, &prebuilt, true));
    assert_eq!(reply.status, PrepareStatus::Blocked);
    assert!(reply.blocked_reason.unwrap().contains("needs a source checkout"));
    assert!(reply.recommended_command.contains("install.sh"), "{}", reply.recommended_command);
    assert!(reply.recommended_command.contains("--target-dir"));
    assert!(reply.recommended_command.contains("--features"));
}

#[cfg(unix)]
#[test]
fn a_run_reports_its_end_and_the_end_of_its_output() {
    let folders = Folders::new();
    let script = "printf 'x%.0s' $(seq 9000); echo; echo \"$@\"; printf '\\033[31mred' >&2; \
                  [ -t 0 ] && echo terminal; exit \"${#*}\" 2>/dev/null; exit 3\n";
    let program = checkout(&folders, script);
    let query = PrepareQuery { execute: true, ..PrepareQuery::default() };
    let reply = ask(&query, &around(&folders, &program, true));
    assert_eq!(reply.status, PrepareStatus::Failed, "{reply:?}");
    let tail = reply.output_tail.unwrap();
    assert!(tail.contains("--target-dir") && tail.contains("--yes"), "{tail}");
    assert!(tail.contains("\\u{1b}[31mred") && tail.len() < 5000, "{tail}");
    assert!(!tail.contains("terminal"), "{tail}");
    assert!(reply.next_steps[0].contains("output_tail"));

    let program = checkout(&folders, "echo done\n");
    let reply = ask(&query, &around(&folders, &program, true));
    assert_eq!(reply.status, PrepareStatus::Executed);
    assert_eq!(reply.exit_code, Some(0));
    assert_eq!(reply.output_tail.as_deref(), Some("done\n"));
}

#[cfg(unix)]
#[test]
fn a_run_that_goes_on_too_long_is_ended_with_all_that_it_started() {
    let folders = Folders::new();
    let program = checkout(&folders, "sleep 600 & echo started; wait\n");
    let query = PrepareQuery { execute: true, ..PrepareQuery::default() };
    let turn = crate::turn::Turn::new(Some(std::time::Duration::from_millis(300)));
    let reply = prepare(&query, &around(&folders, &program, true), &turn).unwrap();
    assert_eq!(reply.status, PrepareStatus::Failed);
    assert_eq!(reply.exit_code, None);
    // The pipe ended, so that nothing that was started holds it any more.
    assert_eq!(reply.output_tail.as_deref(), Some("started\n"));
    assert!(reply.notes.iter().any(|note| note.contains("was ended")), "{:?}", reply.notes);
}
