//! The files of a tree by the classes and modules that they define: [`SourceFiles`].

use std::collections::HashMap;
use std::sync::OnceLock;

use assay_change::Change;
use assay_findings::path::RepoPath;

use crate::language::{Language, is_javascript};

/// The ends of the names of files that define classes and modules.
const ENDINGS: [&str; 13] = [
    ".java", ".cs", ".kt", ".rs", ".py", ".js", ".ts", ".jsx", ".tsx", ".mjs", ".cjs", ".php",
    ".rb",
];

/// The ends of the names of modules of JavaScript and TypeScript.
const JAVASCRIPT_ENDINGS: [&str; 6] = [".js", ".ts", ".jsx", ".tsx", ".mjs", ".cjs"];

/// The maximum number of files of a package that are searched for a function.
const MAX_PACKAGE_FILES: usize = 40;

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
        if language == Language::Go {
            return self.find_in_package(near, name, by_stem);
        }
        let stems = stems_of(language, name);
        let paths: Vec<&RepoPath> =
            stems.iter().filter_map(|stem| by_stem.get(stem)).flatten().collect();
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

    /// Finds the file of a package of Go that defines a function. The name is
    /// `package.Type.function`; without a package it is that of the other file, and without a type
    /// the function is no method.
    fn find_in_package(
        &self,
        near: &RepoPath,
        name: &str,
        by_stem: &HashMap<String, Vec<RepoPath>>,
    ) -> Result<Option<(RepoPath, String)>, String> {
        let [package, class, function] = name.split('.').collect::<Vec<_>>()[..] else {
            return Ok(None);
        };
        let folder_of = |path: &RepoPath| {
            path.as_str().rsplit_once('/').map_or(String::new(), |(folder, _)| folder.to_owned())
        };
        let own_folder = folder_of(near);
        let last = own_folder.rsplit('/').next().unwrap_or_default();
        let key = package_key(if package.is_empty() { last } else { package });
        let paths = by_stem.get(&key).into_iter().flatten();
        let paths = paths
            .filter(|path| *path != near && (!package.is_empty() || folder_of(path) == own_folder));
        let method = format!("{class}) {function}(");
        let plain = format!("func {function}(");
        let defines = |line: &str| match class {
            "" => line.starts_with(&plain),
            _ => line.starts_with("func (") && line.contains(&method),
        };
        for path in paths.take(MAX_PACKAGE_FILES) {
            let text = self.change.tree().read(path).map_err(|error| error.to_string())?;
            if let Some(text) = text.filter(|text| text.lines().any(defines)) {
                return Ok(Some((path.clone(), text)));
            }
        }
        Ok(None)
    }

    fn list(&self) -> Result<HashMap<String, Vec<RepoPath>>, String> {
        let paths = self.change.tree().paths().map_err(|error| error.to_string())?;
        let mut by_stem: HashMap<String, Vec<RepoPath>> = HashMap::new();
        for path in paths {
            let (folders, name) = path.as_str().rsplit_once('/').unwrap_or(("", path.as_str()));
            if name.ends_with(".go") {
                let is_own = !name.ends_with("_test.go") && !is_vendored(folders);
                let key = package_key(folders.rsplit('/').next().unwrap_or_default());
                if is_own {
                    by_stem.entry(key).or_default().push(path);
                }
                continue;
            }
            let stem = match name {
                "__init__.py" | "mod.rs" => folders.rsplit('/').next().unwrap_or_default(),
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
fn stems_of(language: Language, name: &str) -> Vec<String> {
    if is_javascript(language) {
        let file = name.rsplit('/').next().unwrap_or(name);
        return vec![file.split('.').next().unwrap_or(file).to_owned(), "index".to_owned()];
    }
    match language {
        Language::Python => vec![name.rsplit('.').next().unwrap_or(name).to_owned()],
        Language::Ruby => vec![snake_case(name)],
        _ => vec![name.to_owned()],
    }
}

/// Returns the name of a class of Ruby as the name of its file.
fn snake_case(name: &str) -> String {
    let mut out = String::new();
    for c in name.chars() {
        if c.is_uppercase() && out.ends_with(|last: char| last.is_lowercase()) {
            out.push('_');
        }
        out.extend(c.to_lowercase());
    }
    out
}

/// Returns the key of the files of a package of Go.
fn package_key(folder: &str) -> String {
    format!("{folder}/")
}

fn is_vendored(folders: &str) -> bool {
    folders.split('/').any(|folder| matches!(folder, "vendor" | "node_modules"))
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
        Language::Php => vec![format!("/{name}.php")],
        Language::CSharp => vec![format!("/{name}.cs")],
        Language::Kotlin => vec![format!("/{name}.kt")],
        Language::Rust => vec![format!("/{name}.rs"), format!("/{name}/mod.rs")],
        Language::Ruby => vec![format!("/{}.rb", snake_case(name))],
        _ => vec![format!("/{name}.java")],
    }
}
