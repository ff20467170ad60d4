//! The actions on findings: [`ActionRequest::actions`], and the commands of the server.

use assay_engine::editor_session::text_fix::{self, ByteEdit};
use assay_findings::path::RepoPath;
use assay_findings::vote::AutofixClass;
use assay_findings::write::escape::one_line;
use serde_json::{Value, json};

use super::client::{Capabilities, safe};
use super::diagnostics::ShownFinding;
use super::document::Document;
use super::position::{LineIndex, Range};

/// The command that dismisses a finding.
pub(super) const DISMISS: &str = "assay.dismiss";
/// The command that shows the history of a finding.
pub(super) const EXPLAIN: &str = "assay.explain";
/// The command that shows the reasons of the last verdict.
pub(super) const SHOW_RUN: &str = "assay.showRun";
/// The command that reviews the saved files, and stores the review.
pub(super) const REVIEW: &str = "assay.review";

/// All commands of the server.
pub(super) const COMMANDS: [&str; 4] = [DISMISS, EXPLAIN, SHOW_RUN, REVIEW];

/// The kind of an action that fixes one finding.
const QUICK_FIX: &str = "quickfix";
/// The kind of the action that applies all safe fixes of a file.
pub(super) const FIX_ALL: &str = "source.fixAll.assay";

/// A request for the actions in a range of a document.
pub(super) struct ActionRequest<'a> {
    pub(super) uri: &'a str,
    pub(super) path: &'a RepoPath,
    pub(super) document: &'a Document,
    pub(super) shown: &'a [ShownFinding],
    pub(super) range: Range,
    /// The kinds that the client asks for; `None` for all.
    pub(super) only: Option<Vec<String>>,
    pub(super) client: &'a Capabilities,
}

impl ActionRequest<'_> {
    /// Returns the actions of the findings in the range, and that of the file.
    pub(super) fn actions(&self) -> Vec<Value> {
        let here = || self.shown.iter().filter(|shown| shown.touches(self.range));
        if !self.client.code_action_literals {
            return here().flat_map(|shown| self.commands(shown)).collect();
        }
        let mut actions = Vec::new();
        if self.wants(QUICK_FIX) {
            actions.extend(here().filter_map(|shown| self.fix(shown)));
            actions.extend(here().flat_map(|shown| self.command_actions(shown)));
        }
        if self.wants(FIX_ALL) {
            actions.extend(self.fix_all());
        }
        actions
    }

    /// Returns true if the client asks for a kind, or for a kind that contains it.
    fn wants(&self, kind: &str) -> bool {
        let contains = |asked: &String| {
            let rest = kind.strip_prefix(asked.as_str());
            asked.is_empty() || rest.is_some_and(|rest| rest.is_empty() || rest.starts_with('.'))
        };
        self.only.as_ref().is_none_or(|only| only.iter().any(contains))
    }

    fn fix(&self, shown: &ShownFinding) -> Option<Value> {
        let fix = shown.found.fix.clone()?;
        let is_safe = fix.class == AutofixClass::SafeAuto;
        let edit = text_fix::edit(self.path, &self.document.text, vec![fix])?;
        Some(json!({
            "title": title("Fix", shown),
            "kind": QUICK_FIX,
            "diagnostics": [shown.diagnostic()],
            "isPreferred": is_safe,
            "edit": self.workspace_edit(&edit),
        }))
    }

    fn fix_all(&self) -> Option<Value> {
        let found: Vec<_> = self.shown.iter().map(|shown| shown.found.clone()).collect();
        let edit = text_fix::edit_safe(self.path, &self.document.text, &found)?;
        Some(json!({
            "title": "Apply all safe fixes of assay in this file",
            "kind": FIX_ALL,
            "edit": self.workspace_edit(&edit),
        }))
    }

    fn workspace_edit(&self, edit: &ByteEdit) -> Value {
        let index = LineIndex::new(&self.document.text, self.client.encoding);
        let edits = json!([{"range": index.range(edit.range.clone()), "newText": edit.text}]);
        match self.client.document_changes {
            true => {
                let document = json!({"uri": self.uri, "version": self.document.version});
                json!({"documentChanges": [{"textDocument": document, "edits": edits}]})
            }
            false => json!({"changes": {self.uri: edits}}),
        }
    }

    fn command_actions(&self, shown: &ShownFinding) -> Vec<Value> {
        let action = |command: Value| {
            json!({
                "title": command["title"],
                "kind": QUICK_FIX,
                "diagnostics": [shown.diagnostic()],
                "command": command,
            })
        };
        self.commands(shown).into_iter().map(action).collect()
    }

    fn commands(&self, shown: &ShownFinding) -> Vec<Value> {
        let arguments = json!([{"uri": self.uri, "id": shown.finding().id}]);
        let command = |name: &str, verb: &str| json!({"title": title(verb, shown), "command": name, "arguments": arguments});
        vec![command(DISMISS, "Dismiss"), command(EXPLAIN, "Explain")]
    }
}

fn title(verb: &str, shown: &ShownFinding) -> String {
    safe(&format!("{verb}: {}", one_line(&shown.finding().title)))
}
