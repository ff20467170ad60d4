//! Errors after which the state is unknown: [`UnknownOutcome`].

/// The error if an input of a verdict cannot be read. It wraps the reason, and is never a pass.
#[derive(Debug)]
pub struct UnknownOutcome(pub &'static str);

impl std::fmt::Display for UnknownOutcome {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}
