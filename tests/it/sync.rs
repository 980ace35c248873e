//! TODO sync
