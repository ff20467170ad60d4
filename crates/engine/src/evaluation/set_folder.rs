//! The folder of a set: reads its cases, and writes mined cases.

use std::fs;
use std::path::Path;

use anyhow::{Context, bail};
use assay_eval::set::{Case, parse_cases};

use super::mining::{MinedCase, MinedCases};
use super::results_folder::write_file;

/// The file of the cases in the folder of a set.
const CASES: &str = "cases.jsonl";

/// Reads the cases of the set in a folder.
pub fn read_set(folder: &Path) -> anyhow::Result<Vec<Case>> {
    let path = folder.join(CASES);
    let text = fs::read_to_string(&path)
        .with_context(|| format!("cannot read the cases of the set from `{}`", path.display()))?;
    parse_cases(&text).with_context(|| format!("`{}` is not a set of cases", path.display()))
}

/// Returns the cases with these ids; all cases if no id is given. Fails if the set does not have a
/// case.
pub fn select_cases(cases: Vec<Case>, ids: &[String]) -> anyhow::Result<Vec<Case>> {
    if let Some(unknown) = ids.iter().find(|id| cases.iter().all(|case| case.id != **id)) {
        bail!("the set has no case `{unknown}`");
    }
    let is_selected = |case: &Case| ids.is_empty() || ids.contains(&case.id);
    Ok(cases.into_iter().filter(is_selected).collect())
}

/// Fails if a set cannot be written into a folder without changing the repository at `root`.
pub fn check_set_folder(out: &Path, root: &Path) -> anyhow::Result<()> {
    let there = out.ancestors().find(|it| it.exists()).unwrap_or(Path::new("."));
    let there = if there.as_os_str().is_empty() { Path::new(".") } else { there };
    let there = there.canonicalize().with_context(|| format!("cannot use `{}`", out.display()))?;
    let root = root.canonicalize().unwrap_or_else(|_| root.to_owned());
    if there.starts_with(&root) {
        bail!(
            "`{}` is inside the repository, which must not be changed; name a folder outside of it",
            out.display()
        );
    }
    let is_used = fs::read_dir(out).is_ok_and(|mut entries| entries.next().is_some());
    match is_used || out.is_file() {
        true => bail!("`{}` is not empty; name a new folder", out.display()),
        false => Ok(()),
    }
}

/// Writes mined cases as a set into a folder.
pub fn write_set(out: &Path, mined: &MinedCases) -> anyhow::Result<()> {
    let mut lines = String::new();
    for MinedCase { case, before, after, deleted } in &mined.cases {
        let folder = out.join(&case.change);
        for (side, files) in [("before", before), ("after", after)] {
            // Git does not store empty folders, and a case needs both.
            let side = folder.join(side);
            fs::create_dir_all(&side)
                .with_context(|| format!("cannot write `{}`", side.display()))?;
            for (path, bytes) in files {
                write_file(&side.join(path), bytes)?;
            }
        }
        if !deleted.is_empty() {
            let deleted = format!("{}\n", deleted.join("\n"));
            write_file(&folder.join("deleted.txt"), deleted.as_bytes())?;
        }
        lines += &serde_json::to_string(case)?;
        lines.push('\n');
    }
    write_file(&out.join(CASES), lines.as_bytes())
}

#[cfg(test)]
mod tests {
    use super::*;

    const TWO: &str = r#"{"id":"a","change":"a","labels":[]}
{"id":"b","change":"b","labels":[]}
"#;

    #[test]
    fn cases_are_selected_by_id_and_an_unknown_id_is_refused() {
        let cases = parse_cases(TWO).unwrap();
        let ids = |ids: &[&str]| {
            let ids: Vec<String> = ids.iter().map(ToString::to_string).collect();
            let selected = select_cases(cases.clone(), &ids);
            selected.map(|cases| cases.into_iter().map(|case| case.id).collect::<Vec<_>>())
        };
        assert_eq!(ids(&[]).unwrap(), ["a", "b"]);
        assert_eq!(ids(&["b"]).unwrap(), ["b"]);
        assert_eq!(ids(&["b", "c"]).unwrap_err().to_string(), "the set has no case `c`");
    }

    #[test]
    fn a_set_is_read_from_its_folder() {
        let folder = tempfile::tempdir().unwrap();
        let set = folder.path().join("django");
        assert!(read_set(&set).unwrap_err().to_string().starts_with("cannot read the cases"));
        write_file(&set.join(CASES), TWO.as_bytes()).unwrap();
        assert_eq!(read_set(&set).unwrap().len(), 2);
    }

    #[test]
    fn a_set_goes_into_a_new_folder_outside_of_the_repository() {
        let folder = tempfile::tempdir().unwrap();
        let (root, set) = (folder.path().join("repository"), folder.path().join("set"));
        fs::create_dir_all(root.join("src")).unwrap();
        let refused = |out: &Path| check_set_folder(out, &root).unwrap_err().to_string();
        assert!(refused(&root.join("src/new")).contains("is inside the repository"));
        check_set_folder(&set, &root).unwrap();
        write_file(&set.join("a"), b"").unwrap();
        assert!(refused(&set).contains("is not empty"));
    }
}
