//! Errors of sessions as failures of tasks: `task_error`.

use std::io;

use assay_agents::task_handler::HandlerError;
use assay_agents::workflow;
use assay_change::GitError;

/// Converts an error into a task failure, and decides if a retry may help.
pub(crate) fn task_error(error: &anyhow::Error) -> HandlerError {
    if let Some(error) = error.downcast_ref::<GitError>() {
        return workflow::git_error(error);
    }
    // A full disk, or a limit of processes, may be gone at the next attempt.
    let mut causes = error.chain().filter_map(|cause| cause.downcast_ref::<io::Error>());
    let is_transient = causes.any(workflow::is_transient_io);
    HandlerError { error: format!("{error:#}"), is_transient }
}

#[cfg(test)]
mod tests {
    use std::path::PathBuf;

    use anyhow::anyhow;

    use super::*;

    #[test]
    fn only_recoverable_errors_are_transient() {
        let is_transient = |error: anyhow::Error| task_error(&error).is_transient;
        assert!(!is_transient(anyhow!("the configuration cannot be read")));
        let disk = |kind: io::ErrorKind| anyhow::Error::from(io::Error::from(kind));
        assert!(is_transient(disk(io::ErrorKind::StorageFull).context("could not write")));
        assert!(!is_transient(disk(io::ErrorKind::NotFound).context("could not read")));
        let unknown = GitError::NotARepository { folder: PathBuf::from("/nowhere") };
        assert!(!is_transient(unknown.into()));
    }
}
