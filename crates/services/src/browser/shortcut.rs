//! Keyboard shortcuts in their usual notation: [`Shortcut`], such as `Ctrl+Shift+N` or `Enter`.

use std::str::FromStr;

use serde_json::{Value, json};

use super::untrusted::truncate_line;

/// A key that is pressed while modifier keys are held down.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Shortcut {
    held: Vec<Modifier>,
    key: Key,
}

/// The error for a text that is no shortcut.
#[derive(Debug, Clone, PartialEq, Eq, thiserror::Error)]
#[error(
    "invalid shortcut `{text}`, expected one such as `Enter`, `Ctrl+N` or `Shift+ArrowDown`: \
     {why}"
)]
pub struct InvalidShortcut {
    text: String,
    why: &'static str,
}

/// A modifier key.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Modifier {
    Alt,
    Control,
    Meta,
    Shift,
}

impl Modifier {
    fn parse(word: &str) -> Option<Modifier> {
        let here = if cfg!(target_os = "macos") { Modifier::Meta } else { Modifier::Control };
        Some(match word {
            "alt" | "option" => Modifier::Alt,
            "ctrl" | "control" => Modifier::Control,
            "cmd" | "command" | "meta" | "super" => Modifier::Meta,
            "cmdorctrl" | "commandorcontrol" => here,
            "shift" => Modifier::Shift,
            _ => return None,
        })
    }

    fn bit(self) -> u32 {
        match self {
            Modifier::Alt => 1,
            Modifier::Control => 2,
            Modifier::Meta => 4,
            Modifier::Shift => 8,
        }
    }

    fn key(self) -> Key {
        let (name, number) = match self {
            Modifier::Alt => ("Alt", 18),
            Modifier::Control => ("Control", 17),
            Modifier::Meta => ("Meta", 91),
            Modifier::Shift => ("Shift", 16),
        };
        Key { name: name.to_owned(), code: format!("{name}Left"), number, text: None }
    }
}

/// A key in the terms of browsers.
#[derive(Debug, Clone, PartialEq, Eq)]
struct Key {
    name: String,
    code: String,
    number: u32,
    text: Option<String>,
}

/// The named keys: the name in a shortcut, the name in browsers, the key code, and the typed text.
const NAMED_KEYS: [(&str, &str, u32, Option<&str>); 23] = [
    ("enter", "Enter", 13, Some("\r")),
    ("return", "Enter", 13, Some("\r")),
    ("tab", "Tab", 9, None),
    ("escape", "Escape", 27, None),
    ("esc", "Escape", 27, None),
    ("backspace", "Backspace", 8, None),
    ("delete", "Delete", 46, None),
    ("del", "Delete", 46, None),
    ("insert", "Insert", 45, None),
    ("home", "Home", 36, None),
    ("end", "End", 35, None),
    ("pageup", "PageUp", 33, None),
    ("pagedown", "PageDown", 34, None),
    ("arrowup", "ArrowUp", 38, None),
    ("up", "ArrowUp", 38, None),
    ("arrowdown", "ArrowDown", 40, None),
    ("down", "ArrowDown", 40, None),
    ("arrowleft", "ArrowLeft", 37, None),
    ("left", "ArrowLeft", 37, None),
    ("arrowright", "ArrowRight", 39, None),
    ("right", "ArrowRight", 39, None),
    ("space", "Space", 32, Some(" ")),
    ("plus", "+", 187, Some("+")),
];

/// The punctuation keys: the character, the name of the key, and the key code.
const PUNCTUATION_KEYS: [(char, &str, u32); 11] = [
    (',', "Comma", 188),
    ('.', "Period", 190),
    ('/', "Slash", 191),
    ('\\', "Backslash", 220),
    (';', "Semicolon", 186),
    ('\'', "Quote", 222),
    ('[', "BracketLeft", 219),
    (']', "BracketRight", 221),
    ('-', "Minus", 189),
    ('=', "Equal", 187),
    ('`', "Backquote", 192),
];

