//! How is SAI started by a client, and which fields of an entry say so?

use std::path::PathBuf;

use serde_json::{Value, json};

use super::clients::{Client, Folder, Scope};

/// How a client shall start SAI.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Launch {
    /// The project, absolute.
    pub root: PathBuf,
    /// The program where a file is for this machine: an absolute path, or a name on the `PATH`.
    pub program: String,
    /// The program where a file may be shared with other machines.
    pub shared_program: String,
    /// Whether the server may change the index.
    pub allow_write: bool,
    /// Whether the server may run the set-up script.
    pub allow_setup: bool,
}

impl Launch {
    /// The program and its arguments for a file of `client` in `scope`.
    pub fn command(&self, client: &Client, scope: Scope) -> (String, Vec<String>) {
        let shared = client.folder.is_shared(scope);
        let program = if shared { &self.shared_program } else { &self.program };
        let mut args = vec!["mcp".to_owned()];
        match client.folder {
            Folder::Told => {}
            Folder::Variable(name) if scope == Scope::Project => {
                args.extend(["--root".to_owned(), name.to_owned()]);
            }
            Folder::Variable(_) | Folder::Unknown => {
                args.extend(["--root".to_owned(), self.root.to_string_lossy().into_owned()]);
            }
        }
        if self.allow_write {
            args.push("--allow-write".to_owned());
        }
        if self.allow_setup {
            args.push("--allow-setup".to_owned());
        }
        (program.clone(), args)
    }
}

/// One field of an entry.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Field {
    pub(super) key: &'static str,
    pub(super) value: Value,
    pub(super) when: When,
}

/// When a field is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum When {
    /// Always: it is what starts SAI.
    Always,
    /// When the entry lacks it, since the client needs it.
    Missing,
    /// When the entry is new; what a user then makes of it stays.
    New,
}

/// What an entry looks like.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Shape {
    /// `command` and `args`.
    Plain,
    /// The same with `type: stdio`.
    Stdio,
    /// The same with `type: stdio` and every tool allowed.
    Copilot,
    /// The same with `disabled: false`, as the client writes it.
    Cline,
    /// The same with `transport: stdio`.
    Kimi,
    /// The same with `source: custom`.
    Zed,
    /// One list for the program and its arguments, with `type: local`.
    OneList,
    /// `cmd`, `args` and `envs`.
    Goose,
}

impl Shape {
    pub(super) fn fields(self, program: String, args: Vec<String>) -> Vec<Field> {
        let field = |key, value, when| Field { key, value, when };
        let start = [
            field("command", json!(program), When::Always),
            field("args", json!(args), When::Always),
        ];
        match self {
            Self::Plain => start.to_vec(),
            Self::Stdio => [&[field("type", json!("stdio"), When::Missing)], &start[..]].concat(),
            Self::Copilot => [
                &[field("type", json!("stdio"), When::Missing)],
                &start[..],
                &[field("tools", json!(["*"]), When::New)],
            ]
            .concat(),
            Self::Cline => [&start[..], &[field("disabled", json!(false), When::New)]].concat(),
            Self::Kimi => {
                [&[field("transport", json!("stdio"), When::Missing)], &start[..]].concat()
            }
            Self::Zed => [
                &[field("source", json!("custom"), When::Missing)],
                &start[..],
                &[field("env", json!({}), When::New)],
            ]
            .concat(),
            Self::OneList => {
                let list: Vec<String> = std::iter::once(program).chain(args).collect();
                vec![
                    field("type", json!("local"), When::Missing),
                    field("command", json!(list), When::Always),
                ]
            }
            Self::Goose => vec![
                field("name", json!("sai"), When::Missing),
                field("type", json!("stdio"), When::Missing),
                field("enabled", json!(true), When::New),
                field("cmd", json!(program), When::Always),
                field("args", json!(args), When::Always),
                field("envs", json!({}), When::New),
                field("timeout", json!(300), When::New),
            ],
        }
    }
}
