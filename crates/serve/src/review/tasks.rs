//! Tasks as tools return them: [`ReviewTasks`], with as many of their texts as fit into an answer.

use assay_review::delegation::{Brief, BriefReader};
use schemars::JsonSchema;
use serde::Serialize;

use super::answer_budget::AnswerBudget;
use super::finding_summary::is_zero;

/// The tool that returns a text that is not in an answer.
const READ_BRIEF: &str = "read_brief";

/// The maximum number of tasks in an answer.
const MAX_TASKS: usize = 150;

/// The maximum number of missing texts that are listed one by one.
const MAX_NAMED: usize = 12;

/// The task of a persona.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ReviewTask {
    /// The persona; submit its report under this name.
    persona: String,
    /// The number of the part of the change, from 1.
    part: usize,
    /// The number of parts.
    of: usize,
    /// The error in the previous report for this task.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    again: Option<String>,
    /// The size of the text in bytes; if sub-agents read, of the whole brief.
    bytes: usize,
    /// The text of the task. If it is absent, `call` names the tool that returns it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    text: Option<String>,
    /// The tool that returns the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    call: Option<&'static str>,
}

/// A part of the change.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct ChangePart {
    /// The number of the part.
    part: usize,
    /// The size of the text in bytes.
    bytes: usize,
    /// The text. If it is absent, `call` names the tool that returns it.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    text: Option<String>,
    /// The tool that returns the text.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    call: Option<&'static str>,
}

/// Tasks, with each shared text once.
#[derive(Debug, Default, Serialize, JsonSchema)]
pub(super) struct ReviewTasks {
    /// The rules for every task. Absent if sub-agents read.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    instructions: Option<String>,
    /// The size of the instructions in bytes.
    #[serde(skip_serializing_if = "is_zero")]
    instructions_bytes: usize,
    /// The change, in parts. Absent if sub-agents read.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    change: Vec<ChangePart>,
    /// The tool whose answer holds the change, if it is not repeated.
    #[serde(skip_serializing_if = "Option::is_none")]
    #[schemars(with = "String")]
    change_is_in: Option<&'static str>,
    /// The open tasks.
    tasks: Vec<ReviewTask>,
    /// The number of further tasks, which are listed once some of these are done.
    #[serde(skip_serializing_if = "is_zero")]
    more_tasks: usize,
}

impl ReviewTasks {
    /// Builds tasks from briefs, with as many texts as fit if the agent itself reads them.
    pub(super) fn new(
        briefs: Vec<Brief>,
        read_by: BriefReader,
        budget: &mut AnswerBudget,
    ) -> ReviewTasks {
        let listed = briefs.iter().take(MAX_TASKS);
        let listed = listed.map(|brief| ReviewTask::without_text(brief, read_by)).collect();
        let (listed, _) = budget.list(listed);
        let more_tasks = briefs.len() - listed.len();
        let mut tasks = ReviewTasks { tasks: listed, more_tasks, ..ReviewTasks::default() };
        if read_by == BriefReader::Myself {
            tasks.add_texts(briefs, budget);
        }
        tasks
    }

    fn add_texts(&mut self, briefs: Vec<Brief>, budget: &mut AnswerBudget) {
        let instructions = briefs.first().map(|brief| brief.instructions.clone());
        self.instructions_bytes = instructions.as_ref().map_or(0, String::len);
        self.instructions = instructions.filter(|text| budget.take(text));
        for brief in &briefs {
            if brief.repeats_change {
                self.change_is_in = Some("start_review");
            } else if !brief.change.is_empty() && !self.has_part(brief.part) {
                self.change.push(ChangePart::new(brief, budget));
            }
        }
        for (task, brief) in self.tasks.iter_mut().zip(briefs) {
            task.text = Some(brief.task).filter(|text| budget.take(text));
            task.call = task.text.is_none().then_some(READ_BRIEF);
        }
    }

    fn has_part(&self, part: usize) -> bool {
        self.change.iter().any(|told| told.part == part)
    }

    /// Returns true if there is no task.
    pub(super) fn is_empty(&self) -> bool {
        self.tasks.is_empty()
    }

    /// Returns a sentence that lists the texts that are not in the answer; empty if all are.
    pub(super) fn missing_texts(&self) -> String {
        let parts = self.change.iter().filter(|part| part.text.is_none());
        let parts = parts.map(|part| format!("change part {} ({} bytes)", part.part, part.bytes));
        let tasks = self.tasks.iter().filter(|task| task.text.is_none());
        let tasks = tasks.map(|task| {
            format!("task of {}, part {} ({} bytes)", task.persona, task.part, task.bytes)
        });
        let rules = (self.instructions.is_none() && self.instructions_bytes > 0)
            .then(|| format!("instructions ({} bytes)", self.instructions_bytes));
        let missing: Vec<String> = rules.into_iter().chain(parts).chain(tasks).collect();
        if missing.is_empty() {
            return String::new();
        }
        let more = missing.len().saturating_sub(MAX_NAMED);
        let more = if more == 0 { String::new() } else { format!("; and {more} more") };
        let named = missing.into_iter().take(MAX_NAMED).collect::<Vec<_>>().join("; ");
        format!(
            " Not in this answer, for their size: {named}{more}. read_brief returns each: with \
             `only` \"change\" a part of the change, with `only` \"task\" a task, without it both \
             and the instructions."
        )
    }
}

