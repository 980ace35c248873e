//! TODO store
