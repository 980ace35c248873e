//! Rows to Arrow columns and back: how each table's rows lie in DuckDB.
//!
//! [`append`] writes a slice of rows; [`Columns`] reads the columns of one batch of a result.

use std::sync::Arc;

use duckdb::Connection;
use duckdb::arrow::array::{
    Array, ArrayRef, BinaryArray, FixedSizeListArray, Float32Array, Int64Array, LargeBinaryArray,
    RecordBatch, StringArray, StructArray, UInt32Array, UInt64Array,
};
use duckdb::arrow::datatypes::{DataType, Field};

use super::{ChunkRow, FileRow, VectorRow};
use crate::types::Hash;

/// Rows that are turned into columns at once; bounds the memory that the columns take.
const ROWS_MAX: usize = 16_384;
/// Exact bytes of files are larger than other rows.
const BLOBS_MAX: usize = 512;
/// LZ4 cannot shrink bytes further than this, so a length beyond it is damage.
const SHRINK_MAX: usize = 255;

/// What a failed read says; the caller adds the file.
pub(super) type Fault = String;

fn append(connection: &Connection, table: &str, columns: Vec<ArrayRef>) -> duckdb::Result<()> {
    let named = columns.into_iter().enumerate().map(|(i, column)| (format!("c{i}"), column, true));
    let batch = RecordBatch::try_from_iter_with_nullable(named)
        .expect("columns made from the same rows are of one length");
    let mut appender = connection.appender(table)?;
    appender.append_record_batch(batch)?;
    appender.flush()
}

fn u32s<T>(rows: &[T], get: impl Fn(&T) -> u32) -> ArrayRef {
    Arc::new(UInt32Array::from_iter_values(rows.iter().map(get)))
}

fn optional_u32s<T>(rows: &[T], get: impl Fn(&T) -> Option<u32>) -> ArrayRef {
    Arc::new(rows.iter().map(get).collect::<UInt32Array>())
}

fn texts<'a, T>(rows: &'a [T], get: impl Fn(&'a T) -> &'a str) -> ArrayRef {
    Arc::new(StringArray::from_iter_values(rows.iter().map(get)))
}

fn optional_texts<'a, T>(rows: &'a [T], get: impl Fn(&'a T) -> Option<&'a str>) -> ArrayRef {
    Arc::new(rows.iter().map(get).collect::<StringArray>())
}

fn lists<'a, T>(rows: &'a [T], get: impl Fn(&'a T) -> &'a [String]) -> ArrayRef {
    Arc::new(rows.iter().map(|row| join(get(row))).collect::<StringArray>())
}

fn bytes<'a, T>(rows: &'a [T], get: impl Fn(&'a T) -> &'a [u8]) -> ArrayRef {
    Arc::new(BinaryArray::from_iter_values(rows.iter().map(get)))
}

pub(super) fn append_files(connection: &Connection, rows: &[FileRow]) -> duckdb::Result<()> {
    for rows in rows.chunks(ROWS_MAX) {
        let columns = vec![
            u32s(rows, |r| r.id),
            texts(rows, |r| r.path.as_str()),
            bytes(rows, |r| &r.hash.0),
            Arc::new(UInt64Array::from_iter_values(rows.iter().map(|r| r.size))),
            Arc::new(Int64Array::from_iter_values(rows.iter().map(|r| r.mtime_ns))),
            texts(rows, |r| &r.encoding),
            texts(rows, |r| r.language.name()),
            texts(rows, |r| r.place.name()),
            u32s(rows, |r| r.lines),
            lists(rows, |r| &r.imports),
        ];
        append(connection, "file", columns)?;
    }
    Ok(())
}

pub(super) fn append_chunks(connection: &Connection, rows: &[ChunkRow]) -> duckdb::Result<()> {
    for rows in rows.chunks(ROWS_MAX) {
        let columns = vec![
            u32s(rows, |r| r.file_id),
            u32s(rows, |r| r.pos),
            u32s(rows, |r| r.lines.start),
            u32s(rows, |r| r.lines.end),
            u32s(rows, |r| r.byte_start),
            u32s(rows, |r| r.byte_end),
            texts(rows, |r| r.kind.name()),
            optional_texts(rows, |r| r.symbol.as_deref()),
            lists(rows, |r| &r.defines),
            lists(rows, |r| &r.parents),
            optional_texts(rows, |r| r.signature.as_deref()),
            optional_u32s(rows, |r| r.doc.map(|(start, _)| start)),
            optional_u32s(rows, |r| r.doc.map(|(_, end)| end)),
            u32s(rows, |r| r.vector_id),
            bytes(rows, |r| &r.words),
        ];
        append(connection, "chunk", columns)?;
    }
    Ok(())
}

