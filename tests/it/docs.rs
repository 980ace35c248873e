//! TODO docs
