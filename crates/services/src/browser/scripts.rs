//! The scripts that run in a page, one file each, after `library.js`.
//!
//! A script runs in an isolated world, in which the page can change no prototype. Names of elements
//! still hide properties of `document` and of forms, so scripts take these properties from the
//! prototypes. Only `eval` runs in the world of the page. Arguments of a script arrive as `args`,
//! as data.

macro_rules! script {
    ($($file:literal),+) => {
        concat!("function (args) {\n", $(include_str!(concat!("scripts/", $file))),+, "}")
    };
}

pub(super) const LOOK: &str = script!("library.js", "find.js", "look.js");
pub(super) const GRAB: &str = script!("library.js", "find.js", "fits.js", "grab.js");
pub(super) const FITS: &str = script!("library.js", "find.js", "fits.js", "fit.js");
pub(super) const VALUE: &str = script!("library.js", "find.js", "value.js");
pub(super) const SELECT: &str = script!("library.js", "find.js", "select.js");
pub(super) const STRUCTURE: &str = script!("library.js", "structure.js");
pub(super) const ELEMENTS: &str = script!("library.js", "elements.js");
pub(super) const FORM: &str = script!("library.js", "form.js");
pub(super) const TEXT: &str = script!("library.js", "text.js");
pub(super) const STATE: &str = script!("library.js", "state.js");
pub(super) const SETTLE: &str = script!("library.js", "settle.js");
pub(super) const HASH: &str = script!("library.js", "hash.js");

/// Converts an object to JSON, or returns the length of the JSON if it is too long. The script runs
/// in the page's own world: both the object and its JSON are controlled by the page.
pub(super) const TO_JSON: &str = "function (most) {
    const text = JSON.stringify(this) ?? 'null';
    return text.length > most ? text.length : text;
}";

#[cfg(test)]
mod tests {
    use super::*;

    /// Syntax that Chrome got after version 83.
    const NEWER_SYNTAX: [&str; 7] = ["??=", "||=", "&&=", "static {", "#{", ".at(", "replaceAll("];

    #[test]
    fn scripts_use_no_syntax_newer_than_chrome_83() {
        for script in
            [LOOK, GRAB, FITS, VALUE, SELECT, STRUCTURE, ELEMENTS, FORM, TEXT, STATE, SETTLE, HASH]
        {
            for newer in NEWER_SYNTAX {
                assert!(!script.contains(newer), "`{newer}` in {script}");
            }
        }
    }
}