pub(super) fn append_vectors(connection: &Connection, rows: &[VectorRow]) -> duckdb::Result<()> {
    for rows in rows.chunks(ROWS_MAX) {
        let values: Vec<Vec<u8>> =
            rows.iter().map(|r| r.values.iter().map(|v| v.cast_unsigned()).collect()).collect();
        let columns = vec![
            u32s(rows, |r| r.id),
            bytes(rows, |r| &r.key.0),
            bytes(&values, |values| values.as_slice()),
        ];
        append(connection, "vector", columns)?;
    }
    Ok(())
}

pub(super) fn append_words(connection: &Connection, rows: &[(u32, String)]) -> duckdb::Result<()> {
    for rows in rows.chunks(ROWS_MAX) {
        append(connection, "word", vec![u32s(rows, |r| r.0), texts(rows, |r| &r.1)])?;
    }
    Ok(())
}

pub(super) fn append_blobs(
    connection: &Connection,
    rows: &[&(Hash, Vec<u8>)],
) -> duckdb::Result<()> {
    for rows in rows.chunks(BLOBS_MAX) {
        let packed = rows.iter().map(|r| lz4_flex::block::compress_prepend_size(&r.1));
        let packed = Arc::new(LargeBinaryArray::from_iter_values(packed));
        append(connection, "blob", vec![bytes(rows, |r| &r.0.0), packed])?;
    }
    Ok(())
}

/// Appends vectors of `dim` signed bytes, by id, to the table of an HNSW index. Their length makes no
/// difference there, and whole numbers compress to the bytes that they were.
pub(super) fn append_near(
    connection: &Connection,
    dim: usize,
    rows: &[(u32, &[u8])],
) -> duckdb::Result<()> {
    let size = i32::try_from(dim).expect("DuckDB's arrays are far shorter");
    let item = Arc::new(Field::new_list_field(DataType::Float32, true));
    for rows in rows.chunks(ROWS_MAX) {
        let values = rows.iter().flat_map(|row| row.1).map(|v| f32::from(v.cast_signed()));
        let values = Arc::new(Float32Array::from_iter_values(values));
        let vectors = FixedSizeListArray::new(Arc::clone(&item), size, values, None);
        append(connection, "near", vec![u32s(rows, |r| r.0), Arc::new(vectors)])?;
    }
    Ok(())
}

pub(super) fn append_pairs(
    connection: &Connection,
    table: &str,
    rows: &[(String, String)],
) -> duckdb::Result<()> {
    for rows in rows.chunks(ROWS_MAX) {
        append(connection, table, vec![texts(rows, |r| &r.0), texts(rows, |r| &r.1)])?;
    }
    Ok(())
}

/// The bytes behind what [`append_blobs`] stored.
pub(super) fn unpack(packed: &[u8]) -> Result<Vec<u8>, Fault> {
    let (len, block) = lz4_flex::block::uncompressed_size(packed).map_err(|e| e.to_string())?;
    if len > block.len().saturating_mul(SHRINK_MAX) {
        return Err(format!("{} bytes cannot hold {len}", block.len()));
    }
    lz4_flex::block::decompress(block, len).map_err(|e| e.to_string())
}

/// The items as one text, a line each, with `\` and line feeds in them escaped; `None` for none.
fn join(items: &[String]) -> Option<String> {
    if items.is_empty() {
        return None;
    }
    let mut joined = String::with_capacity(items.iter().map(|item| item.len() + 1).sum());
    for (i, item) in items.iter().enumerate() {
        if i > 0 {
            joined.push('\n');
        }
        if memchr::memchr2(b'\\', b'\n', item.as_bytes()).is_some() {
            joined.push_str(&item.replace('\\', "\\\\").replace('\n', "\\n"));
        } else {
            joined.push_str(item);
        }
    }
    Some(joined)
}

/// What [`join`] joined.
fn split(joined: Option<&str>) -> Vec<String> {
    let Some(joined) = joined else { return Vec::new() };
    // A vector that grows as it is filled has room for four.
    let count = memchr::memchr_iter(b'\n', joined.as_bytes()).count() + 1;
    let mut items = Vec::with_capacity(count);
    items.extend(joined.split('\n').map(unescape));
    items
}

