//! Parses criteria: [`ParsedCriterion`], which contains a claim if code can decide the criterion.

use crate::file_kinds;

/// Maximum number of references of a criterion that are parsed.
const MAX_REFERENCES: usize = 40;

/// Maximum number of words of a criterion that code can decide.
const MAX_WORDS: usize = 60;

/// A parsed criterion.
#[derive(Debug)]
pub(crate) struct ParsedCriterion {
    /// The references in back-ticks.
    pub(crate) references: Vec<Reference>,
    /// The claim; `None` if code cannot decide the criterion.
    pub(crate) claim: Option<Claim>,
    /// True if the criterion has a negation.
    pub(crate) is_negative: bool,
}

/// A thing that a criterion names.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Reference {
    /// A file, optionally with a line. If `is_by_name`, the file may be in any folder.
    File { path: String, line: Option<u32>, is_by_name: bool },
    /// A folder, by its path.
    Folder(String),
    /// A name in code: as written, its last part, which is looked up, and the parts around it.
    Symbol { written: String, name: String, around: Vec<String> },
    /// Any other text: a command, a value, a sentence.
    Other(String),
}

/// A claim that code can decide. It must be true for all references that it names.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Claim {
    /// The references exist.
    Exist(Vec<Reference>),
    /// The references exist as files.
    Files(Vec<Reference>),
    /// The references are defined, in a file if one is named.
    Defines(DefinitionClaim),
    /// The references are tests, in a file if one is named.
    Tests { what: Vec<Reference>, place: Option<Reference> },
    /// A page mentions the references.
    Mentioned { what: Vec<Reference>, page: Reference },
    /// The references no longer exist, or are no longer in a file.
    Removed { what: Vec<Reference>, place: Option<Reference> },
    /// The old reference no longer exists, and the new one exists in its place.
    Replaced { old: Reference, new: Reference, is_test: bool },
}

/// The claim that things are defined.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct DefinitionClaim {
    pub(crate) what: Vec<Reference>,
    /// The file of the definitions; `None` if none is named.
    pub(crate) place: Option<Reference>,
    /// The kind, such as `struct`; `None` if none is named.
    pub(crate) kind: Option<String>,
    pub(crate) is_exported: bool,
}

impl Reference {
    /// Parses the text in back-ticks; `before` is the word before it.
    fn read(code: &str, before: Option<&str>) -> Reference {
        let code = code.trim();
        if let Some((path, line)) = file(code) {
            let is_by_name = matches!(before, Some("named" | "called"));
            return Reference::File { path: path.to_owned(), line, is_by_name };
        }
        let folder = code.strip_suffix('/').filter(|folder| is_path(folder));
        if let Some(folder) = folder {
            return Reference::Folder(folder.trim_start_matches("./").to_owned());
        }
        match symbol(code) {
            Some((name, around)) => {
                Reference::Symbol { written: code.to_owned(), name: name.to_owned(), around }
            }
            None => Reference::Other(code.to_owned()),
        }
    }

    /// Returns the reference as it is written.
    pub(crate) fn written(&self) -> String {
        match self {
            Reference::File { path, line: Some(line), .. } => format!("{path}:{line}"),
            Reference::File { path, line: None, .. } => path.clone(),
            Reference::Folder(path) => format!("{path}/"),
            Reference::Symbol { written, .. } => written.clone(),
            Reference::Other(text) => text.clone(),
        }
    }
}

fn is_path(text: &str) -> bool {
    let is_letter = |c: char| c.is_alphanumeric() || "/._-@+".contains(c);
    !text.is_empty() && text.chars().all(is_letter) && !text.starts_with(['/', '-'])
}

/// Parses `src/a.rs` or `src/a.rs:42`; of a range, as in `a.rs:4-9`, the first line counts. Returns
/// `None` for other texts.
fn file(code: &str) -> Option<(&str, Option<u32>)> {
    let (path, line) = match code.split_once(':') {
        Some((path, lines)) => {
            let first = lines.split(['-', ':']).next()?.trim_start_matches('L');
            (path, Some(first.parse().ok()?))
        }
        None => (code, None),
    };
    let path = path.trim_start_matches("./");
    let is_hidden = path.contains('/') && file_kinds::name(path).rfind('.') == Some(0);
    (is_path(path) && (file_kinds::names_a_file(path) || is_hidden)).then_some((path, line))
}

