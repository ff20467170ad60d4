//! The files of a tree by the classes and modules that they define: [`SourceFiles`].

use std::collections::HashMap;
use std::sync::OnceLock;

use assay_change::Change;
use assay_findings::path::RepoPath;

use crate::language::{Language, is_javascript};

/// The ends of the names of files that define classes and modules.
const ENDINGS: [&str; 8] = [".java", ".py", ".js", ".ts", ".jsx", ".tsx", ".mjs", ".cjs"];

/// The ends of the names of modules of JavaScript and TypeScript.
const JAVASCRIPT_ENDINGS: [&str; 6] = [".js", ".ts", ".jsx", ".tsx", ".mjs", ".cjs"];

/// The files of the tree after a change, listed on first use.
pub(crate) struct SourceFiles<'c> {
    change: &'c Change,
    by_stem: OnceLock<Result<HashMap<String, Vec<RepoPath>>, String>>,
}

impl<'c> SourceFiles<'c> {
    pub(crate) fn new(change: &'c Change) -> SourceFiles<'c> {
        SourceFiles { change, by_stem: OnceLock::new() }
    }

    /// Finds the file of a class or a module: of several, the one nearest to another file. Returns
    /// its path and its text, or an error if the files cannot be listed or read.
    pub(crate) fn find(
        &self,
        near: &RepoPath,
        language: Language,
        name: &str,
    ) -> Result<Option<(RepoPath, String)>, String> {
        // Modules of other packages are not in the repository.
        if is_javascript(language) && !name.starts_with('/') {
            return Ok(None);
        }
        let by_stem = self.by_stem.get_or_init(|| self.list()).as_ref().map_err(Clone::clone)?;
        let stems = stems_of(language, name);
        let paths: Vec<&RepoPath> =
            stems.iter().filter_map(|stem| by_stem.get(*stem)).flatten().collect();
        let ends = endings(language, name);
        let fits = |path: &&&RepoPath| {
            let path = format!("/{}", path.as_str());
            let is_whole = is_javascript(language);
            ends.iter().any(|end| if is_whole { path == *end } else { path.ends_with(end) })
        };
        let shared = |path: &&&RepoPath| {
            let pairs = path.as_str().bytes().zip(near.as_str().bytes());
            pairs.take_while(|(a, b)| a == b).count()
        };
        let Some(path) = paths.iter().filter(fits).max_by_key(shared) else { return Ok(None) };
        let text = self.change.tree().read(path).map_err(|error| error.to_string())?;
        Ok(text.map(|text| ((*path).clone(), text)))
    }

    fn list(&self) -> Result<HashMap<String, Vec<RepoPath>>, String> {
        let paths = self.change.tree().paths().map_err(|error| error.to_string())?;
        let mut by_stem: HashMap<String, Vec<RepoPath>> = HashMap::new();
        for path in paths {
            let (folders, name) = path.as_str().rsplit_once('/').unwrap_or(("", path.as_str()));
            let stem = match name {
                "__init__.py" => folders.rsplit('/').next().unwrap_or_default(),
                _ if ENDINGS.iter().any(|end| name.ends_with(end)) => {
                    name.split('.').next().unwrap_or(name)
                }
                _ => continue,
            };
            by_stem.entry(stem.to_owned()).or_default().push(path);
        }
        Ok(by_stem)
    }
}

/// Returns the stems of the files that may define a class or a module.
fn stems_of(language: Language, name: &str) -> Vec<&str> {
    if is_javascript(language) {
        let file = name.rsplit('/').next().unwrap_or(name);
        return vec![file.split('.').next().unwrap_or(file), "index"];
    }
    match language {
        Language::Python => vec![name.rsplit('.').next().unwrap_or(name)],
        _ => vec![name],
    }
}

/// Returns the ends of the paths that define a class or a module.
fn endings(language: Language, name: &str) -> Vec<String> {
    if is_javascript(language) {
        // In TypeScript, `./a.js` names the module `a.ts`.
        let stem = name.strip_suffix(".js").unwrap_or(name);
        let files = JAVASCRIPT_ENDINGS.iter().map(|end| format!("{stem}{end}"));
        let indexes = JAVASCRIPT_ENDINGS.iter().map(|end| format!("{name}/index{end}"));
        return files.chain(indexes).chain([name.to_owned()]).collect();
    }
    match language {
        Language::Python => {
            let path = name.replace('.', "/");
            vec![format!("/{path}.py"), format!("/{path}/__init__.py")]
        }
        _ => vec![format!("/{name}.java")],
    }
}
