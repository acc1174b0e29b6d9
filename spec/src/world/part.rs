//! An actor's part of the state, which remembers its own digest: a step changes one or two parts, and the others are
//! neither copied nor hashed again.

use rustc_stable_hash::FromStableHash;
use rustc_stable_hash::hashers::{SipHasher128Hash, StableSipHasher128};
use serde::{Deserialize, Deserializer, Serialize, Serializer};
use std::cmp::Ordering;
use std::fmt;
use std::hash::{Hash, Hasher};
use std::ops::{Deref, DerefMut};

/// 128 bits of a part's `Hash`, the same in every run.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Digest([u64; 2]);

impl Digest {
    /// Not known: the part has changed.
    const UNKNOWN: Self = Self([0; 2]);

    fn of<T: Hash>(value: &T) -> Self {
        let mut hasher = StableSipHasher128::new();
        value.hash(&mut hasher);
        hasher.finish()
    }
}

impl FromStableHash for Digest {
    type Hash = SipHasher128Hash;

    fn from(SipHasher128Hash(mut bits): SipHasher128Hash) -> Self {
        // Zero stands for "not known".
        bits[0] |= u64::from(bits == [0; 2]);
        Self(bits)
    }
}

/// A part of the state. To borrow it mutably makes its digest unknown, until [`Part::seal`].
///
/// Parts are taken for equal by [`Clone::clone_from`] where their digests are, as states are by a search; `==` compares
/// the values themselves.
pub struct Part<T> {
    value: T,
    digest: Digest,
}

impl<T: Hash> Part<T> {
    /// Computes the digest, if it is not known.
    pub(super) fn seal(&mut self) {
        if self.digest == Digest::UNKNOWN {
            self.digest = Digest::of(&self.value);
        }
    }
}

impl<T> Part<T> {
    /// False where the two are known to be equal: a quick answer, that may be true for equal parts.
    pub(super) fn may_differ(&self, other: &Self) -> bool {
        self.digest == Digest::UNKNOWN || self.digest != other.digest
    }
}

impl<T> From<T> for Part<T> {
    fn from(value: T) -> Self {
        Self {
            value,
            digest: Digest::UNKNOWN,
        }
    }
}

impl<T> Deref for Part<T> {
    type Target = T;

    #[inline]
    fn deref(&self) -> &T {
        &self.value
    }
}

impl<T> DerefMut for Part<T> {
    #[inline]
    fn deref_mut(&mut self) -> &mut T {
        self.digest = Digest::UNKNOWN;
        &mut self.value
    }
}

impl<T: Clone> Clone for Part<T> {
    fn clone(&self) -> Self {
        Self {
            value: self.value.clone(),
            digest: self.digest,
        }
    }

    fn clone_from(&mut self, source: &Self) {
        if self.may_differ(source) {
            self.value.clone_from(&source.value);
            self.digest = source.digest;
        }
    }
}

impl<T: PartialEq> PartialEq for Part<T> {
    fn eq(&self, other: &Self) -> bool {
        self.value == other.value
    }
}

impl<T: Eq> Eq for Part<T> {}

impl<T: PartialOrd> PartialOrd for Part<T> {
    fn partial_cmp(&self, other: &Self) -> Option<Ordering> {
        self.value.partial_cmp(&other.value)
    }
}

impl<T: Ord> Ord for Part<T> {
    fn cmp(&self, other: &Self) -> Ordering {
        self.value.cmp(&other.value)
    }
}

impl<T: Hash> Hash for Part<T> {
    fn hash<H: Hasher>(&self, state: &mut H) {
        let known = self.digest != Digest::UNKNOWN;
        let digest = if known {
            self.digest
        } else {
            Digest::of(&self.value)
        };
        digest.hash(state);
    }
}

/// The value alone: whoever reads it back seals it.
impl<T: Serialize> Serialize for Part<T> {
    fn serialize<S: Serializer>(&self, serializer: S) -> Result<S::Ok, S::Error> {
        self.value.serialize(serializer)
    }
}

impl<'de, T: Deserialize<'de>> Deserialize<'de> for Part<T> {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        T::deserialize(deserializer).map(Self::from)
    }
}

impl<T: fmt::Debug> fmt::Debug for Part<T> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.value.fmt(f)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::hash::DefaultHasher;

    fn hash_of<T: Hash>(value: &T) -> u64 {
        let mut hasher = DefaultHasher::new();
        value.hash(&mut hasher);
        hasher.finish()
    }

    #[test]
    fn the_hash_is_that_of_the_value_sealed_or_not() {
        let mut part = Part::from(vec![1u8, 2]);
        let unsealed = hash_of(&part);
        part.seal();
        assert_eq!(hash_of(&part), unsealed);
        part.push(3);
        let changed = hash_of(&part);
        assert_ne!(changed, unsealed);
        part.pop();
        assert_eq!(hash_of(&part), unsealed);
    }

    #[test]
    fn a_change_is_copied_whichever_side_is_sealed() {
        let mut source = Part::from(vec![1u8]);
        source.seal();
        let mut copy = source.clone();
        copy.push(9);
        copy.clone_from(&source);
        assert_eq!(*copy, [1]);
        source.push(2);
        copy.clone_from(&source);
        assert_eq!(*copy, [1, 2]);
        source.seal();
        copy.clone_from(&source);
        assert!(!copy.may_differ(&source));
        assert_eq!(hash_of(&copy), hash_of(&source));
    }
}
