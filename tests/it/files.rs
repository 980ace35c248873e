//! TODO files
