//! Keys that stand twice in one object of JSON: [`doubled_key`].

use std::cell::RefCell;
use std::collections::HashSet;
use std::fmt;

use serde::de::{DeserializeSeed, Deserializer, Error, MapAccess, SeqAccess, Visitor};

/// Returns the first key that stands twice in one object, with the line of the second one, from 1.
/// Returns `None` also for a text that is no JSON.
pub(super) fn doubled_key(json: &str) -> Option<(String, usize)> {
    let found = RefCell::new(None);
    let mut reader = serde_json::Deserializer::from_str(json);
    let error = UniqueKeys(&found).deserialize(&mut reader).err()?;
    found.into_inner().map(|key| (key, error.line()))
}

/// Reads any value, and stops at a key that the same object had before.
#[derive(Clone, Copy)]
struct UniqueKeys<'a>(&'a RefCell<Option<String>>);

impl<'de> DeserializeSeed<'de> for UniqueKeys<'_> {
    type Value = ();

    fn deserialize<D: Deserializer<'de>>(self, deserializer: D) -> Result<(), D::Error> {
        deserializer.deserialize_any(self)
    }
}

impl<'de> Visitor<'de> for UniqueKeys<'_> {
    type Value = ();

    fn expecting(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str("JSON")
    }

    fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<(), A::Error> {
        let mut seen = HashSet::new();
        while let Some(key) = map.next_key::<String>()? {
            if seen.contains(&key) {
                self.0.replace(Some(key));
                return Err(A::Error::custom("a key stands twice"));
            }
            seen.insert(key);
            map.next_value_seed(self)?;
        }
        Ok(())
    }

    fn visit_seq<A: SeqAccess<'de>>(self, mut list: A) -> Result<(), A::Error> {
        while list.next_element_seed(self)?.is_some() {}
        Ok(())
    }

    fn visit_bool<E>(self, _: bool) -> Result<(), E> {
        Ok(())
    }

    fn visit_i64<E>(self, _: i64) -> Result<(), E> {
        Ok(())
    }

    fn visit_u64<E>(self, _: u64) -> Result<(), E> {
        Ok(())
    }

    fn visit_f64<E>(self, _: f64) -> Result<(), E> {
        Ok(())
    }

    fn visit_str<E>(self, _: &str) -> Result<(), E> {
        Ok(())
    }

    fn visit_unit<E>(self) -> Result<(), E> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_key_that_stands_twice_in_one_object_is_found_with_its_line() {
        let doubled = "{\"phases\": [\n {\"status\": 1,\n  \"status\": 2}\n]}";
        assert_eq!(doubled_key(doubled), Some(("status".to_owned(), 3)));
        assert_eq!(doubled_key("{\"a\": {\"b\": 1}, \"b\": [{\"a\": 1}, {\"a\": null}]}"), None);
    }
}
