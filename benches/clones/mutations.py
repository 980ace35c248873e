"""The eleven operators: how a copy of a function is changed, as edits of byte ranges.

After the mutation framework of Roy and Cordy (2009) and of Svajlenko and Roy (2019). Every choice is drawn from the generator
that is handed in, in an order that is part of the corpora: whoever moves a draw changes what a seed gives.
"""

import collections
import re

from syntax import COMMENTS, LANGUAGES, NUMBERS, STRINGS, first_function, leaves, parse, tokens, walk

TYPE_OF = {
    "T1_layout": "T1",
    "T1_comment": "T1",
    "T2_sri": "T2",
    "T2_lit": "T2",
    "T2_ari": "T2",
    "T3_ins": "T3",
    "T3_del": "T3",
    "T3_mod20": "T3",
    "T3_mod40": "MT3",
    "T3_reorder": "T3",
    "FRAG": "fragment",
}
OPERATORS = list(TYPE_OF)
# The share of statements that is edited, the kinds of edit drawn from, the least number of edits.
STATEMENT_EDITS = {
    "T3_ins": (0.12, ["ins"], 1),
    "T3_del": (0.12, ["del"], 1),
    "T3_mod20": (0.20, ["ins", "del", "mod", "mod"], 2),
    "T3_mod40": (0.40, ["ins", "del", "mod", "mod"], 4),
}
WORDS = (
    "item entry node buffer result output index config context data value record field token state handle target source payload "
    "frame batch chunk cursor label limit offset owner packet parent policy prefix queue range reason region request response "
    "route sample schema scope segment series signal slot spec stage status step store stream suffix table task term ticket "
    "timer total trace unit user vector view weight window worker zone"
).split()
REMARKS = [
    "check the bounds first",
    "keep this in sync with the caller",
    "fast path",
    "see the ticket for the background",
    "TODO revisit",
    "order matters here",
    "nothing else to do",
    "defensive copy",
    "handles the legacy layout",
    "avoid a second pass",
]
NUMBERS_DRAWN = [2, 3, 5, 7, 8, 12, 16, 24, 32, 60, 64, 100, 128, 250, 512, 1000, 4096]

# Nodes that declare local names, with the field that holds the name (None: the whole node).
DECLARATIONS = {
    "python": {
        "parameters": None,
        "assignment": "left",
        "for_statement": "left",
        "for_in_clause": "left",
        "as_pattern": "alias",
        "named_expression": "name",
        "augmented_assignment": "left",
    },
    "rust": {
        "parameter": "pattern",
        "let_declaration": "pattern",
        "closure_parameters": None,
        "for_expression": "pattern",
        "let_condition": "pattern",
        "match_pattern": None,
    },
    "typescript": {
        "required_parameter": "pattern",
        "optional_parameter": "pattern",
        "variable_declarator": "name",
        "for_in_statement": "left",
        "catch_clause": "parameter",
        "arrow_function": "parameter",
    },
    "java": {
        "formal_parameter": "name",
        "variable_declarator": "name",
        "enhanced_for_statement": "name",
        "catch_formal_parameter": "name",
        "resource": "name",
        "spread_parameter": None,
    },
    "go": {
        "parameter_declaration": "name",
        "short_var_declaration": "left",
        "range_clause": "left",
        "var_spec": "name",
        "const_spec": "name",
    },
}
# Within a declaration, an identifier below one of these is a use: a type, a default, a target of an index or attribute.
USES = frozenset(
    "type generic_type attribute subscript member_expression field_expression selector_expression index_expression call "
    "call_expression array_access field_access tuple_struct_pattern scoped_identifier method_invocation".split()
)
NEVER_RENAMED = frozenset("self cls this _ None Some Ok Err super".split())
NAMES = ("identifier", "shorthand_property_identifier_pattern")
# Statements that can be put in, taken out or replaced without breaking what is around them.
SIMPLE_STATEMENTS = {
    "python": "expression_statement assert_statement return_statement raise_statement delete_statement".split(),
    "rust": "expression_statement let_declaration".split(),
    "typescript": "expression_statement lexical_declaration variable_declaration".split(),
    "java": "expression_statement local_variable_declaration".split(),
    "go": "expression_statement short_var_declaration assignment_statement call_expression inc_statement var_declaration".split(),
}


def apply(source, edits):
    """The text with its byte ranges replaced."""
    content = source.encode()
    for start, end, replacement in sorted(edits, reverse=True):
        content = content[:start] + replacement.encode() + content[end:]
    return content.decode()


# ---- names and literals


