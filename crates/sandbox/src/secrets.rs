//! The paths at which users and their tools store secrets: [`secrets_in_home`] a home, and
//! [`secrets_by_variables`].
//!
//! These paths can be hidden from a command ([`Command::hidden`](crate::Command::hidden)). Settings
//! that a build needs are not among them, though some users put passwords there: those of Maven,
//! NuGet, Bundler, Yarn and pip.

use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// Paths in a home.
const IN_HOME: &[&str] = &[
    // Keys and password stores.
    ".ssh",
    ".gnupg",
    ".pki",
    ".password-store",
    ".netrc",
    ".vault-token",
    ".age",
    ".putty",
    // Clouds and clusters.
    ".aws",
    ".azure",
    ".kube",
    ".docker",
    ".oci",
    ".s3cfg",
    ".boto",
    ".fly",
    ".terraform.d/credentials.tfrc.json",
    // Code hosts and package registries.
    ".git-credentials",
    ".npmrc",
    ".pypirc",
    ".cargo/credentials",
    ".cargo/credentials.toml",
    ".gem/credentials",
    ".m2/settings-security.xml",
    ".gradle/gradle.properties",
    ".composer/auth.json",
    // Databases.
    ".pgpass",
    ".my.cnf",
    ".mylogin.cnf",
    // Coding agents.
    ".claude",
    ".claude.json",
    ".codex",
    ".gemini",
    ".pi",
    // Browsers and mail.
    ".mozilla",
    ".thunderbird",
    // Histories of shells and consoles.
    ".bash_history",
    ".zsh_history",
    ".python_history",
    ".node_repl_history",
    ".psql_history",
    ".mysql_history",
    ".sqlite_history",
    ".lesshst",
    ".viminfo",
];

/// Paths in the folder for settings, which is `.config` in a home unless `XDG_CONFIG_HOME` is set.
const IN_SETTINGS: &[&str] = &[
    "git/credentials", "gh", "glab-cli", "hub", "gcloud", "doctl", "containers/auth.json",
    "rclone", "sops", "age", "op", "Bitwarden", "keepassxc", "pypoetry/auth.toml",
    "composer/auth.json", "claude", "github-copilot", "google-chrome", "chromium", "BraveSoftware",
    "microsoft-edge", "vivaldi",
];

/// Paths in the folder for data, which is `.local/share` in a home unless `XDG_DATA_HOME` is set.
const IN_DATA: &[&str] = &["keyrings", "kwalletd", "opencode/auth.json", "fish/fish_history"];

/// Variables that set where a tool stores its secrets, each with the paths of the secrets below
/// that folder. An empty list means the path itself.
const BY_VARIABLE: &[(&str, &[&str])] = &[
    ("XDG_CONFIG_HOME", IN_SETTINGS),
    ("XDG_DATA_HOME", IN_DATA),
    ("CARGO_HOME", &["credentials", "credentials.toml"]),
    ("GNUPGHOME", &[]),
    ("PASSWORD_STORE_DIR", &[]),
    ("NETRC", &[]),
    ("AWS_CONFIG_FILE", &[]),
    ("AWS_SHARED_CREDENTIALS_FILE", &[]),
    ("AZURE_CONFIG_DIR", &[]),
    ("CLOUDSDK_CONFIG", &[]),
    ("GOOGLE_APPLICATION_CREDENTIALS", &[]),
    ("KUBECONFIG", &[]),
    ("DOCKER_CONFIG", &[]),
    ("GH_CONFIG_DIR", &[]),
    ("NPM_CONFIG_USERCONFIG", &[]),
    ("npm_config_userconfig", &[]),
    ("PGPASSFILE", &[]),
    ("CLAUDE_CONFIG_DIR", &[]),
    ("CODEX_HOME", &[]),
    ("HISTFILE", &[]),
];

/// Returns the paths in a home that may hold secrets, whether they exist or not.
pub fn secrets_in_home(home: &Path) -> Vec<PathBuf> {
    let in_home = IN_HOME.iter().map(|name| home.join(name));
    let settings = IN_SETTINGS.iter().map(|name| home.join(".config").join(name));
    let data = IN_DATA.iter().map(|name| home.join(".local/share").join(name));
    in_home.chain(settings).chain(data).collect()
}

/// Returns the paths of secrets that are set by variables. Relative paths are ignored.
pub fn secrets_by_variables(variable: impl Fn(&str) -> Option<OsString>) -> Vec<PathBuf> {
    let mut found = Vec::new();
    for (name, below) in BY_VARIABLE {
        // A variable can name several folders.
        let places = variable(name).unwrap_or_default();
        for place in std::env::split_paths(&places).filter(|place| place.is_absolute()) {
            match below.is_empty() {
                true => found.push(place),
                false => found.extend(below.iter().map(|below| place.join(below))),
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    fn shown(paths: &[PathBuf]) -> Vec<&str> {
        paths.iter().filter_map(|path| path.to_str()).collect()
    }

    #[test]
    fn secret_paths_of_tools_are_found_in_a_home_without_their_parent_folders() {
        let found = secrets_in_home(Path::new("/root"));
        let found = shown(&found);
        for path in [
            "/root/.ssh",
            "/root/.cargo/credentials.toml",
            "/root/.config/gh",
            "/root/.config/git/credentials",
            "/root/.local/share/keyrings",
        ] {
            assert!(found.contains(&path), "{path}");
        }
        // Folders that contain secrets among other files are not hidden as a whole.
        for path in ["/root", "/root/", "/root/.config", "/root/.cargo", "/root/.local/share"] {
            assert!(!found.contains(&path), "{path}");
        }
    }

    #[test]
    fn environment_variables_relocate_secret_paths() {
        let found = secrets_by_variables(|name| match name {
            "CARGO_HOME" => Some("/opt/cargo".into()),
            "KUBECONFIG" => Some("/etc/one.yaml:two.yaml:/etc/three.yaml".into()),
            "GNUPGHOME" => Some("".into()),
            "NETRC" => Some("not/from/the/root".into()),
            _ => None,
        });
        assert_eq!(
            shown(&found),
            [
                "/opt/cargo/credentials", "/opt/cargo/credentials.toml", "/etc/one.yaml",
                "/etc/three.yaml",
            ]
        );
    }
}
