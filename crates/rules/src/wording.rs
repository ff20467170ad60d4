//! What a rule that is written in code says: [`Wording`].

use assay_findings::grade::{Grade, Scheme};

use crate::rule::About;

/// The words of a rule that is written in code.
pub(crate) struct Wording {
    /// Its name, such as `secret/leaked-credential`.
    pub(crate) id: &'static str,
    /// How bad it is, as one of the seven levels.
    pub(crate) grade: &'static str,
    /// Of which kind it is.
    pub(crate) category: &'static str,
    /// What it finds, in a few words.
    pub(crate) title: &'static str,
    /// What breaks.
    pub(crate) message: &'static str,
    /// How to fix it.
    pub(crate) advice: &'static str,
}

impl Wording {
    /// Gives the rule as rules from files are given.
    pub(crate) fn about(&self) -> About {
        About {
            id: self.id.to_owned(),
            title: self.title.to_owned(),
            message: self.message.to_owned(),
            advice: Some(self.advice.to_owned()),
            grade: Grade::in_scheme(Scheme::Qa7, self.grade).expect("the grade is a level"),
            category: self.category.to_owned(),
        }
    }
}
