"""What the scripts know of the five languages: their functions, tokens and sequences of tokens, by tree-sitter."""

import re
from dataclasses import dataclass

import tree_sitter
import tree_sitter_go
import tree_sitter_java
import tree_sitter_python
import tree_sitter_rust
import tree_sitter_typescript


@dataclass(frozen=True)
class Language:
    """A grammar and the names it has for what the scripts look for."""

    parser: tree_sitter.Parser
    extension: str
    functions: frozenset[str]
    blocks: frozenset[str]
    comment: str


def language(grammar, extension, functions, blocks, comment="//"):
    parser = tree_sitter.Parser(tree_sitter.Language(grammar))
    return Language(parser, extension, frozenset(functions), frozenset(blocks), comment)


LANGUAGES = {
    "python": language(tree_sitter_python.language(), "py", ["function_definition"], ["block"], "#"),
    "rust": language(tree_sitter_rust.language(), "rs", ["function_item"], ["block"]),
    "typescript": language(
        tree_sitter_typescript.language_typescript(), "ts", ["function_declaration", "method_definition"], ["statement_block"]
    ),
    "java": language(tree_sitter_java.language(), "java", ["method_declaration"], ["block", "constructor_body"]),
    "go": language(tree_sitter_go.language(), "go", ["function_declaration", "method_declaration"], ["block", "statement_list"]),
}

IDENTIFIERS = frozenset(
    "identifier type_identifier field_identifier property_identifier shorthand_property_identifier "
    "shorthand_property_identifier_pattern package_identifier".split()
)
STRINGS = frozenset(
    "string string_literal string_content string_fragment raw_string_literal interpreted_string_literal char_literal "
    "character_literal template_string escape_sequence string_start string_end interpreted_string_literal_content "
    "raw_string_literal_content multiline_string_fragment".split()
)
NUMBERS = frozenset(
    "integer float number integer_literal float_literal decimal_integer_literal decimal_floating_point_literal int_literal "
    "hex_integer_literal".split()
)
COMMENTS = frozenset("comment line_comment block_comment doc_comment".split())


def walk(node):
    """The node and all below it. The order is part of the corpora: what is found first is drawn first."""
    stack = [node]
    while stack:
        here = stack.pop()
        yield here
        stack.extend(here.children)


def leaves(node):
    """The tokens of a node in the order of the text, comments left out."""
    stack, found = [node], []
    while stack:
        here = stack.pop()
        if here.type in COMMENTS:
            continue
        if here.child_count == 0:
            if here.end_byte > here.start_byte and here.text.strip():
                found.append(here)
        else:
            stack.extend(reversed(here.children))
    return found


def tokens(node, normalised=False):
    """The texts of the tokens; normalised, identifiers, strings and numbers are one token each."""
    return [blank_or_text(leaf) if normalised else leaf.text.decode("utf8", "replace") for leaf in leaves(node)]


def blank_or_text(leaf):
    if leaf.type in IDENTIFIERS:
        return "$I"
    if leaf.type in STRINGS:
        return "$S"
    if leaf.type in NUMBERS:
        return "$N"
    return leaf.text.decode("utf8", "replace")


def grams(sequence, length):
    """The set of runs of so many tokens; the whole sequence where it is shorter."""
    return {tuple(sequence[at : at + length]) for at in range(max(1, len(sequence) - length + 1))}


def jaccard(left, right):
    if not left or not right:
        return 0.0
    common = len(left & right)
    return common / (len(left) + len(right) - common)


def similarities(left, right):
    """How alike two functions are: Jaccard of raw 3-grams, and of normalised 5-grams."""
    return (
        jaccard(grams(tokens(left), 3), grams(tokens(right), 3)),
        jaccard(grams(tokens(left, True), 5), grams(tokens(right, True), 5)),
    )


def wrap(name, text, type_name="H"):
    """A unit that parses, with one function in it, and the lines before the function."""
    if name == "java":
        return f"public class {type_name} {{\n{text}\n}}\n", 1
    if name == "rust" and re.search(r"\bself\b", text.split("{")[0]):
        return f"impl {type_name} {{\n{text}\n}}\n", 1
    if name == "typescript" and not re.match(r"\s*(async\s+)?function\b", text):
        return f"class {type_name} {{\n{text}\n}}\n", 1
    if name == "go":
        return f"package p\n{text}\n", 1
    return text + "\n", 0


def first_function(name, source):
    """The first function of a source text, or None."""
    root = LANGUAGES[name].parser.parse(source.encode()).root_node
    found = [node for node in walk(root) if node.type in LANGUAGES[name].functions]
    return min(found, key=lambda node: node.start_byte, default=None)


def parse(name, text):
    """The unit around one function, and the function's node in it, or None."""
    unit, _ = wrap(name, text)
    return unit, first_function(name, unit)
