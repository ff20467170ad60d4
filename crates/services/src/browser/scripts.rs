//! The scripts that are run in a page, one file each, with `library.js` before them.
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

/// Turns an object to JSON, if it is not too big. It runs in the page's own world: the object is
/// the page's, and so is what it says.
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
    fn scripts_are_written_in_what_chrome_83_understands() {
        for script in
            [LOOK, GRAB, FITS, VALUE, SELECT, STRUCTURE, ELEMENTS, FORM, TEXT, STATE, SETTLE, HASH]
        {
            for newer in NEWER_SYNTAX {
                assert!(!script.contains(newer), "`{newer}` in {script}");
            }
        }
    }
}
