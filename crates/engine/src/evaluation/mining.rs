//! Cases from the history of a repository: [`mine`]. The repository is read, never changed.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;

use anyhow::{Context, bail};
use assay_change::diff::{Content, FileDiff};
use assay_change::state::State;
use assay_change::{BlamedLine, History, PastCommit};
use assay_eval::mining::{
    is_code, is_fix, is_rebuttal, is_security_fix, label_text, language_of, reverted_commit,
    subject,
};
use assay_eval::set::{Case, Label};
use assay_store::ledger::FindingState;
use assay_store::ledger::query::FindingFilter;
use serde::Deserialize;

/// The maximum number of files and of changed lines of a change that becomes a case.
const MAX_FILES: usize = 20;
const MAX_LINES: u32 = 1_000;

/// The maximum number of changed lines of a fix: a larger fix hides which line was wrong.
const MAX_FIX_LINES: u32 = 40;

/// The maximum size of a file of a case, in bytes.
const MAX_FILE_BYTES: usize = 512 << 10;

/// The number of characters of a commit's name in the id of a case.
const SHORT_COMMIT_LENGTH: usize = 12;

/// The source of a case.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum CaseKind {
    /// Changes that were reverted.
    Reverts,
    /// Changes that a later fix had to correct, found by blame.
    Fixes,
    /// Security fixes, reverted.
    Security,
    /// Review comments on pull requests, from a GitHub export.
    Threads,
    /// Findings of earlier reviews by assay that are gone after a change, or were dismissed.
    Ledger,
}

/// A case with the files of its change.
pub struct MinedCase {
    /// The case.
    pub case: Case,
    /// The files before the change.
    pub before: BTreeMap<String, Vec<u8>>,
    /// The files that are new or changed.
    pub after: BTreeMap<String, Vec<u8>>,
    /// The files that the change deletes.
    pub deleted: Vec<String>,
}

/// The cases of a history, and the number of skipped commits.
#[derive(Default)]
pub struct MinedCases {
    /// The cases.
    pub cases: Vec<MinedCase>,
    /// The reasons for skipping commits, each with the number of commits.
    pub left_out: BTreeMap<&'static str, usize>,
}

/// A review comment as GitHub's API returns it.
#[derive(Debug, Clone, Deserialize)]
pub struct ThreadComment {
    id: u64,
    body: String,
    path: String,
    line: Option<u32>,
    start_line: Option<u32>,
    original_line: Option<u32>,
    original_start_line: Option<u32>,
    original_commit_id: Option<String>,
    in_reply_to_id: Option<u64>,
    html_url: Option<String>,
}

/// Finds cases of the given kinds in the newest commits of a history.
pub fn mine(
    history: &History,
    kinds: &BTreeSet<CaseKind>,
    threads: &[ThreadComment],
    findings: Vec<Claim>,
    most: usize,
) -> anyhow::Result<MinedCases> {
    let mut mined = MinedCases::default();
    for commit in history.commits(most)? {
        let found = commit_candidate(history, kinds, &commit)
            .with_context(|| format!("cannot read the commit {}", commit.id))?;
        mined.add(found);
    }
    if kinds.contains(&CaseKind::Threads) {
        thread_candidates(history, threads)?.into_iter().for_each(|found| mined.add(found));
    }
    ledger_candidates(history, findings)?.into_iter().for_each(|found| mined.add(found));
    Ok(mined)
}

