//! The part of Thrift's compact protocol that is needed to check a Parquet file's sizes before
//! decoding.
//!
//! Specification: Apache Thrift, "Thrift Compact protocol encoding". All data are traversed with
//! bounded depth and without allocation. Fields must be in ascending order, as every writer writes
//! them, so that none occurs twice.

/// Why bytes could not be read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Fault {
    /// The bytes end too early.
    Short,
    /// The bytes are not valid Thrift.
    Broken,
}

/// Deepest nesting of structures; Parquet's own have about six levels.
const MAX_NESTING: u32 = 16;

const TRUE: u8 = 1;
const FALSE: u8 = 2;
const BYTE: u8 = 3;
const I16: u8 = 4;
pub(super) const I32: u8 = 5;
const I64: u8 = 6;
const DOUBLE: u8 = 7;
pub(super) const BINARY: u8 = 8;
pub(super) const LIST: u8 = 9;
const SET: u8 = 10;
const MAP: u8 = 11;
pub(super) const STRUCT: u8 = 12;
const UUID: u8 = 13;

/// Bytes being read.
pub(super) struct Reader<'a> {
    bytes: &'a [u8],
    at: usize,
    nesting: u32,
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { bytes, at: 0, nesting: 0 }
    }

    /// The number of bytes read.
    pub(super) fn position(&self) -> usize {
        self.at
    }

    /// Reads a structure. Calls `field` with the id and type of each field; it returns whether it
    /// read the field.
    pub(super) fn fields(
        &mut self,
        mut field: impl FnMut(&mut Self, i16, u8) -> Result<bool, Fault>,
    ) -> Result<(), Fault> {
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            return Err(Fault::Broken);
        }
        let mut last: Option<i16> = None;
        loop {
            let byte = self.byte()?;
            let (delta, kind) = (byte >> 4, byte & 15);
            if kind == 0 {
                break;
            }
            let id = match delta {
                0 => i16::try_from(self.integer()?).map_err(|_| Fault::Broken)?,
                delta => last.unwrap_or(0).checked_add(delta.into()).ok_or(Fault::Broken)?,
            };
            if last.is_some_and(|last| id <= last) {
                return Err(Fault::Broken);
            }
            last = Some(id);
            if !field(self, id, kind)? {
                self.skip(kind)?;
            }
        }
        self.nesting -= 1;
        Ok(())
    }

    /// Reads the head of a list: the type and number of its elements.
    pub(super) fn list(&mut self) -> Result<(u8, usize), Fault> {
        let byte = self.byte()?;
        let size = match byte >> 4 {
            15 => usize::try_from(self.varint()?).map_err(|_| Fault::Broken)?,
            size => size.into(),
        };
        // Every element has at least one byte.
        if size > self.bytes.len() - self.at {
            return Err(Fault::Short);
        }
        Ok((byte & 15, size))
    }

    /// Reads an integer of any width.
    pub(super) fn integer(&mut self) -> Result<i64, Fault> {
        let zigzag = self.varint()?;
        Ok((zigzag >> 1) as i64 ^ -((zigzag & 1) as i64))
    }

    /// Reads a size or count: a non-negative `i32`.
    pub(super) fn count(&mut self) -> Result<u64, Fault> {
        let count = i32::try_from(self.integer()?).map_err(|_| Fault::Broken)?;
        u64::try_from(count).map_err(|_| Fault::Broken)
    }

    /// Reads bytes preceded by their length.
    pub(super) fn binary(&mut self) -> Result<&'a [u8], Fault> {
        let length = usize::try_from(self.varint()?).map_err(|_| Fault::Broken)?;
        let bytes = self.bytes[self.at..].get(..length).ok_or(Fault::Short)?;
        self.at += length;
        Ok(bytes)
    }

    /// Skips the value of a field.
    fn skip(&mut self, kind: u8) -> Result<(), Fault> {
        match kind {
            TRUE | FALSE => Ok(()),
            other => self.skip_element(other),
        }
    }

    /// Skips an element of a list, where booleans have a byte.
    fn skip_element(&mut self, kind: u8) -> Result<(), Fault> {
        match kind {
            TRUE | FALSE | BYTE => self.byte().map(drop),
            I16 | I32 | I64 => self.varint().map(drop),
            DOUBLE => self.pass(8),
            UUID => self.pass(16),
            BINARY => self.binary().map(drop),
            STRUCT => self.fields(|_, _, _| Ok(false)),
            LIST | SET => {
                let (kind, size) = self.list()?;
                self.nested(|reader| (0..size).try_for_each(|_| reader.skip_element(kind)))
            }
            MAP => {
                let size = self.varint()?;
                let kinds = if size == 0 { 0 } else { self.byte()? };
                self.nested(|reader| {
                    (0..size).try_for_each(|_| {
                        reader.skip_element(kinds >> 4)?;
                        reader.skip_element(kinds & 15)
                    })
                })
            }
            _ => Err(Fault::Broken),
        }
    }

    fn nested(&mut self, read: impl FnOnce(&mut Self) -> Result<(), Fault>) -> Result<(), Fault> {
        self.nesting += 1;
        if self.nesting > MAX_NESTING {
            return Err(Fault::Broken);
        }
        read(self)?;
        self.nesting -= 1;
        Ok(())
    }

    fn varint(&mut self) -> Result<u64, Fault> {
        let mut number = 0_u64;
        for shift in (0..64).step_by(7) {
            let byte = self.byte()?;
            number |= u64::from(byte & 0x7f) << shift;
            if byte < 0x80 {
                return Ok(number);
            }
        }
        Err(Fault::Broken)
    }

    fn byte(&mut self) -> Result<u8, Fault> {
        let byte = *self.bytes.get(self.at).ok_or(Fault::Short)?;
        self.at += 1;
        Ok(byte)
    }

    fn pass(&mut self, count: usize) -> Result<(), Fault> {
        self.at += count;
        if self.at > self.bytes.len() { Err(Fault::Short) } else { Ok(()) }
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn fields_are_found_and_others_passed_over() {
        // 1: i32 -3, 2: list of i32 [1, 2], 4: true, 5: binary "ab", 7: struct { 1: double }, 8:
        // i32 300
        let bytes = [
            0x15, 5, 0x19, 0x25, 2, 4, 0x21, 0x18, 2, b'a', b'b', 0x2c, 0x17, 0, 0, 0, 0, 0, 0, 0, 0, 0, 0x15, 0xd8, 4,
            0,
        ];
        let mut found = Vec::new();
        let mut reader = Reader::new(&bytes);
        let read = reader.fields(|reader, id, kind| match (id, kind) {
            (1 | 8, I32) => reader.integer().map(|number| found.push(number)).map(|()| true),
            _ => Ok(false),
        });
        assert_eq!((read, found, reader.position()), (Ok(()), vec![-3, 300], bytes.len()));
        assert!(
            (0..bytes.len()).all(|end| Reader::new(&bytes[..end]).fields(|_, _, _| Ok(false)) == Err(Fault::Short))
        );
    }

    #[test]
    fn what_no_writer_writes_is_broken() {
        let broken = |bytes: &[u8]| Reader::new(bytes).fields(|_, _, _| Ok(false)) == Err(Fault::Broken);
        assert!(broken(&[0x15, 2, 0x05, 2, 2, 0]), "field 1 again");
        assert!(broken(&[0x1e, 0]), "no such type");
        assert!(broken(&[0x1c; 40]), "structures without end");
        assert!(broken(&[0x19].iter().copied().chain([0x19; 60]).collect::<Vec<_>>()), "lists without end");
        assert!(broken(&[0x15, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 0xff, 1, 0]));
    }

    proptest! {
        #[test]
        fn no_bytes_panic(bytes in proptest::collection::vec(any::<u8>(), 0..200)) {
            let _ = Reader::new(&bytes).fields(|_, _, _| Ok(false));
        }
    }
}
