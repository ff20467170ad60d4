//! The translation of statements from the dialect of SQLite: [`translate`].

/// A statement for PostgreSQL.
#[derive(Debug, PartialEq, Eq)]
pub(super) struct TranslatedSql {
    /// The statement, with the parameters `$1`, `$2` and so on.
    pub(super) sql: String,
    /// The names of the parameters, such as `:today`, in the order of their numbers; empty if the
    /// parameters have no names.
    pub(super) names: Vec<String>,
}

/// Translates a statement: `?1` and `:name` become `$1`, and the hints for SQLite's planner
/// (`INDEXED BY` and the order of joins that `CROSS JOIN … ON` fixes) are removed.
pub(super) fn translate(sql: &str) -> TranslatedSql {
    let mut translated = TranslatedSql { sql: String::with_capacity(sql.len()), names: Vec::new() };
    // Text in quotes is at the odd positions.
    for (at, part) in sql.split('\'').enumerate() {
        if at > 0 {
            translated.sql.push('\'');
        }
        match at % 2 {
            0 => translated.push_code(&without_hints(part)),
            _ => translated.sql.push_str(part),
        }
    }
    translated
}

fn without_hints(code: &str) -> String {
    let mut out = String::with_capacity(code.len());
    let mut rest = code;
    while let Some((before, after)) = rest.split_once("INDEXED BY ") {
        out.push_str(before);
        rest = after.trim_start_matches(is_name_character);
    }
    out.push_str(rest);
    out.replace("CROSS JOIN", "JOIN")
}

fn is_name_character(character: char) -> bool {
    character.is_ascii_alphanumeric() || character == '_'
}

impl TranslatedSql {
    fn push_code(&mut self, code: &str) {
        let mut rest = code;
        while let Some(start) = rest.find(['?', ':']) {
            let (before, parameter) = rest.split_at(start);
            self.sql.push_str(before);
            let name = &parameter[1..];
            let end = name.find(|c| !is_name_character(c)).unwrap_or(name.len());
            let number = match parameter.starts_with(':') {
                true => self.number_of(&parameter[..=end]),
                false => name[..end].to_owned(),
            };
            self.sql.push('$');
            self.sql.push_str(&number);
            rest = &name[end..];
        }
        self.sql.push_str(rest);
    }

    fn number_of(&mut self, name: &str) -> String {
        let at = self.names.iter().position(|known| known == name).unwrap_or_else(|| {
            self.names.push(name.to_owned());
            self.names.len() - 1
        });
        (at + 1).to_string()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parameters_get_numbers_and_hints_are_removed_outside_of_quotes() {
        let translated = translate(
            "SELECT a FROM t INDEXED BY by_a CROSS JOIN u ON u.b = :b
             WHERE c = ':c ?1' AND d = :d AND e = :b",
        );
        let sql = "SELECT a FROM t  JOIN u ON u.b = $1
             WHERE c = ':c ?1' AND d = $2 AND e = $1";
        assert_eq!(translated.sql, sql);
        assert_eq!(translated.names, [":b", ":d"]);
        let numbered = translate("SELECT ?2, ?1 || 'g'");
        assert_eq!((numbered.sql.as_str(), numbered.names.len()), ("SELECT $2, $1 || 'g'", 0));
    }
}
