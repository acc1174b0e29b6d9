//! Numbers and slices from untrusted bytes.

use bytes::Bytes;

use super::error::WireError;

/// An answer that breaks the format, in words.
pub fn malformed(what: &str) -> WireError {
    WireError::Malformed(what.to_owned())
}

/// Numbers and slices from the front of some bytes, each checked against what is left.
pub struct Reader {
    rest: Bytes,
}

impl Reader {
    /// Reads from the front of `rest`.
    pub fn new(rest: Bytes) -> Self {
        Self { rest }
    }

    /// What has not been read yet.
    pub fn rest(&self) -> Bytes {
        self.rest.clone()
    }

    /// The next `size` bytes.
    pub fn take(&mut self, size: usize) -> Result<Bytes, WireError> {
        if size > self.rest.len() {
            return Err(malformed("batch ends too early"));
        }
        Ok(self.rest.split_to(size))
    }

    fn array<const N: usize>(&mut self) -> Result<[u8; N], WireError> {
        let mut bytes = [0; N];
        bytes.copy_from_slice(&self.take(N)?);
        Ok(bytes)
    }

    /// A signed byte.
    pub fn i8(&mut self) -> Result<i8, WireError> {
        Ok(i8::from_be_bytes(self.array()?))
    }

    /// Two bytes, big-endian.
    pub fn i16(&mut self) -> Result<i16, WireError> {
        Ok(i16::from_be_bytes(self.array()?))
    }

    /// Four bytes, big-endian.
    pub fn i32(&mut self) -> Result<i32, WireError> {
        Ok(i32::from_be_bytes(self.array()?))
    }

    /// Eight bytes, big-endian.
    pub fn i64(&mut self) -> Result<i64, WireError> {
        Ok(i64::from_be_bytes(self.array()?))
    }

    /// A zig-zag varint, as records have them.
    pub fn varint(&mut self) -> Result<i64, WireError> {
        let mut value = 0_u64;
        for shift in (0..70).step_by(7) {
            let [byte] = self.array()?;
            value |= u64::from(byte & 0x7f) << shift.min(63);
            if byte & 0x80 == 0 {
                return Ok((value >> 1) as i64 ^ -((value & 1) as i64));
            }
        }
        Err(malformed("varint over ten bytes"))
    }

    /// An unsigned varint, as flexible messages have them.
    pub fn unsigned_varint(&mut self) -> Result<u32, WireError> {
        let mut value = 0_u32;
        for shift in [0, 7, 14, 21, 28] {
            let [byte] = self.array()?;
            value |= u32::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(malformed("varint over five bytes"))
    }

    /// Bytes after a varint length; none where the length is negative.
    pub fn nullable(&mut self) -> Result<Option<Bytes>, WireError> {
        let length = self.varint()?;
        match usize::try_from(length) {
            Ok(length) => self.take(length).map(Some),
            Err(_) => Ok(None),
        }
    }
}
