//! Values of the configuration that are a name or a definition: [`NameOrDefinition`].

use std::fmt;
use std::marker::PhantomData;

use serde::de::value::MapAccessDeserializer;
use serde::de::{Deserialize, Deserializer, MapAccess, Visitor};

/// A value as configured: the name of something that assay knows, or a definition.
///
/// Unlike an untagged enum, an error in a definition names the key.
#[derive(Debug)]
pub(super) enum NameOrDefinition<T> {
    Name(String),
    Definition(T),
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for NameOrDefinition<T> {
    fn deserialize<D: Deserializer<'de>>(from: D) -> Result<NameOrDefinition<T>, D::Error> {
        from.deserialize_any(NameOrDefinitionVisitor(PhantomData))
    }
}

struct NameOrDefinitionVisitor<T>(PhantomData<T>);

impl<'de, T: Deserialize<'de>> Visitor<'de> for NameOrDefinitionVisitor<T> {
    type Value = NameOrDefinition<T>;

    fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("a name or a map")
    }

    fn visit_str<E: serde::de::Error>(self, name: &str) -> Result<NameOrDefinition<T>, E> {
        Ok(NameOrDefinition::Name(name.to_owned()))
    }

    fn visit_map<A: MapAccess<'de>>(self, map: A) -> Result<NameOrDefinition<T>, A::Error> {
        T::deserialize(MapAccessDeserializer::new(map)).map(NameOrDefinition::Definition)
    }
}
