//! Record batches, format v2: a checked view over raw bytes, and a writer.
