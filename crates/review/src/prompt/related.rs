//! The files of a change that are read together: [`groups`], by their names and by the symbols that
//! one defines and another uses.
//!
//! A migration is grouped with its model, a test with the file that it tests, a component with its
//! style, an interface with its implementations, and a text with its translations. A group is never
//! larger than a part of the change.

use std::collections::{BTreeMap, BTreeSet};
use std::sync::LazyLock;

use regex::Regex;

use super::excerpt::{Excerpt, Line};

/// The minimum length of a symbol that relates two files.
const MIN_SYMBOL: usize = 4;

/// The maximum number of files that use a symbol: a name that more of them use relates no two of
/// them.
const MAX_USERS: usize = 6;

/// Words in the name of a file that describe its role, and not its subject.
const ROLES: [&str; 36] = [
    "test", "tests", "spec", "stories", "story", "module", "styles", "style", "create", "add",
    "alter", "drop", "change", "remove", "update", "table", "column", "to", "from", "and", "the",
    "model", "controller", "service", "repository", "migration", "index", "impl", "up", "down",
    "it", "view", "views", "e2e", "init", "mod",
];

/// A relation between two files, the strongest first.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Relation {
    /// A test, a style, a story, a header or a translation, with its file.
    Name,
    /// A migration, and a file about the same records.
    Schema,
    /// A file that defines a type, and one that uses it.
    Type,
    /// A file that defines a function, and one that uses it.
    Function,
}

/// A definition of a type in a line, in the keywords of common languages.
static TYPE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"\b(?:class|interface|trait|struct|enum|protocol|type|record|object|module)\s+([A-Z]\w+)",
    )
    .expect("the pattern is valid")
});

/// A locale as a name or a part of one.
static LOCALE: LazyLock<Regex> =
    LazyLock::new(|| Regex::new(r"^[a-z]{2}([-_][A-Za-z]{2,4})?$").expect("the pattern is valid"));

/// Groups the files of a change that are read together, each by its number. Groups are in the order
/// of their first files, and files in the order of the change.
pub(super) fn groups(excerpts: &[Excerpt], most: usize) -> Vec<Vec<usize>> {
    let mut group: Vec<usize> = (0..excerpts.len()).collect();
    let mut bytes: Vec<usize> = excerpts.iter().map(Excerpt::bytes).collect();
    for (_, one, other) in relations(excerpts) {
        let (into, from) = (group[one].min(group[other]), group[one].max(group[other]));
        if into == from || bytes[into] + bytes[from] > most {
            continue;
        }
        bytes[into] += bytes[from];
        group.iter_mut().filter(|of| **of == from).for_each(|of| *of = into);
    }
    let mut groups: BTreeMap<usize, Vec<usize>> = BTreeMap::new();
    for (file, of) in group.into_iter().enumerate() {
        groups.entry(of).or_default().push(file);
    }
    groups.into_values().collect()
}

/// Returns the relations between files, the strongest first, then in the order of the files.
fn relations(excerpts: &[Excerpt]) -> BTreeSet<(Relation, usize, usize)> {
    let files: Vec<File> = excerpts.iter().map(File::new).collect();
    let mut found = BTreeSet::new();
    for (one, file) in files.iter().enumerate() {
        for (other, second) in files.iter().enumerate().skip(one + 1) {
            if file.is_named_like(second) {
                found.insert((Relation::Name, one, other));
            } else if file.is_schema_of(second) || second.is_schema_of(file) {
                found.insert((Relation::Schema, one, other));
            }
        }
    }
    for (relation, defines) in [
        (Relation::Type, File::types as fn(&File) -> &BTreeSet<String>),
        (Relation::Function, File::functions),
    ] {
        let mut by_name: BTreeMap<&str, Vec<usize>> = BTreeMap::new();
        for (at, file) in files.iter().enumerate() {
            defines(file).iter().for_each(|name| by_name.entry(name).or_default().push(at));
        }
        for (name, defining) in by_name {
            // A name that two files define does not relate a third file to either.
            let [owner] = defining[..] else { continue };
            let users: Vec<usize> = (0..files.len())
                .filter(|at| *at != owner && files[*at].words.contains(name))
                .collect();
            if users.len() <= MAX_USERS {
                let pair = |user: &usize| (relation, owner.min(*user), owner.max(*user));
                found.extend(users.iter().map(pair));
            }
        }
    }
    found
}

/// The properties of a changed file that relate it to others.
struct File {
    folder: String,
    /// The name up to its first dot.
    stem: String,
    /// The words of the name that describe the subject of the file, in the singular.
    about: BTreeSet<String>,
    /// The path with its locales replaced by `*`; `None` if it has none.
    without_locale: Option<String>,
    is_schema: bool,
    /// The identifiers of the added lines.
    words: BTreeSet<String>,
    types: BTreeSet<String>,
    functions: BTreeSet<String>,
}

