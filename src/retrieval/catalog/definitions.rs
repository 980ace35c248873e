//! Which chunks define a name? Compared without case and underscores: `parseHttp` and `parse_http`
//! are one name.

use std::hash::BuildHasher;

use super::{ChunkEntry, normal_name};

/// Chunks by the names that they define: hashes only, since the chunks have the names.
#[derive(Debug, Default)]
pub(super) struct Definitions {
    /// A name's hash and a chunk that defines it; ascending, once complete.
    chunks: Vec<(u32, u32)>,
    hasher: foldhash::fast::RandomState,
}

impl Definitions {
    /// Adds what a chunk defines; [`Definitions::complete`] makes it found.
    pub(super) fn add(&mut self, defines: &[String], chunk: u32) {
        for name in defines {
            self.chunks.push((self.hash(&normal_name(name)), chunk));
        }
    }

    /// Ends a series of additions.
    #[expect(
        clippy::stable_sort_primitive,
        reason = "after a few additions most is sorted already, which only this sort makes use of"
    )]
    pub(super) fn complete(&mut self) {
        self.chunks.sort();
        self.chunks.dedup();
    }

    /// Renumbers the chunks, without changing their order; those without a new number go.
    pub(super) fn renumber(&mut self, moved: &[Option<u32>]) {
        self.chunks.retain_mut(|(_, chunk)| {
            let to = moved[*chunk as usize];
            *chunk = to.unwrap_or(*chunk);
            to.is_some()
        });
    }

    /// The chunks among `all` that define `name`, ascending.
    pub(super) fn of(&self, name: &str, all: &[ChunkEntry]) -> Vec<u32> {
        let name = normal_name(name);
        let hash = self.hash(&name);
        let first = self.chunks.partition_point(|(other, _)| *other < hash);
        let same_hash = self.chunks[first..].iter().take_while(|(other, _)| *other == hash);
        let defines = |chunk: &u32| {
            all[*chunk as usize].defines.iter().any(|define| normal_name(define) == name)
        };
        same_hash.map(|(_, chunk)| *chunk).filter(defines).collect()
    }

    fn hash(&self, name: &str) -> u32 {
        self.hasher.hash_one(name) as u32
    }
}
