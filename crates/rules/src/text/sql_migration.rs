//! Steps of SQL migrations that delete data, fail on tables with rows, or lock a table.
//!
//! Statements are split at their ends outside of strings and comments; no grammar of a dialect is
//! needed. A step on a table that the same file creates harms nothing.

use std::sync::LazyLock;

use assay_findings::vote::LineRange;
use regex::Regex;

use super::AddedLines;
use crate::rule_match::RuleMatch;

/// The folders of migrations.
const FOLDERS: [&str; 8] = [
    "migrations", "migration", "migrate", "db-migrations", "flyway", "changelog", "versions",
    "schema-migrations",
];

macro_rules! pattern {
    ($name:ident, $text:literal) => {
        static $name: LazyLock<Regex> =
            LazyLock::new(|| Regex::new($text).expect("the pattern is valid"));
    };
}

pattern!(CREATED, r"(?i)^create\s+(?:\w+\s+)*?table\s+(?:if\s+not\s+exists\s+)?([^\s(]+)");
pattern!(
    DROPPED_COLUMN,
    r"(?i)^alter\s+table\s+(?:if\s+exists\s+)?(?:only\s+)?([^\s(]+)\s+(?:.*,\s*)?drop\s+(?:column\s+(?:if\s+exists\s+)?)?([`\x22\[]?\w+)"
);
pattern!(DROPPED_TABLE, r"(?i)^drop\s+table\s+(?:if\s+exists\s+)?([^\s;,]+)");
pattern!(
    ADDED_COLUMN,
    r"(?i)^alter\s+table\s+(?:if\s+exists\s+)?(?:only\s+)?([^\s(]+)\s+(?:.*,\s*)?add\s+(?:column\s+)?(?:if\s+not\s+exists\s+)?([`\x22\[]?\w+)[^,]*\bnot\s+null\b"
);
pattern!(
    INDEX,
    r"(?i)^create\s+(?:unique\s+)?index\s+(?:if\s+not\s+exists\s+)?(?:\S+\s+)?on\s+(?:only\s+)?([^\s(]+)"
);
pattern!(
    POSTGRESQL,
    r"(?i)\bconcurrently\b|\bjsonb\b|\btimestamptz\b|\b(?:big|small)?serial\b|\busing\s+(?:gin|gist|brin)\b|\w::\w|\bgen_random_uuid\b|\bplpgsql\b|\bbytea\b|\bpublic\.|\bowner\s+to\b"
);

/// Words that stand behind `DROP` or `ADD` and name no column.
const NO_COLUMNS: [&str; 18] = [
    "constraint", "index", "default", "not", "primary", "foreign", "check", "partition",
    "identity", "expression", "key", "unique", "trigger", "policy", "fulltext", "spatial", "table",
    "values",
];

/// A statement of a file.
struct SqlStatement {
    lines: LineRange,
    /// The statement without comments, on one line.
    code: String,
}

/// Finds steps that delete the data of a column or a table.
pub(super) fn dropped_data(added: &AddedLines<'_>) -> Vec<RuleMatch> {
    find(added, &|statement, file| {
        let column = DROPPED_COLUMN.captures(&statement.code);
        let table = match &column {
            Some(found) if is_column(&found[2]) => found.get(1),
            _ => DROPPED_TABLE.captures(&statement.code).and_then(|found| found.get(1)),
        };
        table.is_some_and(|table| !file.creates(table.as_str()) && !file.copies(table.as_str()))
    })
}

/// Finds columns that may not be empty and have no value for the rows that exist.
pub(super) fn column_without_value(added: &AddedLines<'_>) -> Vec<RuleMatch> {
    find(added, &|statement, file| {
        let Some(found) = ADDED_COLUMN.captures(&statement.code) else { return false };
        let lower = found[0].to_ascii_lowercase();
        let part = lower.rsplit(" add ").next().unwrap_or(&lower).to_owned();
        let rest = statement.code[found.get(0).map_or(0, |own| own.end())..].to_ascii_lowercase();
        let rest = rest.split(',').next().unwrap_or_default();
        let has_value = ["default", "generated", "identity", "serial", "auto_increment", "as ("]
            .iter()
            .any(|word| part.contains(word) || rest.contains(word));
        !has_value && is_column(&found[2]) && !file.creates(&found[1])
    })
}

