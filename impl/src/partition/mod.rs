//! The leader of one data partition: producer state, high watermark, last stable offset, aborted index.
