//! The commands for a page: [`PageCommand`], with the names that agents and flows use.

use std::fmt;

use serde::de::{
    Deserialize, DeserializeSeed, Deserializer, EnumAccess, Error, MapAccess, VariantAccess,
    Visitor,
};
use serde_json::{Value, json};

use super::element::Selector;
use super::error::PageError;
use super::page::Page;
use super::shortcut::Shortcut;

/// An action of a user or a tester on a page.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum PageCommand {
    /// Clicks an element by its visible text.
    ClickByText(String),
    /// Clicks an element by a CSS selector.
    ClickBySelector(String),
    /// Fills a field.
    FillInput(Fill),
    /// Chooses an option of a list.
    SelectOption(Select),
    /// Navigates to a fragment of the page's address.
    NavigateToHash(String),
    /// Presses keys; the second field is the shortcut as it was written.
    SendKeyboardShortcut(Shortcut, String),
    /// Returns an overview of the visible elements.
    GetPageStructure,
    /// Returns details of elements, for debugging; a CSS selector limits them.
    DebugElements(Option<String>),
    /// Returns the state of form fields; a CSS selector limits them.
    VerifyFormState(Option<String>),
    /// Runs code in the page, if that is allowed.
    Eval(String),
}

/// A field and its new value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Fill {
    pub(super) field: Selector,
    pub(super) value: String,
}

/// A list and the option to choose.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Select {
    pub(super) field: Selector,
    pub(super) option: Choice,
}

/// An option of a list.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(super) enum Choice {
    /// An option by its value.
    Value(String),
    /// An option by its visible text.
    Text(String),
}

impl Choice {
    pub(super) fn text(&self) -> &str {
        match self {
            Choice::Value(text) | Choice::Text(text) => text,
        }
    }

    pub(super) fn args(&self) -> Value {
        match self {
            Choice::Value(value) => json!({ "value": value }),
            Choice::Text(text) => json!({ "text": text }),
        }
    }
}

impl PageCommand {
    /// The names of all commands.
    pub const NAMES: [&'static str; 10] = [
        "click_by_text", "click_by_selector", "fill_input", "select_option", "navigate_to_hash",
        "send_keyboard_shortcut", "get_page_structure", "debug_elements", "verify_form_state",
        "eval",
    ];

    /// Parses the arguments of a command whose name is one of [`PageCommand::NAMES`].
    pub(super) fn parse_arguments<'de, A: VariantAccess<'de>>(
        name: &str,
        of: A,
    ) -> Result<PageCommand, A::Error> {
        let text = |of: A, key: &'static [&'static str]| of.newtype_variant_seed(TextSeed(key));
        Ok(match name {
            "click_by_text" => PageCommand::ClickByText(text(of, &["text"])?),
            "click_by_selector" => PageCommand::ClickBySelector(text(of, &["selector"])?),
            "fill_input" => PageCommand::FillInput(of.newtype_variant()?),
            "select_option" => PageCommand::SelectOption(of.newtype_variant()?),
            "navigate_to_hash" => PageCommand::NavigateToHash(text(of, &["hash", "text"])?),
            "send_keyboard_shortcut" => {
                let told = text(of, &["keys", "text"])?;
                PageCommand::SendKeyboardShortcut(told.parse().map_err(A::Error::custom)?, told)
            }
            "get_page_structure" => {
                of.newtype_variant::<NoArguments>()?;
                PageCommand::GetPageStructure
            }
            "debug_elements" => {
                PageCommand::DebugElements(of.newtype_variant::<PartArguments>()?.selector)
            }
            "verify_form_state" => {
                PageCommand::VerifyFormState(of.newtype_variant::<PartArguments>()?.selector)
            }
            "eval" => PageCommand::Eval(text(of, &["code"])?),
            _ => return Err(A::Error::unknown_variant(name, &PageCommand::NAMES)),
        })
    }
}

