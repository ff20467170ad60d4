//! Folders of the tree that replace modules in `go.mod`.

use std::collections::BTreeMap;

/// Returns `go.mod` with the replacements by folders of an earlier version; `None` if each of these
/// modules has the same folder now.
pub(super) fn go_mod(now: &str, kept: &str) -> Option<String> {
    let kept = local_replacements(kept);
    let current = local_replacements(now);
    if kept.iter().all(|(module, folder)| current.get(module) == Some(folder)) {
        return None;
    }
    let mut out = String::new();
    let mut is_inside = false;
    for line in now.split_inclusive('\n') {
        let plain = plain(line);
        let module = replacement(plain, is_inside).map(|(module, _)| module);
        is_inside = is_block(plain, is_inside);
        if !module.is_some_and(|module| kept.contains_key(module)) {
            out.push_str(line);
        }
    }
    let lines = kept.iter().map(|(module, folder)| format!("replace {module} => {folder}\n"));
    Some(format!("{}\n\n{}", out.trim_end(), lines.collect::<String>()))
}

/// Returns the folders of the tree, by the module that they replace.
fn local_replacements(text: &str) -> BTreeMap<String, String> {
    let mut found = BTreeMap::new();
    let mut is_inside = false;
    for line in text.lines() {
        let plain = plain(line);
        if let Some((module, folder)) = replacement(plain, is_inside)
            && (folder.starts_with("./") || folder.starts_with("../"))
        {
            found.insert(module.to_owned(), folder.to_owned());
        }
        is_inside = is_block(plain, is_inside);
    }
    found
}

/// Returns a line without its comment, trimmed.
fn plain(line: &str) -> &str {
    line.split_once("//").map_or(line, |(line, _)| line).trim()
}

/// Returns true if the next line is in a block of replacements.
fn is_block(line: &str, is_inside: bool) -> bool {
    match is_inside {
        true => line != ")",
        false => line.strip_prefix("replace").is_some_and(|rest| rest.trim() == "("),
    }
}

/// Parses `replace module v1 => folder` as the module and the folder.
fn replacement(line: &str, is_inside: bool) -> Option<(&str, &str)> {
    let rest = match is_inside {
        true => line,
        false => line.strip_prefix("replace ")?.trim_start(),
    };
    let (module, folder) = rest.split_once("=>")?;
    Some((module.split_whitespace().next()?, folder.split_whitespace().next()?))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn replacements_of_modules_by_folders_are_taken_from_the_earlier_version() {
        let before = "module a\n\nrequire example.com/check v1.0.0\n\nreplace example.com/check => ./check\n";
        let soft = before.replace("=> ./check", "=> ./soft");
        assert!(go_mod(&soft, before).unwrap().contains("replace example.com/check => ./check"));
        assert!(!go_mod(&soft, before).unwrap().contains("./soft"));
        let block = before.replace(
            "replace example.com/check => ./check\n",
            "replace (\n\texample.com/check v1.0.0 => ./soft // x\n\texample.com/b => ./b\n)\n",
        );
        let spliced = go_mod(&block, before).unwrap();
        assert!(
            spliced.contains("./check") && spliced.contains("./b") && !spliced.contains("soft"),
            "{spliced}"
        );
    }

    #[test]
    fn a_new_requirement_changes_no_kept_replacement() {
        let before = "module a\n\nreplace example.com/check => ./check\n";
        let now =
            format!("{before}\nrequire example.com/new v1.0.0\nreplace example.com/new => ./new\n");
        assert_eq!(go_mod(&now, before), None);
    }
}
