//! Hyperlinks in terminals that support them.

use std::path::Path;
use std::sync::LazyLock;

use assay_base::percent::encode_path;

use crate::output;
use crate::process::variable;

static ARE_SUPPORTED: LazyLock<bool> = LazyLock::new(|| match variable("FORCE_HYPERLINK") {
    Some(force) => force != "0",
    None => output::is_terminal() && variable("NO_COLOR").is_none() && terminal_supports_links(),
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

/// Returns a text as a hyperlink to a file, or unchanged if hyperlinks are not supported.
pub(crate) fn to_file(path: &Path, line: Option<u32>, shown: &str) -> String {
    if !*ARE_SUPPORTED {
        return shown.to_owned();
    }
    let place = line.map(|line| format!("#{line}")).unwrap_or_default();
    let address = encode_path(path.to_string_lossy().as_bytes());
    format!("\x1b]8;;file://{address}{place}\x1b\\{shown}\x1b]8;;\x1b\\")
}
