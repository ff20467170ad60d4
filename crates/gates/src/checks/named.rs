//! Which files a plan names: [`names`].

/// Says whether a list of files, as plans write them, has a path in it: by its name, by a folder
/// that it lies in, or by a pattern with `*`.
pub(super) fn names(files: &[String], path: &str) -> bool {
    files.iter().any(|file| is_meant(file, path))
}

/// Gives a file that a plan names as a path, without quotes and line numbers.
pub(super) fn plain(file: &str) -> &str {
    let file = file.trim().trim_matches('`');
    let file = file.strip_prefix("./").unwrap_or(file);
    match file.rsplit_once(':') {
        Some((path, lines)) if is_lines(lines) => path,
        _ => file,
    }
}

fn is_lines(text: &str) -> bool {
    let is_one = |c: char| c.is_ascii_digit() || matches!(c, '-' | ',' | 'L');
    text.starts_with(|c: char| c.is_ascii_digit() || c == 'L') && text.chars().all(is_one)
}

fn is_meant(file: &str, path: &str) -> bool {
    let file = plain(file);
    if let (Some(first), Some(last)) = (file.find('*'), file.rfind('*')) {
        let (start, end) = (&file[..first], &file[last + 1..]);
        return path.len() >= start.len() + end.len()
            && path.starts_with(start)
            && path.ends_with(end);
    }
    let folder = file.strip_suffix('/').unwrap_or(file);
    let below = || path.strip_prefix(folder).is_some_and(|rest| rest.starts_with('/'));
    !folder.is_empty() && (path == folder || below())
}

/// Says whether a plan names a single file and no folder or pattern.
pub(super) fn is_one_file(file: &str) -> bool {
    let name = plain(file).rsplit('/').next().unwrap_or_default();
    name.contains('.') && !name.contains('*')
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_are_named_by_path_folder_or_pattern() {
        let check = |file: &str, path: &str| names(&[file.to_owned()], path);
        for file in ["src/a.rs", "`src/a.rs`", "./src/a.rs:12-40", "src", "src/", "src/*.rs", "*"] {
            assert!(check(file, "src/a.rs"), "{file}");
        }
        for file in ["src/b.rs", "a.rs", "sr", "src/*.py", "", "src/a.rs/b"] {
            assert!(!check(file, "src/a.rs"), "{file}");
        }
    }
}
