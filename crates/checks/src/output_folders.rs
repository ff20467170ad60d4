//! Folders of installed packages and build output: [`is_output_folder`], [`is_output`].

/// Folders of installed packages or build output, in which runners look for no tests and no
/// configuration.
const OUTPUT_FOLDERS: [&str; 33] = [
    ".git", ".hg", ".svn", ".assay", "node_modules", "bower_components", "target", "vendor",
    "dist", "build", "out", "obj", ".venv", "venv", ".tox", ".nox", "__pycache__", "site-packages",
    ".eggs", ".gradle", ".mvn", ".next", ".nuxt", ".cache", "coverage", "htmlcov", "Pods",
    ".terraform", ".pytest_cache", ".mypy_cache", ".ruff_cache", ".idea", ".vscode",
];

/// Returns true if a folder with that name holds installed packages or build output.
pub fn is_output_folder(name: &str) -> bool {
    OUTPUT_FOLDERS.contains(&name)
}

/// Returns true if a path is in a folder of installed packages or build output.
pub fn is_output(path: &str) -> bool {
    path.rsplit_once('/').is_some_and(|(folders, _)| folders.split('/').any(is_output_folder))
}