impl File {
    fn new(excerpt: &Excerpt) -> File {
        let path = excerpt.path.as_str();
        let (folder, name) = path.rsplit_once('/').unwrap_or(("", path));
        let stem = name.trim_start_matches('.').split('.').next().unwrap_or(name);
        let lines = || excerpt.units.iter().flat_map(|unit| &unit.lines);
        let added: Vec<&str> = lines().filter(|l| l.is_added()).map(Line::own_text).collect();
        let is_part = |c: char| c.is_alphanumeric() || c == '_';
        let words = added.iter().flat_map(|line| line.split(|c| !is_part(c)));
        let types = added.iter().flat_map(|line| TYPE.captures_iter(line));
        let symbols = excerpt.units.iter().filter(|unit| unit.lines.iter().any(Line::is_added));
        let symbols = symbols.filter_map(|unit| unit.symbol.as_deref());
        let last = |symbol: &str| symbol.rsplit(['.', ':', '#']).next().unwrap_or("").to_owned();
        let is_long = |name: &String| name.len() >= MIN_SYMBOL;
        File {
            about: about(stem),
            without_locale: without_locale(path),
            is_schema: is_schema(path),
            words: words.filter(|word| word.len() >= MIN_SYMBOL).map(str::to_owned).collect(),
            types: types.map(|found| found[1].to_owned()).filter(is_long).collect(),
            functions: symbols.map(last).filter(is_long).collect(),
            folder: folder.to_owned(),
            stem: stem.to_owned(),
        }
    }

    fn types(&self) -> &BTreeSet<String> {
        &self.types
    }

    fn functions(&self) -> &BTreeSet<String> {
        &self.functions
    }

    /// Returns true if two files have the same name except for their role or their language.
    fn is_named_like(&self, other: &File) -> bool {
        let is_translation =
            self.without_locale.is_some() && self.without_locale == other.without_locale;
        let is_beside = self.folder == other.folder && self.stem == other.stem;
        // `index` and `mod` name no subject.
        let is_about = !self.about.is_empty() && self.about == other.about;
        is_translation
            || is_beside && !self.about.is_empty()
            || is_about && !self.is_schema && !other.is_schema
    }

    /// Returns true if this file is a migration or a schema, and the other is about the same
    /// records.
    fn is_schema_of(&self, other: &File) -> bool {
        let by_name = !other.about.is_empty() && other.about.is_subset(&self.about);
        let table = || {
            self.words.iter().map(|word| singular(&word.to_lowercase())).collect::<BTreeSet<_>>()
        };
        let joined = other.about.iter().cloned().collect::<Vec<String>>().join("_");
        self.is_schema && !other.is_schema && (by_name || table().contains(&joined))
    }
}

fn is_schema(path: &str) -> bool {
    let folders = ["migrations", "migration", "migrate", "alembic", "versions", "flyway"];
    path.ends_with(".sql")
        || path.ends_with("schema.rb")
        || path.ends_with(".prisma")
        || path.split('/').any(|folder| folders.contains(&folder))
}

/// Returns the words of a file's name that describe its subject, in the singular.
fn about(stem: &str) -> BTreeSet<String> {
    let mut words = vec![String::new()];
    let mut was_lower = false;
    for c in stem.chars() {
        if !c.is_alphabetic() || (c.is_uppercase() && was_lower) {
            words.push(String::new());
        }
        if c.is_alphabetic() {
            words.last_mut().expect("one is there").extend(c.to_lowercase());
        }
        was_lower = c.is_lowercase();
    }
    let words = words.into_iter().filter(|word| word.len() > 1 && !ROLES.contains(&word.as_str()));
    words.map(|word| singular(&word)).collect()
}

fn singular(word: &str) -> String {
    match word.strip_suffix("ies") {
        Some(stem) => format!("{stem}y"),
        None => word.strip_suffix('s').filter(|w| !w.ends_with('s')).unwrap_or(word).to_owned(),
    }
}

/// Returns a path with its locales replaced, such as those of `locales/de/app.json` and
/// `messages_de.properties`. Returns `None` if no folder and no part of the name is a locale.
fn without_locale(path: &str) -> Option<String> {
    let endings = [
        "json", "yml", "yaml", "po", "properties", "arb", "strings", "xml", "md", "php", "ftl",
        "resx",
    ];
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
    if !endings.contains(&ending) {
        return None;
    }
    let mut found = false;
    let mut plain = |part: &str| {
        let is_locale = LOCALE.is_match(part) && part != ending;
        found |= is_locale;
        if is_locale { "*".to_owned() } else { part.to_owned() }
    };
    let parts: Vec<String> = path
        .split('/')
        .map(|part| part.split(['.', '_']).map(&mut plain).collect::<Vec<_>>().join("."))
        .collect();
    found.then(|| parts.join("/"))
}

