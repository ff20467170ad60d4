//! The permissions of an agent for services: [`Permit`].
//!
//! Permissions are checked by the code that carries out a call, so that no prompt can bypass them.
//! Reading them from the configuration is left to the caller.

use std::collections::BTreeSet;

/// The error for an action that an agent may not carry out.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error("agent `{agent}` may not {what}: {reason}; see `config/agents.yaml`")]
pub struct PermissionDenied {
    agent: String,
    what: String,
    reason: String,
}

/// An action that needs a permission.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Capability {
    /// Writing on GitHub.
    WriteOnGithub,
    /// Creating branches and commits on GitHub.
    Push,
    /// Writing in JIRA.
    WriteInJira,
    /// Creating tickets in JIRA.
    CreateTickets,
}

impl Capability {
    /// Returns the description of the action, and the permission that it needs.
    fn describe(self) -> (&'static str, &'static str) {
        match self {
            Capability::WriteOnGithub => ("write to GitHub", "github"),
            Capability::Push => ("push to GitHub", "push"),
            Capability::WriteInJira => ("write to JIRA", "jira"),
            Capability::CreateTickets => ("create tickets in JIRA", "create_tickets"),
        }
    }
}

/// The permissions of a user of services.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Permit {
    /// A person, who may do what the key allows.
    Person,
    /// An agent, which may do what is listed.
    Agent {
        /// The name of the agent.
        name: String,
        /// The permitted actions.
        capabilities: BTreeSet<Capability>,
        /// The names of the permitted transitions, in lower case.
        transitions: BTreeSet<String>,
    },
}

impl Permit {
    /// Creates the permissions of an agent, with transitions by their names.
    pub fn agent(
        name: &str,
        capabilities: impl IntoIterator<Item = Capability>,
        transitions: impl IntoIterator<Item = String>,
    ) -> Permit {
        Permit::Agent {
            name: name.to_owned(),
            capabilities: capabilities.into_iter().collect(),
            transitions: transitions.into_iter().map(|name| name.trim().to_lowercase()).collect(),
        }
    }

    /// Fails if an action is not permitted.
    pub fn check(&self, capability: Capability) -> Result<(), PermissionDenied> {
        match self {
            Permit::Person => Ok(()),
            Permit::Agent { capabilities, .. } if capabilities.contains(&capability) => Ok(()),
            Permit::Agent { name, .. } => {
                let (what, needs) = capability.describe();
                Err(PermissionDenied {
                    agent: name.clone(),
                    what: what.to_owned(),
                    reason: format!("missing permission `{needs}`"),
                })
            }
        }
    }

    /// Fails if a transition is not permitted.
    pub fn check_transition(&self, transition: &str) -> Result<(), PermissionDenied> {
        self.check(Capability::WriteInJira)?;
        match self {
            Permit::Person => Ok(()),
            Permit::Agent { transitions, .. }
                if transitions.contains(&transition.trim().to_lowercase()) =>
            {
                Ok(())
            }
            Permit::Agent { name, transitions, .. } => {
                let listed = transitions.iter().map(|name| format!("`{name}`"));
                let listed = listed.collect::<Vec<_>>().join(", ");
                let known = if listed.is_empty() { "none".to_owned() } else { listed };
                Err(PermissionDenied {
                    agent: name.clone(),
                    what: format!("make the transition `{}`", transition.trim()),
                    reason: format!("its `jira` transitions are: {known}"),
                })
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_agent_has_only_the_listed_capabilities_and_transitions() {
        let qa = Permit::agent("qa", [Capability::WriteInJira], ["Approved".to_owned()]);
        assert_eq!(qa.check(Capability::WriteInJira), Ok(()));
        assert_eq!(
            qa.check(Capability::Push).unwrap_err().to_string(),
            "agent `qa` may not push to GitHub: missing permission `push`; see `config/agents.yaml`"
        );
        assert_eq!(qa.check_transition(" approved"), Ok(()));
        assert_eq!(
            qa.check_transition("Done").unwrap_err().to_string(),
            "agent `qa` may not make the transition `Done`: its `jira` transitions are: \
             `approved`; see `config/agents.yaml`"
        );
    }

    #[test]
    fn a_transition_needs_the_permission_to_write_as_well() {
        let reader = Permit::agent("reader", [], ["Done".to_owned()]);
        assert!(reader.check_transition("Done").is_err());
        assert_eq!(Permit::Person.check_transition("Done"), Ok(()));
    }
}
