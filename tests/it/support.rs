//! TODO support