fn unescape(item: &str) -> String {
    if !item.contains('\\') {
        return item.to_owned();
    }
    let mut plain = String::with_capacity(item.len());
    let mut chars = item.chars();
    while let Some(c) = chars.next() {
        match c {
            '\\' if chars.next() == Some('n') => plain.push('\n'),
            '\\' => plain.push('\\'),
            other => plain.push(other),
        }
    }
    plain
}

/// The columns of one batch of a result, by position.
pub(super) struct Columns<'a>(pub(super) &'a StructArray);

impl<'a> Columns<'a> {
    pub(super) fn len(&self) -> usize {
        self.0.len()
    }

    fn cast<T: Array + 'static>(&self, column: usize) -> Result<&'a T, Fault> {
        let found = self.0.columns().get(column).and_then(|array| array.as_any().downcast_ref());
        found.ok_or_else(|| format!("column {column} is of another type than SAI stores"))
    }

    pub(super) fn u32s(&self, column: usize) -> Result<&'a UInt32Array, Fault> {
        self.cast(column)
    }

    pub(super) fn u64s(&self, column: usize) -> Result<&'a UInt64Array, Fault> {
        self.cast(column)
    }

    pub(super) fn i64s(&self, column: usize) -> Result<&'a Int64Array, Fault> {
        self.cast(column)
    }

    pub(super) fn texts(&self, column: usize) -> Result<&'a StringArray, Fault> {
        self.cast(column)
    }

    pub(super) fn bytes(&self, column: usize) -> Result<&'a BinaryArray, Fault> {
        self.cast(column)
    }

    pub(super) fn lists(&self, column: usize) -> Result<Lists<'a>, Fault> {
        self.texts(column).map(Lists)
    }

    pub(super) fn hashes(&self, column: usize) -> Result<Hashes<'a>, Fault> {
        self.bytes(column).map(Hashes)
    }
}

/// A column of lists.
pub(super) struct Lists<'a>(&'a StringArray);

impl Lists<'_> {
    pub(super) fn value(&self, row: usize) -> Vec<String> {
        split(optional(self.0, row))
    }
}

/// A column of hashes.
pub(super) struct Hashes<'a>(&'a BinaryArray);

impl Hashes<'_> {
    pub(super) fn value(&self, row: usize) -> Result<Hash, Fault> {
        let bytes = self.0.value(row);
        bytes.try_into().map(Hash).map_err(|_| format!("a hash has {} bytes", bytes.len()))
    }
}

/// The text of a row, unless it is NULL.
pub(super) fn optional(column: &StringArray, row: usize) -> Option<&str> {
    column.is_valid(row).then(|| column.value(row))
}

/// The number of a row, unless it is NULL.
pub(super) fn optional_u32(column: &UInt32Array, row: usize) -> Option<u32> {
    column.is_valid(row).then(|| column.value(row))
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::{join, split, unpack};

    proptest! {
        #[test]
        fn a_list_survives_being_one_text(items: Vec<String>) {
            prop_assert_eq!(split(join(&items).as_deref()), items);
        }

        #[test]
        fn line_feeds_and_backslashes_in_items_survive(items: Vec<String>) {
            let items: Vec<String> =
                items.iter().map(|item| item.replace(char::is_alphanumeric, "\\n\n\\")).collect();
            prop_assert_eq!(split(join(&items).as_deref()), items);
        }

        #[test]
        fn packed_bytes_survive(bytes: Vec<u8>) {
            let packed = lz4_flex::block::compress_prepend_size(&bytes);
            prop_assert_eq!(unpack(&packed), Ok(bytes));
        }

        #[test]
        fn any_bytes_unpack_or_fail(bytes: Vec<u8>) {
            let _ = unpack(&bytes);
        }
    }

    #[test]
    fn bytes_that_shrink_most_survive() {
        let zeros = vec![0; 5 << 20];
        let packed = lz4_flex::block::compress_prepend_size(&zeros);
        assert_eq!(unpack(&packed), Ok(zeros));
    }

    #[test]
    fn a_length_that_the_bytes_cannot_hold_is_refused() {
        assert!(unpack(&[0xff, 0xff, 0xff, 0xff, 0, 0]).is_err());
    }
}