/// Returns the last part of a name in code, such as `bar` of `Foo::bar()`, and the parts before it;
/// `None` for other texts.
fn symbol(code: &str) -> Option<(&str, Vec<String>)> {
    let head = code.split(['(', '<']).next()?;
    let is_call = head.len() == code.len() || code.ends_with([')', '>']);
    let is_letter = |c: char| c.is_alphanumeric() || matches!(c, '_' | '$');
    let parts: Vec<&str> = head.split([':', '.', '#']).filter(|part| !part.is_empty()).collect();
    let is_name =
        |part: &str| part.chars().all(is_letter) && !part.starts_with(|c: char| c.is_ascii_digit());
    let (name, around) = parts.split_last()?;
    let says_something = name.len() > 1 && name.len() <= 120;
    let is_value = ["true", "false", "null", "none", "None", "True", "False", "nil"].contains(name);
    let is_symbol = is_call && says_something && !is_value && parts.iter().all(|p| is_name(p));
    let here = ["crate", "self", "super", "this"];
    let around = around.iter().filter(|part| !here.contains(part)).map(|part| (*part).to_owned());
    is_symbol.then(|| (*name, around.collect()))
}

impl ParsedCriterion {
    /// Parses a criterion.
    pub(crate) fn of(text: &str) -> ParsedCriterion {
        let mut references = Vec::new();
        let mut words: Vec<String> = Vec::new();
        for (nth, part) in text.split('`').enumerate() {
            if nth % 2 == 1 {
                if references.len() < MAX_REFERENCES {
                    references.push(Reference::read(part, words.last().map(String::as_str)));
                }
                words.push("%".to_owned());
            } else if words.len() <= MAX_WORDS {
                words.extend(part.split_whitespace().take(MAX_WORDS).flat_map(split_commas));
            }
        }
        let is_negative = words.iter().any(|word| is_negation(word));
        let is_readable = words.len() <= MAX_WORDS && text.split('`').count() % 2 == 1;
        let groups = words.iter().filter(|word| *word == "%").count();
        let claim = match is_readable && groups == references.len() {
            true => claim(&words, &references),
            false => None,
        };
        ParsedCriterion { references, claim, is_negative }
    }
}

/// Splits `foo,` into the word and an `and`, and removes other marks.
fn split_commas(word: &str) -> Vec<String> {
    let plain = word.trim_matches(|c: char| !c.is_alphanumeric() && c != '%').to_lowercase();
    let mut words: Vec<String> = Vec::new();
    if word.starts_with(',') {
        words.push("and".to_owned());
    }
    if !plain.is_empty() {
        words.push(plain);
    } else if word == "&" {
        words.push("and".to_owned());
    }
    if word.len() > 1 && word.ends_with([',', ';']) {
        words.push("and".to_owned());
    }
    words
}

fn is_negation(word: &str) -> bool {
    const WORDS: [&str; 23] = [
        "renamed", "renames", "rename", "not", "no", "never", "without", "removed", "removes",
        "deleted", "gone", "dropped", "instead", "replaces", "replaced", "rejects", "rejected",
        "missing", "absent", "longer", "cannot", "unknown", "invalid",
    ];
    WORDS.contains(&word) || word.ends_with("n't")
}

/// Returns the representative of a word's synonyms; `None` for a word without meaning here.
fn canonical(word: &str) -> Option<&str> {
    Some(match word {
        "a" | "an" | "the" | "new" | "named" | "called" | "must" | "should" | "shall" | "will"
        | "now" => return None,
        word if kind(word).is_some() => "thing",
        "file" | "files" | "script" | "scripts" | "page" | "pages" => "file",
        "folder" | "folders" | "directory" | "directories" => "file",
        "test" | "tests" => "test",
        "exist" => "exists",
        "be" | "are" | "was" | "were" => "is",
        "present" | "there" | "created" | "added" | "introduced" => "there",
        "declared" | "defined" => "defined",
        "exported" | "public" => "exported",
        "removed" | "deleted" | "gone" | "dropped" => "gone",
        "adds" | "add" | "introduces" | "introduce" | "creates" | "create" | "defines"
        | "define" | "has" | "have" => "adds",
        "contains" | "contain" | "includes" | "include" => "contains",
        "removes" | "remove" | "deletes" | "delete" | "drops" | "drop" => "removes",
        "mentions" | "mention" | "documents" | "document" | "describes" | "describe" | "lists"
        | "names" => "mentions",
        "mentioned" | "documented" | "described" | "listed" => "mentioned",
        "renamed" | "replaced" => "replaced",
        "rename" | "renames" | "replace" | "replaces" => "replaces",
        "in" | "to" | "from" | "inside" | "within" => "in",
        other => other,
    })
}

