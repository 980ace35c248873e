//! `sai setup`: tells clients of SAI, and puts skills and a note for agents into the project.

use clap::builder::PossibleValuesParser;
use clap::{Args, ValueEnum};
use serde::Serialize;
use serde_json::json;

use super::print::{self, BAD, DIM, GOOD, PATH, PLAIN, Side};
use super::{DONE, Ended, Session};
use crate::error::{Error, Result};
use crate::setup::{self, CLIENTS, Change, Client, Launch, Machine, Scope, State, Wanted};

/// What can be set up besides clients.
const SKILLS: &str = "skills";
const AGENTS_MD: &str = "agents-md";

/// Tell a client of SAI, or give agents skills for it
///
/// Shows what would change; with --write the change is merged into the file, whose old text stays
/// beside it. `skills` writes the skills `sai` and `sai-deslop` and the subagent `dedup-auditor` into
/// the project, `agents-md` a short block into AGENTS.md. docs/clients.md shows every client.
#[derive(Debug, Args)]
pub(super) struct SetupArgs {
    /// A client, `skills`, or `agents-md`
    #[arg(value_name = "WHAT", value_parser = whats(), hide_possible_values = true)]
    #[arg(required_unless_present = "list")]
    what: Option<String>,

    /// List the clients, their files, and which of them know of SAI
    #[arg(long, conflicts_with_all = ["what", "scope", "write", "remove"])]
    list: bool,

    /// The project's file or the user's [default: the project's, where the client reads one]
    #[arg(long, value_name = "SCOPE")]
    scope: Option<ScopeArg>,

    /// Write the change
    #[arg(long)]
    write: bool,

    /// Take SAI out again
    #[arg(long, conflicts_with_all = ["allow_write", "allow_setup"])]
    remove: bool,

    /// Let the server bring the index up to date
    #[arg(long)]
    allow_write: bool,

    /// Let the server run the set-up script
    #[arg(long)]
    allow_setup: bool,

    /// Start SAI by this name or path [default: this program]
    #[arg(long, value_name = "COMMAND")]
    command: Option<String>,
}

impl SetupArgs {
    /// Whether something is given that only a client's entry has.
    fn is_for_a_client(&self) -> bool {
        let shapes_entry = self.allow_write || self.allow_setup || self.command.is_some();
        shapes_entry || self.scope.is_some()
    }
}

fn not_for_clients(what: &str) -> Ended {
    Error::usage(format!("`{what}` goes into the project and starts nothing"))
        .hint("leave out --scope, --command, --allow-write and --allow-setup")
        .into()
}

#[derive(Clone, Copy, Debug, ValueEnum)]
enum ScopeArg {
    Project,
    User,
}

impl From<ScopeArg> for Scope {
    fn from(scope: ScopeArg) -> Self {
        match scope {
            ScopeArg::Project => Self::Project,
            ScopeArg::User => Self::User,
        }
    }
}

/// Every name that is taken, so that the shell completes them and a wrong one is answered with the
/// nearest.
fn whats() -> PossibleValuesParser {
    let clients = CLIENTS
        .iter()
        .flat_map(|client| std::iter::once(client.name).chain(client.aliases.iter().copied()));
    PossibleValuesParser::new(clients.chain([SKILLS, AGENTS_MD]))
}

pub(super) fn run(args: &SetupArgs, session: &Session) -> Result<u8, Ended> {
    let Some(what) = &args.what else { return list(session) };
    let root = session.root()?;
    let wanted = if args.remove { Wanted::Absent } else { Wanted::Present };
    match what.as_str() {
        SKILLS | AGENTS_MD if args.is_for_a_client() => Err(not_for_clients(what)),
        SKILLS => show(args, session, &setup::skills(&root, wanted)?, None),
        AGENTS_MD => show(args, session, &[setup::agents_md(&root, wanted)?], None),
        name => {
            let client = setup::find(name)?;
            let scope = args.scope.map_or(client.default_scope(), Scope::from);
            let launch = launch(args, session)?;
            let machine = Machine::this()?;
            let change = setup::client_change(client, scope, wanted, &launch, &machine)?;
            show(args, session, &[change], Some((client, scope)))
        }
    }
}

fn launch(args: &SetupArgs, session: &Session) -> Result<Launch> {
    let program = match &args.command {
        Some(command) => command.clone(),
        None => this_program()?,
    };
    let on_path = args.command.is_none() && is_on_path(setup::SERVER_NAME);
    Ok(Launch {
        root: session.root()?,
        shared_program: if on_path { setup::SERVER_NAME.to_owned() } else { program.clone() },
        program,
        allow_write: args.allow_write,
        allow_setup: args.allow_setup,
    })
}