/// A case, the reason for skipping a commit, or no candidate at all.
enum Candidate {
    Case(Box<MinedCase>),
    LeftOut(&'static str),
    None,
}

impl MinedCases {
    fn add(&mut self, candidate: Candidate) {
        match candidate {
            Candidate::None => {}
            Candidate::LeftOut(reason) => *self.left_out.entry(reason).or_default() += 1,
            Candidate::Case(case) => {
                // Two fixes of one change are two labels of one case.
                let known = self.cases.iter_mut().find(|it| it.case.change == case.case.change);
                match known {
                    Some(known) => add_labels(&mut known.case, case.case),
                    None => self.cases.push(*case),
                }
            }
        }
    }
}

/// Adds the labels of a case to another case of the same change.
fn add_labels(known: &mut Case, other: Case) {
    for (labels, more) in [(&mut known.labels, other.labels), (&mut known.rejected, other.rejected)]
    {
        for label in more {
            if !labels.contains(&label) {
                labels.push(label);
            }
        }
    }
}

fn commit_candidate(
    history: &History,
    kinds: &BTreeSet<CaseKind>,
    commit: &PastCommit,
) -> anyhow::Result<Candidate> {
    let [parent] = commit.parents.as_slice() else { return Ok(Candidate::None) };
    if let Some(name) = reverted_commit(&commit.message) {
        return match kinds.contains(&CaseKind::Reverts) {
            true => revert_candidate(history, commit, name),
            false => Ok(Candidate::None),
        };
    }
    let security = is_security_fix(&commit.message);
    if security && kinds.contains(&CaseKind::Security) {
        return security_fix_candidate(history, commit, parent);
    }
    match (security || is_fix(&commit.message)) && kinds.contains(&CaseKind::Fixes) {
        true => fix_candidate(history, commit, parent),
        false => Ok(Candidate::None),
    }
}

/// Returns the change of a commit that was reverted.
fn revert_candidate(
    history: &History,
    revert: &PastCommit,
    name: &str,
) -> anyhow::Result<Candidate> {
    let Some(reverted) = history.commit(name)? else {
        return Ok(Candidate::LeftOut("the reverted commit is not known"));
    };
    let [parent] = reverted.parents.as_slice() else {
        return Ok(Candidate::LeftOut("the reverted commit is a merge or the first one"));
    };
    let files = history.diff(parent, &reverted.id)?;
    let code: Vec<&FileDiff> = files.iter().filter(|file| is_code(file.path())).collect();
    let reason = label_text(&revert.message);
    let comment = format!("{}\nThe change was reverted: {reason}", subject(&reverted.message));
    let mut label = Label { comment, ..Label::default() };
    if let [file] = code.as_slice() {
        label.path = file.new_path.clone();
        let added: Vec<_> = file.added().collect();
        if let ([only], Some(_)) = (added.as_slice(), &label.path) {
            (label.line, label.end_line) = (Some(only.start()), Some(only.end()));
        }
    }
    label.reason = Some(format!("reverted by {}", revert.id));
    let title = subject(&reverted.message).to_owned();
    let change = NewCase { kind: "revert", from: parent, to: &reverted.id, title };
    change.case(history, &reverted.id, Some(&reverted.message), &files, vec![label])
}

/// Returns the change that introduced the lines which a fix corrected.
fn fix_candidate(history: &History, fix: &PastCommit, parent: &str) -> anyhow::Result<Candidate> {
    let files = history.diff(parent, &fix.id)?;
    let code: Vec<&FileDiff> = files.iter().filter(|file| is_code(file.path())).collect();
    let lines: u32 = code.iter().map(|file| changed_lines(file)).sum();
    if code.is_empty() {
        return Ok(Candidate::LeftOut("the fix changes no code"));
    }
    if lines > MAX_FIX_LINES {
        return Ok(Candidate::LeftOut("the fix is too large to show which line was wrong"));
    }
    let mut origins: Vec<BlamedLine> = Vec::new();
    for file in &code {
        let Some(path) = &file.old_path else { continue };
        for lines in file.removed() {
            origins.extend(history.blame(parent, path, (lines.start(), lines.end()))?);
        }
    }
    let Some(origin) = main_origin(&origins) else {
        return Ok(Candidate::LeftOut("the fix removes no line that could be traced"));
    };
    let Some(cause) = history.commit(&origin)? else {
        return Ok(Candidate::LeftOut("the commit that is at fault is not known"));
    };
    let [before] = cause.parents.as_slice() else {
        return Ok(Candidate::LeftOut("the commit that is at fault is a merge or the first one"));
    };
    let mut label = Label { comment: label_text(&fix.message), ..Label::default() };
    let at = |it: &&BlamedLine| it.commit == origin;
    if let Some(first) = origins.iter().find(at) {
        let lines = origins.iter().filter(at).filter(|it| it.path == first.path).map(|it| it.line);
        label.path = Some(first.path.clone());
        (label.line, label.end_line) = (lines.clone().min(), lines.max());
    }
    label.reason = Some(format!("corrected by {}, traced by blame", fix.id));
    let files = history.diff(before, &cause.id)?;
    let title = subject(&cause.message).to_owned();
    let change = NewCase { kind: "fix", from: before, to: &cause.id, title };
    change.case(history, &cause.id, Some(&cause.message), &files, vec![label])
}

/// Returns a security fix reverted: the change that would bring the vulnerability back.
fn security_fix_candidate(
    history: &History,
    fix: &PastCommit,
    parent: &str,
) -> anyhow::Result<Candidate> {
    let files = history.diff(&fix.id, parent)?;
    let mut labels = Vec::new();
    for file in files.iter().filter(|file| is_code(file.path())) {
        let Some(path) = &file.new_path else { continue };
        let place = file.added().next().map(|lines| (lines.start(), lines.end()));
        // Where lines are only deleted, the label is on the line after them.
        let gap = file.hunks.iter().find_map(|hunk| {
            let first = hunk.removed.first()?.start();
            let line = (hunk.new.start + first.saturating_sub(hunk.old.start)).max(1);
            Some((line, line))
        });
        let Some((line, end)) = place.or(gap) else { continue };
        labels.push(Label {
            comment: label_text(&fix.message),
            path: Some(path.clone()),
            line: Some(line),
            end_line: Some(end),
            severity: Some("HIGH".to_owned()),
            category: Some("security".to_owned()),
            reason: Some(format!("undoes the fix {}", fix.id)),
        });
        break;
    }
    if labels.is_empty() {
        return Ok(Candidate::LeftOut("the fix changes no code"));
    }
    let names: Vec<&str> =
        files.iter().map(FileDiff::path).filter(|path| is_code(path)).take(3).collect();
    // The title must not reveal the defect.
    let title = format!("Rework {}", names.join(", "));
    let change = NewCase { kind: "security", from: &fix.id, to: parent, title };
    change.case(history, &fix.id, None, &files, labels)
}

/// Returns comments of pull requests: a label if the lines changed afterwards, rejected if a reply
/// says so.
fn thread_candidates(
    history: &History,
    threads: &[ThreadComment],
) -> anyhow::Result<Vec<Candidate>> {
    let mut found = Vec::new();
    let Some(head) = history.commits(1)?.into_iter().next() else { return Ok(found) };
    for comment in threads.iter().filter(|comment| comment.in_reply_to_id.is_none()) {
        let mut replies = threads.iter().filter(|it| it.in_reply_to_id == Some(comment.id));
        let fate = match replies.any(|reply| is_rebuttal(&reply.body)) {
            true => ClaimFate::Rebutted,
            false => ClaimFate::Unanswered,
        };
        found.push(comment.claim(fate).candidate(history, &head.id)?);
    }
    Ok(found)
}

fn ledger_candidates(history: &History, findings: Vec<Claim>) -> anyhow::Result<Vec<Candidate>> {
    let Some(head) = history.commits(1)?.into_iter().next() else { return Ok(Vec::new()) };
    findings.into_iter().map(|finding| finding.candidate(history, &head.id)).collect()
}

impl ThreadComment {
    fn claim(&self, fate: ClaimFate) -> Claim {
        let end = self.original_line.or(self.line);
        let start = self.original_start_line.or(self.start_line);
        Claim {
            kind: "thread",
            text: self.body.trim().to_owned(),
            path: self.path.clone(),
            lines: end.map(|end| (start.unwrap_or(end).min(end).max(1), end.max(1))),
            commit: self.original_commit_id.clone(),
            source: self.html_url.clone().unwrap_or_else(|| format!("comment {}", self.id)),
            severity: None,
            category: None,
            fate,
        }
    }
}

/// A claim of a reviewer about lines of a commit, and the outcome of the claim.
pub struct Claim {
    /// The prefix of the id of a case.
    kind: &'static str,
    text: String,
    path: String,
    lines: Option<(u32, u32)>,
    commit: Option<String>,
    /// The text that describes the comment or finding, for the reason of a label.
    source: String,
    severity: Option<String>,
    category: Option<String>,
    fate: ClaimFate,
}

/// The outcome of a claim.
enum ClaimFate {
    /// No reply decides the claim.
    Unanswered,
    /// A reply rejects the claim.
    Rebutted,
    /// A later review looked for the defect, and it was not there.
    Gone,
    /// A person dismissed the claim, for a reason.
    Dismissed(String),
}

impl Claim {
    fn candidate(self, history: &History, head: &str) -> anyhow::Result<Candidate> {
        let commit = match &self.commit {
            Some(name) => history.commit(name)?,
            None => None,
        };
        let Some(commit) = commit else {
            return Ok(Candidate::LeftOut("the commit of the review comment is not here"));
        };
        let Some((start, end)) = self.lines else {
            return Ok(Candidate::LeftOut("the review comment names no line"));
        };
        let Some(is_still_there) =
            self.is_still_there(history, (&commit.id, head), (start, end))?
        else {
            return Ok(Candidate::LeftOut("the file of the review comment is not in its commit"));
        };
        let reason = match (is_still_there, &self.fate) {
            (false, ClaimFate::Unanswered | ClaimFate::Rebutted) => {
                "the lines were changed after the comment".to_owned()
            }
            (false, ClaimFate::Gone) => {
                "the lines were changed, and a later review did not find the defect".to_owned()
            }
            (true, ClaimFate::Rebutted) => {
                "the comment was rejected in a reply, and the lines stayed".to_owned()
            }
            (true, ClaimFate::Dismissed(why)) => why.clone(),
            (true, ClaimFate::Unanswered | ClaimFate::Gone) | (false, ClaimFate::Dismissed(_)) => {
                return Ok(Candidate::LeftOut(
                    "the review comment was neither followed nor rejected",
                ));
            }
        };
        let label = Label {
            comment: self.text,
            path: Some(self.path),
            line: Some(start),
            end_line: Some(end),
            severity: self.severity,
            category: self.category,
            reason: Some(format!("{}: {reason}", self.source)),
        };
        // A commit that is merged has no base to diverge from.
        let base = Some(history.merge_base(head, &commit.id)?).filter(|base| *base != commit.id);
        let base = base.or_else(|| commit.parents.first().cloned());
        let Some(base) = base else {
            return Ok(Candidate::LeftOut("the commit of the review comment is the first one"));
        };
        let files = history.diff(&base, &commit.id)?;
        let title = subject(&commit.message).to_owned();
        let change = NewCase { kind: self.kind, from: &base, to: &commit.id, title };
        let (labels, rejected) = match is_still_there {
            false => (vec![label], Vec::new()),
            true => (Vec::new(), vec![label]),
        };
        let made = change.case(history, &commit.id, Some(&commit.message), &files, labels)?;
        Ok(match made {
            Candidate::Case(mut case) => {
                case.case.rejected = rejected;
                Candidate::Case(case)
            }
            other => other,
        })
    }

