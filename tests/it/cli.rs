//! TODO cli
