//! Who comes in over HTTP: where the token is.

use std::io::{self, Write as _};
use std::path::PathBuf;

use anyhow::Context;
use assay_change::state::Kind;
use assay_serve::token::Token;

use crate::process::variable;

/// Where a token is kept in a file.
pub(crate) enum TokenPlace {
    /// The user named the file.
    Named(PathBuf),
    /// The file is state of the work tree, by its kind and name. A token that something else put there
    /// would be known to others.
    Own(Kind, String),
}

/// Gives the token in a variable or in a file, which is told of and made where it is missing.
pub(crate) fn token(
    variable_name: Option<&str>,
    place: impl FnOnce() -> anyhow::Result<TokenPlace>,
) -> anyhow::Result<Token> {
    if let Some(name) = variable_name {
        let text = variable(name).with_context(|| format!("the variable `{name}` is not set"))?;
        return Ok(Token::new(&text, format!("`{name}`"))?);
    }
    let place = place()?;
    let (token, file) = match &place {
        TokenPlace::Named(file) => (Token::in_file(file)?, file.clone()),
        TokenPlace::Own(kind, name) => {
            let mut held = kind.hold(name)?;
            if !held.is_there() {
                kind.make()?;
                held.change()?;
            }
            (Token::in_file(held.path())?, held.path().to_owned())
        }
    };
    // Whoever closed stderr does not want to hear of it.
    let _ = writeln!(io::stderr(), "the token is in {}", file.display());
    Ok(token)
}
