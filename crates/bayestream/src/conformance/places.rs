//! Where the numbers of a model are in the body of its file, so that they can be forged one by one.
//!
//! A serialiser that writes nothing and only counts bytes as `postcard` would write them: a floating-point number is its
//! bytes, a whole number and a length take seven bits a byte, names are not written.

use serde::ser::{
    Serialize, SerializeMap, SerializeSeq, SerializeStruct, SerializeStructVariant, SerializeTuple,
    SerializeTupleStruct, SerializeTupleVariant, Serializer,
};
use std::fmt;

/// A floating-point number in a body.
#[derive(Clone, Debug, PartialEq)]
pub(super) struct Place {
    /// Bytes before it.
    pub at: usize,
    /// Bytes it takes: 4 or 8.
    pub width: usize,
    /// The fields that lead to it; places in lists are left out, so that all numbers of a list have one name.
    pub name: String,
}

/// Every floating-point number in the body of a file.
pub(super) fn numbers(model: &impl Serialize) -> Vec<Place> {
    let mut walk = Walk::default();
    model.serialize(&mut walk).expect("lengths of lists are known and nothing is written");
    walk.found
}

#[derive(Default)]
struct Walk {
    at: usize,
    path: Vec<&'static str>,
    found: Vec<Place>,
}

/// What cannot be counted.
#[derive(Debug)]
struct Unknown(String);

impl fmt::Display for Unknown {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.0)
    }
}

impl std::error::Error for Unknown {}

impl serde::ser::Error for Unknown {
    fn custom<T: fmt::Display>(message: T) -> Unknown {
        Unknown(message.to_string())
    }
}

impl Walk {
    fn pass(&mut self, n_bytes: usize) -> Result<(), Unknown> {
        self.at += n_bytes;
        Ok(())
    }

    fn whole(&mut self, value: u128) -> Result<(), Unknown> {
        self.pass((128 - value.leading_zeros()).div_ceil(7).max(1) as usize)
    }

    fn signed(&mut self, value: i128) -> Result<(), Unknown> {
        self.whole(((value << 1) ^ (value >> 127)) as u128)
    }

    fn number(&mut self, width: usize) -> Result<(), Unknown> {
        self.found.push(Place { at: self.at, width, name: self.path.join(".") });
        self.pass(width)
    }

    fn length(&mut self, length: Option<usize>) -> Result<&mut Walk, Unknown> {
        self.whole(length.ok_or_else(|| Unknown("a list without a length".into()))? as u128)?;
        Ok(self)
    }

    fn field<T: ?Sized + Serialize>(&mut self, name: &'static str, value: &T) -> Result<(), Unknown> {
        self.path.push(name);
        let done = value.serialize(&mut *self);
        self.path.pop();
        done
    }
}

macro_rules! unsigned {
    ($($method:ident $number:ty),+) => {
        $(fn $method(self, value: $number) -> Result<(), Unknown> {
            self.whole(value as u128)
        })+
    };
}

macro_rules! signed {
    ($($method:ident $number:ty),+) => {
        $(fn $method(self, value: $number) -> Result<(), Unknown> {
            self.signed(value as i128)
        })+
    };
}

impl<'a> Serializer for &'a mut Walk {
    type Ok = ();
    type Error = Unknown;
    type SerializeSeq = &'a mut Walk;
    type SerializeTuple = &'a mut Walk;
    type SerializeTupleStruct = &'a mut Walk;
    type SerializeTupleVariant = &'a mut Walk;
    type SerializeMap = &'a mut Walk;
    type SerializeStruct = &'a mut Walk;
    type SerializeStructVariant = &'a mut Walk;

    unsigned!(serialize_u16 u16, serialize_u32 u32, serialize_u64 u64, serialize_u128 u128);
    signed!(serialize_i16 i16, serialize_i32 i32, serialize_i64 i64, serialize_i128 i128);

    fn serialize_bool(self, _: bool) -> Result<(), Unknown> {
        self.pass(1)
    }

    fn serialize_i8(self, _: i8) -> Result<(), Unknown> {
        self.pass(1)
    }

    fn serialize_u8(self, _: u8) -> Result<(), Unknown> {
        self.pass(1)
    }

    fn serialize_f32(self, _: f32) -> Result<(), Unknown> {
        self.number(4)
    }

    fn serialize_f64(self, _: f64) -> Result<(), Unknown> {
        self.number(8)
    }

    fn serialize_char(self, value: char) -> Result<(), Unknown> {
        self.serialize_str(value.encode_utf8(&mut [0; 4]))
    }

    fn serialize_str(self, value: &str) -> Result<(), Unknown> {
        self.serialize_bytes(value.as_bytes())
    }

    fn serialize_bytes(self, value: &[u8]) -> Result<(), Unknown> {
        self.whole(value.len() as u128)?;
        self.pass(value.len())
    }

    fn serialize_none(self) -> Result<(), Unknown> {
        self.pass(1)
    }

    fn serialize_some<T: ?Sized + Serialize>(self, value: &T) -> Result<(), Unknown> {
        self.pass(1)?;
        value.serialize(self)
    }

