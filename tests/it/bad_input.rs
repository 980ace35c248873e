//! TODO bad_input