/// Finds indexes that PostgreSQL builds while no row of the table can be written.
pub(super) fn locking_index(added: &AddedLines<'_>) -> Vec<RuleMatch> {
    find(added, &|statement, file| {
        let Some(found) = INDEX.captures(&statement.code) else { return false };
        let is_concurrent = statement.code.to_ascii_lowercase().contains("concurrently");
        file.is_postgresql && !is_concurrent && !file.creates(&found[1])
    })
}

/// Returns true if a word is the name of a column.
fn is_column(word: &str) -> bool {
    !NO_COLUMNS.contains(&word.to_ascii_lowercase().as_str())
}

/// The facts of a migration that its statements are judged by.
struct Migration {
    created: Vec<String>,
    /// The whole code in small letters, on one line.
    code: String,
    is_postgresql: bool,
}

impl Migration {
    fn creates(&self, table: &str) -> bool {
        self.created.contains(&plain_name(table))
    }

    /// Returns true if the rows of a table are moved to another one.
    fn copies(&self, table: &str) -> bool {
        let name = plain_name(table);
        let is_renamed = self.created.iter().any(|own| own.contains(&name) || name.contains(own));
        let sources = self.code.split(" from ").skip(1);
        let mut sources = sources.filter_map(|rest| rest.split([' ', ';', ',', ')']).next());
        self.code.contains("insert into")
            && (is_renamed || sources.any(|own| plain_name(own) == name))
    }
}

/// Returns the name of a table without quotes and schema, in small letters.
fn plain_name(name: &str) -> String {
    let quotes = ['"', '`', '[', ']', '\'', ';', '('];
    let last = name.rsplit('.').next().unwrap_or(name);
    last.trim_matches(quotes).to_ascii_lowercase()
}

fn find(
    added: &AddedLines<'_>,
    is_wanted: &dyn Fn(&SqlStatement, &Migration) -> bool,
) -> Vec<RuleMatch> {
    if !is_migration(added.path) {
        return Vec::new();
    }
    let statements = statements(added.text);
    let created = statements.iter().filter_map(|own| CREATED.captures(&own.code));
    let created = created.map(|found| plain_name(&found[1])).collect();
    let code: Vec<&str> = statements.iter().map(|own| own.code.as_str()).collect();
    let code = code.join("; ").to_ascii_lowercase();
    let is_postgresql = POSTGRESQL.is_match(&code) || added.path.contains("postgres");
    let file = Migration { created, code, is_postgresql };
    let wanted = statements.iter().filter(|own| {
        (own.lines.start()..=own.lines.end()).any(|line| added.has(line)) && is_wanted(own, &file)
    });
    wanted
        .filter_map(|own| {
            let first = added.all.get(own.lines.start() as usize - 1)?;
            let found = RuleMatch::on_line(own.lines.start(), first)?;
            Some(RuleMatch { lines: own.lines, ..found })
        })
        .collect()
}

/// Returns true if a file changes a database forwards.
fn is_migration(path: &str) -> bool {
    let lower = path.to_ascii_lowercase();
    let Some(stem) = lower.strip_suffix(".sql") else { return false };
    let (folders, name) = stem.rsplit_once('/').unwrap_or(("", stem));
    let is_back = name.ends_with(".down")
        || name.ends_with("_down")
        || name.ends_with("rollback")
        || matches!(name, "down" | "revert")
        || (name.starts_with('u') && name[1..].starts_with(|c: char| c.is_ascii_digit()));
    let is_versioned = name.starts_with('v')
        && name[1..].starts_with(|c: char| c.is_ascii_digit())
        && name.contains("__");
    let is_below = folders.split('/').any(|folder| FOLDERS.contains(&folder));
    !is_back && (is_below || is_versioned || name.ends_with(".up"))
}

/// Splits a file into its statements. The part behind a mark of the way back is left out.
fn statements(text: &str) -> Vec<SqlStatement> {
    let mut statements = Vec::new();
    let mut code = String::new();
    let (mut first, mut number) = (1, 1u32);
    let mut rest = text;
    while let Some(c) = rest.chars().next() {
        let taken = if rest.starts_with("--") {
            let line = rest.lines().next().unwrap_or_default();
            let lower = line.to_ascii_lowercase();
            if ["+goose down", "migrate:down", "+migrate down", "-- down", "//@undo"]
                .iter()
                .any(|mark| lower.contains(mark))
            {
                break;
            }
            line.len()
        } else if rest.starts_with("/*") {
            rest.find("*/").map_or(rest.len(), |at| at + 2)
        } else if c == '\'' {
            let end = rest[1..].find('\'').map_or(rest.len(), |at| at + 2);
            code.push_str("''");
            end
        } else if let Some(body) = rest.strip_prefix("$$") {
            let end = body.find("$$").map_or(rest.len(), |at| at + 4);
            code.push_str("''");
            end
        } else if c == ';' {
            push(&mut statements, &mut code, first, number);
            1
        } else {
            if code.trim().is_empty() && !c.is_whitespace() {
                first = number;
            }
            code.push(c);
            c.len_utf8()
        };
        number += rest[..taken].matches('\n').count() as u32;
        rest = &rest[taken..];
    }
    push(&mut statements, &mut code, first, number);
    statements
}

