//! The primitives of Kafka's generated messages: big-endian numbers, the classic and the compact ("flexible") forms of
//! texts, byte strings and arrays, and tagged fields.

use super::RecordError;

/// Whether a version of a message uses the compact forms and ends in tagged fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub(super) enum Form {
    /// Lengths are `i16` (texts) or `i32` (bytes, arrays); no tagged fields.
    Classic,
    /// Lengths are an unsigned varint of the length plus one; tagged fields end each structure.
    Flexible,
}

/// Reads one record from front to back.
#[derive(Clone, Debug)]
pub(super) struct Reader<'a> {
    rest: &'a [u8],
}

impl<'a> Reader<'a> {
    pub(super) fn new(bytes: &'a [u8]) -> Self {
        Self { rest: bytes }
    }

    fn take(&mut self, len: usize) -> Result<&'a [u8], RecordError> {
        let (front, rest) = self
            .rest
            .split_at_checked(len)
            .ok_or(RecordError::UnexpectedEnd)?;
        self.rest = rest;
        Ok(front)
    }

    fn take_array<const N: usize>(&mut self) -> Result<[u8; N], RecordError> {
        let (front, rest) = self
            .rest
            .split_first_chunk::<N>()
            .ok_or(RecordError::UnexpectedEnd)?;
        self.rest = rest;
        Ok(*front)
    }

    pub(super) fn i8(&mut self) -> Result<i8, RecordError> {
        Ok(i8::from_be_bytes(self.take_array()?))
    }

    pub(super) fn i16(&mut self) -> Result<i16, RecordError> {
        Ok(i16::from_be_bytes(self.take_array()?))
    }

    pub(super) fn i32(&mut self) -> Result<i32, RecordError> {
        Ok(i32::from_be_bytes(self.take_array()?))
    }

    pub(super) fn i64(&mut self) -> Result<i64, RecordError> {
        Ok(i64::from_be_bytes(self.take_array()?))
    }

    pub(super) fn uuid(&mut self) -> Result<[u8; 16], RecordError> {
        self.take_array()
    }

    /// An unsigned varint of at most 32 bits.
    pub(super) fn unsigned_varint(&mut self) -> Result<u32, RecordError> {
        let mut value: u32 = 0;
        for shift in [0, 7, 14, 21, 28] {
            let [byte] = self.take_array()?;
            let bits = u32::from(byte & 0x7f);
            if shift == 28 && bits > 0x0f {
                return Err(RecordError::InvalidLength);
            }
            value |= bits << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(RecordError::InvalidLength)
    }

    /// A length that may say "null", checked against the bytes that are left.
    fn length(&mut self, form: Form, short: bool) -> Result<Option<usize>, RecordError> {
        let length = match form {
            Form::Flexible => i64::from(self.unsigned_varint()?) - 1,
            Form::Classic if short => i64::from(self.i16()?),
            Form::Classic => i64::from(self.i32()?),
        };
        match usize::try_from(length) {
            Ok(length) if length <= self.rest.len() => Ok(Some(length)),
            Ok(_) => Err(RecordError::InvalidLength),
            Err(_) if length == -1 => Ok(None),
            Err(_) => Err(RecordError::InvalidLength),
        }
    }

    pub(super) fn nullable_text(&mut self, form: Form) -> Result<Option<&'a str>, RecordError> {
        let Some(length) = self.length(form, true)? else {
            return Ok(None);
        };
        std::str::from_utf8(self.take(length)?)
            .map(Some)
            .map_err(|_| RecordError::InvalidText)
    }

    pub(super) fn text(&mut self, form: Form) -> Result<&'a str, RecordError> {
        self.nullable_text(form)?.ok_or(RecordError::InvalidLength)
    }

    pub(super) fn bytes(&mut self, form: Form) -> Result<&'a [u8], RecordError> {
        let length = self
            .length(form, false)?
            .ok_or(RecordError::InvalidLength)?;
        self.take(length)
    }

    /// The number of elements of an array, at least one byte each, or `None` for a null array.
    pub(super) fn count(&mut self, form: Form) -> Result<Option<usize>, RecordError> {
        self.length(form, false)
    }

    /// The tagged fields that end a structure: `read` gets the tag and a reader over that field alone, and says
    /// whether it knows the tag. Unknown tags are skipped. Tags must rise.
    pub(super) fn tagged_fields(
        &mut self,
        form: Form,
        mut read: impl FnMut(u32, &mut Reader<'a>) -> Result<bool, RecordError>,
    ) -> Result<(), RecordError> {
        if form == Form::Classic {
            return Ok(());
        }
        let count = self.unsigned_varint()?;
        let mut last: Option<u32> = None;
        for _ in 0..count {
            let tag = self.unsigned_varint()?;
            if last.is_some_and(|last| tag <= last) {
                return Err(RecordError::InvalidField("tag"));
            }
            last = Some(tag);
            let size =
                usize::try_from(self.unsigned_varint()?).map_err(|_| RecordError::InvalidLength)?;
            let mut field = Reader::new(self.take(size)?);
            if read(tag, &mut field)? {
                field.finish()?;
            }
        }
        Ok(())
    }

    /// Checks that nothing is left.
    pub(super) fn finish(self: &mut Reader<'a>) -> Result<(), RecordError> {
        if self.rest.is_empty() {
            Ok(())
        } else {
            Err(RecordError::TrailingBytes(self.rest.len()))
        }
    }
}

/// Writes one record from front to back.
#[derive(Debug, Default)]
pub(super) struct Writer {
    bytes: Vec<u8>,
}

