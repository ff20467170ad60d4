//! The result of a check: [`CheckResult`].

/// Maximum number of faults that a result lists; the others are counted.
const MAX_LISTED: usize = 10;

/// The result of a check.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum CheckResult {
    /// The check passes.
    Pass,
    /// The check fails, with one sentence or more that names the fault and its location.
    Fail(String),
    /// The check could not run, for this reason.
    NotChecked(String),
}

impl CheckResult {
    /// Returns `Pass` if there are no faults, or else `Fail` with the faults.
    pub(crate) fn of(wrong: Vec<String>) -> CheckResult {
        match wrong.is_empty() {
            true => CheckResult::Pass,
            false => CheckResult::Fail(format!("{}.", listed(&wrong))),
        }
    }

    /// Returns `Pass` if there are no faults, or else `Fail` with their kind and the faults.
    pub(crate) fn under(kind: &str, wrong: Vec<String>) -> CheckResult {
        match CheckResult::of(wrong) {
            CheckResult::Fail(why) => CheckResult::Fail(format!("{kind}: {why}")),
            seen @ (CheckResult::Pass | CheckResult::NotChecked(_)) => seen,
        }
    }
}

/// Returns the first texts of a list, and the number of the others.
pub(crate) fn listed(texts: &[String]) -> String {
    let mut told = texts.iter().take(MAX_LISTED).cloned().collect::<Vec<_>>().join("; ");
    if texts.len() > MAX_LISTED {
        told.push_str(&format!("; and {} more", texts.len() - MAX_LISTED));
    }
    told
}