    /// Returns true if a later commit still has the lines of the claim; `None` if its own commit
    /// does not have the file.
    fn is_still_there(
        &self,
        history: &History,
        (commit, head): (&str, &str),
        (start, end): (u32, u32),
    ) -> anyhow::Result<Option<bool>> {
        let lines = |id: &str| -> anyhow::Result<Option<Vec<String>>> {
            let bytes = history.read(id, &self.path)?;
            Ok(bytes.map(|it| String::from_utf8_lossy(&it).lines().map(str::to_owned).collect()))
        };
        let Some(then) = lines(commit)? else { return Ok(None) };
        let range = (start as usize - 1)..(end as usize).min(then.len());
        let said_of: Vec<String> = then.get(range).unwrap_or_default().to_vec();
        let now = lines(head)?.unwrap_or_default();
        let is_there = !said_of.is_empty()
            && now.windows(said_of.len()).any(|window| window == said_of.as_slice());
        Ok(Some(is_there))
    }
}

/// Reads the findings of a repository's ledger that are gone or dismissed; empty if there is no
/// ledger.
pub fn decided_findings(state: &State, today: &str) -> anyhow::Result<Vec<Claim>> {
    let Some(ledger) = assay_review::ledger::open_read_only(state)? else { return Ok(Vec::new()) };
    let mut claims = Vec::new();
    for entry in ledger.list(&FindingFilter::default(), today)? {
        let fate = match entry.state {
            FindingState::Open => continue,
            FindingState::Gone => ClaimFate::Gone,
            FindingState::Dismissed => {
                ClaimFate::Dismissed("the finding was left alone".to_owned())
            }
        };
        let Some(path) = entry.file.clone() else { continue };
        let history = ledger.history(entry.key, today)?;
        let decision = history.decisions.iter().rev().find(|it| it.ended.is_none());
        let fate = match (fate, decision) {
            (ClaimFate::Dismissed(_), Some(decision)) => {
                ClaimFate::Dismissed(format!("dismissed by {}: {}", decision.by, decision.reason))
            }
            (fate, _) => fate,
        };
        // The newest run with a line has the line of the finding in that commit.
        let seen = history.looks.iter().rev().find(|look| look.line.is_some());
        let field = |name: &str| history.finding[name].as_str().unwrap_or_default().to_owned();
        let text = format!("{}\n{}", entry.title, field("description"));
        claims.push(Claim {
            kind: "ledger",
            text: assay_rules::redact_text(text.trim()),
            path,
            lines: seen.and_then(|look| look.line).map(|line| (line, line)),
            commit: seen.and_then(|look| look.head.clone()),
            source: format!("finding {}", entry.id),
            severity: Some(entry.severity),
            category: Some(entry.category),
            fate,
        });
    }
    Ok(claims)
}

/// Returns the commit that introduced most of the lines; `None` if there are no lines.
fn main_origin(origins: &[BlamedLine]) -> Option<String> {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for origin in origins {
        *counts.entry(&origin.commit).or_default() += 1;
    }
    let (commit, lines) = counts.into_iter().max_by_key(|(_, lines)| *lines)?;
    (lines * 2 > origins.len()).then(|| commit.to_owned())
}

fn changed_lines(file: &FileDiff) -> u32 {
    let count = |lines: assay_findings::vote::LineRange| lines.end() - lines.start() + 1;
    file.added().map(count).sum::<u32>() + file.removed().map(count).sum::<u32>()
}

/// A change between two commits that becomes a case.
struct NewCase<'a> {
    kind: &'static str,
    from: &'a str,
    to: &'a str,
    title: String,
}

