//! The addresses that open a file in an editor: [`EditorLink`].

use assay_base::percent::encode_path;

use super::LinkPlace;

/// The editors with a name, and the addresses that they register.
const EDITORS: [(&str, &str); 10] = [
    ("vscode", "vscode://file{path}:{line}:{column}"),
    ("vscode-insiders", "vscode-insiders://file{path}:{line}:{column}"),
    ("vscodium", "vscodium://file{path}:{line}:{column}"),
    ("cursor", "cursor://file{path}:{line}:{column}"),
    ("windsurf", "windsurf://file{path}:{line}:{column}"),
    ("zed", "zed://file{path}:{line}:{column}"),
    ("idea", "idea://open?file={path}&line={line}&column={column}"),
    ("pycharm", "pycharm://open?file={path}&line={line}&column={column}"),
    ("textmate", "txmt://open?url=file://{path}&line={line}&column={column}"),
    ("macvim", "mvim://open?url=file://{path}&line={line}&column={column}"),
];

/// The marks that an address may contain.
const MARKS: [&str; 3] = ["{path}", "{line}", "{column}"];

/// The form of the addresses in hyperlinks.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub(super) enum EditorLink {
    /// The address of the file, which the desktop opens.
    #[default]
    File,
    /// No hyperlinks.
    None,
    /// An address of an editor, with [`MARKS`].
    Template(String),
}

impl EditorLink {
    /// Reads the name of an editor, or an address with `{path}`. Fails with the reason.
    pub(super) fn parse(value: &str) -> Result<EditorLink, String> {
        let named = EDITORS.iter().find(|(name, _)| *name == value);
        match (value, named) {
            ("file", _) => Ok(EditorLink::File),
            ("none", _) => Ok(EditorLink::None),
            (_, Some((_, template))) => Ok(EditorLink::Template((*template).to_owned())),
            (_, None) => check_template(value).map(|()| EditorLink::Template(value.to_owned())),
        }
    }

    /// Returns the address of a place; `None` without hyperlinks.
    pub(super) fn address(&self, place: LinkPlace<'_>) -> Option<String> {
        let path = encode_path(place.path.to_string_lossy().as_bytes());
        match self {
            EditorLink::None => None,
            EditorLink::File => {
                let line = place.line.map(|line| format!("#{line}")).unwrap_or_default();
                Some(format!("file://{path}{line}"))
            }
            EditorLink::Template(template) => {
                let number = |number: Option<u32>| number.unwrap_or(1).to_string();
                let address = template
                    .replace("{line}", &number(place.line))
                    .replace("{column}", &number(place.column));
                // The path comes last, since the name of a file may contain a mark.
                Some(address.replace("{path}", &path))
            }
        }
    }
}

/// Fails with the reason if a text is no address of an editor.
fn check_template(value: &str) -> Result<(), String> {
    let names: Vec<&str> = EDITORS.iter().map(|(name, _)| *name).collect();
    let expected = format!(
        "expected one of file, none, {}, or an address such as `editor://open{{path}}:{{line}}`",
        names.join(", ")
    );
    let scheme = value.split_once(':').map(|(scheme, _)| scheme).unwrap_or_default();
    if !is_scheme(scheme) {
        return Err(format!("`{value}` is no known editor; {expected}"));
    }
    if !value.chars().all(|character| character.is_ascii_graphic()) {
        return Err("an address contains neither blanks nor characters outside of ASCII".to_owned());
    }
    if !value.contains("{path}") {
        return Err(format!("the address `{value}` has no {{path}}; {expected}"));
    }
    let rest = MARKS.iter().fold(value.to_owned(), |rest, mark| rest.replace(mark, ""));
    match rest.contains(['{', '}']) {
        true => Err(format!("the address `{value}` has a mark that is not one of {MARKS:?}")),
        false => Ok(()),
    }
}

/// Returns true for a scheme of RFC 3986.
fn is_scheme(text: &str) -> bool {
    text.starts_with(|first: char| first.is_ascii_alphabetic())
        && text.chars().all(|one| one.is_ascii_alphanumeric() || "+.-".contains(one))
}

#[cfg(test)]
mod tests {
    use std::path::Path;

    use super::*;

    fn address(editor: &str, path: &str, line: Option<u32>) -> Option<String> {
        let place = LinkPlace { path: Path::new(path), line, column: line.map(|_| 7) };
        EditorLink::parse(editor).unwrap().address(place)
    }

    #[test]
    fn each_editor_gets_its_own_address() {
        let of = |editor: &str| address(editor, "/w/a b.py", Some(3)).unwrap();
        assert_eq!(of("file"), "file:///w/a%20b.py#3");
        assert_eq!(of("vscode"), "vscode://file/w/a%20b.py:3:7");
        assert_eq!(of("idea"), "idea://open?file=/w/a%20b.py&line=3&column=7");
        assert_eq!(of("x-ed://o?f={path}&l={line}"), "x-ed://o?f=/w/a%20b.py&l=3");
        assert_eq!(address("none", "/w/a.py", Some(3)), None);
        assert_eq!(address("zed", "/w/a.py", None).unwrap(), "zed://file/w/a.py:1:1");
        for (name, template) in EDITORS {
            assert_eq!(check_template(template), Ok(()), "{name}");
        }
    }

    #[test]
    fn the_name_of_a_file_cannot_change_the_address() {
        let hostile = "/w/{line}&x=1#\u{1b}\\\u{7}?é{column}";
        assert_eq!(
            address("idea", hostile, Some(3)).unwrap(),
            "idea://open?file=/w/%7Bline%7D%26x%3D1%23%1B%5C%07%3F%C3%A9%7Bcolumn%7D&line=3&column=7"
        );
    }

    #[test]
    fn a_value_that_is_no_address_is_refused_with_the_reason() {
        let why = |value: &str| EditorLink::parse(value).unwrap_err();
        assert!(why("vim").starts_with("`vim` is no known editor; expected one of file, none"));
        assert!(why("{path}:1").contains("is no known editor"));
        assert!(why("ed://open").contains("has no {path}"));
        assert!(why("ed://{path}/{row}").contains("has a mark that is not one of"));
        assert!(why("ed://{path}\u{1b}]8;;x").contains("neither blanks nor"));
    }
}