/// Returns the singular of a word for a kind of code item; `None` for other words.
fn kind(word: &str) -> Option<&str> {
    let kinds = [
        "function", "method", "struct", "class", "type", "enum", "trait", "interface", "constant",
        "const", "macro", "symbol",
    ];
    let single = match word {
        "classes" => "class",
        word => word.strip_suffix('s').filter(|_| word != "class").unwrap_or(word),
    };
    kinds.contains(&single).then_some(single)
}

/// Phrases and their replacements, applied in order.
const PHRASES: [(&str, &str); 34] = [
    ("adds been", "is"),
    ("% and and %", "% and %"),
    ("no longer exists", "is gone"),
    ("does not exists", "is gone"),
    ("do not exists", "is gone"),
    ("is no longer there", "is gone"),
    ("not exists", "is gone"),
    ("is not there", "is gone"),
    ("is not defined", "is gone"),
    ("is no longer defined", "is gone"),
    ("is never defined", "is gone"),
    ("does not contains", "lacks"),
    ("does not adds", "lacks"),
    ("does not mentions", "lacks"),
    ("no longer contains", "lacks"),
    ("no longer adds", "lacks"),
    ("no longer mentions", "lacks"),
    ("not adds", "lacks"),
    ("not contains", "lacks"),
    ("adds no", "lacks"),
    ("contains no", "lacks"),
    ("mentions no", "lacks"),
    ("% thing", "thing %"),
    ("% test", "test %"),
    ("% file", "file %"),
    ("in file %", "in %"),
    ("is there", "exists"),
    ("there exists", "there is"),
    ("adds test thing %", "adds test %"),
    ("test thing %", "test %"),
    ("contains thing", "adds thing"),
    ("contains test", "adds test"),
    ("file % adds", "% adds"),
    ("file % mentions", "% mentions"),
];

/// The noun before the references of a criterion.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Noun {
    None,
    Thing,
    File,
    Test,
}

impl Noun {
    /// Splits the noun off the last group of a shape.
    fn split(shape: &str) -> (Noun, String) {
        let (before, group) = shape.split_at(shape.rfind('%').unwrap_or(0));
        let nouns = [("thing ", Noun::Thing), ("file ", Noun::File), ("test ", Noun::Test)];
        let found = nouns.into_iter().find(|(word, _)| before.ends_with(word));
        let (word, noun) = found.unwrap_or(("", Noun::None));
        (noun, format!("{}{group}", &before[..before.len() - word.len()]))
    }
}

