//! What went wrong, with which value, and the next command.
//!
//! A message is a lower-case fragment without a full stop that names the value; a hint is the next
//! step, shown on a line of its own. Doors map the kind to an exit code or a protocol answer.

use std::fmt;

/// The result of everything that can fail in SAI.
pub type Result<T, E = Error> = std::result::Result<T, E>;

/// Who must act, and how a door reports it.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum ErrorKind {
    /// The question itself is wrong: a bad glob, an unknown language, a bad configuration.
    Usage,
    /// The index is missing, unreadable, of another version, or made with other settings.
    Index,
    /// The machine is in the way: disk, permissions, a library or an endpoint that is not there.
    Environment,
    /// Another writer holds the index.
    Busy,
    /// Whoever asked has gone, or the time allowed has passed.
    Stopped,
    /// A defect of SAI: a panic that was caught.
    Bug,
}

/// An error for the person who must act on it. Shown, it names its causes as well.
#[derive(Debug, thiserror::Error)]
#[error("{message}{}", Causes(cause.as_deref()))]
pub struct Error {
    kind: ErrorKind,
    message: String,
    hint: Option<String>,
    cause: Option<Box<dyn std::error::Error + Send + Sync>>,
}

impl Error {
    /// An error of `kind` with a message (lower-case fragment naming the value).
    pub fn new(kind: ErrorKind, message: impl Into<String>) -> Self {
        Self { kind, message: message.into(), hint: None, cause: None }
    }

    /// The question itself is wrong.
    pub fn usage(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Usage, message)
    }

    /// The index cannot answer.
    pub fn index(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Index, message)
    }

    /// The machine is in the way.
    pub fn environment(message: impl Into<String>) -> Self {
        Self::new(ErrorKind::Environment, message)
    }

    /// Adds the next step; what the reader can type or change.
    #[must_use]
    pub fn hint(mut self, hint: impl Into<String>) -> Self {
        self.hint = Some(hint.into());
        self
    }

    /// Keeps the cause; its text is appended to the message when shown.
    #[must_use]
    pub fn because(mut self, cause: impl Into<Box<dyn std::error::Error + Send + Sync>>) -> Self {
        self.cause = Some(cause.into());
        self
    }

    /// Who must act.
    pub fn kind(&self) -> ErrorKind {
        self.kind
    }

    /// The next step, when one is known.
    pub fn next_step(&self) -> Option<&str> {
        self.hint.as_deref()
    }
}

/// The causes of an error, each behind a colon.
struct Causes<'a>(Option<&'a (dyn std::error::Error + Send + Sync)>);

impl fmt::Display for Causes<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mut cause = self.0.map(|e| e as &dyn std::error::Error);
        while let Some(error) = cause {
            write!(f, ": {error}")?;
            cause = error.source();
        }
        Ok(())
    }
}
