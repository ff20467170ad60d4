//! Exit codes, the same for every command.

use std::process::ExitCode;

use assay_findings::verdict::VerdictState;

/// The result of a command, as an exit code.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Exit {
    /// Ready, ready with fixes, nothing to review, or the requested output is printed.
    Ready,
    /// Not ready, or invalid.
    NotReady,
    /// Wrong usage or configuration.
    Usage,
    /// A required reviewer did not answer, or the input was unusable.
    Incomplete,
    /// A person has to decide.
    HandedOver,
    /// A bug in assay.
    Bug,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> ExitCode {
        ExitCode::from(match exit {
            Exit::Ready => 0,
            Exit::NotReady => 1,
            Exit::Usage => 2,
            Exit::Incomplete => 3,
            Exit::HandedOver => 4,
            Exit::Bug => 70,
        })
    }
}

impl From<VerdictState> for Exit {
    fn from(state: VerdictState) -> Exit {
        match state {
            VerdictState::Ready | VerdictState::ReadyWithFixes | VerdictState::NothingToReview => {
                Exit::Ready
            }
            VerdictState::NotReady => Exit::NotReady,
            VerdictState::Incomplete => Exit::Incomplete,
        }
    }
}

/// Input that a command for scripts cannot use; reported in its JSON output.
#[derive(Debug)]
pub(crate) struct UnusableInput(pub(crate) String);

impl std::fmt::Display for UnusableInput {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for UnusableInput {}