#[cfg(test)]
mod tests {
    use assay_change::{Scope, Selection};
    use assay_testkit::Repository;
    use expect_test::{Expect, expect};

    use super::*;
    use crate::prompt::briefing::Briefing;

    /// Groups new files, each given with its text, and compares the groups.
    fn check(files: &[(&str, &str)], expected: Expect) {
        let repository = Repository::new();
        repository.write("README", "x\n");
        repository.commit("before");
        files.iter().for_each(|(path, text)| repository.write(path, text));
        repository.commit("after");
        let scope = Scope::Commits("HEAD".to_owned());
        let change = assay_change::open(repository.path(), &scope, &Selection::default()).unwrap();
        let briefing = Briefing::new(&change);
        let name = |at: &usize| briefing.excerpts[*at].path.as_str().to_owned();
        let lines = groups(&briefing.excerpts, 24 << 10)
            .into_iter()
            .map(|group| group.iter().map(name).collect::<Vec<String>>().join(" ") + "\n");
        expected.assert_eq(&lines.collect::<String>());
    }

    #[test]
    fn a_migration_is_grouped_with_its_model() {
        check(
            &[
                ("app/models/order.rb", "class Order\nend\n"),
                ("app/models/user.rb", "class User\nend\n"),
                ("db/migrate/20260101_create_orders.rb", "class CreateOrders\nend\n"),
                ("db/migrate/V2__fields.sql", "ALTER TABLE users ADD COLUMN age int;\n"),
            ],
            expect![[r#"
                app/models/order.rb db/migrate/20260101_create_orders.rb
                app/models/user.rb db/migrate/V2__fields.sql
            "#]],
        );
    }

    #[test]
    fn a_test_a_style_and_a_header_are_grouped_with_their_files() {
        check(
            &[
                ("lib/ring.c", "int ring;\n"),
                ("lib/ring.h", "int ring;\n"),
                ("src/Cart.module.css", ".a {}\n"),
                ("src/Cart.tsx", "export const a = 1;\n"),
                ("src/price.py", "a = 1\n"),
                ("tests/test_price.py", "a = 1\n"),
            ],
            expect![[r#"
                lib/ring.c lib/ring.h
                src/Cart.module.css src/Cart.tsx
                src/price.py tests/test_price.py
            "#]],
        );
    }

    #[test]
    fn translations_of_one_text_are_grouped() {
        check(
            &[
                ("locales/de/app.json", "{}\n"),
                ("locales/de/mail.json", "{}\n"),
                ("locales/en/app.json", "{}\n"),
                ("locales/en/mail.json", "{}\n"),
                ("src/messages_de.properties", "a=1\n"),
                ("src/messages_fr.properties", "a=1\n"),
            ],
            expect![[r#"
                locales/de/app.json locales/en/app.json
                locales/de/mail.json locales/en/mail.json
                src/messages_de.properties src/messages_fr.properties
            "#]],
        );
    }

    #[test]
    fn an_interface_is_grouped_with_its_implementations_and_a_function_with_its_caller() {
        check(
            &[
                ("a/Gateway.java", "interface Gateway {\n  void pay();\n}\n"),
                ("b/fees.py", "def surcharge(a):\n    return a\n"),
                ("c/Paper.java", "class Paper implements Gateway {\n  public void pay() {}\n}\n"),
                ("d/cart.py", "from fees import surcharge\nx = surcharge(1)\n"),
                ("e/alone.py", "y = 2\n"),
            ],
            expect![[r#"
                a/Gateway.java c/Paper.java
                b/fees.py d/cart.py
                e/alone.py
            "#]],
        );
    }

    #[test]
    fn a_name_defined_in_two_files_groups_nothing_and_no_group_exceeds_a_part() {
        check(
            &[
                ("a/one.py", "def helper():\n    return 1\n"),
                ("b/two.py", "def helper():\n    return 2\n"),
                ("c/three.py", "helper()\n"),
            ],
            expect![[r#"
                a/one.py
                b/two.py
                c/three.py
            "#]],
        );
        let long = "x = 1\n".repeat(3_000);
        check(
            &[("src/price.py", &long), ("tests/test_price.py", &long)],
            expect![[r#"
                src/price.py
                tests/test_price.py
            "#]],
        );
    }
}
