//! A script as a list of rules: [`Rules`].

use std::sync::Mutex;
use std::time::Duration;

use serde_json::Value;

use super::{Answer, Fault, PromptRequest, Script, small_review};

/// A script that answers by the first rule whose words are all in the request. If no rule applies,
/// it answers with a small review.
#[derive(Debug, Default)]
pub struct Rules {
    rules: Mutex<Vec<Rule>>,
}

/// A rule of a script.
#[derive(Debug, Clone, PartialEq)]
pub struct Rule {
    /// The words that must all be in the text of the request.
    pub when: Vec<String>,
    /// The text of the answer; if `None`, a small review.
    pub say: Option<String>,
    /// The delay before the answer.
    pub delay: Duration,
    /// The fault to inject; `None` for a correct answer.
    pub fault: Option<Fault>,
    /// The number of times that the rule applies; if `None`, always.
    pub times: Option<usize>,
}

impl Rule {
    /// Creates a rule with a fixed answer to requests with all words.
    pub fn new(when: &[&str], say: impl Into<String>) -> Rule {
        Rule { say: Some(say.into()), ..Rule::quiet(when) }
    }

    /// Creates a rule that injects a fault.
    pub fn fault(when: &[&str], fault: Fault) -> Rule {
        Rule { fault: Some(fault), ..Rule::quiet(when) }
    }

    /// Limits the number of times that the rule applies.
    pub fn times(self, times: usize) -> Rule {
        Rule { times: Some(times), ..self }
    }

    fn quiet(when: &[&str]) -> Rule {
        Rule {
            when: when.iter().map(|&word| word.to_owned()).collect(),
            say: None,
            delay: Duration::ZERO,
            fault: None,
            times: None,
        }
    }

    fn from_json(value: &Value) -> Result<Rule, String> {
        let known = ["when", "say", "delay_ms", "fault", "times"];
        let fields = value.as_object().ok_or_else(|| format!("`{value}` is no rule"))?;
        if let Some(name) = fields.keys().find(|name| !known.contains(&name.as_str())) {
            return Err(format!("a rule has no `{name}`"));
        }
        let number = |name: &str| match &value[name] {
            Value::Null => Ok(None),
            number => number.as_u64().map(Some).ok_or_else(|| format!("`{name}` is no number")),
        };
        let word = |word: &Value| {
            word.as_str().map(str::to_owned).ok_or_else(|| format!("`{word}` is no text"))
        };
        Ok(Rule {
            when: match &value["when"] {
                Value::Null => Vec::new(),
                Value::Array(words) => words.iter().map(word).collect::<Result<_, _>>()?,
                one => vec![word(one)?],
            },
            say: match &value["say"] {
                Value::Null => None,
                Value::String(text) => Some(text.clone()),
                json => Some(json.to_string()),
            },
            delay: Duration::from_millis(number("delay_ms")?.unwrap_or(0)),
            fault: match &value["fault"] {
                Value::Null => None,
                fault => Some(Fault::from_json(fault)?),
            },
            times: number("times")?.map(|times| times as usize),
        })
    }

    /// Returns true if the rule applies, and counts the use.
    fn takes(&mut self, text: &str) -> bool {
        if self.times == Some(0) || !self.when.iter().all(|word| text.contains(word)) {
            return false;
        }
        self.times = self.times.map(|times| times - 1);
        true
    }
}

impl Rules {
    /// Creates a script from rules.
    pub fn new(rules: impl IntoIterator<Item = Rule>) -> Rules {
        Rules { rules: Mutex::new(rules.into_iter().collect()) }
    }

    /// Parses a script: a JSON list of objects with `when` (a text, or a list of texts), `say` (a
    /// text, or JSON), `delay_ms`, `fault` (see [`Fault::from_json`]) and `times`. All of them are
    /// optional.
    pub fn from_json(text: &str) -> Result<Rules, String> {
        let value: Value = serde_json::from_str(text).map_err(|error| error.to_string())?;
        let rules = value.as_array().ok_or("a script is a list of rules")?;
        Ok(Rules::new(rules.iter().map(Rule::from_json).collect::<Result<Vec<_>, _>>()?))
    }
}

impl Script for Rules {
    fn answer(&self, asked: &PromptRequest) -> Answer {
        let text = asked.text();
        let mut rules = self.rules.lock().unwrap();
        let rule = rules.iter_mut().find_map(|rule| rule.takes(&text).then_some(&*rule));
        let small_review = || Answer::json(&small_review::answer(asked));
        match rule {
            None => small_review(),
            Some(rule) => Answer {
                delay: rule.delay,
                fault: rule.fault.clone(),
                ..rule.say.as_ref().map_or_else(small_review, Answer::text)
            },
        }
    }
}
