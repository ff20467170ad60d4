//! Who comes in over HTTP: where the token is.

use std::io::{self, Write as _};
use std::path::{Path, PathBuf};

use anyhow::{Context, bail};
use assay_review::runs::{self, RunError};
use assay_serve::token::Token;

use crate::environment::variable;

/// Gives the token in a variable or in a file, which is told of and made where it is missing.
pub(crate) fn token(
    variable_name: Option<&str>,
    file: impl FnOnce() -> anyhow::Result<PathBuf>,
) -> anyhow::Result<Token> {
    if let Some(name) = variable_name {
        let text = variable(name).with_context(|| format!("the variable `{name}` is not set"))?;
        return Ok(Token::new(&text, format!("`{name}`"))?);
    }
    let file = file()?;
    let token = Token::in_file(&file)?;
    // Whoever closed stderr does not want to hear of it.
    let _ = writeln!(io::stderr(), "the token is in {}", file.display());
    Ok(token)
}

/// Gives the folder for what assay keeps in a repository, unless the repository brought it along.
pub(crate) fn own_folder(root: &Path) -> anyhow::Result<PathBuf> {
    if let Some(folder) = runs::brought(root) {
        bail!(RunError::Brought { folder });
    }
    Ok(runs::state_folder(root)?)
}
