//! The owners of files, as the file CODEOWNERS of a commit names them: [`CodeOwners`].
//!
//! The file is read as GitHub reads it: patterns as in `.gitignore` without `!` and `[ ]`, the last
//! pattern that matches decides, and a pattern without owners takes files from their owners.

use std::path::Path;

use assay_findings::grounding::{Tree, TreeError};
use assay_findings::path::RepoPath;
use globset::{GlobBuilder, GlobSet, GlobSetBuilder};

use crate::GitError;
use crate::git::Git;
use crate::tree::GitTree;

/// The places of the file, in the order in which GitHub looks for it.
pub const PLACES: [&str; 3] = [".github/CODEOWNERS", "CODEOWNERS", "docs/CODEOWNERS"];

/// The reason why the owners of files could not be read.
#[derive(Debug, thiserror::Error)]
pub enum CodeOwnersError {
    /// Git could not find the head commit.
    #[error("cannot read the owners of files from git")]
    Git {
        /// The error of git.
        #[from]
        source: GitError,
    },
    /// The file is in the commit, and could not be read.
    #[error("cannot read the owners of files")]
    Tree {
        /// The error of the tree.
        #[from]
        source: TreeError,
    },
    /// The file is not text.
    #[error("cannot read the owners of files: `{path}` is not text, or is too large")]
    NotText {
        /// The path of the file.
        path: &'static str,
    },
    /// The patterns of the file are too large in total.
    #[error("cannot read the owners of files: the patterns of `{path}` cannot be used")]
    Patterns {
        /// The path of the file.
        path: &'static str,
        /// The error of the patterns.
        source: globset::Error,
    },
}

/// The owners of files.
#[derive(Debug)]
pub struct CodeOwners {
    path: &'static str,
    /// The globs of all entries, two for most of them.
    globs: GlobSet,
    /// The entry of each glob.
    entry_of_glob: Vec<usize>,
    /// The owners of each entry.
    owners: Vec<Vec<String>>,
    skipped_lines: Vec<usize>,
}

impl CodeOwners {
    /// Reads the owners from the head commit of the repository around a folder; `None` if the
    /// commit has no such file, or if there is no commit.
    pub fn at_head(folder: &Path) -> Result<Option<CodeOwners>, CodeOwnersError> {
        let git = Git::find_without_filters(folder)?;
        let Some(head) = git.resolve_if_known("HEAD")? else { return Ok(None) };
        let tree = GitTree::revision(git, head);
        for path in PLACES {
            let file = RepoPath::exact(path).expect("the places are paths in a repository");
            if tree.exists(&file)? {
                let text = tree.read(&file)?.ok_or(CodeOwnersError::NotText { path })?;
                return CodeOwners::parse(path, &text).map(Some);
            }
        }
        Ok(None)
    }

    /// Parses the text of a file.
    fn parse(path: &'static str, text: &str) -> Result<CodeOwners, CodeOwnersError> {
        let mut globs = GlobSetBuilder::new();
        let (mut entry_of_glob, mut owners, mut skipped_lines) = (vec![], vec![], vec![]);
        for (number, line) in (1..).zip(text.lines()) {
            let words = split_words(line);
            let Some((pattern, names)) = words.split_first() else { continue };
            match to_globs(pattern).filter(|_| names.iter().all(|name| is_owner(name))) {
                Some(both) => {
                    for glob in both {
                        globs.add(glob);
                        entry_of_glob.push(owners.len());
                    }
                    owners.push(names.to_vec());
                }
                None => skipped_lines.push(number),
            }
        }
        let globs = globs.build().map_err(|source| CodeOwnersError::Patterns { path, source })?;
        Ok(CodeOwners { path, globs, entry_of_glob, owners, skipped_lines })
    }

    /// Returns the path of the file in the commit.
    pub fn path(&self) -> &'static str {
        self.path
    }

    /// Returns the numbers of the lines that are not understood, from 1.
    pub fn skipped_lines(&self) -> &[usize] {
        &self.skipped_lines
    }

    /// Returns the owners of a file; empty if the file has none.
    pub fn owners(&self, file: &str) -> &[String] {
        let matches = self.globs.matches(file).into_iter();
        let last = matches.map(|glob| self.entry_of_glob[glob]).max();
        last.map(|entry| self.owners[entry].as_slice()).unwrap_or_default()
    }
}

/// Splits a line at blanks that are not escaped, up to a comment.
fn split_words(line: &str) -> Vec<String> {
    let mut words: Vec<String> = Vec::new();
    let (mut is_inside, mut characters) = (false, line.chars());
    while let Some(character) = characters.next() {
        match character {
            '#' if !is_inside => break,
            character if character.is_whitespace() => is_inside = false,
            character => {
                if !is_inside {
                    words.push(String::new());
                    is_inside = true;
                }
                let word = words.last_mut().expect("a word was begun");
                match character {
                    '\\' => word.extend(characters.next()),
                    character => word.push(character),
                }
            }
        }
    }
    words
}