fn push(statements: &mut Vec<SqlStatement>, code: &mut String, first: u32, last: u32) {
    let words: Vec<&str> = code.split_whitespace().collect();
    let lines = LineRange::range(first, last.max(first));
    if let (Some(lines), false) = (lines, words.is_empty()) {
        statements.push(SqlStatement { lines, code: words.join(" ") });
    }
    code.clear();
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Returns the numbers of findings: dropped data, columns without value, locking indexes.
    fn count(path: &str, text: &str) -> [usize; 3] {
        let all = LineRange::range(1, text.lines().count().max(1) as u32).unwrap();
        let added = || AddedLines::new(path, text, std::iter::once(all));
        [
            dropped_data(&added()).len(),
            column_without_value(&added()).len(),
            locking_index(&added()).len(),
        ]
    }

    #[test]
    fn steps_that_delete_data_are_found() {
        for text in [
            "ALTER TABLE users DROP COLUMN name;",
            "alter table users\n  add a int,\n  drop name;",
            "DROP TABLE IF EXISTS orders;",
        ] {
            assert_eq!(count("db/migrations/2.sql", text), [1, 0, 0], "{text}");
        }
        for text in [
            "ALTER TABLE users DROP CONSTRAINT users_name_key;",
            "ALTER TABLE users ALTER COLUMN name DROP NOT NULL;",
            "CREATE TABLE a (b int); DROP TABLE a;",
            "CREATE TABLE users_new (a int); INSERT INTO users_new SELECT a FROM users; DROP TABLE users;",
            "-- ALTER TABLE users DROP COLUMN name;",
            "ALTER TABLE users ADD a int;\n-- +goose Down\nALTER TABLE users DROP COLUMN a;",
        ] {
            assert_eq!(count("db/migrations/2.sql", text), [0, 0, 0], "{text}");
        }
        for path in ["query.sql", "migrations/2.down.sql", "migrations/U2__a.sql"] {
            assert_eq!(count(path, "DROP TABLE orders;"), [0, 0, 0], "{path}");
        }
    }

    #[test]
    fn columns_that_may_not_be_empty_need_a_value() {
        let path = "src/main/resources/db/V2__a.sql";
        assert_eq!(count(path, "ALTER TABLE users ADD COLUMN age int NOT NULL;"), [0, 1, 0]);
        for text in [
            "ALTER TABLE users ADD COLUMN age int NOT NULL DEFAULT 0;",
            "ALTER TABLE users ADD COLUMN age int DEFAULT 0 NOT NULL;",
            "ALTER TABLE users ADD COLUMN age int;",
            "CREATE TABLE users (a int); ALTER TABLE users ADD COLUMN age int NOT NULL;",
            "ALTER TABLE users ADD CONSTRAINT c CHECK (age IS NOT NULL);",
            "ALTER TABLE users ADD a int, ADD b int NOT NULL DEFAULT 1;",
        ] {
            assert_eq!(count(path, text), [0, 0, 0], "{text}");
        }
    }

    #[test]
    fn indexes_of_postgresql_lock_the_table_unless_they_are_built_concurrently() {
        let path = "migrations/2.up.sql";
        let head = "ALTER TABLE users ADD a jsonb;\n";
        let index = |text: &str| count(path, &format!("{head}{text}"));
        assert_eq!(index("CREATE INDEX users_a ON users (a);"), [0, 0, 1]);
        assert_eq!(index("CREATE UNIQUE INDEX IF NOT EXISTS x ON public.users (a);"), [0, 0, 1]);
        assert_eq!(index("CREATE INDEX CONCURRENTLY users_a ON users (a);"), [0, 0, 0]);
        assert_eq!(index("CREATE TABLE b (c int); CREATE INDEX b_c ON b (c);"), [0, 0, 0]);
        assert_eq!(count(path, "CREATE INDEX users_a ON users (a);"), [0, 0, 0]);
    }
}
