//! Zigzag variable-length integers, as the records of format v2 use them.

use bytes::BufMut;

/// Takes a 32-bit integer off the front of `bytes`; `None` when it is cut short or longer than 5 bytes.
pub(super) fn take_i32(bytes: &mut &[u8]) -> Option<i32> {
    let raw = u32::try_from(take(bytes, 5)?).ok()?;
    Some((raw >> 1).cast_signed() ^ -(raw & 1).cast_signed())
}

/// Takes a 64-bit integer off the front of `bytes`; `None` when it is cut short or longer than 10 bytes.
pub(super) fn take_i64(bytes: &mut &[u8]) -> Option<i64> {
    let raw = take(bytes, 10)?;
    Some((raw >> 1).cast_signed() ^ -(raw & 1).cast_signed())
}

fn take(bytes: &mut &[u8], longest: usize) -> Option<u64> {
    let mut value = 0_u64;
    for place in 0..longest {
        let (&byte, rest) = bytes.split_first()?;
        *bytes = rest;
        let low = u64::from(byte & 0x7f);
        // The tenth byte has room for one bit only.
        let shifted = low << (7 * place);
        if shifted >> (7 * place) != low {
            return None;
        }
        value |= shifted;
        if byte < 0x80 {
            return Some(value);
        }
    }
    None
}

/// Appends a 32-bit integer.
pub(super) fn put_i32(out: &mut Vec<u8>, value: i32) {
    put_i64(out, i64::from(value));
}

/// Appends a 64-bit integer.
pub(super) fn put_i64(out: &mut Vec<u8>, value: i64) {
    let mut rest = ((value << 1) ^ (value >> 63)).cast_unsigned();
    while rest >= 0x80 {
        out.put_u8((rest & 0x7f) as u8 | 0x80);
        rest >>= 7;
    }
    out.put_u8(rest as u8);
}

#[cfg(test)]
mod tests {
    use super::{put_i32, put_i64, take_i32, take_i64};
    use proptest::prelude::*;

    #[test]
    fn known_bytes() {
        let vectors: [(i32, &[u8]); 7] = [
            (0, &[0]),
            (-1, &[1]),
            (1, &[2]),
            (63, &[126]),
            (-65, &[0x81, 0x01]),
            (i32::MAX, &[0xfe, 0xff, 0xff, 0xff, 0x0f]),
            (i32::MIN, &[0xff, 0xff, 0xff, 0xff, 0x0f]),
        ];
        for (value, bytes) in vectors {
            let mut out = Vec::new();
            put_i32(&mut out, value);
            assert_eq!(out, bytes, "{value}");
            assert_eq!(take_i32(&mut &*out), Some(value));
        }
    }

    #[test]
    fn what_does_not_end_or_overflows_is_refused() {
        assert_eq!(take_i32(&mut &[0x80_u8; 4][..]), None);
        assert_eq!(take_i32(&mut &[0xff, 0xff, 0xff, 0xff, 0x1f][..]), None);
        assert_eq!(take_i64(&mut &[0xff_u8; 10][..]), None);
        let mut widest = [0xff_u8; 10];
        widest[9] = 1;
        assert_eq!(take_i64(&mut &widest[..]), Some(i64::MIN));
        widest[9] = 2;
        assert_eq!(take_i64(&mut &widest[..]), None);
    }

    proptest! {
        #[test]
        fn round_trip(value: i64, small: i32) {
            let mut out = Vec::new();
            put_i64(&mut out, value);
            put_i32(&mut out, small);
            let mut rest = &*out;
            prop_assert_eq!(take_i64(&mut rest), Some(value));
            prop_assert_eq!(take_i32(&mut rest), Some(small));
            prop_assert!(rest.is_empty());
        }
    }
}