def new_name(rng, language, used, old):
    """A name that isn't in use, in the language's habit, as capital as the old one."""
    for _ in range(200):
        first, second = rng.choice(WORDS), rng.choice(WORDS)
        if language in ("python", "rust"):
            name = first if rng.random() < 0.3 else f"{first}_{second}"
        else:
            name = first if rng.random() < 0.3 else first + second.capitalize()
        if old[:1].isupper():
            name = name[:1].upper() + name[1:]
        if name not in used:
            used.add(name)
            return name
    return old + "_x"


def is_member(language, node):
    """Whether an identifier names a member of something else (`other.name`), which no local renaming touches."""
    parent = node.parent
    if parent is None:
        return False
    fields = {"python": ("attribute", "name"), "java": ("name", "field")}.get(language, ())
    holders = {"python": ("attribute", "keyword_argument"), "java": ("method_invocation", "field_access")}.get(language, ())
    held = (parent.child_by_field_name(field) for field in fields)
    at = (node.start_byte, node.end_byte)
    return parent.type in holders and any(one is not None and (one.start_byte, one.end_byte) == at for one in held)


def declared(language, node):
    """The nodes that hold the names of a declaration."""
    field = DECLARATIONS[language][node.type]
    if field is None:
        return [node]
    if language == "go" and field == "name":
        return node.children_by_field_name("name")
    held = node.child_by_field_name(field)
    return [held] if held else []


def local_names(language, function):
    names = set()
    for node in walk(function):
        if node.type not in DECLARATIONS[language]:
            continue
        for holder in declared(language, node):
            for one in walk(holder):
                if one.type not in NAMES or is_member(language, one):
                    continue
                if one.parent and one.parent.type in USES:
                    continue
                name = one.text.decode()
                if name not in NEVER_RENAMED and not name.isupper():
                    names.add(name)
    return names


def rename_locals(rng, language, function, share=1.0, consistent=True):
    """Edits that rename a share of the local names; inconsistently, some uses get another's name. And how many they are."""
    used, renamed = set(tokens(function)), {}
    own_name = function.child_by_field_name("name")
    for name in sorted(local_names(language, function)):
        if rng.random() <= share or not renamed:
            renamed[name] = new_name(rng, language, used, name)
    pool = list(renamed.values()) + [new_name(rng, language, used, "x") for _ in range(3)]
    edits = []
    for leaf in leaves(function):
        if leaf.type not in NAMES or leaf.text.decode() not in renamed or is_member(language, leaf):
            continue
        if own_name and leaf.start_byte == own_name.start_byte:
            continue
        name = renamed[leaf.text.decode()] if consistent or rng.random() < 0.55 else rng.choice(pool)
        edits.append((leaf.start_byte, leaf.end_byte, name))
    return edits, len(edits)


def rename_function(rng, language, function):
    node = function.child_by_field_name("name")
    old = node.text.decode()
    name = new_name(rng, language, {old}, old)
    return [(node.start_byte, node.end_byte, name + rng.choice(["", "2", "_impl" if language in ("python", "rust") else "Impl"]))]


