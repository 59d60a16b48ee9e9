//! A check and its result.

use serde::Serialize;

use crate::terminal::shown::beginning;

/// Result of a check.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum Verdict {
    /// Nothing needs a change.
    Ok,
    /// Browsers read the database, but less well than they could.
    Warning,
    /// Browsers cannot read the database, or read an old database.
    Problem,
    /// An earlier problem prevented the check.
    NotChecked,
}

/// A check and its result.
#[derive(Clone, Debug, Serialize)]
pub struct Check {
    /// Name for programs, which does not change.
    pub id: &'static str,
    /// Name for people.
    pub title: &'static str,
    /// Result.
    pub result: Verdict,
    /// Properties of the host that decided the result, shortened because headers may be long.
    pub found: String,
    /// Properties that a good host has.
    pub expected: String,
    /// The setting that solves the problem, if a setting solves it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub remedy: Option<String>,
}

impl Check {
    /// Creates a check without a problem.
    pub fn ok(
        id: &'static str,
        title: &'static str,
        found: impl Into<String>,
        expected: impl Into<String>,
    ) -> Check {
        Check {
            id,
            title,
            result: Verdict::Ok,
            found: beginning(&found.into()),
            expected: expected.into(),
            remedy: None,
        }
    }

    /// Creates a check that an earlier problem prevented.
    pub fn skipped(
        id: &'static str,
        title: &'static str,
        why: &str,
        expected: impl Into<String>,
    ) -> Check {
        Check {
            result: Verdict::NotChecked,
            ..Check::ok(id, title, why, expected)
        }
    }

    /// Makes the check a warning with a remedy.
    pub fn warn(self, remedy: impl Into<String>) -> Check {
        Check {
            result: Verdict::Warning,
            remedy: Some(remedy.into()),
            ..self
        }
    }

    /// Makes the check a problem with a remedy.
    pub fn fail(self, remedy: impl Into<String>) -> Check {
        Check {
            result: Verdict::Problem,
            remedy: Some(remedy.into()),
            ..self
        }
    }
}
