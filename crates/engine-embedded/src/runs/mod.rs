//! Remembered operations that left memory: in runs on disk, each in the order of keys and with a filter in memory, so that an
//! id that is not there is mostly not looked for.

mod filter;
mod record;
