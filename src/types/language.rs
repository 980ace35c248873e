//! The languages SAI tells apart, by file name, extension or first line.

use super::{RelPath, unknown};
use crate::error::Result;

/// Declares the languages: one row each with its name, aliases, extensions and whole file names.
macro_rules! languages {
    ($($(#[$meta:meta])* $variant:ident = $name:literal, aliases $aliases:expr, extensions $extensions:expr, files $files:expr;)+) => {
        /// A language or file type. The name is what is typed, printed and stored.
        #[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
        pub enum Language { $($(#[$meta])* $variant,)+ }

        impl Language {
            /// Every language, in table order.
            pub const ALL: &'static [Self] = &[$(Self::$variant,)+];

            /// The name as it is typed, printed and stored.
            pub const fn name(self) -> &'static str {
                match self { $(Self::$variant => $name,)+ }
            }

            const fn aliases(self) -> &'static [&'static str] {
                match self { $(Self::$variant => $aliases,)+ }
            }

            const fn extensions(self) -> &'static [&'static str] {
                match self { $(Self::$variant => $extensions,)+ }
            }

            const fn files(self) -> &'static [&'static str] {
                match self { $(Self::$variant => $files,)+ }
            }
        }
    };
}

languages! {
    Rust = "rust", aliases &["rs"], extensions &["rs"], files &[];
    Go = "go", aliases &["golang"], extensions &["go"], files &[];
    Java = "java", aliases &[], extensions &["java"], files &[];
    Python = "python", aliases &["py"], extensions &["py", "pyi", "pyw"], files &["SConstruct", "SConscript"];
    JavaScript = "javascript", aliases &["js"], extensions &["js", "jsx", "mjs", "cjs"], files &[];
    TypeScript = "typescript", aliases &["ts"], extensions &["ts", "mts", "cts"], files &[];
    Tsx = "tsx", aliases &[], extensions &["tsx"], files &[];
    C = "c", aliases &[], extensions &["c", "h"], files &[];
    Cpp = "cpp", aliases &["c++"], extensions &["cc", "cpp", "cxx", "hh", "hpp", "hxx", "ipp", "inl", "tpp", "cu", "cuh", "ino"], files &[];
    CSharp = "csharp", aliases &["c#", "cs"], extensions &["cs", "csx"], files &[];
    Ruby = "ruby", aliases &["rb"], extensions &["rb", "rake", "gemspec", "podspec", "ru"], files &["Gemfile", "Rakefile", "Vagrantfile", "Podfile", "Brewfile", "Guardfile", "Fastfile"];
    Php = "php", aliases &[], extensions &["php", "phtml"], files &[];
    Kotlin = "kotlin", aliases &["kt"], extensions &["kt", "kts"], files &[];
    Swift = "swift", aliases &[], extensions &["swift"], files &[];
    Scala = "scala", aliases &[], extensions &["scala", "sbt", "sc"], files &[];
    Bash = "bash", aliases &["sh", "shell"], extensions &["sh", "bash", "zsh", "bats", "ksh"], files &[".bashrc", ".bash_profile", ".profile", ".zshrc"];
    Lua = "lua", aliases &[], extensions &["lua"], files &[];
    Elixir = "elixir", aliases &["ex"], extensions &["ex", "exs"], files &[];
    Haskell = "haskell", aliases &["hs"], extensions &["hs", "lhs"], files &[];
    Zig = "zig", aliases &[], extensions &["zig"], files &[];
    Markdown = "markdown", aliases &["md"], extensions &["md", "markdown", "mdx"], files &[];
    Text = "text", aliases &["txt", "plain"], extensions &["txt", "rst", "adoc", "org", "tex"], files &["README", "LICENSE", "NOTICE", "CHANGELOG", "AUTHORS"];
    Json = "json", aliases &[], extensions &["json", "jsonc", "json5"], files &[];
    Yaml = "yaml", aliases &["yml"], extensions &["yaml", "yml"], files &[];
    Toml = "toml", aliases &[], extensions &["toml"], files &[];
    Html = "html", aliases &[], extensions &["html", "htm", "xhtml"], files &[];
    Css = "css", aliases &[], extensions &["css", "scss", "sass", "less"], files &[];
    Sql = "sql", aliases &[], extensions &["sql"], files &[];
    Xml = "xml", aliases &[], extensions &["xml", "xsd", "xsl", "xslt", "csproj", "props", "targets", "plist"], files &[];
    Protobuf = "protobuf", aliases &["proto"], extensions &["proto"], files &[];
    Make = "make", aliases &["makefile"], extensions &["mk", "mak"], files &["Makefile", "makefile", "GNUmakefile"];
    Cmake = "cmake", aliases &[], extensions &["cmake"], files &["CMakeLists.txt"];
    Dockerfile = "dockerfile", aliases &["docker"], extensions &["dockerfile"], files &["Dockerfile", "Containerfile"];
    Terraform = "terraform", aliases &["tf", "hcl"], extensions &["tf", "hcl", "tfvars"], files &[];
    Nix = "nix", aliases &[], extensions &["nix"], files &[];
    Vue = "vue", aliases &[], extensions &["vue"], files &[];
    Svelte = "svelte", aliases &[], extensions &["svelte"], files &[];
    Dart = "dart", aliases &[], extensions &["dart"], files &[];
    R = "r", aliases &[], extensions &["r"], files &[];
    Julia = "julia", aliases &[], extensions &["jl"], files &[];
    OCaml = "ocaml", aliases &[], extensions &["ml", "mli"], files &[];
    Clojure = "clojure", aliases &[], extensions &["clj", "cljs", "cljc", "edn"], files &[];
    Erlang = "erlang", aliases &[], extensions &["erl", "hrl"], files &[];
    Perl = "perl", aliases &[], extensions &["pl", "pm", "t"], files &[];
    ObjectiveC = "objective-c", aliases &["objc"], extensions &["m", "mm"], files &[];
    Groovy = "groovy", aliases &[], extensions &["groovy", "gradle"], files &["Jenkinsfile"];
    PowerShell = "powershell", aliases &["ps1"], extensions &["ps1", "psm1"], files &[];
    Batch = "batch", aliases &[], extensions &["bat", "cmd"], files &[];
    Vim = "vim", aliases &[], extensions &["vim"], files &[".vimrc"];
    GraphQl = "graphql", aliases &["gql"], extensions &["graphql", "gql"], files &[];
    Assembly = "assembly", aliases &["asm"], extensions &["s", "asm"], files &[];
    Ini = "ini", aliases &["cfg", "conf"], extensions &["ini", "cfg", "conf", "properties"], files &[".editorconfig"];
    /// Text of a type that has no row of its own.
    Other = "other", aliases &[], extensions &[], files &[];
}

impl Language {
    /// The language called `name`, or by an alias (case does not matter).
    ///
    /// # Errors
    /// Usage, naming the nearest language and all of them.
    pub fn from_name(name: &str) -> Result<Self> {
        let wanted = name.trim().to_lowercase();
        Self::ALL
            .iter()
            .copied()
            .find(|l| l.name() == wanted || l.aliases().contains(&wanted.as_str()))
            .ok_or_else(|| unknown("language", name, Self::ALL.iter().map(|l| l.name())))
    }

    /// The language of a file: by whole name, then by extension, then by the first line's `#!`.
    /// `first_line` may be empty.
    pub fn of(path: &RelPath, first_line: &str) -> Self {
        let name = path.file_name();
        if let Some(found) = Self::ALL.iter().find(|l| l.files().contains(&name)) {
            return *found;
        }
        let extension = name.rsplit_once('.').map(|(_, ext)| ext.to_lowercase());
        let by_extension = extension.and_then(|extension| {
            Self::ALL.iter().find(|l| l.extensions().contains(&extension.as_str()))
        });
        by_extension.copied().or_else(|| Self::of_interpreter(first_line)).unwrap_or(Self::Other)
    }

    /// The language that a `#!` line names.
    fn of_interpreter(first_line: &str) -> Option<Self> {
        let command = first_line.strip_prefix("#!")?;
        command.split_whitespace().find_map(|word| Self::of_program(word.rsplit('/').next()?))
    }

    /// The language that a program reads.
    fn of_program(program: &str) -> Option<Self> {
        Some(match program.trim_end_matches(|c: char| c.is_ascii_digit() || c == '.') {
            "sh" | "bash" | "zsh" | "ksh" | "dash" | "bats" => Self::Bash,
            "python" | "pypy" => Self::Python,
            "node" | "deno" | "bun" => Self::JavaScript,
            "ruby" => Self::Ruby,
            "php" => Self::Php,
            "lua" | "luajit" => Self::Lua,
            "perl" => Self::Perl,
            "elixir" => Self::Elixir,
            "Rscript" => Self::R,
            _ => return None,
        })
    }
}

impl std::fmt::Display for Language {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.pad(self.name())
    }
}