impl fmt::Display for PageCommand {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            PageCommand::ClickByText(text) => write!(f, "click_by_text {}", json!(text)),
            PageCommand::ClickBySelector(text) => write!(f, "click_by_selector {}", json!(text)),
            // The value may be a password.
            PageCommand::FillInput(fill) => write!(f, "fill_input {}", fill.field),
            PageCommand::SelectOption(Select { field, option }) => {
                write!(f, "select_option {} in {field}", json!(option.text()))
            }
            PageCommand::NavigateToHash(hash) => write!(f, "navigate_to_hash {}", json!(hash)),
            PageCommand::SendKeyboardShortcut(_, told) => {
                write!(f, "send_keyboard_shortcut {told}")
            }
            PageCommand::GetPageStructure => f.write_str("get_page_structure"),
            PageCommand::DebugElements(None) => f.write_str("debug_elements"),
            PageCommand::DebugElements(Some(part)) => {
                write!(f, "debug_elements in {}", json!(part))
            }
            PageCommand::VerifyFormState(None) => f.write_str("verify_form_state"),
            PageCommand::VerifyFormState(Some(part)) => {
                write!(f, "verify_form_state in {}", json!(part))
            }
            PageCommand::Eval(code) => write!(f, "eval {}", json!(code)),
        }
    }
}

impl<'de> Deserialize<'de> for PageCommand {
    /// Parses `NAME: ARGUMENTS`; a command with a single text argument also accepts the text alone.
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<PageCommand, D::Error> {
        struct CommandVisitor;
        impl<'de> Visitor<'de> for CommandVisitor {
            type Value = PageCommand;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a command with its arguments")
            }

            fn visit_enum<A: EnumAccess<'de>>(self, data: A) -> Result<PageCommand, A::Error> {
                let (name, of) = data.variant::<String>()?;
                PageCommand::parse_arguments(&name, of)
            }
        }
        from.deserialize_enum("Command", &PageCommand::NAMES, CommandVisitor)
    }
}

impl Page {
    /// Runs a command and returns its result.
    pub fn perform(&self, command: &PageCommand) -> Result<Value, PageError> {
        match command {
            PageCommand::ClickByText(text) => self.click(&Selector::Text(text.clone())),
            PageCommand::ClickBySelector(text) => self.click(&Selector::Css(text.clone())),
            PageCommand::FillInput(fill) => self.fill(fill),
            PageCommand::SelectOption(select) => self.select(select),
            PageCommand::NavigateToHash(hash) => self.go_to_hash(hash),
            PageCommand::SendKeyboardShortcut(keys, told) => self.press(keys, told),
            PageCommand::GetPageStructure => self.structure(),
            PageCommand::DebugElements(selector) => self.elements(selector.as_deref()),
            PageCommand::VerifyFormState(selector) => self.form_state(selector.as_deref()),
            PageCommand::Eval(code) => Ok(json!({ "value": self.evaluate(code)? })),
        }
    }
}

/// A text, alone or under one of these keys.
pub(super) struct TextSeed(pub(super) &'static [&'static str]);

impl<'de> DeserializeSeed<'de> for TextSeed {
    type Value = String;

    fn deserialize<D: Deserializer<'de>>(self, from: D) -> Result<String, D::Error> {
        from.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for TextSeed {
    type Value = String;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "a text, or a map with `{}`", self.0[0])
    }

    fn visit_str<E: Error>(self, text: &str) -> Result<String, E> {
        Ok(text.to_owned())
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<String, A::Error> {
        let Some(key) = map.next_key::<String>()? else {
            return Err(A::Error::missing_field(self.0[0]));
        };
        if !self.0.contains(&key.as_str()) {
            return Err(A::Error::unknown_field(&key, self.0));
        }
        let text = map.next_value()?;
        match map.next_key::<String>()? {
            None => Ok(text),
            Some(other) => Err(A::Error::unknown_field(&other, self.0)),
        }
    }
}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct NoArguments {}

#[derive(serde::Deserialize)]
#[serde(deny_unknown_fields)]
struct PartArguments {
    #[serde(default)]
    selector: Option<String>,
}

/// Returns the one selector of a field. Fails if there is none, or more than one.
fn single_selector<E: Error>(named: [Option<Selector>; 3], keys: &str) -> Result<Selector, E> {
    let mut named = named.into_iter().flatten();
    match (named.next(), named.next()) {
        (Some(wanted), None) => Ok(wanted),
        (None, _) => Err(E::custom(format!("expected one of {keys}"))),
        (Some(_), Some(_)) => Err(E::custom(format!("expected only one of {keys}"))),
    }
}

