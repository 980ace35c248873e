"""Where is a function's documentation, and where does the function end? By language, without a parser.

Python is read with its own `ast`. In the other languages a function is a line that matches the language's pattern; above it
may stand attributes, and above those the documentation: a block comment or line comments without a gap. A function ends
before the next line that is indented no deeper than its first one, closing brackets and `end` counted in. That holds for code
that is laid out as usual; what is laid out otherwise gets a span that is too short or too long by some lines, which matters
little where any overlap is a hit. The tool under test has no part in it.
"""

import ast
import re
from dataclasses import dataclass


@dataclass(frozen=True)
class Documented:
    """A function with its documentation; lines are counted from 1, inclusive."""

    name: str
    text: str
    doc_first: int
    doc_last: int
    first: int
    last: int


@dataclass(frozen=True)
class Rules:
    """How a language writes functions (patterns of the first line), attributes, and documentation: `block` or a comment prefix."""

    functions: tuple[str, ...]
    docs: tuple[str, ...]
    attribute: str = r"@\w"


MODIFIERS = r"(?:(?:public|protected|private|internal|static|final|abstract|override|open|inline|suspend|operator|infix|tailrec|sealed|virtual|async|new|partial|implicit|lazy|synchronized|default|actual|mutating|class|unsafe|extern|readonly|get|set)\s+)"
TYPED = rf"^\s*{MODIFIERS}+(?:<[^(]*?>\s*)?[\w<>\[\],.?& ]+?\s+(\w+)\s*(?:<[^>(]*>)?\("
SCRIPT = (
    r"^\s*(?:export\s+)?(?:default\s+)?(?:async\s+)?function\s*\*?\s*([\w$]+)",
    r"^\s*(?:export\s+)?(?:const|let|var)\s+([\w$]+)\s*(?::[^=]*)?=\s*(?:async\s*)?(?:function\b|\(|<)",
    r"^\s*((?:[\w$]+\.)+[\w$]+)\s*=\s*(?:async\s*)?(?:function\b|\([^)]*\)\s*=>)",
    rf"^\s+{MODIFIERS}*(?!if\b|for\b|while\b|switch\b|return\b|catch\b|function\b)\*?#?([\w$]+)\s*(?:<[^(]*>)?\([^;]*$",
)
RULES = {
    "javascript": Rules(SCRIPT, ("block",)),
    "typescript": Rules(SCRIPT, ("block",)),
    "go": Rules((r"^func\s+(?:\([^)]*\)\s*)?(\w+)",), ("//",), r"//go:"),
    "rust": Rules((r"^\s*(?:pub(?:\([^)]*\))?\s+)?(?:(?:default|const|async|unsafe|extern(?:\s+\"[^\"]*\")?)\s+)*fn\s+(\w+)",), ("///",), r"#!?\["),
    "java": Rules((TYPED,), ("block",)),
    "kotlin": Rules((rf"^\s*{MODIFIERS}*fun\s+(?:<[^(]*?>\s*)?(?:[\w<>?.*, ]+\.)?(\w+)\s*\(",), ("block",)),
    "scala": Rules((rf"^\s*{MODIFIERS}*def\s+(\w+)",), ("block",)),
    "csharp": Rules((TYPED,), ("///",), r"\[\w"),
    "php": Rules((rf"^\s*{MODIFIERS}*function\s+&?(\w+)",), ("block",), r"#\["),
    "ruby": Rules((r"^\s*def\s+(?:self\.)?(\w+[?!=]?)",), ("#",), r"sig\b"),
    "swift": Rules((rf"^\s*(?:@\w+(?:\([^)]*\))?\s+)*{MODIFIERS}*func\s+(\w+)",), ("///", "block")),
    "elixir": Rules((r"^\s*(?:def|defmacro|defguard)\s+(\w+[?!]?)",), ("heredoc",), r"@(?:spec|impl|since|deprecated|doc\s+(?:since|deprecated))"),
    "lua": Rules((r"^\s*(?:local\s+)?function\s+([\w.:]+)", r"^\s*([\w.]+)\s*=\s*function\b"), ("--",), r"---?\s*@"),
    "haskell": Rules((r"^([a-z]\w*'?)\s*::",), ("--",), r"\{-#"),
    "zig": Rules((r"^\s*(?:pub\s+)?(?:(?:export|inline|noinline)\s+)*fn\s+(\w+)",), ("///",)),
    "c": Rules((r"^(?!typedef|struct|enum|union|return|else|#)[A-Za-z_][\w\s*]*?\b(\w+)\s*\([^;]*$",), ("block",)),
    "cpp": Rules((r"^\s*(?!return\b|if\b|for\b|while\b|switch\b|else\b|class\b|struct\b|using\b)[\w:<>,&*~\s\[\]]+?\b([\w~]+)\s*\([^;]*$",), ("///", "//", "block")),
}
MARKERS = re.compile(r"^\s*(?:/\*+!?|\*+/|\*+|//[/!]?|#+|--+\s*\|?)\s?|\s*\*+/\s*$")
CLOSERS = ("}", ")", "]", ">", "end", "{", "where")


