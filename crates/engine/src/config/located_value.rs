//! The values of a YAML file with the lines of their keys: [`LocatedValue`].

use std::collections::BTreeMap;
use std::fmt;

use serde::de::{Deserialize, Deserializer, Error, MapAccess, SeqAccess, Visitor};
use serde_json::Value;
use serde_saphyr::Spanned;

/// A value, and the line of its key or, in a list, of the value itself.
#[derive(Debug, Clone, PartialEq)]
pub(crate) struct LocatedValue {
    pub(crate) line: u64,
    pub(crate) content: LocatedContent,
}

/// The content of a value.
#[derive(Debug, Clone, PartialEq)]
pub(crate) enum LocatedContent {
    Scalar(Value),
    List(Vec<LocatedContent>),
    Map(BTreeMap<String, LocatedValue>),
}

impl LocatedContent {
    /// Returns the value at a path of keys; `None` if there is none.
    pub(crate) fn find(&self, keys: &[&str]) -> Option<&LocatedValue> {
        let LocatedContent::Map(members) = self else { return None };
        let (first, rest) = keys.split_first()?;
        let member = members.get(*first)?;
        if rest.is_empty() { Some(member) } else { member.content.find(rest) }
    }

    /// Returns the line and the name of the innermost key that some names lead to: the first name
    /// that is a path of keys, such as `review.rules`, and below it keys and values by their names.
    pub(crate) fn find_named(&self, names: &[&str]) -> Option<(u64, String)> {
        let find = |name: &&str| {
            let keys: Vec<&str> = name.split('.').collect();
            Some((self.find(&keys)?, keys.last()?.to_string()))
        };
        let (mut found, mut key) = names.iter().find_map(find)?;
        while let LocatedContent::Map(members) = &found.content {
            let inner = members.iter().find(|(member, value)| {
                names.contains(&member.as_str()) || value.content.has_scalar(names)
            });
            let Some((member, value)) = inner else { break };
            (found, key) = (value, member.clone());
        }
        Some((found.line, key))
    }

    /// Returns true if the value is one of some texts, or a list or a map with such a value.
    fn has_scalar(&self, texts: &[&str]) -> bool {
        match self {
            LocatedContent::Scalar(Value::String(text)) => texts.contains(&text.as_str()),
            LocatedContent::Scalar(_) => false,
            LocatedContent::List(items) => items.iter().any(|item| item.has_scalar(texts)),
            LocatedContent::Map(members) => {
                members.values().any(|member| member.content.has_scalar(texts))
            }
        }
    }

    /// Returns the value without lines. Members without content are left out, as if they were not
    /// written.
    pub(crate) fn to_json(&self) -> Value {
        match self {
            LocatedContent::Scalar(value) => value.clone(),
            LocatedContent::List(items) => items.iter().map(LocatedContent::to_json).collect(),
            LocatedContent::Map(members) => {
                let members = members.iter().map(|(key, it)| (key.clone(), it.content.to_json()));
                Value::Object(members.filter(|(_, value)| !value.is_null()).collect())
            }
        }
    }
}

impl<'de> Deserialize<'de> for LocatedContent {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<LocatedContent, D::Error> {
        from.deserialize_any(ContentVisitor)
    }
}

struct ContentVisitor;

impl<'de> Visitor<'de> for ContentVisitor {
    type Value = LocatedContent;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a value")
    }

    fn visit_bool<E: Error>(self, value: bool) -> Result<LocatedContent, E> {
        Ok(LocatedContent::Scalar(value.into()))
    }

    fn visit_i64<E: Error>(self, value: i64) -> Result<LocatedContent, E> {
        Ok(LocatedContent::Scalar(value.into()))
    }

    fn visit_u64<E: Error>(self, value: u64) -> Result<LocatedContent, E> {
        Ok(LocatedContent::Scalar(value.into()))
    }

    fn visit_f64<E: Error>(self, value: f64) -> Result<LocatedContent, E> {
        Ok(LocatedContent::Scalar(value.into()))
    }

    fn visit_str<E: Error>(self, value: &str) -> Result<LocatedContent, E> {
        Ok(LocatedContent::Scalar(value.into()))
    }

    fn visit_unit<E: Error>(self) -> Result<LocatedContent, E> {
        Ok(LocatedContent::Scalar(Value::Null))
    }

    fn visit_none<E: Error>(self) -> Result<LocatedContent, E> {
        Ok(LocatedContent::Scalar(Value::Null))
    }

    fn visit_some<D: Deserializer<'de>>(self, from: D) -> Result<LocatedContent, D::Error> {
        LocatedContent::deserialize(from)
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut items: A) -> Result<LocatedContent, A::Error> {
        let mut list = Vec::new();
        while let Some(item) = items.next_element::<LocatedContent>()? {
            list.push(item);
        }
        Ok(LocatedContent::List(list))
    }

    fn visit_map<A: MapAccess<'de>>(self, mut members: A) -> Result<LocatedContent, A::Error> {
        let mut map = BTreeMap::new();
        while let Some(key) = members.next_key::<Spanned<String>>()? {
            let line = key.referenced.line();
            map.insert(key.value, LocatedValue { line, content: members.next_value()? });
        }
        Ok(LocatedContent::Map(map))
    }
}
