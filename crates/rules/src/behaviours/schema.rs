//! Columns of a schema that refer to another table and have no index: [`lacks_index`].

use std::sync::LazyLock;

use regex::Regex;

use crate::syntax::LineSet;

/// The statements and calls that define columns.
static DEFINES: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(
        r"(?i)\b(create|alter)\s+table\b|\b(create|change)_table\b|\badd_(column|reference)\b|Schema::(create|table)\b|\bop\.(add_column|create_table)\b|\b(createTable|alterTable|addColumn)\b|knex\.schema",
    )
    .expect("the pattern is valid")
});

/// A column that refers to another table by its name: `user_id`, `userId`.
static REFERENCE: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"\b([a-z][a-z0-9_]*_id|[a-z][a-zA-Z0-9]*Id)\b").expect("the pattern is valid")
});

/// Words on a line that give its column an index.
static INDEXED: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)index|\bunique\b|\bprimary\b|\bkey\s*\(|t\.(references|belongs_to)|add_reference|constrained")
        .expect("the pattern is valid")
});

/// Lines that define no column: comments, and the other side of a foreign key.
static NO_COLUMN: LazyLock<Regex> = LazyLock::new(|| {
    Regex::new(r"(?i)^\s*(--|#|//|\*)|^\s*(constraint|foreign\s+key)\b|add_foreign_key|drop_?column|remove_column")
        .expect("the pattern is valid")
});

/// Returns true if an added line of a schema defines a column that refers to another table, and no
/// line of the file gives the column an index.
pub(super) fn lacks_index(path: &str, text: &str, touched: &LineSet) -> bool {
    let ending = path.rsplit_once('.').map_or("", |(_, ending)| ending);
    let may_define = ["sql", "py", "rb", "php", "js", "ts", "java", "go", "rs"].contains(&ending);
    if !may_define || !DEFINES.is_match(text) {
        return false;
    }
    let lines: Vec<&str> = text.lines().collect();
    let added = touched.numbers().take_while(|number| *number as usize <= lines.len());
    let defined = added.map(|number| lines[number as usize - 1]).filter(|line| {
        !NO_COLUMN.is_match(line) && (ending == "sql" || line.contains(['"', '\'', ':']))
    });
    let mut names = defined.flat_map(|line| REFERENCE.find_iter(line).map(|found| found.as_str()));
    let has_index = |name: &str| {
        let is_named =
            |line: &str| line.split(|c: char| !c.is_alphanumeric() && c != '_').any(|w| w == name);
        lines.iter().any(|line| INDEXED.is_match(line) && is_named(line))
    };
    names.any(|name| !has_index(name))
}
