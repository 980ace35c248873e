//! Why is a file left out? One word to store and type, one sentence for people.

use serde::Serialize;

use crate::error::Result;
use crate::types::unknown;

/// Declares the reasons: one row each with its name and its sentence.
macro_rules! reasons {
    ($($variant:ident = $name:literal, $sentence:literal;)+) => {
        /// Why a file or folder is left out. `name()` is stored and shown.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize)]
        pub enum SkipReason { $(#[doc = $sentence] #[serde(rename = $name)] $variant,)+ }

        impl SkipReason {
            /// Every reason, in table order.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The name as it is typed, printed and stored.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            /// A sentence for people: why, and what changes it.
            pub const fn describe(self) -> &'static str {
                match self { $(Self::$variant => $sentence,)+ }
            }
        }
    };
}

reasons! {
    Ignored = "ignored",
        "An ignore file names it and git does not track it; a `!` line in `.saiignore` brings it \
         back.";
    Hidden = "hidden",
        "Its name starts with a dot; `files.hidden: true` indexes such files.";
    Pruned = "pruned",
        "A folder of tools or of installed packages, which is never indexed.";
    BuildFolder = "build_folder",
        "A folder of build results by its name, in which git tracks nothing; a `!` line in \
         `.saiignore` brings it back.";
    IndexFolder = "index_folder",
        "The folder of the index itself (`index_dir`).";
    Submodule = "submodule",
        "A submodule or another repository; `files.submodules: true` indexes it.";
    Excluded = "excluded",
        "A glob of `files.exclude` matches it.";
    NotIncluded = "not_included",
        "No glob of `files.include` matches it.";
    Language = "language",
        "Its language is not one of `files.languages`.";
    TooLarge = "too_large",
        "It is larger than `files.file_bytes_max`.";
    Secret = "secret",
        "Its name says that it holds secrets; such files are never indexed.";
    LockFile = "lock_file",
        "A list of locked versions that a package manager writes; a `!` line in `.saiignore` \
         brings it back.";
    Data = "data",
        "A table, log or drawing rather than code; a `!` line in `.saiignore` brings it back.";
    Binary = "binary",
        "It is not text: by its extension (an image, archive, font, model …) or by its content.";
    Minified = "minified",
        "Its lines are too long to be written by hand, or its name says that it is minified.";
    Generated = "generated",
        "Its header says that a program wrote it; `files.generated: true` indexes it.";
    OptedOut = "opted_out",
        "A comment in its first lines says `sai-noindexing`.";
    Link = "link",
        "A link to something inside the root, which counts once, under its own path.";
    LinkOutside = "link_outside",
        "A link that leads out of the root; such links are never followed.";
    LinkBroken = "link_broken",
        "A link to something that does not exist.";
    LinkLoop = "link_loop",
        "A link that leads back to itself.";
    NotUtf8Name = "not_utf8_name",
        "Its name is not UTF-8; rename it to have it indexed.";
    ControlName = "control_name",
        "Its name holds control characters; rename it to have it indexed.";
    Special = "special",
        "A pipe, socket or device.";
    Folder = "folder",
        "A folder, not a file.";
    Missing = "missing",
        "It does not exist, or no longer.";
    Unreadable = "unreadable",
        "The file system does not let it be read; see its permissions.";
    Changing = "changing",
        "It changed each time while it was read; the next sync tries again.";
    Failed = "failed",
        "SAI failed on it, which is a defect of SAI; the next sync tries again.";
}

impl SkipReason {
    /// The reason called `name` (case does not matter).
    ///
    /// # Errors
    /// Usage, naming the nearest reason and all of them.
    pub fn from_name(name: &str) -> Result<Self> {
        let wanted = name.trim().to_lowercase();
        let known = || Self::ALL.iter().copied();
        known()
            .find(|reason| reason.name() == wanted)
            .ok_or_else(|| unknown("reason", name, known().map(Self::name)))
    }

    /// What an error of the file system says about a path.
    pub(in crate::sync) fn of_error(error: &std::io::Error) -> Self {
        match error.kind() {
            std::io::ErrorKind::NotFound | std::io::ErrorKind::NotADirectory => Self::Missing,
            _ => Self::Unreadable,
        }
    }
}

impl std::fmt::Display for SkipReason {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}