impl Writer {
    /// A writer whose first bytes are the version that begins every coordinator record.
    pub(super) fn versioned(version: i16) -> Self {
        // Most records fit: one allocation each.
        let mut writer = Self {
            bytes: Vec::with_capacity(128),
        };
        writer.i16(version);
        writer
    }

    pub(super) fn i8(&mut self, value: i8) {
        self.bytes.extend_from_slice(&value.to_be_bytes());
    }

    pub(super) fn i16(&mut self, value: i16) {
        self.bytes.extend_from_slice(&value.to_be_bytes());
    }

    pub(super) fn i32(&mut self, value: i32) {
        self.bytes.extend_from_slice(&value.to_be_bytes());
    }

    pub(super) fn i64(&mut self, value: i64) {
        self.bytes.extend_from_slice(&value.to_be_bytes());
    }

    pub(super) fn raw(&mut self, value: &[u8]) {
        self.bytes.extend_from_slice(value);
    }

    pub(super) fn unsigned_varint(&mut self, mut value: u32) {
        while value >= 0x80 {
            self.bytes.push((value & 0x7f) as u8 | 0x80);
            value >>= 7;
        }
        self.bytes.push(value as u8);
    }

    fn length(&mut self, form: Form, short: bool, length: usize) -> Result<(), RecordError> {
        match form {
            Form::Flexible => {
                let length = u32::try_from(length)
                    .ok()
                    .and_then(|length| length.checked_add(1));
                self.unsigned_varint(length.ok_or(RecordError::TooLong)?);
            }
            Form::Classic if short => {
                self.i16(i16::try_from(length).map_err(|_| RecordError::TooLong)?)
            }
            Form::Classic => self.i32(i32::try_from(length).map_err(|_| RecordError::TooLong)?),
        }
        Ok(())
    }

    pub(super) fn text(&mut self, form: Form, value: &str) -> Result<(), RecordError> {
        self.length(form, true, value.len())?;
        self.raw(value.as_bytes());
        Ok(())
    }

    pub(super) fn nullable_text(
        &mut self,
        form: Form,
        value: Option<&str>,
    ) -> Result<(), RecordError> {
        match (value, form) {
            (Some(value), _) => self.text(form, value)?,
            (None, Form::Flexible) => self.unsigned_varint(0),
            (None, Form::Classic) => self.i16(-1),
        }
        Ok(())
    }

    pub(super) fn bytes(&mut self, form: Form, value: &[u8]) -> Result<(), RecordError> {
        self.length(form, false, value.len())?;
        self.raw(value);
        Ok(())
    }

    pub(super) fn count(&mut self, form: Form, count: usize) -> Result<(), RecordError> {
        self.length(form, false, count)
    }

    pub(super) fn null_array(&mut self, form: Form) {
        match form {
            Form::Flexible => self.unsigned_varint(0),
            Form::Classic => self.i32(-1),
        }
    }

    /// The tagged fields that end a structure, in rising order of their tags; nothing in the classic form.
    pub(super) fn tagged_fields(&mut self, form: Form, fields: &[(u32, &[u8])]) {
        if form == Form::Classic {
            return;
        }
        self.unsigned_varint(fields.len() as u32);
        for (tag, value) in fields {
            self.unsigned_varint(*tag);
            self.unsigned_varint(value.len() as u32);
            self.raw(value);
        }
    }

    pub(super) fn finish(self) -> bytes::Bytes {
        self.bytes.into()
    }
}

#[cfg(test)]
mod tests {
    use super::{Form, Reader, RecordError, Writer};

    #[test]
    fn varints_go_round_at_every_width() {
        for value in [0, 1, 127, 128, 16_383, 16_384, u32::MAX] {
            let mut writer = Writer::default();
            writer.unsigned_varint(value);
            let bytes = writer.finish();
            assert_eq!(Reader::new(&bytes).unsigned_varint(), Ok(value));
        }
        assert_eq!(
            Reader::new(&[0xff; 5]).unsigned_varint(),
            Err(RecordError::InvalidLength)
        );
        assert_eq!(
            Reader::new(&[0xff; 4]).unsigned_varint(),
            Err(RecordError::UnexpectedEnd)
        );
    }

    #[test]
    fn a_count_larger_than_the_bytes_left_is_refused_before_any_allocation() {
        assert_eq!(
            Reader::new(&[0x7f, 0xff, 0xff, 0xff]).count(Form::Classic),
            Err(RecordError::InvalidLength)
        );
        assert_eq!(
            Reader::new(&[0xff, 0xff, 0xff, 0xff, 0x0f]).count(Form::Flexible),
            Err(RecordError::InvalidLength)
        );
        assert_eq!(
            Reader::new(&[0xff, 0xff, 0xff, 0xfe]).count(Form::Classic),
            Err(RecordError::InvalidLength)
        );
    }

    #[test]
    fn texts_too_long_for_the_classic_form_are_refused() {
        let long = "x".repeat(32_768);
        assert_eq!(
            Writer::default().text(Form::Classic, &long),
            Err(RecordError::TooLong)
        );
        assert_eq!(Writer::default().text(Form::Flexible, &long), Ok(()));
    }

    #[test]
    fn unknown_tags_are_skipped_and_falling_tags_refused() {
        let skip = [1, 9, 2, 0xaa, 0xbb];
        let mut reader = Reader::new(&skip);
        assert_eq!(
            reader.tagged_fields(Form::Flexible, |_, _| Ok(false)),
            Ok(())
        );
        assert_eq!(reader.finish(), Ok(()));
        let falling = [2, 3, 0, 3, 0];
        assert_eq!(
            Reader::new(&falling).tagged_fields(Form::Flexible, |_, _| Ok(false)),
            Err(RecordError::InvalidField("tag"))
        );
    }
}