/// Returns the claim of a criterion; `None` if code cannot decide all of it.
fn claim(words: &[String], references: &[Reference]) -> Option<Claim> {
    let canonical: Vec<&str> = words.iter().filter_map(|word| canonical(word)).collect();
    let (shape, groups) = grouped(&canonical, references);
    let shape = PHRASES.iter().fold(format!(" {shape} "), |shape, (from, to)| {
        shape.replace(&format!(" {from} "), &format!(" {to} "))
    });
    let mut groups = groups.into_iter();
    let (first, second) = (groups.next()?, groups.next());
    if groups.next().is_some() {
        return None;
    }
    if let Some(claim) = replaced(shape.trim(), words, &first, second.as_deref()) {
        return Some(claim);
    }
    // In `% … in %` the place is last, and is written as `@` from here on; in `% adds %` it is
    // first.
    let (shape, what, place) = match (shape.trim().strip_suffix(" in %"), second) {
        (Some(shape), Some(place)) => (format!("{shape} @"), first, Some(place)),
        (_, Some(what)) => (shape.trim().to_owned(), what, Some(first)),
        (_, None) => (shape.trim().to_owned(), first, None),
    };
    let place = match place.as_deref() {
        Some([file @ Reference::File { .. }]) => Some(file.clone()),
        Some(_) => return None,
        None => None,
    };
    let (noun, shape) = Noun::split(&shape);
    let is_new = words.iter().any(|word| word == "new");
    let kind = words.iter().find_map(|word| kind(word)).map(str::to_owned);
    let defined = |what, place, is_exported| {
        Claim::Defines(DefinitionClaim { what, place, kind: kind.clone(), is_exported })
    };
    let is_any = matches!(noun, Noun::None | Noun::Thing);
    match shape.as_str() {
        "%" if noun == Noun::None || !is_new => None,
        "% @" if noun == Noun::None => None,
        "%" | "% @" | "% exists" | "there is %" | "adds %" | "% exists @" | "there is % @"
        | "adds % @" | "% adds %" => match (noun, place) {
            (Noun::Test, place) => Some(Claim::Tests { what, place }),
            (Noun::File, place) => place.is_none().then_some(Claim::Files(what)),
            (Noun::None, None) => Some(Claim::Exist(what)),
            (Noun::None | Noun::Thing, place) => Some(defined(what, place, false)),
        },
        "% is defined" | "% is defined @" if is_any => Some(defined(what, place, false)),
        "% is exported" | "% is exported @" if is_any => Some(defined(what, place, true)),
        "% mentions %" | "% contains %" | "% is mentioned @" if noun == Noun::None => {
            Some(Claim::Mentioned { what, page: place? })
        }
        "% is gone" | "there is no %" | "no % exists" => Some(Claim::Removed { what, place }),
        "removes %" if noun != Noun::Test => Some(Claim::Removed { what, place }),
        "% is gone @" | "removes % @" if is_any => Some(Claim::Removed { what, place }),
        "there is no % @" | "% lacks %" if noun != Noun::File => {
            Some(Claim::Removed { what, place })
        }
        _ => None,
    }
}

/// Parses the claim that one thing replaces another; returns `None` for other shapes.
fn replaced(
    shape: &str,
    words: &[String],
    first: &[Reference],
    second: Option<&[Reference]>,
) -> Option<Claim> {
    let ([first], Some([second])) = (first, second) else { return None };
    let has = |wanted: &[&str]| words.iter().any(|word| wanted.contains(&word.as_str()));
    // Elsewhere *to* has the meaning of *in*. The words *from* and *in* reverse the sentence or
    // name a place.
    if has(&["from", "in", "inside", "within"]) {
        return None;
    }
    let plain = shape.replace("thing %", "%").replace("file %", "%").replace("test %", "%");
    let (old, new) = match plain.as_str() {
        "% is replaced in %" if has(&["to"]) => (first, second),
        "% is replaced by %" | "% is replaced with %" => (first, second),
        "replaces % in %" if has(&["to"]) => (first, second),
        "replaces % by %" | "replaces % with %" => (first, second),
        "% replaces %" if has(&["replaces", "replace"]) => (second, first),
        _ => return None,
    };
    let is_test = has(&["test", "tests"]);
    Some(Claim::Replaced { old: old.clone(), new: new.clone(), is_test })
}

/// Joins adjacent references into groups, and returns the shape of the sentence with `%` for each
/// group.
fn grouped(words: &[&str], references: &[Reference]) -> (String, Vec<Vec<Reference>>) {
    let mut references = references.iter().cloned();
    let mut groups: Vec<Vec<Reference>> = Vec::new();
    let mut shape: Vec<&str> = Vec::new();
    let mut at = 0;
    while let Some(word) = words.get(at) {
        at += 1;
        shape.push(word);
        if *word != "%" {
            continue;
        }
        let mut group: Vec<Reference> = references.next().into_iter().collect();
        loop {
            let ands = words[at..].iter().take_while(|word| **word == "and").count();
            if ands == 0 || words.get(at + ands) != Some(&"%") {
                break;
            }
            group.extend(references.next());
            at += ands + 1;
        }
        groups.push(group);
    }
    (shape.join(" "), groups)
}

/// Returns true if a text is a claim that code can decide.
pub fn is_claim(text: &str) -> bool {
    ParsedCriterion::of(text.trim_end_matches(':')).claim.is_some()
}
