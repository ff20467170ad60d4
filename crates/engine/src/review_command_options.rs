//! The options of a review besides the change and the models: [`ReviewCommandOptions`].

use std::path::PathBuf;

use crate::imports::FindingsImport;
use crate::rule_options::RuleOptions;

/// The options of a command that a review takes in addition to the configuration.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ReviewCommandOptions {
    /// The limits of the rules.
    pub rules: RuleOptions,
    /// The configuration that the user names; `None` for that of the repository.
    pub config: Option<PathBuf>,
    /// The files with findings of other tools.
    pub imports: Vec<FindingsImport>,
}

impl ReviewCommandOptions {
    /// Returns a note on the configuration that the user names; `None` if the user names none.
    pub(crate) fn config_note(&self) -> Option<String> {
        let file = self.config.as_ref()?.display();
        Some(format!(
            "using the configuration `{file}` of `--config`, and not that of the repository"
        ))
    }
}