impl serde::Serialize for Language {
    fn serialize<S: serde::Serializer>(&self, out: S) -> std::result::Result<S::Ok, S::Error> {
        out.serialize_str(self.name())
    }
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    #[test]
    fn a_file_is_known_by_name_extension_or_first_line() {
        let of = |name: &str, first_line: &str| {
            Language::of(&RelPath::new(Path::new(name)).expect("a relative path"), first_line)
        };
        assert_eq!(of("a/Gemfile", ""), Language::Ruby);
        assert_eq!(of("a/b.RS", ""), Language::Rust);
        assert_eq!(of("a/b.tar.gz", ""), Language::Other);
        assert_eq!(of("a/run", "#!/usr/bin/env -S python3.12 -u"), Language::Python);
        assert_eq!(of("a/run", "#!/bin/bash -e"), Language::Bash);
        assert_eq!(of("a/run", "#!/usr/bin/env -S deno run --allow-net"), Language::JavaScript);
        assert_eq!(of("a/run", "#! unknown"), Language::Other);
        assert_eq!(of("a/b.go", "#!/bin/sh"), Language::Go);
    }

    #[test]
    fn names_aliases_and_extensions_belong_to_one_language() {
        let all = |words: fn(Language) -> Vec<&'static str>| {
            let mut all: Vec<&str> = Language::ALL.iter().flat_map(|l| words(*l)).collect();
            let count = all.len();
            all.sort_unstable();
            all.dedup();
            assert_eq!(all.len(), count, "{all:?}");
        };
        all(|l| l.aliases().iter().copied().chain([l.name()]).collect());
        all(|l| l.extensions().to_vec());
        all(|l| l.files().to_vec());
    }

    #[test]
    fn an_unknown_name_is_answered_with_the_nearest() {
        let error = Language::from_name("pythn").expect_err("no such language");
        assert!(error.next_step().is_some_and(|hint| hint.contains("did you mean `python`")));
        assert_eq!(Language::from_name(" C++ ").ok(), Some(Language::Cpp));
    }
}
