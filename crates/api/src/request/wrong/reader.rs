//! The slow reader: a deserializer that goes through a JSON text value by value and knows where it
//! is, so that whatever it does not find is told by name and place.

use std::fmt;

use gonets_service::Problem;
use serde::{
    Deserialize,
    de::{self, DeserializeSeed, Deserializer, IntoDeserializer, Visitor, value::BorrowedStrDeserializer},
};
use serde_json::value::RawValue;

use super::place::{Place, Wrong, short};

/// Objects and arrays in each other, where they are parsed.
const DEPTH: usize = 100;

/// What a value is, by its first character.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) enum Kind {
    Null,
    Boolean,
    Number,
    String,
    Array,
    Object,
}

impl Kind {
    fn name(self) -> &'static str {
        match self {
            Self::Null => "null",
            Self::Boolean => "a boolean",
            Self::Number => "a number",
            Self::String => "a string",
            Self::Array => "an array",
            Self::Object => "an object",
        }
    }
}

/// A value of the body, where it is.
#[derive(Clone, Copy)]
pub(super) struct Reader<'de, 'p> {
    text: &'de str,
    at: Place<'p>,
    depth: usize,
}

impl<'de> Reader<'de, '_> {
    /// Of a whole body, which is JSON.
    pub(super) fn of(body: &'de RawValue) -> Self {
        Self { text: body.get(), at: Place::Body, depth: 0 }
    }

    pub(super) fn kind(&self) -> Kind {
        match self.text.bytes().next() {
            Some(b'{') => Kind::Object,
            Some(b'[') => Kind::Array,
            Some(b'"') => Kind::String,
            Some(b't' | b'f') => Kind::Boolean,
            Some(b'n') => Kind::Null,
            _ => Kind::Number,
        }
    }

    fn wrong(&self, says: impl fmt::Display) -> Wrong {
        let mut at = Vec::new();
        self.at.steps(&mut at);
        Wrong(Box::new(Problem { at, message: format!("{} {says}", self.at), kind: "type_error" }))
    }

    /// The value is of another kind than is wanted.
    fn must_be(&self, wanted: &str) -> Wrong {
        self.wrong(format_args!("must be {wanted}, not {}.", self.kind().name()))
    }

    fn string(&self) -> Result<String, Wrong> {
        if self.kind() != Kind::String {
            return Err(self.must_be("a string"));
        }
        serde_json::from_str(self.text).map_err(|_| self.wrong("has an escape that is no Unicode character."))
    }

    fn boolean(&self) -> Result<bool, Wrong> {
        if self.kind() == Kind::Boolean {
            Ok(self.text == "true")
        } else {
            Err(self.must_be("true or false"))
        }
    }

    /// A whole number from 0 to `most`.
    fn whole(&self, most: u64) -> Result<u64, Wrong> {
        let wanted = format!("a whole number from 0 to {most}");
        if self.kind() != Kind::Number {
            return Err(self.must_be(&wanted));
        }
        let number: Option<u64> = serde_json::from_str(self.text).ok().filter(|number| *number <= most);
        number.ok_or_else(|| self.wrong(format_args!("is {}, and must be {wanted}.", short(self.text))))
    }

    fn entries(&self) -> Result<Vec<(String, &'de RawValue)>, Wrong> {
        if self.kind() != Kind::Object {
            return Err(self.must_be("an object"));
        }
        if self.depth >= DEPTH {
            return Err(self.wrong(format_args!("is nested more than {DEPTH} levels deep.")));
        }
        let entries: Entries<'de> = serde_json::from_str(self.text)
            .map_err(|_| self.wrong("has a name with an escape that is no Unicode character."))?;
        Ok(entries.0)
    }

    fn items(&self) -> Result<Vec<&'de RawValue>, Wrong> {
        if self.kind() != Kind::Array {
            return Err(self.must_be("an array"));
        }
        if self.depth >= DEPTH {
            return Err(self.wrong(format_args!("is nested more than {DEPTH} levels deep.")));
        }
        serde_json::from_str(self.text).map_err(|_| self.must_be("an array"))
    }
}

/// The entries of an object as they are written, names that come twice too.
struct Entries<'de>(Vec<(String, &'de RawValue)>);

impl<'de> Deserialize<'de> for Entries<'de> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Gather;
        impl<'de> Visitor<'de> for Gather {
            type Value = Entries<'de>;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("an object")
            }

            fn visit_map<M: de::MapAccess<'de>>(self, mut map: M) -> Result<Self::Value, M::Error> {
                let mut entries = Vec::new();
                while let Some(entry) = map.next_entry()? {
                    entries.push(entry);
                }
                Ok(Entries(entries))
            }
        }
        deserializer.deserialize_map(Gather)
    }
}

