//! The records that Kafka keeps in its internal topics, byte for byte.
