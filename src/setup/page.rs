//! Every client as a page of documentation.

use std::fmt::Write;
use std::path::{Path, PathBuf};

use super::clients::{CLIENTS, Client, Format, Machine, Platform, Scope};
use super::launch::Launch;
use super::snippet;

const HEAD: &str = "\
# Clients

<!-- Made from the table of clients; `SAI_BLESS=1 cargo test setup` writes it anew. -->

`sai setup CLIENT` shows what tells a client of SAI, and `sai setup CLIENT --write` merges it into the client's file: nothing else in
the file changes, comments and line ends included, and the old text stays beside it as `NAME.bak`. A second run changes nothing;
`--remove` takes the entry out again. `sai setup --list` says which clients know of SAI here.

- `--scope project` writes the file of the project, `--scope user` that of the user. Without it: the project where the client reads
  such a file.
- `--allow-write` lets the server bring the index up to date (`sai_sync`, `sai_refresh`, `sai_index_repo`); `--allow-setup` lets it run the
  set-up script.
- `--command NAME` starts SAI by another name or path than the program that runs the command.

A client that tells SAI the project's folder, by a variable or by starting it there, gets an entry without a path of this machine; when
`sai` is on the `PATH` the file can be committed and works for everybody. The others get the absolute path of the program and of the
project: keep such a file out of version control, or let everybody run `sai setup`.

A link is written through. In a project it must not lead out of the project. A file that cannot be read, or that cannot be changed
without losing something, is left alone, with the line where it fails and what to add by hand.

Below, the program is `/path/to/sai` and the project `/path/to/project`; user files are shown for Linux, with those of macOS and Windows
where they lie elsewhere.
";

/// The page of clients in Markdown.
pub fn page() -> String {
    let mut page = HEAD.to_owned();
    put(&mut page, format_args!("\n| client | name | files |\n| --- | --- | --- |\n"));
    for client in CLIENTS {
        let files: Vec<String> = files(client).into_iter().map(|(_, file)| file).collect();
        let (title, name) = (client.title, client.name);
        put(&mut page, format_args!("| {title} | `{name}` | {} |\n", files.join("; ")));
    }
    for client in CLIENTS {
        section(&mut page, client);
    }
    page
}

fn section(page: &mut String, client: &Client) {
    put(page, format_args!("\n## {}\n\n`sai setup {} --write`", client.title, client.name));
    let aliases: Vec<String> = client.aliases.iter().map(|name| format!("`{name}`")).collect();
    if !aliases.is_empty() {
        put(page, format_args!(" (also {})", aliases.join(", ")));
    }
    put(page, format_args!("\n\n"));
    let language = match client.format {
        Format::Json => "json",
        Format::Toml => "toml",
        Format::Yaml => "yaml",
    };
    let mut last = String::new();
    for (scope, file) in files(client) {
        put(page, format_args!("{}: {file}\n\n", title(scope)));
        let snippet = snippet(client, scope, &example());
        if snippet != last {
            put(page, format_args!("```{language}\n{snippet}```\n\n"));
        }
        last = snippet;
    }
    for note in client.notes {
        put(page, format_args!("- {note}\n"));
    }
    page.truncate(page.trim_end().len());
    page.push('\n');
}

fn title(scope: Scope) -> &'static str {
    match scope {
        Scope::Project => "Project",
        Scope::User => "User",
    }
}

/// The files of a client by scope, as a reader sees them.
fn files(client: &Client) -> Vec<(Scope, String)> {
    let mut files = Vec::new();
    if !client.project.is_empty() {
        let names: Vec<String> = client.project.iter().map(|name| format!("`{name}`")).collect();
        files.push((Scope::Project, names.join(" or ")));
    }
    let of = |platform| {
        let path =
            client.file(Scope::User, Path::new("/path/to/project"), &machine(platform)).ok()?;
        let path = path.to_string_lossy().replace('\\', "/");
        Some(path.replacen("/home/AppData/Roaming", "%APPDATA%", 1).replacen("/home", "~", 1))
    };
    let Some(linux) = of(Platform::Linux) else { return files };
    let mut text = format!("`{linux}`");
    for (platform, name) in [(Platform::Mac, "macOS"), (Platform::Windows, "Windows")] {
        if let Some(other) = of(platform).filter(|other| *other != linux) {
            put(&mut text, format_args!(", {name} `{other}`"));
        }
    }
    if let Some(variable) = client.moved_by() {
        put(&mut text, format_args!(", or in `${variable}`"));
    }
    files.push((Scope::User, text));
    files
}

fn machine(platform: Platform) -> Machine {
    let home = |name: &str| (name == "HOME").then(|| "/home".into());
    Machine::new(platform, &home).expect("a home is named")
}

fn example() -> Launch {
    Launch {
        root: PathBuf::from("/path/to/project"),
        program: "/path/to/sai".to_owned(),
        shared_program: "sai".to_owned(),
        allow_write: false,
        allow_setup: false,
    }
}

fn put(page: &mut String, text: std::fmt::Arguments<'_>) {
    page.write_fmt(text).expect("a String takes any text");
}
