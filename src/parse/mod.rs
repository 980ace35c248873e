//! Here is a text and its language: what does its grammar make of it? The only door to tree-sitter.