def documented_functions(lines, language):
    """All documented functions of a file, in order."""
    if language == "python":
        return python_functions(lines)
    rules = RULES[language]
    found = []
    for number, line in enumerate(lines, 1):
        name = name_in(line, rules)
        if name is None:
            continue
        doc = doc_above(lines, number, rules)
        if doc is None:
            continue
        first, last = doc
        end = end_of(lines, number, name if language == "haskell" else None)
        if has_body(lines[number - 1 : end]):
            text = plain_text(lines[first - 1 : last])
            found.append(Documented(name, text, first, last, number, end))
    return found


def name_in(line, rules):
    for pattern in rules.functions:
        match = re.match(pattern, line)
        if match:
            return match.group(1)
    return None


def doc_above(lines, number, rules):
    """(first, last) line of the documentation that stands above a line, attributes between them passed over."""
    above = number - 1
    while above >= 1 and re.match(r"\s*(?:" + rules.attribute + ")", lines[above - 1]):
        above -= 1
    if above < 1:
        return None
    for style in rules.docs:
        found = {"block": block_above, "heredoc": heredoc_above}.get(style, lambda l, a: comments_above(l, a, style))(lines, above)
        if found:
            return found
    return None


def block_above(lines, last):
    if not lines[last - 1].rstrip().endswith("*/"):
        return None
    for first in range(last, max(last - 200, 0), -1):
        if lines[first - 1].lstrip().startswith("/*"):
            return first, last
        if "/*" in lines[first - 1]:
            return None
    return None


def comments_above(lines, last, prefix):
    first = last
    while first >= 1 and lines[first - 1].lstrip().startswith(prefix) and not lines[first - 1].lstrip().startswith("#!"):
        first -= 1
    return (first + 1, last) if first < last else None


def heredoc_above(lines, last):
    """Elixir's `@doc` with a text in triple or single quotes."""
    if re.match(r'\s*@doc\s+"[^"]+"\s*$', lines[last - 1]):
        return last, last
    if lines[last - 1].strip() != '"""':
        return None
    for first in range(last - 1, max(last - 300, 0), -1):
        if '"""' in lines[first - 1]:
            return (first, last) if re.match(r'\s*@doc\s+(~S)?"""', lines[first - 1]) else None
    return None


def indent_of(line):
    return len(line) - len(line.lstrip())


def end_of(lines, number, name=None):
    """The last line of what begins at a line; with `name`, lines at the margin that begin with it go on (Haskell)."""
    margin, end = indent_of(lines[number - 1]), number
    for at in range(number + 1, len(lines) + 1):
        line = lines[at - 1]
        if not line.strip():
            continue
        deeper = indent_of(line) > margin or (name is not None and re.match(rf"{re.escape(name)}\b", line))
        closing = indent_of(line) == margin and line.strip().startswith(CLOSERS)
        if not deeper and not closing:
            break
        end = at
        if closing and line.strip().startswith(("}", "end")) and not line.rstrip().endswith("{"):
            break
    return end


def has_body(lines):
    """False for a declaration alone, as in an interface."""
    text = "\n".join(lines)
    return not (text.rstrip().endswith(";") and "{" not in text and "=" not in text)


def plain_text(lines):
    """The first paragraph of a comment without its markers."""
    words = []
    for line in lines:
        line = re.sub(r'^\s*@doc\s+(~S)?"+|"+\s*$', "", line)
        text = MARKERS.sub("", line).strip()
        text = re.sub(r"</?summary>", "", text).strip()
        if words and (not text or re.match(r"[@\\#]\w|-{3,}|={3,}|</?\w+|[-*] |```|#", text)):
            break
        if text and not re.match(r"[@\\](?!brief)\w|-{3,}|={3,}", text):
            words.append(re.sub(r"^[@\\]brief\s+", "", text))
    return " ".join(words)


def python_functions(lines):
    try:
        tree = ast.parse("\n".join(lines))
    except (SyntaxError, ValueError, RecursionError):
        return []
    found = []
    for node in ast.walk(tree):
        if not isinstance(node, (ast.FunctionDef, ast.AsyncFunctionDef)) or len(node.body) < 2:
            continue
        doc = node.body[0]
        text = ast.get_docstring(node)
        if text and doc.lineno > node.lineno and lines[doc.lineno - 1].lstrip()[:1] in "rRuU\"'":
            paragraph = re.split(r"\n\s*\n", text.strip())[0]
            found.append(Documented(node.name, paragraph, doc.lineno, doc.end_lineno, node.lineno, node.end_lineno))
    return sorted(found, key=lambda one: one.first)