impl NewCase<'_> {
    fn case(
        self,
        history: &History,
        named_by: &str,
        message: Option<&str>,
        files: &[FileDiff],
        labels: Vec<Label>,
    ) -> anyhow::Result<Candidate> {
        let lines: u32 = files.iter().map(changed_lines).sum();
        if files.len() > MAX_FILES || lines > MAX_LINES {
            return Ok(Candidate::LeftOut("the change is too large"));
        }
        let id = format!("{}-{}", self.kind, &named_by[..SHORT_COMMIT_LENGTH.min(named_by.len())]);
        let mut case = MinedCase {
            case: Case {
                change: format!("changes/{id}"),
                id,
                title: self.title,
                message: message.map(str::to_owned),
                language: files.iter().find_map(|file| language_of(file.path())).map(str::to_owned),
                purpose: Vec::new(),
                labels,
                rejected: Vec::new(),
                source: Some(format!("{}..{}", self.from, self.to)),
            },
            before: BTreeMap::new(),
            after: BTreeMap::new(),
            deleted: Vec::new(),
        };
        for file in files.iter().filter(|file| file.content == Content::Text) {
            case.add_file(history, (self.from, self.to), file)?;
        }
        case.add_purpose(history, self.from, message.unwrap_or_default())?;
        let is_placed =
            |label: &Label| label.path.as_ref().is_none_or(|path| case.after.contains_key(path));
        match case.case.labels.iter().all(is_placed) {
            true if !case.after.is_empty() || !case.deleted.is_empty() => {
                Ok(Candidate::Case(Box::new(case)))
            }
            true => Ok(Candidate::LeftOut("the change has no text")),
            false => Ok(Candidate::LeftOut("the lines at fault are not part of the change")),
        }
    }
}