/// Returns true if a word is a user, a team or an address of mail.
fn is_owner(word: &str) -> bool {
    word.find('@').is_some_and(|at| at + 1 < word.len())
}

/// Returns the globs of a pattern: for the files themselves, and for all below a folder; `None` if
/// the pattern is none.
fn to_globs(pattern: &str) -> Option<Vec<globset::Glob>> {
    let is_unsupported = |c: char| matches!(c, '[' | ']');
    if pattern.starts_with('!') || pattern.contains(is_unsupported) || pattern == "/" {
        return None;
    }
    let (body, is_folder) = match pattern.strip_suffix('/') {
        Some(body) => (body, true),
        None => (pattern, false),
    };
    let start = if body.contains('/') { "" } else { "**/" };
    let body = body.trim_start_matches('/').replace('{', "\\{").replace('}', "\\}");
    let (file, below) = (format!("{start}{body}"), format!("{start}{body}/**"));
    let globs = match (is_folder, body.ends_with("/*")) {
        (true, _) => vec![below],
        (false, true) => vec![file],
        (false, false) => vec![file, below],
    };
    globs.iter().map(|glob| GlobBuilder::new(glob).literal_separator(true).build().ok()).collect()
}

#[cfg(test)]
mod tests {
    use assay_testkit::Repository;
    use expect_test::{Expect, expect};

    use super::*;

    fn check(text: &str, files: &[&str], expected: Expect) {
        let owners = CodeOwners::parse(PLACES[1], text).unwrap();
        let mut lines: Vec<String> = files
            .iter()
            .map(|file| format!("{file}: {}", owners.owners(file).join(" ")).trim_end().to_owned())
            .collect();
        lines.push(format!("skipped: {:?}", owners.skipped_lines()));
        expected.assert_eq(&lines.join("\n"));
    }

    #[test]
    fn the_last_pattern_that_matches_decides() {
        check(
            "# owners\n*       @all @org/all  # everything\n*.js    @js\n/build/logs/ @ops\n\
             docs/*  docs@example.com\napps/ @apps\n/scripts/x @x\n/apps/free\n",
            &[
                "a.rs", "web/a.js", "build/logs/a/b.txt", "x/build/logs/a.txt", "docs/a.md",
                "docs/a/b.md", "x/apps/a/b.rs", "apps/free/a.rs", "scripts/x/y.sh", "scripts/xy",
            ],
            expect![[r#"
                a.rs: @all @org/all
                web/a.js: @js
                build/logs/a/b.txt: @ops
                x/build/logs/a.txt: @all @org/all
                docs/a.md: docs@example.com
                docs/a/b.md: @all @org/all
                x/apps/a/b.rs: @apps
                apps/free/a.rs:
                scripts/x/y.sh: @x
                scripts/xy: @all @org/all
                skipped: []"#]],
        );
    }

    #[test]
    fn an_invalid_line_is_skipped_and_its_number_is_reported() {
        check(
            "a.rs @a\n!a.rs @b\n[ab].rs @c\na.rs nobody\n{a,b}.rs @d\nwith\\ blank.rs @e\n/ @f\n",
            &["a.rs", "b.rs", "{a,b}.rs", "with blank.rs"],
            expect![[r#"
                a.rs: @a
                b.rs:
                {a,b}.rs: @d
                with blank.rs: @e
                skipped: [2, 3, 4, 7]"#]],
        );
    }

    #[test]
    fn the_file_is_read_from_the_head_commit() {
        let repository = Repository::new();
        assert!(CodeOwners::at_head(repository.path()).unwrap().is_none());
        repository.write("CODEOWNERS", "* @root\n");
        assert!(CodeOwners::at_head(repository.path()).unwrap().is_none(), "it is not committed");
        repository.commit("owners");
        repository.write("CODEOWNERS", "* @later\n");
        let owners = CodeOwners::at_head(repository.path()).unwrap().unwrap();
        assert_eq!((owners.path(), owners.owners("x")), ("CODEOWNERS", &["@root".to_owned()][..]));
        repository.write(".github/CODEOWNERS", "* @github\n");
        repository.commit("owners for GitHub");
        let owners = CodeOwners::at_head(repository.path()).unwrap().unwrap();
        assert_eq!(owners.owners("x"), ["@github"]);
    }

    #[test]
    fn a_file_that_is_not_text_is_not_an_absent_file() {
        let repository = Repository::new();
        repository.write("CODEOWNERS", "* @a\0\n");
        repository.commit("owners");
        let error = CodeOwners::at_head(repository.path()).unwrap_err();
        assert!(matches!(error, CodeOwnersError::NotText { path: "CODEOWNERS" }), "{error}");
    }
}
