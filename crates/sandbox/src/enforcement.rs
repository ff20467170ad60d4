//! The degree to which the operating system enforces a limit on a command: [`Enforcement`].

/// The degree to which a limit is enforced.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Enforcement {
    /// The limit is enforced.
    Full,
    /// The limit is enforced, with gaps that the kernel leaves open.
    Partial,
    /// The kernel does not offer the limit: a command runs without it.
    None,
}
