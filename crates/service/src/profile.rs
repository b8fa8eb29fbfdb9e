//! Profiles as they are in use.

mod list;
