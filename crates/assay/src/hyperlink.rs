//! Hyperlinks in terminals that support them, to files or to the editor of the user.
//!
//! The editor is chosen by a variable and never by a file of the repository: the author of a
//! repository must not choose a program on the machine of the user.

mod editor_link;

use std::path::Path;
use std::sync::LazyLock;

use self::editor_link::EditorLink;
use crate::process::variable;
use crate::{messages, output};

/// The variable with the editor that hyperlinks open.
const EDITOR_LINK: &str = "ASSAY_EDITOR_LINK";

static ARE_SUPPORTED: LazyLock<bool> = LazyLock::new(|| match variable("FORCE_HYPERLINK") {
    Some(force) => force != "0",
    None => output::is_terminal() && variable("NO_COLOR").is_none() && terminal_supports_links(),
});

static LINK: LazyLock<EditorLink> = LazyLock::new(|| {
    let Some(value) = variable(EDITOR_LINK) else { return EditorLink::default() };
    EditorLink::parse(&value).unwrap_or_else(|why| {
        messages::warn(&format!("{EDITOR_LINK} is not used, links open files: {why}"));
        EditorLink::default()
    })
});

/// Returns true if the terminal is known to support hyperlinks.
fn terminal_supports_links() -> bool {
    let is_one_of = |name: &str, known: &[&str]| {
        variable(name).is_some_and(|value| known.iter().any(|known| value.starts_with(known)))
    };
    let vte = variable("VTE_VERSION").and_then(|version| version.parse::<u32>().ok());
    is_one_of("TERM_PROGRAM", &["iTerm.app", "WezTerm", "vscode", "ghostty", "Hyper"])
        || is_one_of("TERM", &["xterm-kitty", "alacritty", "foot", "xterm-ghostty"])
        || variable("WT_SESSION").is_some()
        || variable("KONSOLE_VERSION").is_some()
        || vte.is_some_and(|version| version >= 5000)
}

/// A place in a file that a hyperlink opens.
#[derive(Debug, Clone, Copy)]
pub(crate) struct LinkPlace<'a> {
    pub(crate) path: &'a Path,
    pub(crate) line: Option<u32>,
    pub(crate) column: Option<u32>,
}

/// Returns a text as a hyperlink to a place, or unchanged if hyperlinks are not supported.
pub(crate) fn to_place(place: LinkPlace<'_>, shown: &str) -> String {
    match (*ARE_SUPPORTED).then(|| LINK.address(place)).flatten() {
        Some(address) => format!("\x1b]8;;{address}\x1b\\{shown}\x1b]8;;\x1b\\"),
        None => shown.to_owned(),
    }
}