impl<'de> Deserialize<'de> for Fill {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Fill, D::Error> {
        #[derive(serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        struct FieldArguments {
            selector: Option<String>,
            placeholder: Option<String>,
            label: Option<String>,
            value: String,
        }
        let FieldArguments { selector, placeholder, label, value } =
            FieldArguments::deserialize(from)?;
        let named = [
            selector.map(Selector::Css),
            placeholder.map(Selector::Placeholder),
            label.map(Selector::Label),
        ];
        Ok(Fill { field: single_selector(named, "`selector`, `placeholder` and `label`")?, value })
    }
}

impl<'de> Deserialize<'de> for Select {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<Select, D::Error> {
        #[derive(serde::Deserialize)]
        #[serde(deny_unknown_fields)]
        struct FieldArguments {
            selector: Option<String>,
            label: Option<String>,
            value: Option<String>,
            text: Option<String>,
        }
        let FieldArguments { selector, label, value, text } = FieldArguments::deserialize(from)?;
        let option = match (value, text) {
            (Some(value), None) => Choice::Value(value),
            (None, Some(text)) => Choice::Text(text),
            _ => return Err(D::Error::custom("expected one of `value` and `text`")),
        };
        let named = [selector.map(Selector::Css), label.map(Selector::Label), None];
        Ok(Select { field: single_selector(named, "`selector` and `label`")?, option })
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(name: &str, args: Value, expect: Expect) {
        let told = match serde_json::from_value::<PageCommand>(json!({ name: args })) {
            Ok(command) => format!("{command:?}"),
            Err(error) => error.to_string(),
        };
        expect.assert_eq(&told);
    }

    #[test]
    fn a_text_argument_is_accepted_as_a_string_or_as_a_named_field() {
        check("click_by_text", json!("Save"), expect![[r#"ClickByText("Save")"#]]);
        check("click_by_text", json!({ "text": "Save" }), expect![[r#"ClickByText("Save")"#]]);
        check("navigate_to_hash", json!({ "text": "#a" }), expect![[r##"NavigateToHash("#a")"##]]);
        check("verify_form_state", json!({}), expect!["VerifyFormState(None)"]);
    }

    #[test]
    fn invalid_command_arguments_are_rejected_with_the_reason() {
        let text = json!({ "txt": "Save" });
        check("click_by_text", text, expect!["unknown field `txt`, expected `text`"]);
        check("click_by_text", json!({}), expect!["missing field `text`"]);
        let two = json!({ "text": "Save", "x": 1 });
        check("click_by_text", two, expect!["unknown field `x`, expected `text`"]);
        check(
            "click_by_text",
            json!(7),
            expect!["invalid type: integer `7`, expected a text, or a map with `text`"],
        );
        check(
            "fill_input",
            json!({ "value": "x" }),
            expect!["expected one of `selector`, `placeholder` and `label`"],
        );
        let both = json!({ "selector": "a", "label": "b", "value": "x" });
        check(
            "fill_input",
            both,
            expect!["expected only one of `selector`, `placeholder` and `label`"],
        );
        check(
            "select_option",
            json!({ "selector": "a" }),
            expect!["expected one of `value` and `text`"],
        );
        check(
            "get_page_structure",
            json!({ "a": 1 }),
            expect!["unknown field `a`, there are no fields"],
        );
        check(
            "send_keyboard_shortcut",
            json!("Hyper+X"),
            expect![
                "invalid shortcut `Hyper+X`, expected one such as `Enter`, `Ctrl+N` or \
                 `Shift+ArrowDown`: only Ctrl, Shift, Alt and Cmd can be held down"
            ],
        );
        check(
            "rm_rf",
            json!({}),
            expect![
                "unknown variant `rm_rf`, expected one of `click_by_text`, `click_by_selector`, `fill_input`, `select_option`, `navigate_to_hash`, `send_keyboard_shortcut`, `get_page_structure`, `debug_elements`, `verify_form_state`, `eval`"
            ],
        );
    }
}
