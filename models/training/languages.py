"""Source text without parsers: which language a file is in, where definitions, their blocks and comments are.

Rough by design: nineteen languages by regular expressions. A missed definition costs a pair, no more.
"""

import os
import re

_EXTENSIONS = dict(
    bash="sh bash zsh bats", c="c h", cpp="cc cpp cxx hpp hh hxx", csharp="cs", elixir="ex exs", go="go", haskell="hs", java="java",
    javascript="js mjs cjs jsx", kotlin="kt kts", lua="lua", php="php", python="py", ruby="rb", rust="rs", scala="scala", swift="swift",
    typescript="ts tsx mts", zig="zig",
)
LANGUAGE_OF = {"." + extension: language for language, listed in _EXTENSIONS.items() for extension in listed.split()}
SLASH_COMMENTS = set("c cpp csharp go java javascript kotlin php rust scala swift typescript zig".split())
HASH_COMMENTS = set("bash python ruby elixir php".split())

SKIPPED_FOLDER = re.compile(
    r"(^|/)(_?vendor|vendored|third_?party|3rdparty|node_modules|dist|build|deps|bundled|external|generated|gen|"
    r"testdata|fixtures?|snapshots?|__snapshots__|locales?|i18n|migrations|\.git|min|site-packages|bench_data)(/|$)", re.I)
TEST_PATH = re.compile(
    r"(^|/)(tests?|testing|specs?|__tests__|t)(/|_|\.)|_test\.|_spec\.|(^|/)test_|Tests?\.\w+$|Spec\.\w+$|\.(test|spec)\.|\.bats$", re.I)

_WORD = re.compile(r"[A-Z]+(?=[A-Z][a-z])|[A-Z]?[a-z]+|[A-Z]+|\d+")

_MODIFIERS = (
    r"(?:(?:pub(?:\([^)]*\))?|public|private|protected|internal|fileprivate|open|export|default|static|final|abstract|async|unsafe|extern"
    r"|inline|override|virtual|sealed|partial|suspend|data|case|implicit|lazy|local|mutating|readonly|declare|synchronized|operator|infix"
    r'|tailrec|inner|companion|value|actual|expect|constexpr|final|noncomputable|opaque|enum(?=\s+class)|"C")\s+)*')
_KEYWORD_DEFINITION = re.compile(
    r"^\s*" + _MODIFIERS + r"(?:defp?|defmacrop?|defmodule|fn|func|fun|function|class|struct|interface|trait|enum|type|newtype|module|object"
    r"|protocol|extension|impl|record|namespace|instance|macro_rules!|union|actor|given)\*?\s+(?:\([^)]*\)\s*|<[^>]*>\s*)?(?:self\.)?"
    r"(?P<name>[A-Za-z_`][\w.:!?'`]*)")
_ASSIGNED = re.compile(
    r"^\s*" + _MODIFIERS + r"(?:(?:val|var|let|const)\s+)?(?P<name>[A-Za-z_$][\w.$:]*)\s*[:=][^=]*?(?:function\b|=>|struct\s*\{|enum\b.*\{|union\b.*\{)")
_TYPED_FUNCTION = re.compile(
    r"^\s*(?!return|else|if|for|while|switch|catch|throw|new|case|do|goto|using|await|yield|delete|assert)"
    r"(?:[A-Za-z_~][\w:<>,\[\]\*&?~. ]*[\s\*&])(?P<name>~?[A-Za-z_]\w*)\s*\([^;]*$")
_METHOD = re.compile(r"^\s+(?:async\s+|static\s+|get\s+|set\s+|\*\s*)*(?P<name>[A-Za-z_$#][\w$]*)\s*\([^)]*\)[^;=]*\{\s*$")
_SHELL_FUNCTION = re.compile(r"^\s*(?:function\s+)?(?P<name>[A-Za-z_][\w:.-]*)\s*\(\)\s*\{?")
_HASKELL_SIGNATURE = re.compile(r"^(?P<name>[a-z_]\w*'*)\s*::")
# GNU and BSD style: the name begins the line below its type.
_NAME_BELOW_TYPE = re.compile(r"^(?P<name>[a-z_]\w*)\(.*[),]$")
_CONTROL = set(
    "if for while switch catch return else do try with match when unless until case function foreach using lock synchronized elif and or not sizeof".split())

TITLED_TEST = re.compile(
    r"""(?:^|\s|@)(?:it|test|describe|context|specify|scenario|should|TEST_CASE|SECTION|test|property|prop|testCase|Describe|It|Context)"""
    r"""[\s(.]*\(?\s*(["'`])(?P<title>[^"'`]{12,140})\1""")
TITLED_SCALA_TEST = re.compile(r"""^\s*"(?P<title>[^"]{12,140})"\s+(?:in|should|must|when|-|>>|!)""")

