//! Which clients are there, which files do they read, and what do they expect in them? One row a
//! client.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

use serde::Serialize;

use super::launch::{Field, Launch, Shape};
use crate::error::{Error, Result};
use crate::types::unknown;

/// A program that starts MCP servers.
#[derive(Debug)]
pub struct Client {
    /// What it is called on the command line.
    pub name: &'static str,
    /// What it calls itself.
    pub title: &'static str,
    /// Other names that are taken for it.
    pub aliases: &'static [&'static str],
    /// Files of a project, relative to its root: the first that exists is used, else the first.
    /// Empty when the client reads none.
    pub project: &'static [&'static str],
    /// The user's file; `None` when the client reads none.
    user: Option<UserFile>,
    pub(super) format: Format,
    /// The keys that lead to the servers.
    pub(super) keys: &'static [&'static str],
    /// The keys that newer versions of the client use, where a file has them already.
    pub(super) newer_keys: Option<&'static [&'static str]>,
    pub(super) shape: Shape,
    pub(super) folder: Folder,
    /// What a person should know besides.
    pub notes: &'static [&'static str],
}

/// How a file is written.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Format {
    /// With comments or without.
    Json,
    Toml,
    Yaml,
}

/// For whom a file speaks.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Serialize)]
#[serde(rename_all = "lowercase")]
pub enum Scope {
    /// Whoever works on this project.
    Project,
    /// This user, in every project.
    User,
}

impl Scope {
    /// As it is written on the command line.
    pub fn name(self) -> &'static str {
        match self {
            Self::Project => "project",
            Self::User => "user",
        }
    }

    /// The scope of that name.
    ///
    /// # Errors
    /// Usage: there is none.
    pub fn named(name: &str) -> Result<Self> {
        let both = [Self::Project, Self::User];
        let found = both.into_iter().find(|scope| scope.name() == name.trim().to_lowercase());
        found.ok_or_else(|| unknown("scope", name, both.iter().map(|scope| scope.name())))
    }
}

/// How SAI learns the project's folder.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Folder {
    /// The client writes it in place of this variable, in files of a project.
    Variable(&'static str),
    /// The client starts the server in it or names it in the environment: SAI finds it.
    Told,
    /// Nothing is known: the entry names it.
    Unknown,
}

impl Folder {
    /// Whether a file in `scope` names nothing of one machine but the program.
    pub(super) fn is_shared(self, scope: Scope) -> bool {
        scope == Scope::Project && self != Self::Unknown
    }
}

