//! The links between the workspace's Markdown files: [`check`] finds those without a target.
//!
//! Links to the web are not followed; a check that needs the network fails for other reasons.

use std::collections::HashMap;
use std::path::{Path, PathBuf};

use anyhow::Context;
use assay_testenv::workspace::root;

/// The documents outside of `docs/`.
const DOCUMENTS: [&str; 4] = ["README.md", "ARCHITECTURE.md", "CONTRIBUTING.md", "CHANGELOG.md"];

/// The result of a check.
pub(crate) struct Checked {
    pub(crate) files: usize,
    pub(crate) links: usize,
    /// A line for each link without a target.
    pub(crate) broken: Vec<String>,
}

/// Follows every relative link of the documents.
pub(crate) fn check() -> anyhow::Result<Checked> {
    let (root, files) = (root(), documents()?);
    let mut checked = Checked { files: files.len(), links: 0, broken: Vec::new() };
    for file in &files {
        let text = read(file)?;
        let shown = file.strip_prefix(&root).unwrap_or(file).display().to_string();
        for (line, target) in links(&text) {
            checked.links += 1;
            if let Err(why) = follow(file, &text, &target) {
                checked.broken.push(format!("{shown}:{line}: `{target}` {why}"));
            }
        }
    }
    Ok(checked)
}

/// Returns the paths of all documents.
pub(crate) fn documents() -> anyhow::Result<Vec<PathBuf>> {
    let root = root();
    let mut files: Vec<PathBuf> = DOCUMENTS.iter().map(|name| root.join(name)).collect();
    files.retain(|file| file.is_file());
    markdown_below(&root.join("docs"), &mut files)?;
    Ok(files)
}

fn read(file: &Path) -> anyhow::Result<String> {
    std::fs::read_to_string(file).with_context(|| format!("could not read `{}`", file.display()))
}

fn markdown_below(folder: &Path, files: &mut Vec<PathBuf>) -> anyhow::Result<()> {
    if !folder.is_dir() {
        return Ok(());
    }
    let mut paths = Vec::new();
    for entry in std::fs::read_dir(folder)? {
        paths.push(entry?.path());
    }
    paths.sort();
    for path in paths {
        if path.is_dir() {
            markdown_below(&path, files)?;
        } else if path.extension().is_some_and(|extension| extension == "md") {
            files.push(path);
        }
    }
    Ok(())
}

/// Returns the reason if a link has no target.
fn follow(from: &Path, own_text: &str, target: &str) -> Result<(), &'static str> {
    let (path, anchor) = match target.split_once('#') {
        Some((path, anchor)) => (path, Some(anchor)),
        None => (target, None),
    };
    if path.is_empty() {
        return match anchor {
            Some(anchor) => has_heading(own_text, anchor),
            None => Err("is empty"),
        };
    }
    let file = from.parent().unwrap_or(from).join(path.replace("%20", " "));
    if !file.exists() {
        return Err("leads to no file");
    }
    match anchor {
        Some(anchor) if file.extension().is_some_and(|extension| extension == "md") => {
            let text = read(&file).map_err(|_| "leads to a file that cannot be read")?;
            has_heading(&text, anchor)
        }
        _ => Ok(()),
    }
}

fn has_heading(text: &str, anchor: &str) -> Result<(), &'static str> {
    let named = [format!("id=\"{anchor}\""), format!("name=\"{anchor}\"")];
    let found = headings(text).iter().any(|heading| heading == anchor)
        || named.iter().any(|mark| text.contains(mark));
    if found { Ok(()) } else { Err("leads to no heading") }
}

/// Returns the lines outside of code fences, each with its number.
fn prose(text: &str) -> impl Iterator<Item = (usize, &str)> {
    let mut fence: Option<&str> = None;
    (1..).zip(text.lines()).filter(move |(_, line)| {
        let trimmed = line.trim_start();
        let mark = ["```", "~~~"].into_iter().find(|mark| trimmed.starts_with(mark));
        match (fence, mark) {
            (None, Some(mark)) => fence = Some(mark),
            (Some(open), Some(mark)) if open == mark => fence = None,
            (open, _) => return open.is_none(),
        }
        false
    })
}

