//! Files that the attributes of a repository mark as generated: `Git::mark_generated`.

use std::io::{self, BufRead, Write};

use assay_sandbox::PipedChild;

use super::{Git, GitError};
use crate::diff::FileDiff;
use crate::file_name::to_raw_name;

/// The attribute that marks a file as generated.
const ATTRIBUTE: &str = "linguist-generated";

impl Git {
    /// Marks the files that the attributes in a commit declare as generated. Marks none if git is
    /// too old to read attributes from a commit.
    pub(crate) fn mark_generated(
        &self,
        files: &mut [FileDiff],
        commit: &str,
    ) -> Result<(), GitError> {
        if files.is_empty() {
            return Ok(());
        }
        match self.generated(files, commit) {
            Ok(marks) => {
                for (file, mark) in files.iter_mut().zip(marks) {
                    file.generated = mark;
                }
            }
            Err(error) if self.reads_attributes(commit)? => {
                return Err(GitError::Failed {
                    command: "check-attr".to_owned(),
                    message: error.to_string(),
                    code: None,
                });
            }
            Err(_) => {}
        }
        Ok(())
    }

    /// Returns true if this git can read attributes from a commit; git before 2.40 cannot.
    fn reads_attributes(&self, commit: &str) -> Result<bool, GitError> {
        const UNKNOWN_OPTION: i32 = 129;
        let source = format!("--source={commit}");
        match self.run(&["check-attr", &source, ATTRIBUTE, "--", "x"]) {
            Ok(_) => Ok(true),
            Err(GitError::Failed { code: Some(UNKNOWN_OPTION), .. }) => Ok(false),
            Err(error) => Err(error),
        }
    }

    fn generated(&self, files: &[FileDiff], commit: &str) -> io::Result<Vec<bool>> {
        let source = format!("--source={commit}");
        let command = self.command(&["check-attr", &source, "--stdin", "-z", ATTRIBUTE]);
        // Paths are relative to the folder that git runs in.
        let mut git = command.folder(&self.root).spawn_piped().map_err(io::Error::other)?;
        files
            .iter()
            .map(|file| {
                // A file that was moved to a place of generated files was not generated there.
                let paths = [&file.old_path, &file.new_path].into_iter().flatten();
                paths
                    .map(|path| is_generated(&mut git, path))
                    .try_fold(true, |all, is| Ok(all & is?))
            })
            .collect()
    }
}

fn is_generated(git: &mut PipedChild, path: &str) -> io::Result<bool> {
    git.write_all(&to_raw_name(path))?;
    git.write_all(b"\0")?;
    // Git answers with the path, the attribute and its value.
    let mut field = Vec::new();
    for _ in 0..3 {
        field.clear();
        git.read_until(0, &mut field)?;
        if field.pop() != Some(0) {
            return Err(io::ErrorKind::UnexpectedEof.into());
        }
    }
    Ok(matches!(field.as_slice(), b"set" | b"true"))
}