impl Key {
    fn parse(word: &str) -> Option<Key> {
        let lower = word.to_ascii_lowercase();
        if let Some((_, name, number, text)) =
            NAMED_KEYS.iter().find(|(written, ..)| *written == lower)
        {
            let key = if *name == "Space" { " " } else { name };
            return Some(Key {
                name: key.to_owned(),
                code: (*name).to_owned(),
                number: *number,
                text: text.map(str::to_owned),
            });
        }
        if let Some(number) = lower.strip_prefix('f').and_then(|digits| digits.parse::<u32>().ok())
        {
            let name = format!("F{number}");
            let is_key = (1..=24).contains(&number);
            return is_key.then(|| Key {
                code: name.clone(),
                name,
                number: 111 + number,
                text: None,
            });
        }
        let mut letters = word.chars();
        let (Some(letter), None) = (letters.next(), letters.next()) else { return None };
        Key::from_char(letter)
    }

    fn from_char(letter: char) -> Option<Key> {
        let upper = letter.to_ascii_uppercase();
        let (code, number) = match letter {
            'a'..='z' | 'A'..='Z' => (format!("Key{upper}"), u32::from(upper)),
            '0'..='9' => (format!("Digit{letter}"), u32::from(letter)),
            _ if letter.is_control() || letter.is_whitespace() => return None,
            _ => match PUNCTUATION_KEYS.iter().find(|(sign, ..)| *sign == letter) {
                Some((_, code, number)) => ((*code).to_owned(), *number),
                None => (String::new(), 0),
            },
        };
        Some(Key { name: letter.to_string(), code, number, text: Some(letter.to_string()) })
    }

    /// Returns the event of pressing or releasing the key.
    fn event(&self, is_down: bool, held: u32, text: Option<&str>) -> Value {
        let kind = match (is_down, text) {
            (false, _) => "keyUp",
            (true, Some(_)) => "keyDown",
            (true, None) => "rawKeyDown",
        };
        let mut event = json!({
            "type": kind, "modifiers": held, "key": self.name, "code": self.code,
            "windowsVirtualKeyCode": self.number, "nativeVirtualKeyCode": self.number,
        });
        if let Some(text) = text.filter(|_| is_down) {
            event["text"] = json!(text);
        }
        event
    }
}

impl FromStr for Shortcut {
    type Err = InvalidShortcut;

    fn from_str(text: &str) -> Result<Shortcut, InvalidShortcut> {
        let bad = |why| InvalidShortcut { text: truncate_line(text), why };
        let (held, key) = match text.strip_suffix('+') {
            // The last key may be the plus itself.
            Some(rest) if rest.is_empty() || rest.ends_with('+') => (rest, "plus"),
            _ => text.rsplit_once('+').unwrap_or(("", text)),
        };
        let mut all = Vec::new();
        for word in held.split('+').filter(|word| !word.is_empty()) {
            let one = Modifier::parse(&word.trim().to_ascii_lowercase());
            let one = one.ok_or_else(|| bad("only Ctrl, Shift, Alt and Cmd can be held down"))?;
            if !all.contains(&one) {
                all.push(one);
            }
        }
        let key = Key::parse(key.trim()).ok_or_else(|| bad("unknown key"))?;
        Ok(Shortcut { held: all, key })
    }
}

impl Shortcut {
    /// Returns the events of pressing and releasing all keys, in order.
    pub(super) fn events(&self) -> Vec<Value> {
        let mut bits = 0;
        let mut events = Vec::new();
        for held in &self.held {
            bits |= held.bit();
            events.push(held.key().event(true, bits, None));
        }
        let shifted = self.with_shift();
        // A key types no text while a modifier other than Shift is held down.
        let is_typed = bits & !Modifier::Shift.bit() == 0;
        let text = shifted.text.as_deref().filter(|_| is_typed);
        events.push(shifted.event(true, bits, text));
        events.push(shifted.event(false, bits, None));
        for held in self.held.iter().rev() {
            bits &= !held.bit();
            events.push(held.key().event(false, bits, None));
        }
        events
    }

