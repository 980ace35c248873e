//! `sai config`: shows every setting in force, and where its value comes from.

use clap::Args;
use serde_json::{Map, json};

use super::print::{self, Side};
use super::{DONE, Ended, Session};

/// Show every setting in force, and where its value comes from
#[derive(Debug, Args)]
pub(super) struct ConfigArgs {}

pub(super) fn run(ConfigArgs {}: &ConfigArgs, session: &Session) -> Result<u8, Ended> {
    let loaded = session.load()?;
    if session.globals.json {
        let origins: Map<_, _> = loaded
            .origins
            .iter()
            .map(|(key, origin)| (key.clone(), json!(origin.to_string())))
            .collect();
        print::json(&json!({
            "root": loaded.config.root,
            "file": loaded.file,
            "config": loaded.config,
            "origins": origins,
        }))?;
        return Ok(DONE);
    }
    let titles = [("setting", Side::Left), ("value", Side::Left), ("from", Side::Left)];
    let rows: Vec<Vec<String>> = loaded
        .rows()
        .into_iter()
        .map(|(key, value, origin)| vec![key, value, origin.to_string()])
        .collect();
    print::out(&print::table(&titles, &rows, session.look))?;
    Ok(DONE)
}
