//! Tokens for access over HTTP: read from a variable or a file.

use std::io::{self, Write as _};
use std::path::PathBuf;

use anyhow::Context;
use assay_change::state::StateKind;
use assay_serve::token::Token;

use crate::process::variable;

/// The file of a token.
pub(crate) enum TokenFile {
    /// A file that the user named.
    Named(PathBuf),
    /// A file in the state of the work tree, by its kind and name. A token that another program
    /// stored there would be known to others.
    InState(StateKind, String),
}

/// Returns the token from a variable or a file. A missing file is created, and its path is printed.
pub(crate) fn load_token(
    variable_name: Option<&str>,
    place: impl FnOnce() -> anyhow::Result<TokenFile>,
) -> anyhow::Result<Token> {
    if let Some(name) = variable_name {
        let text = variable(name).with_context(|| format!("the variable `{name}` is not set"))?;
        return Ok(Token::new(&text, format!("`{name}`"))?);
    }
    let place = place()?;
    let (token, file) = match &place {
        TokenFile::Named(file) => (Token::read_or_create(file)?, file.clone()),
        TokenFile::InState(kind, name) => {
            let mut held = kind.lock_unit(name)?;
            if !held.has_existed() {
                kind.create()?;
                held.mark_changing()?;
            }
            (Token::read_or_create(held.path())?, held.path().to_owned())
        }
    };
    // A closed stderr is ignored.
    let _ = writeln!(io::stderr(), "the token is in {}", file.display());
    Ok(token)
}
