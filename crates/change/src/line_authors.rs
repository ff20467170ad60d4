//! The authors of lines, by `git blame`: [`LineAuthors`].

use std::time::Duration;

use assay_base::clock::Deadline;
use assay_findings::path::RepoPath;

use crate::git::{Git, check, text};
use crate::tree::TreeKind;
use crate::{Change, GitError};

/// The maximum time for the authors of all lines of a change.
const MAX_TIME: Duration = Duration::from_secs(5);

/// The maximum number of lines of one file that are looked up.
const MAX_LINES: usize = 200;

/// The authors of lines of a change. All look-ups together have a limit of time, after which
/// authors are unknown.
pub struct LineAuthors {
    git: Git,
    /// The commit of the lines; `None` for the work tree.
    commit: Option<String>,
    deadline: Deadline,
}

impl Change {
    /// Returns the authors of the change's lines; `None` for a recorded change.
    pub fn line_authors(&self) -> Result<Option<LineAuthors>, GitError> {
        let TreeKind::Git(base) = &self.base.kind else { return Ok(None) };
        let (git, _) = base.source();
        let commit = match &self.tree.kind {
            TreeKind::Dir(_) => None,
            TreeKind::Git(tree) => tree.source().1.map(str::to_owned),
            TreeKind::Recorded(_) => return Ok(None),
        };
        Ok(Some(LineAuthors { git: git.clone(), commit, deadline: Deadline::after(MAX_TIME) }))
    }
}

impl LineAuthors {
    /// Returns the email address of the author of each line of a file, in lower case, as `.mailmap`
    /// maps it. The author of a line that is not committed is the user of git. Lines whose author
    /// is unknown are left out.
    pub fn of(&self, file: &RepoPath, lines: &[u32]) -> Vec<(u32, String)> {
        let mut args = vec!["blame".to_owned(), "--line-porcelain".to_owned(), "-w".to_owned()];
        // No program that the repository names is run, and no file that it names is read.
        args.extend(["--no-textconv", "--ignore-revs-file="].map(str::to_owned));
        args.extend(lines.iter().take(MAX_LINES).map(|line| format!("-L{line},{line}")));
        args.extend(self.commit.clone());
        args.extend(["--".to_owned(), file.as_str().to_owned()]);
        if self.deadline.has_passed() {
            return Vec::new();
        }
        let finished = self.git.command(&args).time(self.deadline.left()).run();
        let Ok(finished) = finished else { return Vec::new() };
        let shown: Vec<&str> = args.iter().map(String::as_str).collect();
        match check(&shown, finished.status, &finished.stderr) {
            Ok(()) => self.parse(&text(&finished.stdout)),
            Err(_) => Vec::new(),
        }
    }

    fn parse(&self, blame: &str) -> Vec<(u32, String)> {
        let own = || self.git.line(&["config", "user.email"]).ok();
        let known = parse_authors(blame).into_iter().filter_map(|(line, author)| {
            let author = author.or_else(own)?.to_lowercase();
            (!author.is_empty()).then_some((line, author))
        });
        known.collect()
    }
}

/// Parses the output of `git blame --line-porcelain`: the number of each line with its author;
/// `None` for a line that is not committed.
fn parse_authors(blame: &str) -> Vec<(u32, Option<String>)> {
    let mut authors = Vec::new();
    let mut line_number = None;
    let mut author = None;
    for line in blame.lines() {
        if line.starts_with('\t') {
            authors.extend(line_number.take().map(|number| (number, author.take())));
        } else if line_number.is_none() {
            line_number = line.split(' ').nth(2).and_then(|number| number.parse().ok());
        } else if let Some(mail) = line.strip_prefix("author-mail ") {
            let mail = mail.trim_start_matches('<').trim_end_matches('>');
            author = Some(mail.to_owned()).filter(|mail| mail != "not.committed.yet");
        }
    }
    authors
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn each_line_has_the_address_of_its_author_or_none() {
        let text = "aaaa 3 7 1\nauthor Ada\nauthor-mail <Ada@Shop.example>\nfilename a.py\n\tx = 1\n\
                    0000 9 8\nauthor Not Committed Yet\nauthor-mail <not.committed.yet>\n\tauthor-mail <no>\n";
        assert_eq!(parse_authors(text), [(7, Some("Ada@Shop.example".to_owned())), (8, None)]);
        assert_eq!(parse_authors("fatal: no such path"), []);
    }
}
