//! A plan, read from Markdown or JSON: [`Plan`].
//!
//! What it says is data. Nothing that it names is run, and where it is unclear the reading is the
//! one under which more has to be shown.

pub mod patch;

/// A plan.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Plan {
    /// What it is called, where it says so.
    pub title: Option<String>,
    /// Its whole text, as it was read.
    pub text: String,
    /// What is to be reached, in order.
    pub milestones: Vec<Milestone>,
    /// What was decided.
    pub decisions: Vec<Decision>,
    /// What is taken for granted.
    pub assumptions: Vec<Assumption>,
    /// The diffs that stand under no milestone.
    pub loose_diffs: Vec<PlannedDiff>,
    /// Where it points to.
    pub links: Vec<Link>,
    /// Whether it is Markdown, so that lines of it can be told to people.
    pub is_markdown: bool,
}

/// Something to be reached.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Milestone {
    /// Its name, such as `M1`.
    pub id: String,
    /// What it is about.
    pub title: String,
    /// Its part of the plan, as text.
    pub text: String,
    /// Where that begins, from 1.
    pub line: u32,
    /// When it counts as reached.
    pub criteria: Vec<Criterion>,
    /// The files that it says it touches.
    pub files: Vec<String>,
    /// The milestones that come before it.
    pub needs: Vec<String>,
    /// The tests that it says it has.
    pub tests: Vec<String>,
    /// What is to be changed.
    pub diffs: Vec<PlannedDiff>,
}

/// When a milestone counts as reached.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Criterion {
    /// What it says.
    pub text: String,
    /// Where it stands, from 1.
    pub line: u32,
}

/// Something that was decided.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Decision {
    /// Its name, such as `DL-001`.
    pub id: String,
    /// What was decided.
    pub decision: String,
    /// Why; empty where it does not say.
    pub reason: String,
    /// Where it stands, from 1.
    pub line: u32,
}

/// Something that is taken for granted.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Assumption {
    /// What it says.
    pub text: String,
    /// How it was validated, where it says so.
    pub evidence: Option<String>,
    /// Where it stands, from 1.
    pub line: u32,
}

/// A diff in a plan: what stands in one fence, or in one field.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct PlannedDiff {
    /// It, as it stands there.
    pub text: String,
    /// Where its first line stands, from 1.
    pub line: u32,
}

/// Where a plan points to.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Link {
    /// The target, as it is written.
    pub target: String,
    /// Where it stands, from 1.
    pub line: u32,
}

impl Plan {
    /// Gives all diffs of it, in order.
    pub fn diffs(&self) -> impl Iterator<Item = &PlannedDiff> {
        let of_milestones = self.milestones.iter().flat_map(|milestone| &milestone.diffs);
        of_milestones.chain(&self.loose_diffs)
    }
}
