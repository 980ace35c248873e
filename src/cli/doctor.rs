//! `sai doctor`: says what is in the way, and what to do about it.

use std::fmt::Write;

use clap::Args;

use super::print::{self, BAD, BOLD, GOOD, Look, WARNING};
use super::{DONE, Ended, FAILED, Session};
use crate::error::Result;
use crate::request::{Check, DoctorReply, IndexState, StatusQuery, Verdict};
use crate::worker::Handle;

/// Check what SAI needs here, and say what to do about what is missing
///
/// Looks at the root, the configuration, git, the index folder, the model, and the index. Exits
/// with 3 when a check fails; a warning is no failure.
#[derive(Debug, Args)]
pub(super) struct DoctorArgs {}

pub(super) fn run(DoctorArgs {}: &DoctorArgs, session: &Session) -> Result<u8, Ended> {
    let reply = DoctorReply { checks: checks(session)? };
    if session.globals.json {
        print::json(&reply)?;
    } else {
        print::out(&text(&reply, session.look))?;
    }
    let failed = reply.checks.iter().any(|check| check.verdict == Verdict::Fail);
    Ok(if failed { FAILED } else { DONE })
}

/// The checks, up to the one without which the others have nothing to look at.
fn checks(session: &Session) -> Result<Vec<Check>> {
    let root = match session.root() {
        Ok(root) => root,
        Err(error) => return Ok(vec![Check::fail("root", &error)]),
    };
    let mut checks = vec![Check::ok("root", root.display().to_string())];
    let loaded = match session.load() {
        Ok(loaded) => loaded,
        Err(error) => {
            checks.push(Check::fail("configuration", &error));
            return Ok(checks);
        }
    };
    let file = loaded.file.as_ref().map_or_else(
        || "the defaults; there is no file".to_owned(),
        |file| file.display().to_string(),
    );
    checks.push(Check::ok("configuration", file));
    let handle = Handle::start(loaded.config);
    checks.extend(handle.doctor().wait()?.checks);
    let index_answers =
        checks.iter().any(|check| check.name == "index" && check.verdict == Verdict::Ok);
    if index_answers {
        checks.extend(freshness(&handle));
    }
    Ok(checks)
}

/// Whether the index holds the files as they are.
fn freshness(handle: &Handle) -> Option<Check> {
    let query = StatusQuery { compare: true, ..StatusQuery::default() };
    let status = match handle.status(query).wait() {
        Ok(status) => status,
        Err(error) => return Some(Check::fail("freshness", &error)),
    };
    let stale = status.stale.filter(|_| status.state == IndexState::Ready)?;
    let files = stale.changed.len() + stale.added.len() + stale.removed.len();
    Some(if files == 0 {
        Check::ok("freshness", "the index holds the files as they are")
    } else {
        let files = print::count(files, "file");
        Check::warn("freshness", format!("{files} changed since indexing"), "run `sai index`")
    })
}

/// A line for each check, its hint below.
fn text(reply: &DoctorReply, look: Look) -> String {
    let mut text = String::new();
    for check in &reply.checks {
        let (style, word) = match check.verdict {
            Verdict::Ok => (GOOD, "ok  "),
            Verdict::Warn => (WARNING, "warn"),
            Verdict::Fail => (BAD, "fail"),
        };
        let name = look.paint(BOLD, &format!("{:<13}", check.name));
        let detail = print::safe(&check.detail);
        let _ = writeln!(text, "{}  {name}  {detail}", look.paint(style, word));
        if let Some(hint) = &check.hint {
            let _ = writeln!(text, "{:19}  hint: {}", "", print::safe(hint));
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::error::Error;

    #[test]
    fn a_check_is_a_line_and_its_hint_another() {
        let error = Error::environment("no `model`\u{1b}").hint("put one there");
        let checks = vec![Check::ok("root", "/r"), Check::fail("model", &error)];
        let look = Look { color: false, width: None };
        assert_eq!(
            text(&DoctorReply { checks }, look),
            "ok    root           /r\n\
             fail  model          no `model`\\u{1b}\n                     hint: put one there\n"
        );
    }
}
