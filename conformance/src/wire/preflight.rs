//! Lengths are checked before anything is decoded: the protocol crate allocates an array from the
//! count that stands on the wire, so six hostile bytes would end the process.

use super::error::WireError;

/// What stands at one place of a message.
#[derive(Clone, Copy, Debug)]
pub enum Kind {
    /// A number or flag of this many bytes.
    Fixed(usize),
    /// A string or byte string with a 16-bit length before it in plain versions, a varint
    /// (length + 1) in flexible ones.
    Text,
    /// Like [`Kind::Text`], with a 32-bit length in plain versions.
    Blob,
    /// An array of structures with these fields.
    Array(&'static [Field]),
    /// An array of bare values of this many bytes, which end with no tagged fields.
    Values(usize),
    /// An array of bare strings.
    Texts,
    /// A tagged field that may stand among those which end a structure of a flexible version.
    Tagged(u32, &'static Kind),
    /// A structure inside a tagged field.
    Struct(&'static [Field]),
}

/// A field and the versions that have it.
#[derive(Clone, Copy, Debug)]
pub struct Field {
    /// First version with the field.
    pub from: i16,
    /// Last version with the field.
    pub to: i16,
    /// What it is.
    pub kind: Kind,
}

impl Field {
    /// A field of every version.
    pub const fn always(kind: Kind) -> Self {
        Self::between(0, i16::MAX, kind)
    }

    /// A field of version `from` and later.
    pub const fn since(from: i16, kind: Kind) -> Self {
        Self::between(from, i16::MAX, kind)
    }

    /// A field of versions `from` to `to`.
    pub const fn between(from: i16, to: i16, kind: Kind) -> Self {
        Self { from, to, kind }
    }
}

/// A message: its fields, and the first version that is flexible.
#[derive(Clone, Copy, Debug)]
pub struct Shape {
    /// First version with compact lengths and tagged fields.
    pub flexible_from: i16,
    /// Fields in wire order, without the tagged fields that end a flexible structure.
    pub fields: &'static [Field],
}

/// Walks `bytes` along `shape`: every count and length fits what is left, and nothing remains.
///
/// # Errors
/// [`WireError::Malformed`] with the place in bytes.
pub fn check(shape: &Shape, version: i16, bytes: &[u8]) -> Result<(), WireError> {
    let parts = parts(shape, version, bytes)?;
    if parts.end == bytes.len() {
        Ok(())
    } else {
        Err(malformed_at("bytes after the end", parts.end))
    }
}

/// Where the parts of a message end, in bytes.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Parts {
    /// The fields; the tagged fields of a flexible version follow.
    pub fields: usize,
    /// The message.
    pub end: usize,
}

/// As [`check`], but for bytes after the end, which clients ignore in answers.
///
/// # Errors
/// As [`check`].
pub fn parts(shape: &Shape, version: i16, bytes: &[u8]) -> Result<Parts, WireError> {
    let mut walk = Walk {
        bytes,
        at: 0,
        version,
        flexible: version >= shape.flexible_from,
    };
    walk.fields(shape.fields)?;
    let fields = walk.at;
    if walk.flexible {
        walk.tags(shape.fields)?;
    }
    Ok(Parts {
        fields,
        end: walk.at,
    })
}

/// How many bytes the tagged fields at the start of `bytes` take.
///
/// # Errors
/// [`WireError::Malformed`] where they do not fit.
pub fn skip_tagged_fields(bytes: &[u8]) -> Result<usize, WireError> {
    let mut walk = Walk {
        bytes,
        at: 0,
        version: 0,
        flexible: true,
    };
    walk.tags(&[])?;
    Ok(walk.at)
}

struct Walk<'a> {
    bytes: &'a [u8],
    at: usize,
    version: i16,
    flexible: bool,
}

impl Walk<'_> {
    fn structure(&mut self, fields: &[Field]) -> Result<(), WireError> {
        self.fields(fields)?;
        if self.flexible {
            self.tags(fields)
        } else {
            Ok(())
        }
    }

    fn fields(&mut self, fields: &[Field]) -> Result<(), WireError> {
        for field in fields {
            if (field.from..=field.to).contains(&self.version) {
                self.value(field.kind)?;
            }
        }
        Ok(())
    }

    fn value(&mut self, kind: Kind) -> Result<(), WireError> {
        match kind {
            Kind::Fixed(size) => self.skip(size),
            Kind::Text => {
                let length = self.length(2)?;
                self.skip(length)
            }
            Kind::Blob => {
                let length = self.length(4)?;
                self.skip(length)
            }
            Kind::Array(fields) => {
                for _ in 0..self.count()? {
                    self.structure(fields)?;
                }
                Ok(())
            }
            Kind::Values(size) => {
                let bytes = self.count()?.saturating_mul(size);
                self.skip(bytes)
            }
            Kind::Texts => {
                for _ in 0..self.count()? {
                    self.value(Kind::Text)?;
                }
                Ok(())
            }
            Kind::Struct(fields) => self.structure(fields),
            Kind::Tagged(..) => Ok(()),
        }
    }

