//! Behaviours of changed code: [`behaviours`] finds steps that deserve a scenario in the syntax
//! tree, such as a read that is tested and followed by a write of the same record.
//!
//! The functions around added lines are analysed as a whole, as [`unit::Unit`]s; [`signs`]
//! classifies each. A schema is analysed as text ([`schema`]), since most schemas are SQL.

mod schema;
mod signs;
#[cfg(test)]
mod tests;
mod unit;

use std::collections::BTreeSet;

use assay_change::Change;
use assay_findings::path::RepoPath;
use assay_findings::vote::LineRange;

use crate::syntax::{LineSet, Syntax};

/// A step of code that deserves a scenario.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Behaviour {
    /// A record, key or file is read and tested, and then written.
    CheckThenAct,
    /// Arithmetic on amounts of money.
    Money,
    /// Arithmetic on dates and times.
    Dates,
    /// A lookup by an id that comes with a request.
    Identity,
    /// Work that is retried.
    Retry,
    /// A cache is read, written or invalidated.
    Cache,
    /// A query of a database.
    Query,
    /// A query of a database in a loop.
    QueryInLoop,
    /// A call to another system while a transaction is open.
    CallInTransaction,
    /// Numbers that are rounded or truncated.
    Rounding,
    /// A column of a schema that refers to another table and has no index.
    MissingIndex,
}

impl Behaviour {
    /// All behaviours, in the order of reports.
    pub const ALL: [Behaviour; 11] = [
        Behaviour::CheckThenAct,
        Behaviour::Money,
        Behaviour::Dates,
        Behaviour::Identity,
        Behaviour::Retry,
        Behaviour::Cache,
        Behaviour::Query,
        Behaviour::QueryInLoop,
        Behaviour::CallInTransaction,
        Behaviour::Rounding,
        Behaviour::MissingIndex,
    ];

    /// Returns the identifier of a behaviour, for the trigger of a persona.
    pub fn as_str(self) -> &'static str {
        match self {
            Behaviour::CheckThenAct => "check-then-act",
            Behaviour::Money => "money",
            Behaviour::Dates => "dates",
            Behaviour::Identity => "identity",
            Behaviour::Retry => "retry",
            Behaviour::Cache => "cache",
            Behaviour::Query => "query",
            Behaviour::QueryInLoop => "query-in-loop",
            Behaviour::CallInTransaction => "call-in-transaction",
            Behaviour::Rounding => "rounding",
            Behaviour::MissingIndex => "missing-index",
        }
    }

    /// Parses the identifier of a behaviour.
    pub fn from_word(word: &str) -> Option<Behaviour> {
        Behaviour::ALL.into_iter().find(|behaviour| behaviour.as_str() == word)
    }

    /// Returns the description of a behaviour.
    pub fn in_words(self) -> &'static str {
        match self {
            Behaviour::CheckThenAct => "a record, key or file is read, tested and then written",
            Behaviour::Money => "arithmetic on amounts of money",
            Behaviour::Dates => "arithmetic on dates or times",
            Behaviour::Identity => "a lookup by an id that comes with a request",
            Behaviour::Retry => "work that is tried again",
            Behaviour::Cache => "a cache is read, written or invalidated",
            Behaviour::Query => "a query of a database",
            Behaviour::QueryInLoop => "a query of a database in a loop",
            Behaviour::CallInTransaction => "a call to another system in an open transaction",
            Behaviour::Rounding => "numbers are rounded or cut",
            Behaviour::MissingIndex => "a column refers to another table and has no index",
        }
    }
}

/// Returns the behaviours of the code that a change adds to: of the functions around added lines,
/// in their state after the change. A file that cannot be read has none, and the change records the
/// error.
pub fn behaviours(change: &Change) -> BTreeSet<Behaviour> {
    let read = change.files.iter().filter(|file| file.left_out.is_none());
    let of_file = read.filter_map(|file| {
        let path = file.new_path.as_deref()?;
        let text = change.tree().read(&RepoPath::exact(path).ok()?).ok()??;
        Some(behaviours_in(path, &text, file.added()))
    });
    of_file.flatten().collect()
}

/// Returns the behaviours of the code around the added lines of a file. A test has none, since it
/// deserves no scenario of its own.
fn behaviours_in(
    path: &str,
    text: &str,
    added: impl Iterator<Item = LineRange>,
) -> BTreeSet<Behaviour> {
    if crate::language::is_test(path) {
        return BTreeSet::new();
    }
    let added: Vec<LineRange> = added.collect();
    let touched = LineSet::new(added.iter().copied());
    let mut found = BTreeSet::new();
    if schema::lacks_index(path, text, &touched) {
        found.insert(Behaviour::MissingIndex);
    }
    let syntax = crate::language::is_code(path).then(|| Syntax::of(path, text)).flatten();
    if let Some(syntax) = syntax {
        let units = unit::units(&syntax, &added);
        units.iter().for_each(|unit| found.extend(signs::behaviours_of(unit)));
    }
    found
}
