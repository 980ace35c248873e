//! Here is a path and the first lines under it: what kind of place is it?
//!
//! Whole folder names count, never parts of them, and only those below the root: a project that lies
//! in a folder called `test` is not made of tests.

use crate::types::{Language, Place, RelPath};

/// Folders of somebody else's code.
const VENDORED: &[&str] = &[
    "vendor",
    "vendors",
    "vendored",
    "third_party",
    "thirdparty",
    "third-party",
    "3rdparty",
    "node_modules",
    "bower_components",
    "external",
    "externals",
    "bundled",
    "extern",
    "deps",
    "Pods",
    "Carthage",
    "site-packages",
];

/// Folders of generated code.
const GENERATED: &[&str] = &[
    "generated",
    "__generated__",
    "autogen",
    "generated-sources",
    "single_include",
    "single_header",
    "amalgamated",
    "amalgamation",
];

/// Folders of tests and their data.
const TEST: &[&str] = &[
    "test",
    "tests",
    "__tests__",
    "__test__",
    "spec",
    "specs",
    "testdata",
    "test-data",
    "test_data",
    "fixtures",
    "__fixtures__",
    "__mocks__",
    "__snapshots__",
    "e2e",
    "androidTest",
    "commonTest",
    "jvmTest",
    "jsTest",
    "nativeTest",
    "integration-tests",
    "integration_tests",
    "unit-tests",
    "unit_tests",
    "src-test",
    "regress",
    "testsuite",
    "Tests",
    "UnitTests",
    "Test",
    "Specs",
    "Fixtures",
];

/// Folders of examples and of code around the product.
const EXAMPLE: &[&str] = &[
    "example",
    "examples",
    "sample",
    "samples",
    "demo",
    "demos",
    "bench",
    "benches",
    "benchmark",
    "benchmarks",
    "perf",
    "playground",
    "playgrounds",
    "scripts",
    "Example",
    "Examples",
    "Samples",
    "Demo",
    "Benchmarks",
    "tutorial",
    "tutorials",
    "sandbox",
];

/// Folders of documentation.
const DOCS: &[&str] = &[
    "doc",
    "docs",
    "documentation",
    "website",
    "man",
    "Documentation",
    "guides",
    "documentation-website",
    "xdoc",
    "xdocs",
];

/// Folders of configuration.
const CONFIG: &[&str] = &[".github", ".gitlab", ".circleci", ".vscode", ".idea", ".ci", ".config"];

/// Files that configure, build or pin, by whole name.
const CONFIG_FILES: &[&str] = &[
    "Cargo.lock",
    "go.mod",
    "go.sum",
    "package.json",
    "package-lock.json",
    "yarn.lock",
    "pnpm-lock.yaml",
    "composer.json",
    "composer.lock",
    "Gemfile",
    "Gemfile.lock",
    "Rakefile",
    "Podfile",
    "Vagrantfile",
    "Jenkinsfile",
    "Procfile",
    "setup.py",
    "setup.cfg",
    "conanfile.py",
    "noxfile.py",
    "build.zig",
    "build.rs",
    "build.sbt",
    "build.gradle.kts",
    "settings.gradle.kts",
    "mix.exs",
    "mix.lock",
    ".formatter.exs",
    "Package.swift",
    "gulpfile.js",
    "Gruntfile.js",
    "requirements.txt",
    "MANIFEST.in",
    "codecov.yml",
    "poetry.lock",
    "uv.lock",
    "flake.nix",
    "flake.lock",
];

/// Languages in which files configure or build.
const CONFIG_LANGUAGES: &[Language] = &[
    Language::Json,
    Language::Yaml,
    Language::Toml,
    Language::Ini,
    Language::Make,
    Language::Cmake,
    Language::Dockerfile,
    Language::Groovy,
];

/// Lines of a file that are looked at for the mark of a generator.
const MARK_LINES: usize = 12;

/// Bytes of a file that are looked at for the mark of a generator.
const MARK_BYTES: usize = 2_000;

/// What kind of place a file is, by its path and, for generated code, its first lines.
pub fn place(path: &RelPath, language: Language, text: &str) -> Place {
    let in_folder = |names: &[&str]| path.folders().any(|folder| names.contains(&folder));
    let name = path.file_name();
    if in_folder(VENDORED) {
        return Place::Vendored;
    }
    if in_folder(GENERATED) || is_generated_name(name) || is_marked(language, text) {
        return Place::Generated;
    }
    if in_folder(TEST)
        || path.folders().any(is_test_folder)
        || is_test_name(name, path.stem(), language)
    {
        return Place::Test;
    }
    if in_folder(EXAMPLE) {
        return Place::Example;
    }
    if in_folder(CONFIG) || is_config(name, path, language) {
        return Place::Config;
    }
    let is_prose = matches!(language, Language::Markdown | Language::Text);
    if is_prose || in_folder(DOCS) {
        return Place::Docs;
    }
    Place::Source
}