    /// Returns the key with Shift applied: with modifiers, a letter is lower case unless Shift is
    /// held down.
    fn with_shift(&self) -> Key {
        let is_shifted = self.held.contains(&Modifier::Shift);
        let change = |text: &str| match (text.len(), is_shifted, self.held.is_empty()) {
            (1, true, _) => text.to_ascii_uppercase(),
            (1, false, false) => text.to_ascii_lowercase(),
            _ => text.to_owned(),
        };
        let key = &self.key;
        Key {
            name: change(&key.name),
            text: key.text.as_deref().map(change),
            code: key.code.clone(),
            number: key.number,
        }
    }
}

#[cfg(test)]
mod tests {
    use expect_test::{Expect, expect};

    use super::*;

    fn check(text: &str, expect: Expect) {
        let keystrokes = match text.parse::<Shortcut>() {
            Err(error) => error.to_string(),
            Ok(shortcut) => {
                let tell = |event: Value| {
                    let name = |field: &str| event[field].as_str().unwrap_or("-").to_owned();
                    format!(
                        "{} {} {} {} {:?}",
                        name("type"),
                        name("key"),
                        name("code"),
                        event["modifiers"],
                        event["text"].as_str()
                    )
                };
                shortcut.events().into_iter().map(tell).collect::<Vec<_>>().join("\n")
            }
        };
        expect.assert_eq(&keystrokes);
    }

    #[test]
    fn keys_are_pressed_and_released_in_turn() {
        check(
            "Ctrl+Shift+N",
            expect![[r#"
                rawKeyDown Control ControlLeft 2 None
                rawKeyDown Shift ShiftLeft 10 None
                rawKeyDown N KeyN 10 None
                keyUp N KeyN 10 None
                keyUp Shift ShiftLeft 2 None
                keyUp Control ControlLeft 0 None"#]],
        );
    }

    #[test]
    fn a_key_types_its_character_unless_control_is_held() {
        check(
            "enter",
            expect![[r#"
            keyDown Enter Enter 0 Some("\r")
            keyUp Enter Enter 0 None"#]],
        );
        check(
            "A",
            expect![[r#"
            keyDown A KeyA 0 Some("A")
            keyUp A KeyA 0 None"#]],
        );
        check(
            "Shift++",
            expect![[r#"
            rawKeyDown Shift ShiftLeft 8 None
            keyDown + + 8 Some("+")
            keyUp + + 8 None
            keyUp Shift ShiftLeft 0 None"#]],
        );
        check(
            "F12",
            expect![[r#"
            rawKeyDown F12 F12 0 None
            keyUp F12 F12 0 None"#]],
        );
        check(
            "Ctrl+Ctrl+A",
            expect![[r#"
            rawKeyDown Control ControlLeft 2 None
            rawKeyDown a KeyA 2 None
            keyUp a KeyA 2 None
            keyUp Control ControlLeft 0 None"#]],
        );
    }

    #[test]
    fn an_invalid_shortcut_is_rejected_with_the_reason() {
        let how = "expected one such as `Enter`, `Ctrl+N` or `Shift+ArrowDown`";
        for (text, why) in [
            ("", "unknown key"),
            ("Ctrl+", "unknown key"),
            ("Hyper+N", "only Ctrl, Shift, Alt and Cmd can be held down"),
            ("Enter+N", "only Ctrl, Shift, Alt and Cmd can be held down"),
            ("F25", "unknown key"),
            ("NN", "unknown key"),
            ("\u{7}", "unknown key"),
        ] {
            let error = text.parse::<Shortcut>().unwrap_err().to_string();
            assert_eq!(error, format!("invalid shortcut `{}`, {how}: {why}", truncate_line(text)));
        }
    }
}