fn this_program() -> Result<String> {
    let program = std::env::current_exe().map_err(|e| {
        Error::environment("the path of this program is unknown")
            .hint("name it: `--command /path/to/sai`")
            .because(e)
    })?;
    Ok(program.to_string_lossy().into_owned())
}

/// Whether a shell finds `name`.
fn is_on_path(name: &str) -> bool {
    let file = format!("{name}{}", std::env::consts::EXE_SUFFIX);
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder| folder.is_absolute() && folder.join(&file).is_file())
}

/// What became of one file.
#[derive(Serialize)]
struct Outcome<'a> {
    file: &'a std::path::Path,
    changed: bool,
    written: bool,
    backup: Option<std::path::PathBuf>,
    diff: String,
}

/// Shows the changes and writes them when asked.
fn show(
    args: &SetupArgs,
    session: &Session,
    changes: &[Change],
    client: Option<(&Client, Scope)>,
) -> Result<u8, Ended> {
    let mut outcomes = Vec::new();
    for change in changes {
        let diff = change.diff();
        if !session.globals.json {
            print::out(&painted(&diff, session))?;
        }
        let written = args.write && !change.is_nothing();
        let backup = if written { change.write()?.backup } else { None };
        if written && !session.globals.json {
            tell_written(change, backup.as_deref());
        }
        let changed = !change.is_nothing();
        outcomes.push(Outcome { file: &change.file, changed, written, backup, diff });
    }
    let notes = client.map_or(&[][..], |(client, _)| client.notes);
    if session.globals.json {
        let scope = client.map(|(_, scope)| scope);
        print::json(&json!({ "files": outcomes, "scope": scope, "notes": notes }))?;
    } else {
        close(args, &outcomes, client);
    }
    Ok(DONE)
}

fn tell_written(change: &Change, backup: Option<&std::path::Path>) {
    let file = change.file.display();
    print::tell(&match (backup, &change.after) {
        (_, None) => format!("removed {file}"),
        (Some(backup), _) => format!("wrote {file}; the old text is in {}", backup.display()),
        (None, _) => format!("wrote {file}"),
    });
}

/// Says what is left to do.
fn close(args: &SetupArgs, outcomes: &[Outcome<'_>], client: Option<(&Client, Scope)>) {
    if outcomes.iter().all(|outcome| !outcome.changed) {
        let files: Vec<String> =
            outcomes.iter().map(|outcome| outcome.file.display().to_string()).collect();
        print::tell(&format!("nothing to change in {}", files.join(", ")));
    } else if !args.write {
        print::tell("nothing was written; the same command with --write does it");
    }
    if let Some((client, _)) = client.filter(|_| !args.remove) {
        for note in client.notes {
            print::tell(&format!("note: {note}"));
        }
    }
}

/// A diff in colours, safe for a terminal.
fn painted(diff: &str, session: &Session) -> String {
    let mut text = String::new();
    for line in diff.lines() {
        let style = match line.as_bytes() {
            [b'-', b'-', b'-', ..] | [b'+', b'+', b'+', ..] => PATH,
            [b'+', ..] => GOOD,
            [b'-', ..] => BAD,
            [b'@', ..] => DIM,
            _ => PLAIN,
        };
        text.push_str(&session.look.paint(style, &print::safe(line)));
        text.push('\n');
    }
    text
}

/// One row a client and scope.
fn list(session: &Session) -> Result<u8, Ended> {
    let (root, machine) = (session.root()?, Machine::this()?);
    let mut rows = Vec::new();
    let mut replies = Vec::new();
    for client in CLIENTS {
        let places = setup::places(client, &root, &machine);
        for place in &places {
            let state = match place.state {
                State::Present => "set up",
                State::Absent => "",
                State::Unreadable => "unreadable",
            };
            let file = place.file.strip_prefix(&root).unwrap_or(&place.file);
            rows.push(vec![
                client.name.to_owned(),
                place.scope.name().to_owned(),
                state.to_owned(),
                file.display().to_string(),
            ]);
        }
        replies.push(json!({
            "name": client.name, "title": client.title, "aliases": client.aliases, "places": places,
        }));
    }
    if session.globals.json {
        print::json(&json!({ "root": root, "clients": replies }))?;
    } else {
        let titles = [
            ("client", Side::Left),
            ("scope", Side::Left),
            ("state", Side::Left),
            ("file", Side::Left),
        ];
        print::out(&print::table(&titles, &rows, session.look))?;
        print::tell("`sai setup CLIENT` shows what tells a client of SAI");
    }
    Ok(DONE)
}
