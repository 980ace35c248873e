//! TODO embed
