//! Programs that a project installed into its own tree: [`own_programs`] returns those that checks
//! use.
//!
//! A program in the tree may be written by the work under test. So a program of the tree is used
//! only if its ecosystem installs such a program there. Toolchains, shells and the programs of the
//! system never come from the tree.

use std::collections::BTreeSet;
use std::ffi::{OsStr, OsString};
use std::fs;
use std::os::unix::fs::PermissionsExt;
use std::path::{Path, PathBuf};

/// Folders that projects install programs into.
const FOLDERS: [(&str, Ecosystem); 4] = [
    (NODE_FOLDER, Ecosystem::Node),
    (".venv/bin", Ecosystem::Python),
    ("venv/bin", Ecosystem::Python),
    ("vendor/bin", Ecosystem::Php),
];

/// The folder that package managers of JavaScript put first on the search path of scripts.
const NODE_FOLDER: &str = "node_modules/.bin";

/// Programs that build, start or compare: never taken from a tree.
const TOOLCHAINS: [&str; 71] = [
    "sh", "bash", "dash", "zsh", "ksh", "fish", "env", "sudo", "git", "make", "gmake", "cmake",
    "ctest", "ninja", "meson", "just", "task", "rake", "cargo", "cargo-nextest", "rustc", "rustup",
    "rustdoc", "clippy-driver", "go", "gofmt", "gotestsum", "node", "nodejs", "npm", "npx", "pnpm",
    "pnpx", "yarn", "yarnpkg", "bun", "bunx", "deno", "corepack", "java", "javac", "mvn", "mvnw",
    "gradle", "gradlew", "kotlin", "kotlinc", "dotnet", "msbuild", "php", "composer", "ruby",
    "gem", "bundle", "bundler", "irb", "perl", "cc", "c++", "gcc", "g++", "clang", "clang++", "ld",
    "ar", "swift", "swiftc", "zig", "docker", "podman", "assay",
];

/// Tools that projects install for themselves although a system may have them as well.
const INSTALLED: [(Ecosystem, &[&str]); 3] = [
    (
        Ecosystem::Node,
        &[
            "vitest", "jest", "mocha", "_mocha", "ava", "tap", "tape", "uvu", "qunit", "jasmine",
            "karma", "c8", "nyc", "eslint", "prettier", "biome", "standard", "xo", "tsc", "tsx",
            "ts-node", "babel", "swc", "esbuild", "vite", "rollup", "webpack", "playwright",
            "cypress", "wtr", "turbo", "nx", "lerna", "ng", "next", "cross-env", "run-s", "run-p",
            "npm-run-all", "rimraf", "mkdirp", "stylelint", "react-scripts", "vue-cli-service",
        ],
    ),
    (
        Ecosystem::Python,
        &[
            "pytest", "py.test", "tox", "nox", "coverage", "coverage3", "ruff", "mypy", "dmypy",
            "black", "isort", "flake8", "pylint", "pyright", "bandit", "pip", "pip3", "hatch",
            "poetry", "pdm", "pipenv", "uv", "uvx", "nose2", "nosetests", "stestr", "behave",
            "robot", "django-admin", "flask", "alembic", "sphinx-build", "mkdocs", "invoke", "inv",
            "pre-commit",
        ],
    ),
    (
        Ecosystem::Php,
        &[
            "phpunit", "pest", "paratest", "phpstan", "psalm", "phpcs", "phpcbf", "php-cs-fixer",
            "behat", "codecept", "rector", "infection", "phpspec", "phpbench", "simple-phpunit",
        ],
    ),
];

/// Folders of the programs of the system.
const SYSTEM_FOLDERS: [&str; 4] = ["/usr/bin", "/bin", "/usr/sbin", "/sbin"];

/// The ecosystem of a folder of programs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Ecosystem {
    Node,
    Python,
    Php,
    /// A folder of the tree that is on the search path of the user.
    Other,
}

/// A program that a project installed for itself.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct OwnProgram {
    /// The name by which commands call the program.
    pub name: String,
    /// The absolute path of the program.
    pub path: PathBuf,
}

