//! The documents that are about the files of a part of a change: [`choose`].
//!
//! Every file of the part chooses in turn, so that the plan of a short file is not crowded out by
//! the long documents of another. The affinity of a file and a document is computed from the words
//! that they share, where a word weighs more the fewer documents contain it, and from the words of
//! their names. If the documents are in several folders, those of one folder are assumed to have
//! one subject.

use std::collections::{BTreeMap, BTreeSet};

use assay_findings::path::RepoPath;

/// The bytes of documents that are shown for each file of a part, within [`DOCUMENT_BYTES`].
const DOCUMENT_BYTES_PER_FILE: usize = 6 << 10;

/// The minimum and the maximum number of bytes of documents with one part of a change.
const DOCUMENT_BYTES: (usize, usize) = (12 << 10, 20 << 10);

/// The weight of a word in the name of a file, compared with 1 for a word in its lines.
const NAME_WEIGHT: f64 = 3.0;

/// The maximum number of bytes of a section.
const MAX_SECTION_BYTES: usize = 3 << 10;

/// The minimum affinity of a document outside of the best folder, as a share of the file's best
/// affinity.
const MIN_AFFINITY_SHARE: f64 = 0.5;

/// The words of a file's name and added lines.
#[derive(Debug)]
pub(crate) struct FileWords {
    path: String,
    name: BTreeSet<String>,
    words: BTreeSet<String>,
}

impl FileWords {
    pub(super) fn new(path: &str) -> FileWords {
        let name = words_in(path);
        FileWords { path: path.to_owned(), words: name.clone(), name }
    }

    /// Returns true if the words are those of the file with this path.
    pub(super) fn is_of(&self, path: &str) -> bool {
        self.path == path
    }

    /// Adds the words of a line.
    pub(super) fn add(&mut self, line: &str) {
        self.words.extend(words_in(line));
    }
}

/// A document by its path, and the text of it that is shown.
type ShownDocument<'d> = (&'d RepoPath, String);

/// Returns the documents for a part with these files, and the paths of those that are not shown.
pub(super) fn choose<'d>(
    documents: &'d [(RepoPath, String)],
    files: &[FileWords],
) -> (Vec<ShownDocument<'d>>, Vec<&'d RepoPath>) {
    let room = (DOCUMENT_BYTES_PER_FILE * files.len()).clamp(DOCUMENT_BYTES.0, DOCUMENT_BYTES.1);
    let total: usize = documents.iter().map(|(_, text)| text.len()).sum();
    if total <= room {
        let whole = documents.iter().map(|(path, text)| (path, text.trim_end().to_owned()));
        return (whole.collect(), Vec::new());
    }
    let index = DocumentIndex::new(documents);
    let orders = files.iter().map(|file| index.order_for(file)).collect();
    let kept = select_round_robin(&index, orders, room);
    let mut shown = Vec::new();
    let mut left_out = Vec::new();
    for (at, (path, _)) in documents.iter().enumerate() {
        match index.text_of(at, &kept) {
            Some(text) => shown.push((path, text)),
            None => left_out.push(path),
        }
    }
    (shown, left_out)
}

/// Takes the next section of each order in turn, as long as sections fit into the room.
fn select_round_robin(
    index: &DocumentIndex,
    orders: Vec<Vec<usize>>,
    mut room: usize,
) -> BTreeSet<usize> {
    let mut kept = BTreeSet::new();
    let longest = orders.iter().map(Vec::len).max().unwrap_or(0);
    for turn in 0..longest {
        for at in orders.iter().filter_map(|order| order.get(turn)) {
            let bytes = index.sections[*at].text.len();
            if bytes <= room && kept.insert(*at) {
                room -= bytes;
            }
        }
    }
    kept
}

/// All documents, split into sections, with the words of each.
struct DocumentIndex<'d> {
    folders: Vec<&'d str>,
    words: Vec<BTreeSet<String>>,
    sections: Vec<Section<'d>>,
    /// The number of documents that contain a word.
    having: BTreeMap<String, usize>,
}

/// A section of a document: the text from one heading to the next, or a piece of it if that is
/// long.
struct Section<'d> {
    document: usize,
    is_first: bool,
    text: &'d str,
    words: BTreeSet<String>,
}

