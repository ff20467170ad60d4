//! Detection of the well-known analysers that a repository uses: [`configuration_of`].

use assay_findings::grounding::{Tree, TreeError};
use assay_findings::path::RepoPath;

use super::known_analysers::{ConfigurationSign, KnownAnalyser};

/// Returns the file by which a repository configures an analyser; `None` if it does not. `paths` are
/// the paths of `tree`.
pub fn configuration_of(
    known: &KnownAnalyser,
    tree: &dyn Tree,
    paths: &[RepoPath],
) -> Result<Option<String>, TreeError> {
    for sign in known.signs {
        if let Some(path) = sign.find(tree, paths)? {
            return Ok(Some(path));
        }
    }
    Ok(None)
}

impl ConfigurationSign {
    fn find(self, tree: &dyn Tree, paths: &[RepoPath]) -> Result<Option<String>, TreeError> {
        let path_with = |is_match: &dyn Fn(&str) -> bool| {
            paths.iter().find(|path| is_match(path.as_str())).cloned()
        };
        let found = match self {
            ConfigurationSign::File(name) => path_with(&|path| path == name),
            ConfigurationSign::FileStart(start) => {
                path_with(&|path| path.starts_with(start) && !path.contains('/'))
            }
            ConfigurationSign::Folder(folder) => path_with(&|path| path.starts_with(folder)),
            ConfigurationSign::Text(name, text) => match path_with(&|path| path == name) {
                Some(path) => {
                    let content = tree.read(&path)?.unwrap_or_default();
                    Some(path).filter(|_| contains_setting(&content, text))
                }
                None => None,
            },
        };
        Ok(found.map(|path| path.to_string()))
    }
}

/// Returns true if a line that is no comment contains a text.
fn contains_setting(content: &str, text: &str) -> bool {
    content.lines().any(|line| !line.trim_start().starts_with('#') && line.contains(text))
}

#[cfg(test)]
mod tests {
    use assay_change::tree::DirTree;

    use super::*;
    use crate::command::known_analysers::KNOWN_ANALYSERS;

    /// Returns the names of the analysers that files configure.
    fn detected(files: &[(&str, &str)]) -> Vec<&'static str> {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            std::fs::create_dir_all(path.parent().unwrap()).unwrap();
            std::fs::write(path, text).unwrap();
        }
        let tree = DirTree::new(folder.path().to_owned());
        let paths: Vec<RepoPath> =
            files.iter().map(|(name, _)| RepoPath::exact(name).unwrap()).collect();
        let is_used =
            |known: &&KnownAnalyser| configuration_of(known, &tree, &paths).unwrap().is_some();
        KNOWN_ANALYSERS.iter().filter(is_used).map(|known| known.name).collect()
    }

    #[test]
    fn an_analyser_is_used_if_the_repository_configures_it() {
        assert_eq!(detected(&[("ruff.toml", "")]), ["ruff"]);
        let both = "[tool.mypy]\nstrict = true\n[tool.ruff.lint]\n";
        assert_eq!(detected(&[("pyproject.toml", both)]), ["mypy", "ruff"]);
        assert_eq!(
            detected(&[("eslint.config.mjs", ""), ("tsconfig.json", "{}")]),
            ["eslint", "tsc"]
        );
        assert_eq!(detected(&[(".semgrep/own.yml", "rules: []\n")]), ["semgrep"]);
        let hooks = "repos:\n- hooks:\n  - id: gitleaks\n  - id: ruff-format\n# - id: mypy\n";
        assert_eq!(detected(&[(".pre-commit-config.yaml", hooks)]), ["gitleaks", "ruff"]);
    }

    #[test]
    fn a_file_of_another_folder_or_tool_is_no_configuration() {
        assert!(detected(&[("docs/ruff.toml", ""), ("pyproject.toml", "[project]\n")]).is_empty());
        assert!(detected(&[("pyproject.toml", "# [tool.ruff]\n"), ("a.py", "")]).is_empty());
    }
}