/// The programs of a tree, as checks in one of its folders see them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct OwnPrograms {
    /// The programs that checks use, each name once.
    pub used: Vec<OwnProgram>,
    /// The programs that checks do not use, with the reason.
    pub passed_over: Vec<(OwnProgram, &'static str)>,
    /// Programs that package managers of JavaScript use instead of a toolchain, for every script
    /// that they run.
    pub shadowing: Vec<OwnProgram>,
}

/// Returns the programs of the tree at `root` that checks in `folder` use, those of the folder
/// before those of the root. Folders of the search path that are inside of the tree are read as
/// well.
pub fn own_programs(root: &Path, folder: &Path, search_path: Option<&OsStr>) -> OwnPrograms {
    let mut programs = OwnPrograms::default();
    let around = folder.ancestors().take_while(|around| around.starts_with(root));
    let mut folders: Vec<(PathBuf, Ecosystem)> = Vec::new();
    for around in around.chain([root]) {
        let is_end = around == folder || around == root;
        for (name, ecosystem) in FOLDERS {
            // Scripts of package managers also see the folders in between.
            if is_end || ecosystem == Ecosystem::Node {
                folders.push((around.join(name), ecosystem));
            }
        }
    }
    let on_path = search_path.map(std::env::split_paths).into_iter().flatten();
    let on_path = on_path.filter(|path| is_inside(root, path));
    folders.extend(on_path.map(|path| (path, Ecosystem::Other)));
    let mut seen = BTreeSet::new();
    for (folder, ecosystem) in folders {
        if seen.insert(folder.clone()) {
            programs.add_folder(root, &folder, ecosystem);
        }
    }
    programs
}

/// Returns a search path without its folders inside of a tree, and without relative ones.
pub fn without_tree_folders(root: &Path, search_path: &OsStr) -> OsString {
    let outside = std::env::split_paths(search_path)
        .filter(|path| path.is_absolute() && !is_inside(root, path));
    // A folder of a search path contains no separator.
    std::env::join_paths(outside).unwrap_or_default()
}

fn is_inside(root: &Path, path: &Path) -> bool {
    let real = |path: &Path| path.canonicalize().unwrap_or_else(|_| path.to_owned());
    path.is_absolute() && real(path).starts_with(real(root))
}

impl OwnPrograms {
    fn add_folder(&mut self, root: &Path, folder: &Path, ecosystem: Ecosystem) {
        let Ok(entries) = fs::read_dir(folder) else { return };
        let mut names: Vec<String> =
            entries.flatten().filter_map(|entry| entry.file_name().into_string().ok()).collect();
        names.sort();
        let is_environment = folder.parent().is_some_and(|it| it.join("pyvenv.cfg").is_file());
        let ecosystem = match ecosystem {
            Ecosystem::Other if is_environment => Ecosystem::Python,
            known => known,
        };
        let leads_out =
            ["python", "python3"].iter().any(|it| is_interpreter(root, &folder.join(it)));
        for name in names {
            let path = folder.join(&name);
            if !is_executable(&path) {
                continue;
            }
            let refusal = match ecosystem {
                Ecosystem::Python if !is_environment || !leads_out => Some(NO_ENVIRONMENT),
                Ecosystem::Python if is_python(&name) && !is_interpreter(root, &path) => {
                    Some(NO_ENVIRONMENT)
                }
                Ecosystem::Python if is_python(&name) => None,
                _ => refusal(&name, ecosystem),
            };
            self.add(OwnProgram { name, path }, ecosystem, refusal);
        }
    }

    fn add(&mut self, program: OwnProgram, ecosystem: Ecosystem, refusal: Option<&'static str>) {
        let Some(why) = refusal else {
            if self.used.iter().all(|used| used.name != program.name) {
                self.used.push(program);
            }
            return;
        };
        let is_toolchain = TOOLCHAINS.contains(&program.name.as_str());
        if ecosystem == Ecosystem::Node && is_toolchain && !is_of_named_package(&program.path) {
            self.shadowing.push(program.clone());
        }
        self.passed_over.push((program, why));
    }
}