/// An object, entry by entry.
struct Fields<'de, 'p> {
    of: &'p Reader<'de, 'p>,
    entries: std::vec::IntoIter<(String, &'de RawValue)>,
    next: Option<(String, &'de RawValue)>,
    /// The names that must come once, and those of them that came.
    known: &'static [&'static str],
    came: Vec<String>,
}

impl<'de> de::MapAccess<'de> for Fields<'de, '_> {
    type Error = Wrong;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Wrong> {
        let Some(entry) = self.entries.next() else { return Ok(None) };
        if self.known.contains(&entry.0.as_str()) {
            if self.came.contains(&entry.0) {
                let place = Place::Field(&self.of.at, &entry.0);
                return Err(Reader { at: place, ..*self.of }.wrong("is there twice."));
            }
            self.came.push(entry.0.clone());
        }
        let (name, _) = self.next.insert(entry);
        seed.deserialize(name.as_str().into_deserializer()).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Wrong> {
        let Some((name, value)) = self.next.take() else { return Err(de::Error::custom("no value")) };
        let at = Place::Field(&self.of.at, &name);
        seed.deserialize(Reader { text: value.get(), at, depth: self.of.depth + 1 })
    }
}

/// An array, item by item.
struct Items<'de, 'p> {
    of: &'p Reader<'de, 'p>,
    items: std::iter::Enumerate<std::vec::IntoIter<&'de RawValue>>,
}

impl<'de> de::SeqAccess<'de> for Items<'de, '_> {
    type Error = Wrong;

    fn next_element_seed<S: DeserializeSeed<'de>>(&mut self, seed: S) -> Result<Option<S::Value>, Wrong> {
        let Some((number, value)) = self.items.next() else { return Ok(None) };
        let at = Place::Item(&self.of.at, number);
        seed.deserialize(Reader { text: value.get(), at, depth: self.of.depth + 1 }).map(Some)
    }
}

/// A value that is kept as text, in the form in which serde_json passes one on.
struct AsText<'de>(&'static str, Option<&'de str>);

impl<'de> de::MapAccess<'de> for AsText<'de> {
    type Error = Wrong;

    fn next_key_seed<K: DeserializeSeed<'de>>(&mut self, seed: K) -> Result<Option<K::Value>, Wrong> {
        if self.1.is_none() {
            return Ok(None);
        }
        seed.deserialize(BorrowedStrDeserializer::new(self.0)).map(Some)
    }

    fn next_value_seed<V: DeserializeSeed<'de>>(&mut self, seed: V) -> Result<V::Value, Wrong> {
        seed.deserialize(BorrowedStrDeserializer::new(self.1.take().unwrap_or_default()))
    }
}

macro_rules! whole_numbers {
    ($($method:ident: $type:ty => $visit:ident),* $(,)?) => {$(
        fn $method<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
            visitor.$visit(self.whole(u64::from(<$type>::MAX))? as $type)
        }
    )*};
}

impl<'de> Deserializer<'de> for Reader<'de, '_> {
    type Error = Wrong;

    fn deserialize_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        match self.kind() {
            Kind::Null => visitor.visit_unit(),
            Kind::Boolean => visitor.visit_bool(self.boolean()?),
            Kind::String => visitor.visit_string(self.string()?),
            Kind::Array => self.deserialize_seq(visitor),
            Kind::Object => self.deserialize_map(visitor),
            Kind::Number => {
                let number = serde_json::from_str::<serde_json::Number>(self.text)
                    .map_err(|_| self.wrong("is a number that is too large."))?;
                number.deserialize_any(visitor).map_err(|_| self.wrong("is a number that cannot be used."))
            }
        }
    }

    fn deserialize_option<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        if self.kind() == Kind::Null { visitor.visit_none() } else { visitor.visit_some(self) }
    }

    fn deserialize_bool<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_bool(self.boolean()?)
    }

    fn deserialize_str<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_string(self.string()?)
    }

    fn deserialize_string<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_string(self.string()?)
    }

    whole_numbers! {
        deserialize_u8: u8 => visit_u8,
        deserialize_u16: u16 => visit_u16,
        deserialize_u32: u32 => visit_u32,
        deserialize_u64: u64 => visit_u64,
    }

    fn deserialize_seq<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        let items = self.items()?.into_iter().enumerate();
        visitor.visit_seq(Items { of: &self, items })
    }

    fn deserialize_map<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        self.deserialize_struct("", &[], visitor)
    }

    fn deserialize_struct<V: Visitor<'de>>(
        self,
        _name: &'static str,
        known: &'static [&'static str],
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        let entries = self.entries()?.into_iter();
        visitor.visit_map(Fields { of: &self, entries, next: None, known, came: Vec::new() })
    }

    fn deserialize_newtype_struct<V: Visitor<'de>>(
        self,
        name: &'static str,
        visitor: V,
    ) -> Result<V::Value, Wrong> {
        // The only newtype in a body is a value that stays text.
        visitor.visit_map(AsText(name, Some(self.text)))
    }

    fn deserialize_ignored_any<V: Visitor<'de>>(self, visitor: V) -> Result<V::Value, Wrong> {
        visitor.visit_unit()
    }

    serde::forward_to_deserialize_any! {
        i8 i16 i32 i64 i128 u128 f32 f64 char bytes byte_buf unit unit_struct tuple tuple_struct enum
        identifier
    }
}
