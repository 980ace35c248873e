"""The kinds of training pairs, named once.

doc      first sentence of a documentation comment, the definition below it
fulldoc  up to 60 words of the same comment, the definition below it
name     words of a definition's name, its body
test     title or name of a test, its body
comment  comment inside a body, the lines that follow
path     file stem and folders, a chunk of the file
header   first comment of a file, a chunk of the file
commit   subject of a small commit, the changed lines of one file
readme   sentence or heading in prose, the code block below it
"""

KINDS = ("doc", "fulldoc", "name", "test", "comment", "path", "header", "commit", "readme")
# Asking for a file: another chunk of the right file is no wrong answer.
COARSE = ("path", "header", "commit")
# Kinds whose document is at times its path alone.
PATH_ONLY = ("doc", "fulldoc", "comment", "header", "commit")
# The validation score is the mean over these.
SCORED = ("doc", "path", "header", "commit", "comment", "test")