const NO_ENVIRONMENT: &str =
    "it is not in a virtual environment whose interpreter is a link to a path outside of the tree";

/// Returns the reason why a program of a tree is not used; `None` if it is used.
fn refusal(name: &str, ecosystem: Ecosystem) -> Option<&'static str> {
    if TOOLCHAINS.contains(&name) || is_python(name) {
        return Some("a toolchain in the tree is never used");
    }
    let installed =
        INSTALLED.iter().filter(|(of, _)| *of == ecosystem || ecosystem == Ecosystem::Other);
    let is_installed = installed.flat_map(|(_, names)| names.iter()).any(|known| *known == name);
    let is_of_system = SYSTEM_FOLDERS.iter().any(|folder| Path::new(folder).join(name).exists());
    (is_of_system && !is_installed).then_some("the system has a program with the same name")
}

/// Returns true if a name is that of a Python interpreter.
fn is_python(name: &str) -> bool {
    let version = name.strip_prefix("python").or_else(|| name.strip_prefix("pypy"));
    version.is_some_and(|it| it.chars().all(|c| c.is_ascii_digit() || c == '.'))
}

/// Returns true if a path is a link to an interpreter outside of a tree.
fn is_interpreter(root: &Path, path: &Path) -> bool {
    let is_link = fs::symlink_metadata(path).is_ok_and(|about| about.is_symlink());
    let Ok(real) = path.canonicalize() else { return false };
    let is_named = real.file_name().and_then(OsStr::to_str).is_some_and(is_python);
    is_link && is_named && is_executable(&real) && !is_inside(root, &real)
}

fn is_executable(path: &Path) -> bool {
    fs::metadata(path).is_ok_and(|about| about.is_file() && about.permissions().mode() & 0o111 != 0)
}

/// Returns true if a program of `node_modules/.bin` is a link into a package that a manifest or
/// lock file of the project names.
fn is_of_named_package(path: &Path) -> bool {
    let modules = path.parent().and_then(Path::parent);
    let Some((modules, project)) = modules.and_then(|it| Some((it, it.parent()?))) else {
        return false;
    };
    let (Ok(real), Ok(modules)) = (path.canonicalize(), modules.canonicalize()) else {
        return false;
    };
    let Ok(below) = real.strip_prefix(&modules) else { return false };
    let mut parts = below.iter().filter_map(OsStr::to_str);
    let package = match parts.next() {
        Some(scope) if scope.starts_with('@') => {
            parts.next().map(|name| format!("{scope}/{name}")).unwrap_or_default()
        }
        Some(".bin") | None => return false,
        Some(name) => name.to_owned(),
    };
    let is_named = |file: &str| {
        let text = fs::read_to_string(project.join(file)).unwrap_or_default();
        let spellings = [
            format!("\"{package}\""),
            format!("\"node_modules/{package}\""),
            format!("{package}@"),
        ];
        spellings.iter().any(|spelling| text.contains(spelling))
    };
    ["package.json", "package-lock.json", "yarn.lock", "pnpm-lock.yaml"].into_iter().any(is_named)
}

#[cfg(test)]
mod tests {
    use super::*;

    fn executable(root: &Path, path: &str) {
        let path = root.join(path);
        fs::create_dir_all(path.parent().unwrap()).unwrap();
        fs::write(&path, "#!/bin/sh\n").unwrap();
        fs::set_permissions(&path, fs::Permissions::from_mode(0o755)).unwrap();
    }

    fn names(programs: &[OwnProgram]) -> Vec<&str> {
        programs.iter().map(|program| program.name.as_str()).collect()
    }

    /// Returns a folder outside of the tree with an interpreter.
    fn machine() -> tempfile::TempDir {
        let machine = tempfile::tempdir().unwrap();
        executable(machine.path(), "bin/python3.11");
        machine
    }

