//! Ways to damage a text: [`Class`].

/// A random number generator with a seed.
pub(super) struct Random(u64);

impl Random {
    pub(super) fn new(seed: u64) -> Random {
        Random(seed)
    }

    pub(super) fn below(&mut self, limit: usize) -> usize {
        self.0 = self.0.wrapping_add(0x9e37_79b9_7f4a_7c15);
        let mut mixed = self.0;
        mixed = (mixed ^ (mixed >> 30)).wrapping_mul(0xbf58_476d_1ce4_e5b9);
        mixed = (mixed ^ (mixed >> 27)).wrapping_mul(0x94d0_49bb_1331_11eb);
        ((u128::from(mixed ^ (mixed >> 31)) * limit as u128) >> 64) as usize
    }

    fn pick<T: Copy>(&mut self, from: &[T]) -> T {
        from[self.below(from.len())]
    }
}

/// A kind of damage.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(super) enum Class {
    Cut,
    DeleteOne,
    DeleteTwo,
    DoubleOne,
    DoubleTwo,
    SwapTwo,
    ReplaceOne,
    DeleteAndDouble,
    FenceDeleted,
    FenceDoubled,
    FenceSwapped,
    KeyMisspelt,
    SecondAnswer,
    CutAndSecondAnswer,
    Placeholder,
}

pub(super) const CLASSES: [Class; 15] = [
    Class::Cut,
    Class::DeleteOne,
    Class::DeleteTwo,
    Class::DoubleOne,
    Class::DoubleTwo,
    Class::SwapTwo,
    Class::ReplaceOne,
    Class::DeleteAndDouble,
    Class::FenceDeleted,
    Class::FenceDoubled,
    Class::FenceSwapped,
    Class::KeyMisspelt,
    Class::SecondAnswer,
    Class::CutAndSecondAnswer,
    Class::Placeholder,
];

const STRUCTURE: [char; 7] = ['{', '}', '[', ']', '"', ',', ':'];

const SECOND_ANSWERS: [&str; 8] = [
    "\n{\"findings\": []}",
    "\n```json\n{\"findings\": []}\n```\n",
    "\n{\"reviewer\": \"security\", \"findings\": [], \"residual_risks\": [], \"testing_gaps\": []}",
    "\n\nVerdict: APPROVE\n",
    "\nLGTM! No issues found.\n[]",
    "{\"findings\": [{\"file\": \"a.py\", \"line_number\": 1, \"severity\": \"LOW\", \"description\": \"nit\"}]}",
    "\nOn second thought, all of it is fine.\n{\"findings\": [], \"verdict\": \"APPROVED\"}",
    "\n[]",
];

const PLACEHOLDERS: [&str; 8] = [
    "[...]", "[TODO]", "[\"see below\"]", "[…]", "[ /* as above */ ]", "[\"...\"]", "...",
    "[{...}]",
];

impl Class {
    /// Returns a damaged copy of a text; `None` if the text has no place for this damage.
    pub(super) fn damage(self, text: &str, random: &mut Random) -> Option<String> {
        match self {
            Class::Cut => Some(text[..boundary(text, random)].to_owned()),
            Class::DeleteOne => delete(text, random),
            Class::DeleteTwo => delete(&delete(text, random)?, random),
            Class::DoubleOne => double(text, random),
            Class::DoubleTwo => double(&double(text, random)?, random),
            Class::SwapTwo => swap(text, random),
            Class::ReplaceOne => replace(text, random),
            Class::DeleteAndDouble => double(&delete(text, random)?, random),
            Class::FenceDeleted => fence(text, random, |_, _| String::new()),
            Class::FenceDoubled => fence(text, random, |line, _| format!("{line}\n{line}")),
            Class::FenceSwapped => fence(text, random, |line, random| match random.below(3) {
                0 => line.replace("```", "~~~"),
                1 => line.replacen('`', "", 1).replacen('~', "", 1),
                _ => line.replace("~~~", "```") + "`",
            }),
            Class::KeyMisspelt => misspell_key(text, random),
            Class::SecondAnswer => Some(text.to_owned() + random.pick(&SECOND_ANSWERS)),
            Class::CutAndSecondAnswer => {
                // A cut before the first blocking word leaves no evidence of a finding.
                let from = ["\"P0\"", "\"P1\"", "CRITICAL", "HIGH"]
                    .iter()
                    .filter_map(|word| Some(text.find(word)? + word.len() + 2))
                    .min()?;
                let cut = text.floor_char_boundary(from + random.below(text.len() - from));
                Some(text[..cut].to_owned() + random.pick(&SECOND_ANSWERS))
            }
            Class::Placeholder => placeholder(text, random),
        }
    }
}

