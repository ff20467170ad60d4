//! The environment: the one place that reads it.

/// Gives the value of a variable that is set to something.
#[expect(clippy::disallowed_methods, reason = "this is the room that reads the environment")]
pub(crate) fn variable(name: &str) -> Option<String> {
    std::env::var(name).ok().filter(|value| !value.is_empty())
}
