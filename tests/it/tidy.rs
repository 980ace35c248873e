//! TODO tidy