/// Returns the anchors of a document's headings, as GitHub makes them.
fn headings(text: &str) -> Vec<String> {
    let mut seen: HashMap<String, usize> = HashMap::new();
    let titles = prose(text).filter_map(|(_, line)| {
        let title = line.trim_start_matches('#');
        (title.len() < line.len() && title.starts_with(' ')).then_some(title)
    });
    titles
        .map(|title| {
            let anchor = anchor_of(title);
            let repeats = seen.entry(anchor.clone()).or_default();
            *repeats += 1;
            if *repeats == 1 { anchor } else { format!("{anchor}-{}", *repeats - 1) }
        })
        .collect()
}

fn anchor_of(title: &str) -> String {
    let mut anchor = String::new();
    for c in without_targets(title.trim()).chars() {
        match c {
            ' ' => anchor.push('-'),
            '-' | '_' => anchor.push(c),
            c if c.is_alphanumeric() => anchor.extend(c.to_lowercase()),
            _ => {}
        }
    }
    anchor
}

/// Leaves of `[text](target)` the text alone.
fn without_targets(title: &str) -> String {
    let mut kept = String::new();
    let mut rest = title;
    while let Some((before, after)) = rest.split_once("](") {
        kept.push_str(before);
        rest = after.split_once(')').map_or("", |(_, rest)| rest);
    }
    kept + rest
}

/// Returns the relative links of a document, each with its line.
fn links(text: &str) -> Vec<(usize, String)> {
    let mut found = Vec::new();
    for (number, line) in prose(text) {
        let line = without_code(line);
        for piece in line.split("](").skip(1) {
            found.extend(inline_target(piece).map(|target| (number, target)));
        }
        if let Some((label, target)) = line.trim_start().split_once("]: ")
            && label.starts_with('[')
        {
            let target = target.split_whitespace().next().unwrap_or("");
            found.push((number, target.trim_matches(['<', '>']).to_owned()));
        }
    }
    found.retain(|(_, target)| !is_elsewhere(target));
    found
}

/// Takes the target out of what follows `](`, without a title behind it.
fn inline_target(piece: &str) -> Option<String> {
    if let Some(angled) = piece.strip_prefix('<') {
        return angled.split_once('>').map(|(target, _)| target.to_owned());
    }
    let (target, _) = piece.split_once(')')?;
    Some(target.split_whitespace().next().unwrap_or("").to_owned())
}

fn is_elsewhere(target: &str) -> bool {
    target.contains("://") || target.starts_with("mailto:")
}

/// Blanks out inline code, where brackets are no links.
fn without_code(line: &str) -> String {
    let parts: Vec<&str> = line.split('`').collect();
    let closed = parts.len() % 2 == 1;
    let kept = parts.iter().enumerate().map(|(at, part)| {
        let code = at % 2 == 1 && (closed || at + 1 < parts.len());
        if code { "code" } else { part }
    });
    kept.collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn links_in_code_and_to_the_web_are_left_alone() {
        let text = "[a](docs/a.md \"A\") and [`b`](b.md#x-y) `[c](c.md)` [d](https://d.example)\n\
                    ```\n[e](e.md)\n```\n[f]: <f.md>\n[g]: g.md\n";
        let targets: Vec<String> = links(text).into_iter().map(|(_, target)| target).collect();
        assert_eq!(targets, ["docs/a.md", "b.md#x-y", "f.md", "g.md"]);
    }

    #[test]
    fn a_heading_has_the_anchor_that_github_gives_it() {
        let text = "# What's `new`?\n## A & B\n## A & B\n```\n# no heading\n```\n";
        assert_eq!(headings(text), ["whats-new", "a--b", "a--b-1"]);
    }
}
