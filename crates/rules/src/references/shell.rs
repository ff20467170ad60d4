//! Files that a shell script sources by a computed path: after a variable, after `cd`, in a loop.

use super::Reference;

/// Returns the files that a script sources, without those whose literal paths are in the script.
pub(super) fn find_sourced(text: &str) -> Vec<Reference> {
    let (mut found, mut folders) = (Vec::new(), Vec::new());
    for command in commands(text) {
        let mut words = command.split_whitespace();
        let (first, rest) = (words.next().unwrap_or_default(), words.next().unwrap_or_default());
        if first == "cd" && !rest.contains(['$', '`', '-']) {
            folders.push(rest.to_owned());
        }
        if !matches!(first, "." | "source") {
            continue;
        }
        let path = command[first.len()..].trim();
        match path.contains(['$', '`']) {
            true => found.extend(behind_variables(path).map(Reference::File)),
            false => {
                let within = folders.iter().map(|folder| format!("{folder}/{rest}"));
                found.extend(within.map(Reference::File));
            }
        }
        found.extend(loop_items(text, path).map(Reference::Text));
    }
    found
}

/// Returns the commands of a script, without quotes. Text in `$(…)` is part of the command around
/// it.
fn commands(text: &str) -> Vec<String> {
    let (mut all, mut current, mut depth) = (Vec::new(), String::new(), 0_usize);
    for c in text.chars().filter(|c| !matches!(c, '"' | '\'')) {
        match c {
            '(' if depth > 0 || current.ends_with('$') => depth += 1,
            ')' if depth > 0 => depth -= 1,
            '\n' | ';' | '&' | '|' | '(' | ')' if depth == 0 => {
                all.push(std::mem::take(&mut current));
                continue;
            }
            _ => {}
        }
        // A line end closes every command, so that an unclosed one does not consume the whole
        // script.
        if c == '\n' {
            depth = 0;
            all.push(std::mem::take(&mut current));
            continue;
        }
        current.push(c);
    }
    all.push(current);
    let openings = ["do ", "then ", "else ", "{ ", "if ", "! "];
    let plain = all.iter().map(|command| {
        let mut command = command.trim();
        while let Some(rest) = openings.iter().find_map(|word| command.strip_prefix(word)) {
            command = rest.trim_start();
        }
        command.to_owned()
    });
    plain.collect()
}

/// Returns the part of a path after its last variable: most variables are the folder of the script
/// or the root.
fn behind_variables(path: &str) -> Option<String> {
    let end = path.rfind([')', '}', '`', '$'])?;
    let (_, rest) = path[end..].split_once('/')?;
    rest.split_whitespace().next().map(str::to_owned)
}

/// Returns the items of the loops whose variable a path uses.
fn loop_items(text: &str, path: &str) -> impl Iterator<Item = String> {
    let uses =
        |name: &str| path.contains(&format!("${name}")) || path.contains(&format!("${{{name}}}"));
    let heads = text.split("for ").skip(1).filter_map(|head| head.split_once(" in "));
    let heads = heads.filter(|(name, _)| uses(name.trim()));
    let items = heads.filter_map(|(_, items)| items.split([';', '\n']).next());
    let items = items.flat_map(str::split_whitespace).map(|item| item.replace(['"', '\''], ""));
    items.collect::<Vec<_>>().into_iter()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn sourced_paths_with_variables_folder_changes_and_loops_are_read() {
        for (text, expected) in [
            (". ./etc/opts\n", ""),
            ("cd etc && . ./opts\n", "file etc/./opts"),
            (". \"$(dirname \"$0\")/etc/opts\"\n", "file etc/opts"),
            ("source ${HERE}/etc/opts\n", "file etc/opts"),
            ("x=$(cd \"$(dirname \"$0\")\" && pwd); . \"$x/etc/opts\"\n", "file etc/opts"),
            (". \"$(cd \"$(dirname \"$0\")\" && pwd)/etc/opts\" || exit 1\n", "file etc/opts"),
            ("if true; then . \"$x\"/opts; fi\n", "file opts"),
            ("for f in etc/*; do . \"./$f\"; done\n", "text etc/*"),
            ("for f in etc/*; do sh ./$f; done\n", ""),
        ] {
            let found = find_sourced(text).into_iter().map(|it| match it {
                Reference::File(path) => format!("file {path}"),
                Reference::Text(text) => format!("text {text}"),
                other => format!("{other:?}"),
            });
            assert_eq!(found.collect::<Vec<_>>().join(", "), expected, "{text}");
        }
    }
}