    #[test]
    fn toolchains_never_come_from_a_tree() {
        let root = tempfile::tempdir().unwrap();
        for folder in ["node_modules/.bin", ".venv/bin", "venv/bin", "vendor/bin"] {
            for name in ["cargo", "make", "node", "sh", "git", "go", "python3", "grep", "npm"] {
                executable(root.path(), &format!("{folder}/{name}"));
            }
        }
        let programs = own_programs(root.path(), root.path(), None);
        assert_eq!(programs.used, []);
        assert!(names(&programs.shadowing).contains(&"node"));
    }

    #[test]
    fn tools_that_a_project_installs_are_used() {
        let (root, machine) = (tempfile::tempdir().unwrap(), machine());
        for path in [
            "node_modules/.bin/vitest",
            "packages/a/node_modules/.bin/vitest",
            "node_modules/.bin/our-own-checker",
            "vendor/bin/phpunit",
            ".venv/bin/pytest",
            ".venv/bin/our-own-command",
        ] {
            executable(root.path(), path);
        }
        fs::write(root.path().join(".venv/pyvenv.cfg"), "home = /usr/bin\n").unwrap();
        let python = root.path().join(".venv/bin/python3");
        std::os::unix::fs::symlink(machine.path().join("bin/python3.11"), python).unwrap();
        let programs = own_programs(root.path(), &root.path().join("packages/a"), None);
        let mut used = names(&programs.used);
        used.sort_unstable();
        let wanted =
            ["our-own-checker", "our-own-command", "phpunit", "pytest", "python3", "vitest"];
        assert_eq!(used, wanted);
        let vitest = programs.used.iter().find(|it| it.name == "vitest").unwrap();
        assert!(vitest.path.starts_with(root.path().join("packages/a")));
    }

    #[test]
    fn a_virtual_environment_whose_interpreter_is_in_the_tree_is_not_used() {
        let (root, machine) = (tempfile::tempdir().unwrap(), machine());
        executable(root.path(), ".venv/bin/pytest");
        executable(root.path(), "tools/python3");
        fs::write(root.path().join(".venv/pyvenv.cfg"), "home = /usr/bin\n").unwrap();
        let python = root.path().join(".venv/bin/python3");
        std::os::unix::fs::symlink(root.path().join("tools/python3"), &python).unwrap();
        assert_eq!(own_programs(root.path(), root.path(), None).used, []);
        // A link to another program is not a link to an interpreter.
        executable(machine.path(), "bin/true");
        fs::remove_file(&python).unwrap();
        std::os::unix::fs::symlink(machine.path().join("bin/true"), &python).unwrap();
        assert_eq!(own_programs(root.path(), root.path(), None).used, []);
    }

    #[test]
    fn a_toolchain_that_a_named_package_installs_shadows_nothing() {
        let root = tempfile::tempdir().unwrap();
        executable(root.path(), "node_modules/npm/bin/npm-cli.js");
        fs::create_dir_all(root.path().join("node_modules/.bin")).unwrap();
        let link = root.path().join("node_modules/.bin/npm");
        std::os::unix::fs::symlink("../npm/bin/npm-cli.js", link).unwrap();
        assert_eq!(names(&own_programs(root.path(), root.path(), None).shadowing), ["npm"]);
        fs::write(root.path().join("package.json"), r#"{"devDependencies": {"npm": "1"}}"#)
            .unwrap();
        assert_eq!(own_programs(root.path(), root.path(), None).shadowing, []);
    }

    #[test]
    fn the_search_path_of_checks_has_no_folder_of_the_tree() {
        let root = tempfile::tempdir().unwrap();
        executable(root.path(), "bin/cargo");
        executable(root.path(), "bin/our-own-command");
        let path = format!("{}:/usr/bin:.:bin", root.path().join("bin").display());
        assert_eq!(without_tree_folders(root.path(), path.as_ref()), "/usr/bin");
        let programs = own_programs(root.path(), root.path(), Some(path.as_ref()));
        assert_eq!(names(&programs.used), ["our-own-command"]);
    }
}