    /// A count of elements: each takes at least one byte, so more than what is left is a lie.
    fn count(&mut self) -> Result<usize, WireError> {
        let count = self.length(4)?;
        if count > self.bytes.len() - self.at {
            return Err(self.refuse("more elements than bytes"));
        }
        Ok(count)
    }

    /// A length or count; null counts as 0.
    fn length(&mut self, plain_bytes: usize) -> Result<usize, WireError> {
        if self.flexible {
            return Ok((self.varint()?.saturating_sub(1)) as usize);
        }
        let start = self.at;
        self.skip(plain_bytes)?;
        let signed = match plain_bytes {
            2 => i64::from(i16::from_be_bytes([
                self.bytes[start],
                self.bytes[start + 1],
            ])),
            _ => i64::from(i32::from_be_bytes([
                self.bytes[start],
                self.bytes[start + 1],
                self.bytes[start + 2],
                self.bytes[start + 3],
            ])),
        };
        match signed {
            -1 => Ok(0),
            length => usize::try_from(length).map_err(|_| self.refuse("negative length")),
        }
    }

    fn tags(&mut self, fields: &[Field]) -> Result<(), WireError> {
        for _ in 0..self.varint()? {
            let tag = self.varint()?;
            let size = self.varint()? as usize;
            let start = self.at;
            self.skip(size)?;
            let known = fields.iter().find_map(|field| match field.kind {
                Kind::Tagged(number, inner) if number == tag => Some(*inner),
                _ => None,
            });
            if let Some(kind) = known {
                let end = self.at;
                self.at = start;
                self.value(kind)?;
                if self.at != end {
                    return Err(self.refuse("tagged field of another size"));
                }
            }
        }
        Ok(())
    }

    fn varint(&mut self) -> Result<u32, WireError> {
        let mut value = 0_u32;
        for shift in [0, 7, 14, 21, 28] {
            let byte = *self
                .bytes
                .get(self.at)
                .ok_or_else(|| self.refuse("ends in a varint"))?;
            self.at += 1;
            value |= u32::from(byte & 0x7f) << shift;
            if byte & 0x80 == 0 {
                return Ok(value);
            }
        }
        Err(self.refuse("varint over five bytes"))
    }

    fn skip(&mut self, size: usize) -> Result<(), WireError> {
        if size > self.bytes.len() - self.at {
            return Err(self.refuse("ends too early"));
        }
        self.at += size;
        Ok(())
    }

    fn refuse(&self, what: &str) -> WireError {
        malformed_at(what, self.at)
    }
}

fn malformed_at(what: &str, at: usize) -> WireError {
    WireError::Malformed(format!("{what} at byte {at}"))
}

#[cfg(test)]
mod tests {
    use super::*;

    const PLAIN: Shape = Shape {
        flexible_from: 2,
        fields: &[Field::always(Kind::Array(&[Field::always(Kind::Text)]))],
    };

    #[test]
    fn a_count_above_the_frame_is_refused() {
        let hostile = [0x7f, 0xff, 0xff, 0xff, 0, 0];
        assert!(check(&PLAIN, 0, &hostile).is_err());
        let flexible = [0xff, 0xff, 0xff, 0xff, 0x0f];
        assert!(check(&PLAIN, 2, &flexible).is_err());
    }

    #[test]
    fn a_message_that_fits_passes() {
        assert!(check(&PLAIN, 0, &[0, 0, 0, 1, 0, 1, b'a']).is_ok());
        assert!(check(&PLAIN, 2, &[2, 2, b'a', 0, 0]).is_ok());
        assert!(check(&PLAIN, 0, &[0xff, 0xff, 0xff, 0xff]).is_ok(), "null");
    }

    #[test]
    fn a_rest_or_a_cut_is_refused() {
        assert!(check(&PLAIN, 0, &[0, 0, 0, 1, 0, 1, b'a', 0]).is_err());
        assert!(check(&PLAIN, 0, &[0, 0, 0, 1, 0, 2, b'a']).is_err());
        assert!(check(&PLAIN, 0, &[0, 0, 0, 1, 0x80, 0, b'a']).is_err());
        assert!(check(&PLAIN, 2, &[0xff, 0xff, 0xff, 0xff, 0xff, 0xff]).is_err());
    }
}
