//! Which partition of an internal topic owns a transactional id or a group.

/// The partition, 0 to `partitions - 1`: the absolute value of the text's Java hash modulo the number of partitions,
/// where the absolute value of `i32::MIN` is 0. Source: Kafka's `partitionFor` and `Utils.abs`.
///
/// # Panics
/// If `partitions` is not positive.
#[must_use]
pub fn partition_for(text: &str, partitions: i32) -> i32 {
    assert!(partitions > 0, "a topic has at least one partition");
    java_hash(text).checked_abs().unwrap_or(0) % partitions
}

/// `String.hashCode` of Java: over UTF-16 code units, wrapping.
fn java_hash(text: &str) -> i32 {
    text.encode_utf16().fold(0_i32, |hash, unit| {
        hash.wrapping_mul(31).wrapping_add(i32::from(unit))
    })
}

#[cfg(test)]
mod tests {
    use super::{java_hash, partition_for};

    #[test]
    fn the_vectors_are_javas() {
        let rows = [
            ("", 0, 0),
            ("a", 97, 47),
            ("txn-1", 110_810_510, 10),
            ("my-transactional-id", -959_806_496, 46),
            ("orders-processor-0", -680_936_755, 5),
            ("polygenelubricants", i32::MIN, 0),
            ("é", 233, 33),
            ("😀", 1_772_899, 49),
        ];
        for (text, hash, partition) in rows {
            assert_eq!(java_hash(text), hash, "{text}");
            assert_eq!(partition_for(text, 50), partition, "{text}");
        }
    }
}
