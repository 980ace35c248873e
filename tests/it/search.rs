//! TODO search