/// Whether a file's name is one that generators give.
fn is_generated_name(name: &str) -> bool {
    const ENDINGS: &[&str] = &[
        ".pb.go",
        ".pb.h",
        ".pb.cc",
        "_pb2.py",
        "_pb2_grpc.py",
        "_pb2.pyi",
        ".g.dart",
        ".freezed.dart",
        ".min.js",
        ".min.css",
        ".bundle.js",
        ".designer.cs",
        ".Designer.cs",
        ".g.cs",
        ".g.i.cs",
        ".generated.cs",
        ".generated.ts",
        ".generated.js",
        ".generated.go",
        ".gen.go",
        ".gen.ts",
        "_gen.go",
        "_generated.go",
        "_generated.rs",
        ".js.map",
        ".snap",
    ];
    // What build tools put into a repository so that it builds without them.
    const WRAPPERS: &[&str] = &["gradlew", "gradlew.bat", "mvnw", "mvnw.cmd"];
    ENDINGS.iter().any(|ending| name.ends_with(ending))
        || name.starts_with("zz_generated")
        || WRAPPERS.contains(&name)
}

/// Whether the first lines say that a program wrote the file.
fn is_marked(language: Language, text: &str) -> bool {
    // Prose speaks of generated code without being it.
    if matches!(language, Language::Markdown | Language::Text) {
        return false;
    }
    let mut end = text.len().min(MARK_BYTES);
    while !text.is_char_boundary(end) {
        end -= 1;
    }
    text[..end].lines().take(MARK_LINES).any(|line| {
        let comment = line.trim_start();
        let is_comment = comment.starts_with(['/', '#', '*', '-', ';', '<', '%', '"', '{']);
        is_comment && says_generated(comment)
    })
}

/// Whether a comment is the mark of a generator.
fn says_generated(comment: &str) -> bool {
    const MARKS: &[&str] = &[
        "@generated",
        "<auto-generated",
        "<autogenerated",
        "automatically generated",
        "this file is generated",
        "this file was generated",
        "generated automatically",
        "generated by the protocol buffer",
        "machine generated",
        "machine-generated",
        "generated by swig",
    ];
    const ALONE_BYTES: usize = 24;
    let lower = comment.to_lowercase();
    let says = |words: &[&str]| words.iter().any(|word| lower.contains(word));
    let is_warning = says(&["do not edit", "do not modify", "do not change"]);
    // Help texts and names may be generated too: only of a file or of code does it count, or said alone.
    let is_auto = says(&["autogenerated", "auto-generated"])
        && (says(&["file", "code", " by ", "from"]) || lower.trim().len() <= ALONE_BYTES);
    says(MARKS)
        || is_auto
        || is_warning && lower.split_whitespace().any(|word| word.starts_with("generated"))
}

/// Whether a folder holds tests by its name: `core.tests`, `MyApp.Tests`, `foo-test`, `test_foo`.
fn is_test_folder(folder: &str) -> bool {
    const ENDINGS: &[&str] = &[
        ".Tests",
        ".Test",
        ".UnitTests",
        ".IntegrationTests",
        ".tests",
        "-tests",
        "-test",
        "_tests",
        "_test",
        "Tests",
    ];
    ENDINGS.iter().any(|ending| folder.len() > ending.len() && folder.ends_with(ending))
}

/// Whether a file holds tests by its name.
fn is_test_name(name: &str, stem: &str, language: Language) -> bool {
    let lower = stem.to_lowercase();
    let dotted = [
        ".test",
        ".spec",
        ".tests",
        ".specs",
        "-test",
        "-spec",
        "_test",
        "_spec",
        "_tests",
        "_unittest",
    ];
    let whole = ["test", "tests", "conftest", "test_helper", "spec_helper", "rails_helper"];
    if whole.contains(&lower.as_str()) || dotted.iter().any(|ending| lower.ends_with(ending)) {
        return true;
    }
    if lower.starts_with("test_") || name.ends_with(".bats") {
        return true;
    }
    // `FooTest.java`, `FooTests.cs`, `FooSpec.scala`, `TestFoo.java`, `FooTestCase.php`, `FooIT.java`.
    let is_cased = matches!(
        language,
        Language::Java
            | Language::Kotlin
            | Language::Scala
            | Language::CSharp
            | Language::Php
            | Language::Swift
            | Language::Groovy
            | Language::Haskell
            | Language::Cpp
    );
    let endings = ["Test", "Tests", "Spec", "Specs", "TestCase", "Suite", "TestBase"];
    let begins = stem.strip_prefix("Test").is_some_and(|rest| rest.starts_with(char::is_uppercase));
    is_cased && (endings.iter().any(|e| stem.len() > e.len() && stem.ends_with(e)) || begins)
}

/// Whether a file configures or builds.
fn is_config(name: &str, path: &RelPath, language: Language) -> bool {
    let stem = path.stem();
    CONFIG_LANGUAGES.contains(&language)
        || CONFIG_FILES.contains(&name)
        || stem.ends_with(".config")
        || name.starts_with('.') && path.folders().next().is_none()
        || [".csproj", ".props", ".targets", ".gemspec", ".podspec", ".cabal", ".lock", ".rc"]
            .iter()
            .any(|ending| name.ends_with(ending))
}