impl MinedCase {
    fn add_file(
        &mut self,
        history: &History,
        (from, to): (&str, &str),
        file: &FileDiff,
    ) -> anyhow::Result<()> {
        let read = |commit: &str, path: &Option<String>| -> anyhow::Result<Option<Vec<u8>>> {
            let Some(path) = path else { return Ok(None) };
            Ok(history.read(commit, path)?.filter(|bytes| bytes.len() <= MAX_FILE_BYTES))
        };
        let (before, after) = (read(from, &file.old_path)?, read(to, &file.new_path)?);
        if let (Some(path), Some(bytes)) = (&file.old_path, before) {
            self.before.insert(path.clone(), bytes);
            if file.new_path.as_ref() != Some(path) && history.read(to, path)?.is_none() {
                self.deleted.push(path.clone());
            }
        }
        if let (Some(path), Some(bytes)) = (&file.new_path, after) {
            self.after.insert(path.clone(), bytes);
        }
        Ok(())
    }

    /// Adds the documents of the repository that a commit message names.
    fn add_purpose(&mut self, history: &History, base: &str, message: &str) -> anyhow::Result<()> {
        let words = message.split(|c: char| c.is_whitespace() || "()[]<>,;`'\"".contains(c));
        for word in words.map(|word| word.trim_matches(['.', ':'])) {
            let is_document = [".md", ".txt", ".rst", ".adoc"].iter().any(|it| word.ends_with(it));
            if !is_document || word.starts_with("http") || self.after.contains_key(word) {
                continue;
            }
            if let Some(bytes) = history.read(base, word)?.filter(|it| it.len() <= MAX_FILE_BYTES) {
                self.before.insert(word.to_owned(), bytes);
                let path = format!("{}/before/{word}", self.case.change);
                if !self.case.purpose.contains(&path) {
                    self.case.purpose.push(path);
                }
            }
        }
        Ok(())
    }
}

/// Reads an export of review comments: a JSON list as GitHub's API returns it.
pub fn read_threads(path: &Path) -> anyhow::Result<Vec<ThreadComment>> {
    let text = std::fs::read_to_string(path)
        .with_context(|| format!("cannot read `{}`", path.display()))?;
    let threads: Vec<ThreadComment> = serde_json::from_str(&text).with_context(|| {
        format!(
            "`{}` is not a list of review comments, as `gh api repos/OWNER/REPO/pulls/comments` \
             prints it",
            path.display()
        )
    })?;
    if threads.is_empty() {
        bail!("`{}` contains no review comments", path.display());
    }
    Ok(threads)
}
