"""What people wrote about code, made into short plain texts: documentation comments and commit subjects."""

import re

_COMMENT_MARK = re.compile(r"^(/\*\*?!?|\*/|///?!?|//!|\*|#+|---?\s?\||---?\^?|--+|\{-\s?\|?|-\}|<!--)\s?")
_COMMENT_END = re.compile(r"(\*/|-\}|-->|\]\])$")
_XML_TAG = re.compile(r"</?(summary|remarks|para|p|b|i|c|code|see|paramref|typeparamref|seealso|value|returns)\b[^>]*>")
_FIRST_SECTION = re.compile(
    r"\n\s*\n|\n\s*([@\\]\w|:param|:return|Args:|Parameters|Returns|Example|#|```|<param|<exception|- )")
_NO_DOCUMENTATION = re.compile(
    r"(?i)(todo|fixme|xxx|hack|deprecated|see |noinspection|eslint|@|copyright|\(c\)|licen[sc]e|internal$|istanbul|type:|ts-|noqa|pylint|rubocop|"
    r"shellcheck|nolint|swiftlint|clang-format|region|endregion|auto-?generated|generated|spdx|vim:|coding|frozen_string|given$|when$|then$|arrange|"
    r"assert|act$|\W+$)")
_CHORE = re.compile(
    r"(?i)^(merge|revert|release|bump|version|v?\d+\.\d+|update (changelog|readme|dependenc|deps|license|copyright|docs?|version)|changelog|prepare|"
    r"typo|fix(ed|es)? (a )?typo|lint|format|fmt|style|whitespace|clean ?up|refactor(ing)?$|wip|todo|minor|nit|chore\(deps|build\(deps|initial commit|"
    r"apply|tweak|misc|fix(es)? (ci|build|lint|tests?)$|oops|docs?:|doc:|ci:|\W*$)")
_CONVENTIONAL = re.compile(
    r"(?i)^(feat|fix|perf|refactor|test|tests|chore|docs?|build|ci|style|bug|bugfix|feature|add|lang|misc)(\(([^)]*)\))?!?:\s*(.*)$")


def plain_comment(lines):
    """A comment's lines without its marks and XML tags."""
    out = []
    for line in lines:
        line = _COMMENT_END.sub("", _COMMENT_MARK.sub("", line.strip()))
        out.append(_XML_TAG.sub(" ", line).strip())
    return "\n".join(out).strip()


def first_sentence(text):
    """The first sentence of a plain comment, without markup."""
    text = re.sub(r"^\s*[@\\](description|desc|brief|summary|doc)\s+", "", text)
    text = _FIRST_SECTION.split(text)[0]
    text = re.sub(r"<[^>]{1,60}>", "", text)
    text = re.sub(r"\{@\w+\s+([^}]*)\}", r"\1", text)
    text = re.sub(r"\[([^\]]*)\]\([^)]*\)", r"\1", text)
    text = re.sub(r":\w+:`[~!.]?([^`<]*)`", r"\1", text).replace("`", "")
    text = " ".join(text.split())
    match = re.match(r"(.*?[.!?])(\s|$)", text)
    if match and len(match.group(1).split()) >= 3 and not re.search(r"(e\.g|i\.e|etc|vs)\.$", match.group(1)):
        text = match.group(1)
    return text.strip()


def beginning(text, most_words=60):
    """A comment up to its lists of parameters and examples, in one line."""
    text = re.split(r"\n\s*(?:[@\\]param|:param|Args:|Parameters|```|## Examples)", text)[0]
    return " ".join(text.split()[:most_words])


def says_something(text, fewest=4, most=40):
    """Is it a text of that many words, in letters, and no instruction to a tool?"""
    if not fewest <= len(text.split()) <= most or _NO_DOCUMENTATION.match(text):
        return False
    if sum(c.isalpha() or c == " " for c in text) < 0.75 * len(text):
        return False
    return sum(ord(c) > 127 for c in text) <= 2


def speaks_of_licence(text, warranty=False):
    return bool(re.search(r"(?i)copyright|licen[sc]e" + ("|warrant" if warranty else ""), text))


def without_licence(text):
    """A file's first comment without the notice that it begins with."""
    if not speaks_of_licence(text):
        return text
    return re.sub(r"(?is)^.*?(copyright|licen[sc]e).*?\n\s*\n", "", text)


def is_chore(subject):
    return bool(_CHORE.match(subject))


def clean_subject(subject):
    """A commit's subject without numbers, links and prefixes; empty where the prefix says that no code changed."""
    subject = re.sub(r"\s*\(?(?:#|GH-|gh-)\d+\)?", "", subject)
    subject = re.sub(r"\[[^\]]{1,20}\]\s*", "", subject)
    subject = re.sub(
        r"(?i)\s*(?:,?\s*(?:fix(?:es|ed)?|close[sd]?|resolve[sd]?|refs?|see|part of|issue)\s*:?\s*(?:#?\d+|https?://\S+))+\.?$", "", subject)
    subject = re.sub(r"https?://\S+", "", subject)
    subject = re.sub(r":[a-z_]+:", "", subject)
    match = _CONVENTIONAL.match(subject)
    if match:
        if match.group(1).lower() in ("chore", "docs", "doc", "ci", "style", "build"):
            return ""
        subject = (match.group(3) + " " if match.group(3) else "") + match.group(4)
    return subject.replace("`", "").strip(" .:-;")
