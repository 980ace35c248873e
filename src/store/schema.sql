-- The tables of one generation. There are no keys and no indexes: they would slow every opening
-- and every write, and the code that writes keeps ids unique. Raise SCHEMA_VERSION with any change.

-- What the index was made with, and the writer's counters; text, so that any later SAI can read it.
CREATE TABLE meta (name VARCHAR NOT NULL, value VARCHAR NOT NULL);

-- `imports` and the other lists are one text: items joined by a line feed, NULL when empty.
CREATE TABLE file (
    id UINTEGER NOT NULL,
    path VARCHAR NOT NULL,
    hash BLOB NOT NULL,
    size UBIGINT NOT NULL,
    mtime_ns BIGINT NOT NULL,
    encoding VARCHAR NOT NULL,
    language VARCHAR NOT NULL,
    place VARCHAR NOT NULL,
    lines UINTEGER NOT NULL,
    imports VARCHAR
);

CREATE TABLE chunk (
    file_id UINTEGER NOT NULL,
    pos UINTEGER NOT NULL,
    line_start UINTEGER NOT NULL,
    line_end UINTEGER NOT NULL,
    byte_start UINTEGER NOT NULL,
    byte_end UINTEGER NOT NULL,
    kind VARCHAR NOT NULL,
    symbol VARCHAR,
    defines VARCHAR,
    parents VARCHAR,
    signature VARCHAR,
    doc_start UINTEGER,
    doc_end UINTEGER,
    vector_id UINTEGER NOT NULL,
    words BLOB NOT NULL USING COMPRESSION uncompressed
);

-- `values` is one signed byte a dimension.
CREATE TABLE vector (
    id UINTEGER NOT NULL,
    key BLOB NOT NULL USING COMPRESSION uncompressed,
    "values" BLOB NOT NULL USING COMPRESSION uncompressed
);

CREATE TABLE word (id UINTEGER NOT NULL, text VARCHAR NOT NULL);

-- A file's exact bytes, as an LZ4 block behind its length.
CREATE TABLE blob (
    hash BLOB NOT NULL USING COMPRESSION uncompressed,
    bytes BLOB NOT NULL USING COMPRESSION uncompressed
);

CREATE TABLE skipped (path VARCHAR NOT NULL, reason VARCHAR NOT NULL);
