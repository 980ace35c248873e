//! Here is an import as it is written: which words does the file use for what it imports?
//!
//! One small scanner reads the imports of every language; it needs no tree, so half-typed imports are
//! read as well.

/// Longer words are no names.
const WORD_BYTES_MAX: usize = 100;

/// Words that introduce or modify an import, and names that say nothing.
const SILENT: &[&str] = &[
    "import",
    "use",
    "using",
    "require",
    "require_relative",
    "require_once",
    "include",
    "include_once",
    "autoload",
    "extern",
    "pub",
    "static",
    "type",
    "typeof",
    "const",
    "let",
    "var",
    "local",
    "qualified",
    "safe",
    "class",
    "struct",
    "enum",
    "protocol",
    "func",
    "function",
    "package",
    "export",
    "default",
    "given",
    "global",
    "unsafe",
    "alias",
    "crate",
    "super",
    "self",
    "Self",
    "this",
    "load",
    "load_file",
    "dofile",
    "source",
    "await",
];

/// Endings of file names that are not part of a module's name.
const ENDINGS: &[&str] = &[
    "js", "mjs", "cjs", "jsx", "ts", "mts", "cts", "tsx", "vue", "svelte", "css", "scss", "less",
    "json", "h", "hh", "hpp", "hxx", "inc", "rb", "py", "php", "sh", "bash", "bats", "lua", "zig",
];

/// The words of an import, each once, in order.
pub(super) fn words(written: &str) -> Vec<String> {
    let mut scan = Scan::default();
    let written = written.trim();
    let directive = written.starts_with('#');
    let mut rest = written;
    while let Some(c) = rest.chars().next() {
        let taken = match c {
            '"' | '\'' | '`' => scan.string(rest, c),
            '<' if directive => scan.string(rest, '>'),
            '#' if !directive => line(rest),
            '/' if rest.starts_with("//") => line(rest),
            '-' if rest.starts_with("--") => line(rest),
            _ if is_word(c) => scan.word(rest),
            _ => scan.mark(c),
        };
        rest = &rest[taken.max(1)..];
        if scan.done {
            break;
        }
    }
    scan.flush();
    scan.words
}

/// The name of the module that a path stands for: `./lib/retry.js` is `retry`.
pub(super) fn path_word(path: &str) -> &str {
    let is_version = |part: &str| {
        part.strip_prefix('v')
            .is_some_and(|n| !n.is_empty() && n.bytes().all(|b| b.is_ascii_digit()))
    };
    let is_idle = |part: &str| matches!(part, "" | "." | ".." | "index") || is_version(part);
    let stem = |part: &'_ str| -> Option<(usize, usize)> {
        let (head, ending) = part.rsplit_once('.')?;
        (ENDINGS.contains(&ending) || is_version(ending)).then_some((0, head.len()))
    };
    let path = path.trim_matches(|c: char| c.is_whitespace() || "\"'`<>".contains(c));
    let path = path.rsplit(':').next().unwrap_or(path);
    let bare = |part| stem(part).map_or(part, |(from, to)| &part[from..to]);
    let last = path.rsplit('/').map(bare).find(|part| !is_idle(part)).unwrap_or_default();
    if path.contains('/') { last } else { last.rsplit('.').next().unwrap_or(last) }
}

/// Adds a word unless it is there.
pub(super) fn push(words: &mut Vec<String>, word: &str) {
    let fits = !word.is_empty() && word.len() <= WORD_BYTES_MAX && !SILENT.contains(&word);
    if fits && !words.iter().any(|known| known == word) {
        words.push(word.to_owned());
    }
}

/// The length of the rest of the line.
fn line(rest: &str) -> usize {
    rest.find('\n').unwrap_or(rest.len())
}

fn is_word(c: char) -> bool {
    c.is_alphanumeric() || c == '_' || c == '$'
}

/// How far the scanner has come.
#[derive(Default)]
struct Scan<'a> {
    /// What was found.
    words: Vec<String>,
    /// The last name of the path that is being read.
    last: Option<&'a str>,
    /// Last names before the groups that are open.
    prefixes: Vec<Option<&'a str>>,
    /// What follows names what is not imported.
    done: bool,
}

impl<'a> Scan<'a> {
    /// Keeps the name that was read last.
    fn flush(&mut self) {
        if let Some(word) = self.last.take() {
            push(&mut self.words, word);
        }
    }

    /// Reads a quoted path; returns its length.
    fn string(&mut self, rest: &'a str, close: char) -> usize {
        self.flush();
        let inner = &rest[1..];
        let end = inner.find([close, '\n']).unwrap_or(inner.len());
        push(&mut self.words, path_word(&inner[..end]));
        (end + 2).min(rest.len())
    }

    /// Reads a name; returns its length.
    fn word(&mut self, rest: &'a str) -> usize {
        let end = rest.find(|c| !is_word(c)).unwrap_or(rest.len());
        match &rest[..end] {
            "hiding" => self.done = true,
            "as" | "from" | "import" => self.flush(),
            "self" | "_" => self.last = self.last.or(self.prefixes.last().copied().flatten()),
            word if SILENT.contains(&word) || word.starts_with(|c: char| c.is_ascii_digit()) => {}
            word => self.last = Some(word),
        }
        end
    }

    /// Reads a mark; returns its length.
    fn mark(&mut self, mark: char) -> usize {
        match mark {
            ',' | ';' | '=' | '*' => self.flush(),
            '{' => self.prefixes.push(self.last.take()),
            '(' => {
                self.flush();
                self.prefixes.push(None);
            }
            '}' | ')' => {
                self.flush();
                self.prefixes.pop();
            }
            _ => {}
        }
        mark.len_utf8()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_are_the_last_names_of_every_language() {
        let cases = [
            ("use std::{io::{self, Read}, fmt as f};", "io Read fmt f"),
            ("use a::b::*;", "b"),
            ("pub use crate::store::Reader;", "Reader"),
            (
                "import (\n\t\"fmt\"\n\tyaml \"gopkg.in/yaml.v3\"\n\t\"github.com/a/b/v2\"\n)",
                "fmt yaml b",
            ),
            ("import static x.Y.z;", "z"),
            ("import java.util.*;", "util"),
            ("import os.path as p, sys", "path p sys"),
            ("from .a.b import (c, d as e)  # noqa", "b c d e"),
            ("from x import *", "x"),
            ("import a, { b as c, type D } from './x/y.js';", "a b c D y"),
            ("import * as ns from '@scope/vue-router'", "ns vue-router"),
            ("import './side.css'", "side"),
            ("const { x, y: z } = require('../lib/index')", "x z lib"),
            ("export { a } from './re'", "a re"),
            ("#include <sys/stat.h>", "stat"),
            ("#include \"a/b.hpp\"", "b"),
            ("using A = B.C.D;", "A D"),
            ("using static X.Y;", "Y"),
            ("require 'a/b'", "b"),
            ("use F\\{G, H as I};", "G H I"),
            ("use function x\\y;", "y"),
            ("import f.g.H as I", "H I"),
            ("import class UIKit.UIView", "UIView"),
            ("import c.d.{E, F => G}", "E F G"),
            ("import j._", "j"),
            ("import qualified Data.Set as S", "Set S"),
            ("import Data.Map (Map, insert, (<>))", "Map insert"),
            ("import C hiding (d)", "C"),
            ("local x = require(\"a.b\")", "x b"),
            ("const X = @import(\"x.zig\").X;", "X x"),
            ("import { unterminated", "unterminated"),
        ];
        for (written, expected) in cases {
            assert_eq!(words(written).join(" "), expected, "{written}");
        }
    }
}