/// Where a user's file lies, by platform.
#[derive(Clone, Copy, Debug)]
struct UserFile {
    linux: (Base, &'static str),
    mac: (Base, &'static str),
    windows: (Base, &'static str),
    /// A variable that names the folder instead, and the file in it.
    moved_by: Option<(&'static str, &'static str)>,
}

/// A folder that differs by user and machine.
#[derive(Clone, Copy, Debug)]
enum Base {
    Home,
    /// `XDG_CONFIG_HOME`, else `~/.config`.
    Config,
    /// `APPDATA`, else `~/AppData/Roaming`.
    AppData,
}

/// The same place under the home folder everywhere.
#[expect(clippy::unnecessary_wraps, reason = "a row of the table reads better")]
const fn home(file: &'static str) -> Option<UserFile> {
    let place = (Base::Home, file);
    Some(UserFile { linux: place, mac: place, windows: place, moved_by: None })
}

#[expect(clippy::unnecessary_wraps, reason = "a row of the table reads better")]
const fn home_or(
    variable: &'static str,
    inside: &'static str,
    file: &'static str,
) -> Option<UserFile> {
    let place = (Base::Home, file);
    let moved_by = Some((variable, inside));
    Some(UserFile { linux: place, mac: place, windows: place, moved_by })
}

/// Under `~/.config`, under a folder of the home on macOS, under `%APPDATA%`.
#[expect(clippy::unnecessary_wraps, reason = "a row of the table reads better")]
const fn config(linux: &'static str, mac: &'static str, windows: &'static str) -> Option<UserFile> {
    Some(UserFile {
        linux: (Base::Config, linux),
        mac: (Base::Home, mac),
        windows: (Base::AppData, windows),
        moved_by: None,
    })
}

/// The systems whose files lie in different places.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Platform {
    /// Linux and other Unix systems.
    Linux,
    /// macOS.
    Mac,
    /// Windows.
    Windows,
}

/// Where a user's files lie on this machine.
#[derive(Clone, Debug)]
pub struct Machine {
    pub(super) platform: Platform,
    /// The home folder.
    pub home: PathBuf,
    config: PathBuf,
    app_data: PathBuf,
    moved: Vec<(&'static str, PathBuf)>,
}

impl Machine {
    /// This machine, as the environment tells; `env` looks up a variable.
    ///
    /// # Errors
    /// Environment: there is no home folder.
    pub fn new(platform: Platform, env: &dyn Fn(&str) -> Option<OsString>) -> Result<Self> {
        let set = |name: &str| env(name).filter(|value| !value.is_empty()).map(PathBuf::from);
        let home = ["HOME", "USERPROFILE"].iter().find_map(|name| set(name));
        let home = home.or_else(std::env::home_dir).ok_or_else(|| {
            Error::environment("the home folder is unknown").hint("set HOME to your home folder")
        })?;
        let absolute = |name: &str| set(name).filter(|path| path.is_absolute());
        let config = absolute("XDG_CONFIG_HOME").unwrap_or_else(|| home.join(".config"));
        let roaming = home.join("AppData").join("Roaming");
        let app_data = set("APPDATA").unwrap_or(roaming);
        let variables = CLIENTS.iter().filter_map(|client| client.user?.moved_by);
        let moved = variables.filter_map(|(name, _)| Some((name, set(name)?))).collect();
        Ok(Self { platform, home, config, app_data, moved })
    }

    /// The machine that this process runs on.
    ///
    /// # Errors
    /// As [`Machine::new`].
    pub fn this() -> Result<Self> {
        let platform = if cfg!(windows) {
            Platform::Windows
        } else if cfg!(target_os = "macos") {
            Platform::Mac
        } else {
            Platform::Linux
        };
        Self::new(platform, &|name| std::env::var_os(name))
    }

    fn path(&self, file: &UserFile) -> PathBuf {
        if let Some((variable, inside)) = file.moved_by
            && let Some((_, folder)) = self.moved.iter().find(|(name, _)| *name == variable)
        {
            return folder.join(inside);
        }
        let (base, inside) = match self.platform {
            Platform::Linux => file.linux,
            Platform::Mac => file.mac,
            Platform::Windows => file.windows,
        };
        let base = match base {
            Base::Home => &self.home,
            Base::Config => &self.config,
            Base::AppData => &self.app_data,
        };
        base.join(inside)
    }
}

impl Client {
    /// Its file for `scope` in the project at `root`.
    ///
    /// # Errors
    /// Usage: it reads none for that scope.
    pub fn file(&self, scope: Scope, root: &Path, machine: &Machine) -> Result<PathBuf> {
        let file = match scope {
            Scope::Project => {
                let files = self.project.iter().map(|file| root.join(file));
                files.clone().find(|file| file.exists()).or_else(|| files.clone().next())
            }
            Scope::User => self.user.as_ref().map(|file| {
                let file = machine.path(file);
                let commented = file.with_extension("jsonc");
                let is_there = self.format == Format::Json && !file.exists() && commented.exists();
                if is_there { commented } else { file }
            }),
        };
        file.ok_or_else(|| {
            let other = self.default_scope().name();
            Error::usage(format!("{} reads no file of a {}", self.title, scope.name()))
                .hint(format!("`sai setup {} --scope {other}`", self.name))
        })
    }

    /// The project where the client reads a file of it, else the user.
    pub fn default_scope(&self) -> Scope {
        if self.project.is_empty() { Scope::User } else { Scope::Project }
    }

    /// Whether the project's file can be shared with whoever works on the project.
    pub fn is_shared(&self, scope: Scope) -> bool {
        self.folder.is_shared(scope)
    }

    /// The variable of the environment that names another folder for the user's file.
    pub(super) fn moved_by(&self) -> Option<&'static str> {
        self.user.and_then(|file| file.moved_by).map(|(variable, _)| variable)
    }

    pub(super) fn fields(&self, launch: &Launch, scope: Scope) -> Vec<Field> {
        let (program, args) = launch.command(self, scope);
        self.shape.fields(program, args)
    }
}

/// The client of that name or alias.
///
/// # Errors
/// Usage, with the known ones: there is none.
pub fn find(name: &str) -> Result<&'static Client> {
    let wanted = name.trim().to_lowercase().replace(['_', ' '], "-");
    let found = CLIENTS.iter().find(|c| c.name == wanted || c.aliases.contains(&wanted.as_str()));
    found.ok_or_else(|| unknown("client", name, CLIENTS.iter().map(|client| client.name)))
}

/// What most rows share.
const ROW: Client = Client {
    name: "",
    title: "",
    aliases: &[],
    project: &[],
    user: None,
    format: Format::Json,
    keys: &["mcpServers"],
    newer_keys: None,
    shape: Shape::Plain,
    folder: Folder::Unknown,
    notes: &[],
};

const WORKSPACE: Folder = Folder::Variable("${workspaceFolder}");

const OPEN_ONCE: &str = "Restart it, or reload its servers, after the file has changed.";

/// Every client that SAI knows, in the order of their names.
pub const CLIENTS: &[Client] = &[
    Client {
        name: "antigravity",
        title: "Antigravity",
        user: home(".gemini/config/mcp_config.json"),
        notes: &[OPEN_ONCE],
        ..ROW
    },
    Client {
        name: "claude-code",
        title: "Claude Code",
        aliases: &["claude", "cc"],
        project: &[".mcp.json"],
        user: home(".claude.json"),
        folder: Folder::Told,
        notes: &[
            "It tells the server its folder (`CLAUDE_PROJECT_DIR`), so the entry names none; a \
             `cwd` key would be ignored.",
            "It asks once whether to trust a server of a project's file; approve it with `/mcp`.",
            "It writes `~/.claude.json` itself while it runs: for the user's scope close it first, \
             or use `claude mcp add --scope user sai -- sai mcp`.",
        ],
        ..ROW
    },
    Client {
        name: "claude-desktop",
        title: "Claude Desktop",
        aliases: &["claude-app"],
        user: config(
            "Claude/claude_desktop_config.json",
            "Library/Application Support/Claude/claude_desktop_config.json",
            "Claude/claude_desktop_config.json",
        ),
        notes: &["It serves the one folder that the entry names.", OPEN_ONCE],
        ..ROW
    },
    Client {
        name: "cline",
        title: "Cline in VS Code",
        aliases: &["cline-vscode"],
        user: config(
            "Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
            "Library/Application Support/Code/User/globalStorage/saoudrizwan.claude-dev/settings/\
             cline_mcp_settings.json",
            "Code/User/globalStorage/saoudrizwan.claude-dev/settings/cline_mcp_settings.json",
        ),
        shape: Shape::Cline,
        notes: &["It serves the one folder that the entry names."],
        ..ROW
    },
    Client {
        name: "cline-cli",
        title: "Cline CLI",
        user: home_or(
            "CLINE_DIR",
            "data/settings/cline_mcp_settings.json",
            ".cline/data/settings/cline_mcp_settings.json",
        ),
        shape: Shape::Cline,
        notes: &["It serves the one folder that the entry names."],
        ..ROW
    },
    Client {
        name: "codex",
        title: "Codex",
        aliases: &["codex-cli", "openai-codex"],
        project: &[".codex/config.toml"],
        user: home_or("CODEX_HOME", "config.toml", ".codex/config.toml"),
        format: Format::Toml,
        keys: &["mcp_servers"],
        notes: &[
            "It reads a project's file only where the project is trusted.",
            "It refuses keys that it does not know, so the entry holds `command` and `args` alone.",
        ],
        ..ROW
    },
    Client {
        name: "continue",
        title: "Continue",
        aliases: &["continue-dev"],
        project: &[".continue/mcpServers/sai.json"],
        user: home(".continue/mcpServers/sai.json"),
        notes: &[
            "SAI has a file of its own in `mcpServers`, which Continue reads beside `config.yaml`.",
        ],
        ..ROW
    },
    Client {
        name: "copilot-cli",
        title: "GitHub Copilot CLI",
        aliases: &["copilot", "github-copilot-cli"],
        project: &[".mcp.json", ".github/mcp.json"],
        user: home(".copilot/mcp-config.json"),
        shape: Shape::Copilot,
        folder: Folder::Told,
        notes: &[
            "It shares `.mcp.json` with Claude Code and starts the server in the folder that it \
             was started in.",
        ],
        ..ROW
    },
    Client {
        name: "cursor",
        title: "Cursor",
        project: &[".cursor/mcp.json"],
        user: home(".cursor/mcp.json"),
        folder: WORKSPACE,
        notes: &["Turn the server on under Settings, MCP; the user's file serves one folder."],
        ..ROW
    },
    Client {
        name: "gemini",
        title: "Gemini CLI",
        aliases: &["gemini-cli"],
        project: &[".gemini/settings.json"],
        user: home(".gemini/settings.json"),
        notes: &["It asks before each call unless a user adds `\"trust\": true` to the entry."],
        ..ROW
    },
    Client {
        name: "goose",
        title: "Goose",
        aliases: &["block-goose"],
        user: config(
            "goose/config.yaml",
            ".config/goose/config.yaml",
            "Block/goose/config/config.yaml",
        ),
        format: Format::Yaml,
        keys: &["extensions"],
        shape: Shape::Goose,
        notes: &[
            "It serves the one folder that the entry names.",
            "A file that does not list its extensions in lines of their own is left alone: SAI \
             prints what to add.",
        ],
        ..ROW
    },
    Client {
        name: "grok",
        title: "Grok Build",
        aliases: &["grok-build"],
        project: &[".grok/config.toml"],
        user: home_or("GROK_HOME", "config.toml", ".grok/config.toml"),
        format: Format::Toml,
        keys: &["mcp_servers"],
        ..ROW
    },
    Client {
        name: "junie",
        title: "Junie (JetBrains)",
        aliases: &["jetbrains"],
        project: &[".junie/mcp/mcp.json"],
        user: home(".junie/mcp/mcp.json"),
        notes: &["It asks before each call until the action is allowed in its settings."],
        ..ROW
    },
    Client {
        name: "kilo",
        title: "Kilo Code",
        aliases: &["kilo-code", "kilocode"],
        project: &[
            "kilo.json",
            "kilo.jsonc",
            ".kilo/kilo.jsonc",
            ".kilo/kilo.json",
            ".kilocode/kilo.jsonc",
            ".kilocode/kilo.json",
        ],
        user: Some(UserFile {
            linux: (Base::Config, "kilo/kilo.json"),
            mac: (Base::Config, "kilo/kilo.json"),
            windows: (Base::Config, "kilo/kilo.json"),
            moved_by: None,
        }),
        keys: &["mcp"],
        shape: Shape::OneList,
        ..ROW
    },
    Client {
        name: "kimi",
        title: "Kimi Code",
        aliases: &["kimi-code"],
        project: &[".kimi-code/mcp.json"],
        user: home_or("KIMI_CODE_HOME", "mcp.json", ".kimi-code/mcp.json"),
        shape: Shape::Kimi,
        ..ROW
    },
    Client {
        name: "kiro",
        title: "Kiro",
        aliases: &["kiro-cli"],
        project: &[".kiro/settings/mcp.json"],
        user: home(".kiro/settings/mcp.json"),
        notes: &["The IDE and the command line read the same files."],
        ..ROW
    },
    Client {
        name: "mastra",
        title: "Mastra Code",
        aliases: &["mastracode", "mastra-code"],
        project: &[".mastracode/mcp.json"],
        user: home(".mastracode/mcp.json"),
        ..ROW
    },
    Client {
        name: "opencode",
        title: "OpenCode",
        aliases: &["open-code"],
        project: &[
            "opencode.json",
            "opencode.jsonc",
            ".opencode/opencode.jsonc",
            ".opencode/opencode.json",
        ],
        user: Some(UserFile {
            linux: (Base::Home, ".config/opencode/opencode.json"),
            mac: (Base::Home, ".config/opencode/opencode.json"),
            windows: (Base::Home, ".config/opencode/opencode.json"),
            moved_by: None,
        }),
        keys: &["mcp"],
        newer_keys: Some(&["mcp", "servers"]),
        shape: Shape::OneList,
        notes: &[
            "A file that has `mcp.servers` (version 2) gets its entry there, else under `mcp`.",
        ],
        ..ROW
    },
    Client {
        name: "pi",
        title: "Pi",
        project: &[".pi/mcp.json"],
        user: home_or("PI_CODING_AGENT_DIR", "mcp.json", ".pi/agent/mcp.json"),
        ..ROW
    },
    Client {
        name: "vscode",
        title: "VS Code (Copilot)",
        aliases: &["vs-code", "code"],
        project: &[".vscode/mcp.json"],
        user: config(
            "Code/User/mcp.json",
            "Library/Application Support/Code/User/mcp.json",
            "Code/User/mcp.json",
        ),
        keys: &["servers"],
        shape: Shape::Stdio,
        folder: WORKSPACE,
        notes: &[
            "Press Start above the entry in the file, and trust the server when asked.",
            "Other profiles and Insiders keep `mcp.json` elsewhere: \"MCP: Open User Configuration\" \
             opens it.",
        ],
        ..ROW
    },
    Client {
        name: "windsurf",
        title: "Windsurf",
        aliases: &["codeium"],
        user: home(".codeium/windsurf/mcp_config.json"),
        notes: &["It serves the one folder that the entry names.", OPEN_ONCE],
        ..ROW
    },
    Client {
        name: "zed",
        title: "Zed",
        project: &[".zed/settings.json"],
        user: config("zed/settings.json", ".config/zed/settings.json", "Zed/settings.json"),
        keys: &["context_servers"],
        shape: Shape::Zed,
        notes: &["A project's file counts only where the worktree is trusted."],
        ..ROW
    },
];