    fn serialize_unit(self) -> Result<(), Unknown> {
        Ok(())
    }

    fn serialize_unit_struct(self, _: &'static str) -> Result<(), Unknown> {
        Ok(())
    }

    fn serialize_unit_variant(self, _: &'static str, variant: u32, _: &'static str) -> Result<(), Unknown> {
        self.whole(u128::from(variant))
    }

    fn serialize_newtype_struct<T: ?Sized + Serialize>(self, _: &'static str, value: &T) -> Result<(), Unknown> {
        value.serialize(self)
    }

    fn serialize_newtype_variant<T: ?Sized + Serialize>(
        self,
        _: &'static str,
        variant: u32,
        name: &'static str,
        value: &T,
    ) -> Result<(), Unknown> {
        self.whole(u128::from(variant))?;
        self.field(name, value)
    }

    fn serialize_seq(self, length: Option<usize>) -> Result<&'a mut Walk, Unknown> {
        self.length(length)
    }

    fn serialize_tuple(self, _: usize) -> Result<&'a mut Walk, Unknown> {
        Ok(self)
    }

    fn serialize_tuple_struct(self, _: &'static str, _: usize) -> Result<&'a mut Walk, Unknown> {
        Ok(self)
    }

    fn serialize_tuple_variant(
        self,
        _: &'static str,
        variant: u32,
        _: &'static str,
        _: usize,
    ) -> Result<&'a mut Walk, Unknown> {
        self.whole(u128::from(variant))?;
        Ok(self)
    }

    fn serialize_map(self, length: Option<usize>) -> Result<&'a mut Walk, Unknown> {
        self.length(length)
    }

    fn serialize_struct(self, _: &'static str, _: usize) -> Result<&'a mut Walk, Unknown> {
        Ok(self)
    }

    fn serialize_struct_variant(
        self,
        _: &'static str,
        variant: u32,
        _: &'static str,
        _: usize,
    ) -> Result<&'a mut Walk, Unknown> {
        self.whole(u128::from(variant))?;
        Ok(self)
    }

    fn is_human_readable(&self) -> bool {
        false
    }
}

macro_rules! listed {
    ($($part:ident $method:ident),+) => {
        $(impl $part for &mut Walk {
            type Ok = ();
            type Error = Unknown;

            fn $method<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<(), Unknown> {
                value.serialize(&mut **self)
            }

            fn end(self) -> Result<(), Unknown> {
                Ok(())
            }
        })+
    };
}

listed!(SerializeSeq serialize_element, SerializeTuple serialize_element);
listed!(SerializeTupleStruct serialize_field, SerializeTupleVariant serialize_field);

macro_rules! named {
    ($($part:ident),+) => {
        $(impl $part for &mut Walk {
            type Ok = ();
            type Error = Unknown;

            fn serialize_field<T: ?Sized + Serialize>(
                &mut self,
                name: &'static str,
                value: &T,
            ) -> Result<(), Unknown> {
                self.field(name, value)
            }

            fn end(self) -> Result<(), Unknown> {
                Ok(())
            }
        })+
    };
}

named!(SerializeStruct, SerializeStructVariant);

impl SerializeMap for &mut Walk {
    type Ok = ();
    type Error = Unknown;

    fn serialize_key<T: ?Sized + Serialize>(&mut self, key: &T) -> Result<(), Unknown> {
        key.serialize(&mut **self)
    }

    fn serialize_value<T: ?Sized + Serialize>(&mut self, value: &T) -> Result<(), Unknown> {
        value.serialize(&mut **self)
    }

    fn end(self) -> Result<(), Unknown> {
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::collections::BTreeMap;

    #[derive(serde::Serialize)]
    enum Choice {
        Plain,
        Wrapped(f32),
        Pair(u64, f64),
        Named { list: Vec<f64>, flag: bool },
    }

    #[derive(serde::Serialize)]
    struct All {
        text: String,
        small: i64,
        choices: Vec<Choice>,
        map: BTreeMap<u32, (f64, Option<f64>)>,
    }

    #[test]
    fn numbers_are_where_postcard_puts_them() {
        let choices = vec![
            Choice::Plain,
            Choice::Wrapped(1.5),
            Choice::Pair(1 << 40, 2.5),
            Choice::Named { list: vec![3.5; 200], flag: true },
        ];
        let map = BTreeMap::from([(300, (4.5, Some(5.5))), (7, (6.5, None))]);
        let all = All { text: "naïve".into(), small: -70_000, choices, map };
        let bytes = postcard::to_stdvec(&all).unwrap();
        let places = numbers(&all);
        let read = |place: &Place| match place.width {
            4 => f64::from(f32::from_le_bytes(bytes[place.at..place.at + 4].try_into().unwrap())),
            _ => f64::from_le_bytes(bytes[place.at..place.at + 8].try_into().unwrap()),
        };
        let found: Vec<f64> = places.iter().map(read).collect();
        let expected: Vec<f64> = [1.5, 2.5].into_iter().chain([3.5; 200]).chain([6.5, 4.5, 5.5]).collect();
        assert_eq!(found, expected);
        assert_eq!(places[5].name, "choices.list");
    }
}
