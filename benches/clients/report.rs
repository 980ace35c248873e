//! What was measured and what was wrong: as a table and as JSON.

use std::collections::BTreeMap;
use std::fmt::Write;
use std::time::Duration;

use serde_json::{Value, json};

/// Violations that are shown, and how much of each; all are counted.
const SHOWN_MAX: usize = 20;
const SHOWN_CHARS: usize = 400;

/// Rows of figures, and what went wrong.
#[derive(Debug, Default)]
pub(crate) struct Report {
    rows: Vec<(String, Value)>,
    violations: Vec<String>,
}

impl Report {
    pub(crate) fn row(&mut self, name: impl Into<String>, value: impl Into<Value>) {
        self.rows.push((name.into(), value.into()));
    }

    pub(crate) fn violation(&mut self, what: impl Into<String>) {
        self.violations.push(what.into());
    }

    pub(crate) fn violations(&self) -> &[String] {
        &self.violations
    }

    /// For people.
    pub(crate) fn table(&self) -> String {
        let width = self.rows.iter().map(|(name, _)| name.len()).max().unwrap_or(0);
        let mut out = String::new();
        for (name, value) in &self.rows {
            let shown = match value {
                Value::Object(fields) => {
                    fields.iter().map(|(k, v)| format!("{k} {v}")).collect::<Vec<_>>().join("  ")
                }
                Value::String(text) => text.clone(),
                other => other.to_string(),
            };
            let _ = writeln!(out, "{name:width$}  {shown}");
        }
        let _ = write!(out, "{:width$}  {}", "violations", self.violations.len());
        for violation in self.violations.iter().take(SHOWN_MAX) {
            let shown: String = violation.chars().take(SHOWN_CHARS).collect();
            let _ = write!(out, "\n  {shown}");
        }
        out
    }

    /// For programs.
    pub(crate) fn json(&self) -> Value {
        let rows: BTreeMap<&str, &Value> = self.rows.iter().map(|(k, v)| (k.as_str(), v)).collect();
        json!({"figures": rows, "violations": self.violations})
    }
}

/// Count, median and the slow end of some times, in milliseconds.
pub(crate) fn times(mut times: Vec<Duration>) -> Value {
    times.sort_unstable();
    let at = |share: f64| {
        let index = ((times.len() as f64 * share) as usize).min(times.len().saturating_sub(1));
        times.get(index).map_or(0.0, |time| (time.as_secs_f64() * 1e5).round() / 100.0)
    };
    json!({"n": times.len(), "p50_ms": at(0.5), "p95_ms": at(0.95), "p99_ms": at(0.99),
        "max_ms": at(1.0)})
}

/// Bytes as MiB with one digit behind the point.
pub(crate) fn mib(bytes: u64) -> Value {
    json!(((bytes as f64 / f64::from(1 << 20)) * 10.0).round() / 10.0)
}
