//! Which files are looked at? What every command that gives hits takes.

use clap::Args;

use crate::error::Result;
use crate::types::Language;

#[derive(Debug, Args)]
pub(super) struct Filters {
    /// Hits wanted, 1 to 50 [default: as configured]
    #[arg(short = 'n', long, value_name = "N", value_parser = clap::value_parser!(u8).range(1..=50))]
    pub(super) limit: Option<u8>,

    /// Only these languages (`rust`, `py`, …); repeat or separate by commas
    #[arg(short, long, value_delimiter = ',')]
    language: Vec<String>,

    /// Only paths that match a glob; one that starts with `!` excludes; may be repeated
    #[arg(short, long, value_name = "GLOB")]
    pub(super) path: Vec<String>,
}

impl Filters {
    /// The languages that are named.
    ///
    /// # Errors
    /// Usage: there is no such language.
    pub(super) fn languages(&self) -> Result<Vec<Language>> {
        self.language.iter().map(|name| Language::from_name(name)).collect()
    }
}
