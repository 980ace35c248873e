//! Properties that hold for every text, and the rules of joining and cutting.

use super::*;

mod languages;
