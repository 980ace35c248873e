//! TODO chunk