def change_literals(rng, function):
    """Edits that give whole numbers and plain strings other values."""
    edits = []
    for leaf in leaves(function):
        text = leaf.text.decode()
        if leaf.type in NUMBERS and re.fullmatch(r"\d+", text):
            edits.append((leaf.start_byte, leaf.end_byte, str(rng.choice(NUMBERS_DRAWN))))
        elif leaf.type in ("string_content", "string_fragment", "interpreted_string_literal_content") or (
            leaf.type in ("interpreted_string_literal", "string_literal") and re.fullmatch(r'"[\w .:,;\-/!?]+"', text)
        ):
            is_quoted = text.startswith('"')
            core = text[1:-1] if is_quoted else text
            if any(mark in core for mark in "\n%{\\"):
                continue
            words = " ".join(rng.choice(WORDS) for _ in range(max(1, len(core) // 7)))
            edits.append((leaf.start_byte, leaf.end_byte, f'"{words}"' if is_quoted else words))
    return edits


# ---- statements


def statements(language, source, function):
    """Children of blocks that own whole lines, in the order of the lines."""
    content, found = source.encode(), []
    for block in walk(function):
        if block.type not in LANGUAGES[language].blocks:
            continue
        is_only = sum(1 for child in block.named_children if child.type not in COMMENTS) == 1
        for node in block.named_children:
            if node.type in COMMENTS or node.type in ("statement_list", "block"):
                continue
            start = content.rfind(b"\n", 0, node.start_byte) + 1
            end = content.find(b"\n", node.end_byte)
            if end < 0:
                end = len(content)
            if content[start : node.start_byte].strip() or content[node.end_byte : end].strip() not in (b"", b";", b","):
                continue
            is_docstring = node.type == "expression_statement" and node.child_count and node.children[0].type == "string"
            if language == "python" and is_docstring:
                continue
            found.append(
                {
                    "node": node,
                    "start": start,
                    "end": end,
                    "indent": content[start : node.start_byte].decode(),
                    "breaks": content.count(b"\n", node.start_byte, node.end_byte),
                    "simple": node.type in SIMPLE_STATEMENTS[language],
                    "block": (block.start_byte, block.end_byte),
                    "text": content[node.start_byte : end].decode(),
                    "only": is_only,
                }
            )
    found.sort(key=lambda one: one["start"])
    return found


def donors_of(language, text):
    """One-line statements of a function that can be put into others."""
    source, function = parse(language, text)
    if function is None:
        return []
    return [
        one["text"].rstrip()
        for one in statements(language, source, function)
        if one["simple"] and one["breaks"] == 0 and 14 < len(one["text"]) < 110 and "return" not in one["text"]
    ]


def edit_statements(rng, language, source, function, share, kinds, donors, least):
    """Edits of a share of the statements; how many were made, and of how many statements."""
    there = statements(language, source, function)
    wanted = max(least, round(share * len(there)))
    candidates = [one for one in there if one["simple"] and one["breaks"] <= 2 and not one["only"]]
    rng.shuffle(candidates)
    edits, lines = [], set()
    for one in candidates:
        if len(edits) >= wanted:
            break
        if one["start"] in lines:
            continue
        kind = rng.choice(kinds)
        if kind == "del":
            edits.append((one["start"], one["end"] + 1, ""))
        elif kind == "ins":
            edits.append((one["start"], one["start"], one["indent"] + rng.choice(donors) + "\n"))
        else:
            edits.append((one["node"].start_byte, one["end"], rng.choice(donors)))
        lines.add(one["start"])
    return edits, len(edits), len(there)


def swap_neighbours(rng, language, source, function):
    """Edits that swap about a quarter of neighbouring statements; how many swaps."""
    there, content = statements(language, source, function), source.encode()
    wanted = max(2, round(0.25 * len(there)))
    order = list(range(len(there) - 1))
    rng.shuffle(order)
    edits, used = [], set()
    for at in order:
        first, second = there[at], there[at + 1]
        if at in used or at + 1 in used or first["block"] != second["block"] or first["end"] + 1 != second["start"]:
            continue
        if "return" in first["text"] or any(word in second["text"] for word in ("return", "break", "raise", "throw")):
            continue
        texts = [content[one["start"] : one["end"]].decode() for one in (first, second)]
        if texts[0] == texts[1]:
            continue
        edits.append((first["start"], second["end"], texts[1] + "\n" + texts[0]))
        used |= {at, at + 1}
        if len(edits) >= wanted:
            break
    return edits, len(edits)


# ---- layout and comments


def lay_out_anew(rng, language, source, function):
    """One edit: other indentation, braces on lines of their own (Java, Rust), blank lines. Multi-line strings stay."""
    lines = source.encode()[function.start_byte : function.end_byte].decode().split("\n")
    in_string = set()
    for node in walk(function):
        if node.type in STRINGS and node.end_point[0] > node.start_point[0]:
            in_string.update(row - function.start_point[0] for row in range(node.start_point[0] + 1, node.end_point[0] + 1))
    unit = (
        "\t" if language != "python" and rng.random() < 0.4 else " " * rng.choice([2, 3] if language == "python" else [2, 3, 8])
    )
    indents = [
        len(line) - len(line.lstrip())
        for at, line in enumerate(lines)
        if line.strip() and at and at not in in_string and not line.startswith("\t")
    ]
    step = min([indent for indent in indents if indent > 0] or [4])
    laid = []
    for at, line in enumerate(lines):
        if at in in_string or not line.strip():
            laid.append(line)
            continue
        code = line.lstrip()
        if line.startswith("\t"):
            indent = unit * (len(line) - len(line.lstrip("\t")))
        else:
            width = len(line) - len(code)
            indent = unit * (width // step) + " " * (width % step)
        # The draw comes before the other conditions, in every language but Python: see the module's head.
        may_break = at and language != "python" and rng.random() < 0.5 and language in ("java", "rust")
        if may_break and code.endswith("{") and "//" not in code and '"' not in code and len(code) > 3 and code[0] != "}":
            laid += [indent + code[:-1].rstrip(), indent + "{"]
        else:
            laid.append(indent + code)
        is_inside = at and at < len(lines) - 1
        if is_inside and rng.random() < 0.18 and code.endswith((";", "}", ")")) and at + 1 not in in_string:
            laid.append("")
    return [(function.start_byte, function.end_byte, "\n".join(laid))]


def change_comments(rng, language, source, function):
    """Edits that take most comment lines out and put others in."""
    content, edits = source.encode(), []
    for node in walk(function):
        if node.type not in COMMENTS or node.start_point[0] <= function.start_point[0]:
            continue
        start = content.rfind(b"\n", 0, node.start_byte) + 1
        owns_line = not content[start : node.start_byte].strip() and content[node.end_byte : node.end_byte + 1] == b"\n"
        if owns_line and node.text[:3] != b"///" and rng.random() < 0.7:
            edits.append((start, node.end_byte + 1, ""))
    removed = [(start, end) for start, end, _ in edits]
    there = statements(language, source, function)
    rng.shuffle(there)
    for one in there[: max(3, len(there) // 3)]:
        if any(start <= one["start"] <= end for start, end in removed):
            continue
        remark = f"{one['indent']}{LANGUAGES[language].comment} {rng.choice(REMARKS)}\n"
        edits.append((one["start"], one["start"], remark))
    return edits


# ---- fragments


def paste_fragment(rng, language, source, function, text, host):
    """The host with five to nine neighbouring statements (six lines at least) of the function put into it; None where it can't be."""
    blocks = collections.defaultdict(list)
    for one in statements(language, source, function):
        blocks[one["block"]].append(one)
    if not blocks:
        return None
    block = max(blocks.values(), key=lambda there: sum(one["breaks"] + 1 for one in there))
    if len(block) < 4:
        return None
    at = rng.randrange(0, max(1, len(block) - 4))
    segment = block[at : at + rng.randint(5, 9)]
    fragment = source.encode()[segment[0]["start"] : segment[-1]["end"]].decode()
    length = fragment.count("\n") + 1
    if length < 6 or length > 0.8 * (text.count("\n") + 1):
        return None
    host_source, host_function = parse(language, host)
    places = [one for one in statements(language, host_source, host_function) if not one["only"]]
    if not places:
        return None
    place, outer = rng.choice(places), len(segment[0]["indent"])
    lines = [place["indent"] + line[outer:] if line[:outer].strip() == "" else line for line in fragment.split("\n")]
    return apply(host_source, [(place["start"], place["start"], "\n".join(lines) + "\n")]), length


# ---- the operators


def mutate(rng, language, text, operator, donors, host=None):
    """A copy of a function after one operator, with what was done; None where the operator has too little to work on."""
    source, function = parse(language, text)
    if function is None:
        return None
    changed = changed_source(rng, language, source, function, text, operator, donors, host)
    if changed is None:
        return None
    after, done = changed
    result = first_function(language, after)
    if result is None or result.has_error:
        return None
    return after.encode()[result.start_byte : result.end_byte].decode(), done


def changed_source(rng, language, source, function, text, operator, donors, host):
    """The whole unit after the operator, with what was done; or None."""
    named = lambda edits: edits + rename_function(rng, language, function)
    if operator == "T1_layout":
        return apply(source, lay_out_anew(rng, language, source, function)), {}
    if operator == "T1_comment":
        edits = change_comments(rng, language, source, function)
        return (apply(source, edits), {}) if edits else None
    if operator == "T2_sri":
        edits, count = rename_locals(rng, language, function)
        return (apply(source, named(edits)), {}) if count >= 6 else None
    if operator == "T2_ari":
        edits, count = rename_locals(rng, language, function, consistent=False)
        return (apply(source, named(edits)), {}) if count >= 8 else None
    if operator == "T2_lit":
        edits = change_literals(rng, function)
        return (apply(source, named(edits)), {"literals": len(edits)}) if len(edits) >= 2 else None
    if operator in STATEMENT_EDITS:
        return with_edited_statements(rng, language, source, function, operator, donors)
    if operator == "T3_reorder":
        edits, swaps = swap_neighbours(rng, language, source, function)
        if swaps < 2:
            return None
        after = renamed_anew(rng, language, apply(source, edits), 1.0)
        return (after, {"swaps": swaps}) if after else None
    if operator == "FRAG":
        pasted = paste_fragment(rng, language, source, function, text, host)
        return (pasted[0], {"frag_lines": pasted[1]}) if pasted else None
    raise ValueError(operator)


def with_edited_statements(rng, language, source, function, operator, donors):
    share, kinds, least = STATEMENT_EDITS[operator]
    edits, made, there = edit_statements(rng, language, source, function, share, kinds, donors, least)
    if made < least or made < 0.75 * share * there:
        return None
    done = {"edited": made, "stmts": there}
    if operator in ("T3_ins", "T3_del"):
        return apply(source, edits + rename_function(rng, language, function)), done
    after = renamed_anew(rng, language, apply(source, edits), 1.0 if operator == "T3_mod40" else 0.5)
    return (after, done) if after else None


def renamed_anew(rng, language, source, share):
    """A changed unit with its locals and its function renamed; None where no function is left."""
    function = first_function(language, source)
    if function is None:
        return None
    edits, _ = rename_locals(rng, language, function, share)
    return apply(source, edits + rename_function(rng, language, function))