fn boundary(text: &str, random: &mut Random) -> usize {
    text.floor_char_boundary(random.below(text.len()))
}

/// Returns the offset of a random character that JSON is built from.
fn structural(text: &str, random: &mut Random) -> Option<usize> {
    let places: Vec<usize> = text.match_indices(STRUCTURE).map(|(at, _)| at).collect();
    (!places.is_empty()).then(|| places[random.below(places.len())])
}

fn delete(text: &str, random: &mut Random) -> Option<String> {
    let at = structural(text, random)?;
    Some(format!("{}{}", &text[..at], &text[at + 1..]))
}

fn double(text: &str, random: &mut Random) -> Option<String> {
    let at = structural(text, random)?;
    Some(format!("{}{}", &text[..=at], &text[at..]))
}

fn swap(text: &str, random: &mut Random) -> Option<String> {
    let (a, b) = (structural(text, random)?, structural(text, random)?);
    let mut bytes = text.as_bytes().to_vec();
    bytes.swap(a, b);
    String::from_utf8(bytes).ok()
}

fn replace(text: &str, random: &mut Random) -> Option<String> {
    let at = structural(text, random)?;
    Some(format!("{}{}{}", &text[..at], random.pick(&STRUCTURE), &text[at + 1..]))
}

fn fence(
    text: &str,
    random: &mut Random,
    change: fn(&str, &mut Random) -> String,
) -> Option<String> {
    let lines: Vec<&str> = text.lines().collect();
    let is_fence = |line: &&str| line.starts_with("```") || line.starts_with("~~~");
    let fences: Vec<usize> = (0..lines.len()).filter(|number| is_fence(&lines[*number])).collect();
    let hit = *fences.get(random.below(fences.len().max(1)))?;
    let mut damaged: Vec<String> = lines.iter().map(|line| (*line).to_owned()).collect();
    damaged[hit] = change(lines[hit], random);
    Some(damaged.join("\n"))
}

fn misspell_key(text: &str, random: &mut Random) -> Option<String> {
    let keys: Vec<(usize, usize)> = text
        .match_indices("\":")
        .filter_map(|(end, _)| {
            let start = text[..end].rfind('"')? + 1;
            let is_name = |c: char| c.is_ascii_alphanumeric() || c == '_';
            (end > start && text[start..end].chars().all(is_name)).then_some((start, end))
        })
        .collect();
    let (start, end) = *keys.get(random.below(keys.len().max(1)))?;
    let at = start + random.below(end - start);
    let key = &text[start..end];
    let misspelt = match random.below(4) {
        0 => format!("{}{}", &text[start..at], &text[at + 1..end]),
        1 => format!("{}{}", &text[start..=at], &text[at..end]),
        2 => format!(
            "{}{}{}",
            &text[start..at],
            random.pick(&['x', 'e', 's', '_', 'q']),
            &text[at + 1..end]
        ),
        _ => {
            let mut letters = key.as_bytes().to_vec();
            let next = (at - start + 1).min(letters.len() - 1);
            letters.swap(at - start, next);
            String::from_utf8(letters).ok()?
        }
    };
    Some(format!("{}{misspelt}{}", &text[..start], &text[end..]))
}

/// Replaces a list of findings with a placeholder.
fn placeholder(text: &str, random: &mut Random) -> Option<String> {
    let keys = ["\"findings\":", "\"issues\":"];
    let at = keys.iter().find_map(|key| Some(text.find(key)? + key.len()))?;
    let start = at + text[at..].find(['[', '{'])?;
    let mut values =
        serde_json::Deserializer::from_str(&text[start..]).into_iter::<serde_json::Value>();
    values.next()?.ok()?;
    let end = start + values.byte_offset();
    Some(format!("{}{}{}", &text[..start], random.pick(&PLACEHOLDERS), &text[end..]))
}
