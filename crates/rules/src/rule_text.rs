//! The texts of a rule that is implemented in code: [`RuleText`].

use assay_findings::grade::{Grade, Scheme};

use crate::rule::RuleInfo;

/// The texts of a rule that is implemented in code.
#[derive(Clone, Copy)]
pub(crate) struct RuleText {
    /// The id of the rule, such as `secret/leaked-credential`.
    pub(crate) id: &'static str,
    /// The grade of the defect, as one of the seven levels.
    pub(crate) grade: &'static str,
    /// The category of the defect.
    pub(crate) category: &'static str,
    /// The defect in a few words.
    pub(crate) title: &'static str,
    /// The consequence of the defect.
    pub(crate) message: &'static str,
    /// The advice for a fix.
    pub(crate) advice: &'static str,
}

impl RuleText {
    /// Converts the texts into the description that rules from files have.
    pub(crate) fn info(&self) -> RuleInfo {
        RuleInfo {
            id: self.id.to_owned(),
            title: self.title.to_owned(),
            message: self.message.to_owned(),
            advice: Some(self.advice.to_owned()),
            grade: Grade::in_scheme(Scheme::Qa7, self.grade).expect("the grade is a level"),
            category: self.category.to_owned(),
            tier: None,
        }
    }
}
