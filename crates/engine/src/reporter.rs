//! Messages to the user of a front end: [`Reporter`].

/// A receiver of messages for the user while a session runs. The front end decides where they are
/// shown.
pub trait Reporter: Send + Sync {
    /// Reports progress.
    fn note(&self, text: &str);

    /// Reports a fault that does not stop the work.
    fn warn(&self, text: &str);
}