impl<'d> DocumentIndex<'d> {
    fn new(documents: &'d [(RepoPath, String)]) -> DocumentIndex<'d> {
        let folder = |path: &'d RepoPath| path.as_str().rsplit_once('/').map_or("", |(of, _)| of);
        let words: Vec<BTreeSet<String>> = documents
            .iter()
            .map(|(path, text)| words_in(text).into_iter().chain(words_in(path.as_str())).collect())
            .collect();
        let mut having: BTreeMap<String, usize> = BTreeMap::new();
        for word in words.iter().flatten() {
            *having.entry(word.clone()).or_default() += 1;
        }
        let section = |document: usize, (nth, text): (usize, &'d str)| Section {
            document,
            is_first: nth == 0,
            text,
            words: words_in(text),
        };
        DocumentIndex {
            folders: documents.iter().map(|(path, _)| folder(path)).collect(),
            words,
            sections: documents
                .iter()
                .enumerate()
                .flat_map(|(at, (_, text))| {
                    let texts = sections(text).into_iter().enumerate();
                    texts.map(move |nth| section(at, nth))
                })
                .collect(),
            having,
        }
    }

    /// Returns the weight of a word: the fewer documents contain it, the greater it is.
    fn weight(&self, word: &str) -> f64 {
        let having = self.having.get(word).copied().unwrap_or(1).max(1);
        ((self.words.len() + 1) as f64 / having as f64).ln()
    }

    /// Returns the affinity of a file and a document.
    fn affinity(&self, file: &FileWords, document: usize) -> f64 {
        let words = &self.words[document];
        let squared = |word: &String| self.weight(word).powi(2);
        let length: f64 = words.iter().map(squared).sum::<f64>().sqrt();
        let shared = words
            .intersection(&file.words)
            .map(|word| squared(word) * if file.name.contains(word) { NAME_WEIGHT } else { 1.0 });
        if length > 0.0 { shared.sum::<f64>() / length } else { 0.0 }
    }

    /// Returns the sections that are about a file, the best first: those of the folder with the
    /// best document, then those of other documents with nearly the same affinity.
    fn order_for(&self, file: &FileWords) -> Vec<usize> {
        let own: Vec<f64> = (0..self.words.len()).map(|at| self.affinity(file, at)).collect();
        let best = own.iter().copied().fold(0.0, f64::max);
        let best_folder = own.iter().position(|a| *a == best).map(|at| self.folders[at]);
        let is_near = |at: usize| Some(self.folders[at]) == best_folder;
        let mut order: Vec<(bool, f64, usize)> = Vec::new();
        for (at, section) in self.sections.iter().enumerate() {
            let of = section.document;
            if is_near(of) || own[of] >= best * MIN_AFFINITY_SHARE {
                let score = match is_near(of) {
                    true => self.shared_weight(file, section),
                    false => own[of],
                };
                order.push((is_near(of), score, at));
            }
        }
        order.sort_by(|a, b| b.0.cmp(&a.0).then(b.1.total_cmp(&a.1)).then(a.2.cmp(&b.2)));
        order.into_iter().map(|(_, _, at)| at).collect()
    }

    /// Returns the weight of the words that a section shares with a file. The first section of a
    /// document introduces its subject, and a change is judged by the acceptance criteria: both
    /// come before all others.
    fn shared_weight(&self, file: &FileWords, section: &Section<'_>) -> f64 {
        if section.is_first || has_criteria(section.text) {
            return f64::INFINITY;
        }
        section.words.intersection(&file.words).map(|word| self.weight(word)).sum()
    }

    /// Returns the text of a document that is shown: its chosen sections in their order, with a
    /// mark for each that is left out; `None` if no section is chosen.
    fn text_of(&self, document: usize, kept: &BTreeSet<usize>) -> Option<String> {
        let of = |section: &Section<'_>| section.document == document;
        let own: Vec<usize> =
            (0..self.sections.len()).filter(|at| of(&self.sections[*at])).collect();
        if !own.iter().any(|at| kept.contains(at)) {
            return None;
        }
        let text = own.iter().map(|at| {
            let section = &self.sections[*at].text;
            match kept.contains(at) {
                true => (*section).to_owned(),
                false => {
                    let heading = section.lines().next().unwrap_or("").trim();
                    format!("[left out: {heading} ({} bytes)]\n", section.len())
                }
            }
        });
        Some(text.collect::<String>().trim_end().to_owned())
    }
}

/// Returns the words of a text that are long enough to have a meaning, split at capitals:
/// `orderTotal` has two.
fn words_in(text: &str) -> BTreeSet<String> {
    let mut words = BTreeSet::new();
    let mut word = String::new();
    let mut was_lower = false;
    for c in text.chars().chain([' ']) {
        let begins = c.is_uppercase() && was_lower;
        if !c.is_alphanumeric() || begins {
            if word.len() > 3 {
                words.insert(std::mem::take(&mut word));
            }
            word.clear();
        }
        if c.is_alphanumeric() {
            word.extend(c.to_lowercase());
        }
        was_lower = c.is_lowercase();
    }
    words
}

/// Returns true if a section of a document contains acceptance criteria, by its heading.
fn has_criteria(section: &str) -> bool {
    let heading = section.lines().next().unwrap_or("").to_lowercase();
    heading.contains("acceptance criteria")
}

/// Splits a document before its headings, and a long section at the end of a line.
fn sections(text: &str) -> Vec<&str> {
    let is_heading = |line: &str| line.starts_with('#') || line.starts_with("==");
    let mut starts = vec![0];
    let mut at = 0;
    for line in text.split_inclusive('\n') {
        let begun = at - starts.last().copied().unwrap_or(0);
        if begun > 0 && (is_heading(line) || begun + line.len() > MAX_SECTION_BYTES) {
            starts.push(at);
        }
        at += line.len();
    }
    let ends = starts.iter().skip(1).copied().chain([text.len()]);
    starts.iter().zip(ends).map(|(start, end)| &text[*start..end]).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn document(path: &str, text: &str) -> (RepoPath, String) {
        (RepoPath::exact(path).unwrap(), text.to_owned())
    }

    fn file(path: &str, line: &str) -> FileWords {
        let mut file = FileWords::new(path);
        file.add(line);
        file
    }

    /// Returns the paths that are shown, without the extension.
    fn shown(documents: &[(RepoPath, String)], files: &[FileWords]) -> Vec<String> {
        let (shown, _) = choose(documents, files);
        shown.iter().map(|(path, _)| path.as_str().trim_end_matches(".md").to_owned()).collect()
    }

    /// Returns a plan of a few lines and a long description of the existing code for each subject.
    fn index(subjects: &[(&str, &str)]) -> Vec<(RepoPath, String)> {
        let texts = subjects.iter().flat_map(|(name, rule)| {
            let plan = format!("# Plan\n\n## Rules\n{rule}\n");
            let common = "The service stores orders of users in tables.\n".repeat(60);
            let context = format!("# Context\n{common}\n## Names\nSee {rule}\n");
            [("plan", plan), ("context", context)]
                .map(|(kind, text)| document(&format!("docs/{name}/{kind}.md"), &text))
        });
        texts.collect()
    }

    #[test]
    fn every_file_of_a_part_gets_its_own_plan() {
        let documents = index(&[
            ("refunds", "A refund is at most the captured amount."),
            ("coupons", "A coupon is redeemed once by each customer."),
            ("mails", "A confirmation mail is sent after the commit."),
            ("stock", "Reserved stock is released after an hour."),
            ("export", "An export contains no address."),
        ]);
        let files = [
            file("app/coupons.rb", "def redeem(coupon, customer)"),
            file("app/stock.rb", "stock.release(reserved) # orders users tables service"),
        ];
        let shown = shown(&documents, &files);
        for expected in ["docs/coupons/plan", "docs/stock/plan"] {
            assert!(shown.contains(&expected.to_owned()), "{shown:?}");
        }
        assert!(!shown.contains(&"docs/export/plan".to_owned()), "{shown:?}");
    }

    #[test]
    fn documents_in_the_folder_of_the_best_match_are_shown_with_it() {
        let documents = index(&[
            ("a", "Leap years count 366 days."),
            ("b", "Invoices carry consecutive numbers."),
            ("c", "Sessions end after an hour."),
            ("d", "Every login attempt is recorded."),
        ]);
        let files = [file("src/calendar.py", "days = 366 if leap(years) else 365")];
        assert_eq!(shown(&documents, &files)[..2], ["docs/a/plan", "docs/a/context"]);
    }

    #[test]
    fn sections_with_the_words_of_the_change_stay() {
        let colours = "A colour is one of twelve.\n".repeat(500);
        let text = format!("# Plan\n\n## Colours\n{colours}\n## Refunds\nAt most the price.\n");
        let documents = [document("plan.md", &text)];
        let (shown, left_out) = choose(&documents, &[file("a.rb", "refundPrice")]);
        assert!(shown[0].1.contains("At most the price"), "{shown:?}");
        assert!(shown[0].1.contains("[left out: A colour is one of twelve."), "{shown:?}");
        assert!(left_out.is_empty());
        assert!(shown[0].1.len() <= DOCUMENT_BYTES.0 + 200, "{}", shown[0].1.len());
    }

    #[test]
    fn the_acceptance_criteria_of_a_spec_stay_without_matching_words() {
        let far = "refund price\n".repeat(1200);
        let text = format!(
            "# Spec\n\n## Background\n{far}\n## Acceptance Criteria (v2)\n- Labels are red.\n"
        );
        let documents = [document("spec.md", &text)];
        let (shown, _) = choose(&documents, &[file("a.rb", "refundPrice")]);
        assert!(shown[0].1.contains("Labels are red"), "{shown:?}");
    }

    #[test]
    fn all_documents_are_shown_where_they_fit() {
        let documents = [document("a.md", "One.\n"), document("b.md", "Two.\n")];
        let (shown, left_out) = choose(&documents, &[]);
        assert_eq!((shown.len(), left_out.len()), (2, 0));
    }
}