_CLOSES_OR_GOES_ON = re.compile(
    r"^\s*(?:[})\]{|=]|end\b|else\b|elsif\b|rescue\b|ensure\b|fi\b|done\b|esac\b|where\b|then\b|catch\b|finally\b|deriving\b|private:|public:"
    r"|protected:|->|=>)")
_CLOSES = re.compile(r"^\s*(\}|end\b|fi\b|done\b)[\s;,)]*$")


def words(text):
    return [word.lower() for word in _WORD.findall(text)]


def language_of(path, main_language):
    """A header file is C++ where the project mainly is."""
    language = LANGUAGE_OF.get(os.path.splitext(path)[1].lower())
    return "cpp" if language == "c" and path.endswith(".h") and main_language == "cpp" else language


def defined_name(line, language):
    """The name that a line defines, or None."""
    if language == "bash":
        return _named(_SHELL_FUNCTION.match(line))
    if language == "haskell":
        return _named(_HASKELL_SIGNATURE.match(line) or (None if line[:1].isspace() else _KEYWORD_DEFINITION.match(line)))
    name = _named(_KEYWORD_DEFINITION.match(line))
    if not name and language in ("javascript", "typescript", "lua", "zig", "kotlin", "scala"):
        name = _named(_ASSIGNED.match(line))
    if not name and language in ("javascript", "typescript"):
        name = _no_control(_METHOD.match(line))
    if not name and language in ("c", "cpp", "java", "csharp") and line.rstrip()[-1:] in "{),(":
        if language == "c" and line[:1].isspace():
            return None
        name = _no_control(_TYPED_FUNCTION.match(line))
    if not name and language == "c":
        name = _no_control(_NAME_BELOW_TYPE.match(line.rstrip()))
    return name


def _named(match):
    return match.group("name") if match else None


def _no_control(match):
    return match.group("name") if match and match.group("name") not in _CONTROL else None


def indent(line):
    """Width of a line's indent; a tab counts four."""
    if line[:1] == "\t":
        return 4 * (len(line) - len(line.lstrip("\t")))
    return len(line) - len(line.lstrip(" \t"))


def block_end(lines, start, name, language, most_lines=70, most_chars=2000):
    """The line after a definition's last one, by indents and closing words."""
    depth, chars, at = indent(lines[start]), len(lines[start]), start + 1
    in_signature = lines[start].rstrip()[-1:] in "(,"
    while at < len(lines) and at - start < most_lines and chars < most_chars:
        line = lines[at]
        if line.strip():
            here, goes_on = indent(line), _CLOSES_OR_GOES_ON.match(line)
            if here < depth:
                break
            if here == depth and not goes_on and not in_signature:
                more_equations = language == "haskell" and line.startswith(name)
                name_below_type = language in ("c", "cpp") and at - start <= 2 and name in line
                if not more_equations and not name_below_type:
                    break
            if here == depth and goes_on and _CLOSES.match(line):
                at += 1
                break
            if in_signature and line.strip()[-1:] not in "(,":
                in_signature = False
        chars += len(line) + 1
        at += 1
    while at > start + 1 and not lines[at - 1].strip():
        at -= 1
    return at


def comments(lines, language):
    """Whole-line comments: (first line, line after the last, their lines)."""
    at = 0
    while at < len(lines):
        found = _comment_at(lines, at, language)
        if found:
            yield found
            at = found[1]
        else:
            at += 1


def _comment_at(lines, at, language):
    text = lines[at].lstrip()
    if language in SLASH_COMMENTS:
        if text.startswith("//"):
            return _run(lines, at, "//")
        if text.startswith("/*"):
            return _until(lines, at, "*/", at)
    if language in HASH_COMMENTS and text.startswith("#") and not text.startswith(("#!", "#[")):
        return _run(lines, at, "#")
    if language == "elixir" and text.startswith(("@doc", "@moduledoc", "@typedoc")):
        if '"""' in text:
            first, after, body = _until(lines, at, '"""', at + 1)
            return first, after, body[1:-1]
        match = re.match(r'@\w+ "(.*)"$', text)
        if match:
            return at, at + 1, [match.group(1)]
    if language == "lua" and text.startswith("--[["):
        first, after, body = _until(lines, at, "]]", at)
        return first, after, [re.sub(r"^--\[\[", "", body[0].strip())] + body[1:]
    if language == "haskell" and text.startswith("{-") and not text.startswith("{-#"):
        return _until(lines, at, "-}", at)
    if language in ("lua", "haskell") and text.startswith("--"):
        return _run(lines, at, "--")
    return None


def _run(lines, at, mark):
    """Lines that all begin with the mark."""
    end = at
    while end < len(lines) and lines[end].lstrip().startswith(mark):
        end += 1
    return at, end, lines[at:end]


def _until(lines, at, mark, search_from):
    """Lines up to and with the first that holds the mark."""
    end = search_from
    while end < len(lines) and mark not in lines[end]:
        end += 1
    return at, end + 1, lines[at : end + 1]
