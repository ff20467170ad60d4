//! Errors after which nothing is known: [`NothingKnown`].

/// What a verdict needs cannot be had. It is put around the reason, and never a pass.
#[derive(Debug)]
pub struct NothingKnown(pub &'static str);

impl std::fmt::Display for NothingKnown {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(self.0)
    }
}
