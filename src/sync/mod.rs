//! Here is a tree and an index: make the index equal to the tree.

pub mod read;
pub mod scope;