impl ReviewTask {
    fn without_text(brief: &Brief, read_by: BriefReader) -> ReviewTask {
        let bytes = match read_by {
            BriefReader::Myself => brief.task.len(),
            BriefReader::SubAgents => brief.full_text().len(),
        };
        ReviewTask {
            persona: brief.persona.clone(),
            part: brief.part,
            of: brief.of,
            again: brief.again.clone(),
            bytes,
            text: None,
            call: Some(READ_BRIEF),
        }
    }
}

impl ChangePart {
    fn new(brief: &Brief, budget: &mut AnswerBudget) -> ChangePart {
        let text = Some(brief.change.clone()).filter(|text| budget.take(text));
        let call = text.is_none().then_some(READ_BRIEF);
        ChangePart { part: brief.part, bytes: brief.change.len(), text, call }
    }
}

/// A task without a report.
#[derive(Debug, Serialize, JsonSchema)]
pub(super) struct OpenTask {
    /// The name of the persona.
    persona: String,
    /// The number of the part of the change, from 1.
    part: usize,
}

impl From<&Brief> for OpenTask {
    fn from(brief: &Brief) -> OpenTask {
        OpenTask { persona: brief.persona.clone(), part: brief.part }
    }
}

#[cfg(test)]
mod tests {
    use super::super::answer_budget::MAX_ANSWER;
    use super::*;

    fn brief(persona: &str, part: usize, change: usize, task: usize) -> Brief {
        Brief {
            persona: persona.to_owned(),
            part,
            of: 1,
            again: None,
            instructions: "be fair".to_owned(),
            change: "x".repeat(change),
            task: "\"\n".repeat(task / 2),
            repeats_change: false,
            question: String::new(),
            findings: Vec::new(),
        }
    }

    fn tasks(briefs: Vec<Brief>) -> ReviewTasks {
        ReviewTasks::new(briefs, BriefReader::Myself, &mut AnswerBudget::new())
    }

    #[test]
    fn a_change_is_given_once_and_each_missing_text_is_named_with_its_size() {
        let told = tasks(vec![brief("a", 1, 9_000, 5_000), brief("b", 1, 9_000, 5_000)]);
        assert_eq!(told.change.len(), 1);
        assert!(told.change[0].text.is_some() && told.tasks[0].text.is_some());
        assert_eq!((&told.tasks[1].text, told.tasks[1].call), (&None, Some("read_brief")));
        let missing = told.missing_texts();
        assert!(missing.contains("for their size: task of b, part 1 (5000 bytes)."), "{missing}");
        let small = tasks(vec![brief("a", 1, 30, 20), brief("b", 1, 30, 20)]);
        assert_eq!(small.missing_texts(), "");
    }

    #[test]
    fn no_answer_exceeds_the_maximum_size() {
        for (personas, parts, change, task) in
            [(1, 1, 90_000, 10), (3, 12, 31_000, 5_000), (22, 1, 9_000, 6_000), (30, 12, 9, 9)]
        {
            let of = |at: usize| {
                (1..=parts).map(move |part| brief(&format!("persona-{at}"), part, change, task))
            };
            for read_by in [BriefReader::Myself, BriefReader::SubAgents] {
                let briefs = (0..personas).flat_map(of).collect();
                let tasks = ReviewTasks::new(briefs, read_by, &mut AnswerBudget::new());
                let text = serde_json::to_string(&tasks).unwrap() + &tasks.missing_texts();
                assert!(text.len() <= MAX_ANSWER, "{personas} {parts}: {}", text.len());
                assert_eq!(tasks.tasks.len() + tasks.more_tasks, personas * parts);
            }
        }
    }

    #[test]
    fn sub_agents_get_sizes_only() {
        let mut budget = AnswerBudget::new();
        let told =
            ReviewTasks::new(vec![brief("a", 1, 30, 20)], BriefReader::SubAgents, &mut budget);
        assert!(told.instructions.is_none() && told.change.is_empty());
        let whole = brief("a", 1, 30, 20).full_text().len();
        assert_eq!((told.tasks[0].bytes, told.tasks[0].call), (whole, Some("read_brief")));
    }

    #[test]
    fn a_change_that_was_given_before_is_not_repeated() {
        let again = Brief { repeats_change: true, ..brief("validator", 1, 30, 20) };
        let told = tasks(vec![again]);
        assert!(told.change.is_empty());
        assert_eq!(told.change_is_in, Some("start_review"));
    }
}
