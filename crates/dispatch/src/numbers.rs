//! Maps by numbers of our own.

use std::{
    collections::{HashMap, HashSet},
    hash::{BuildHasherDefault, Hasher},
};

/// A map by one of our own numbers. Nobody outside chooses them, so they need no hash that
/// withstands chosen keys, and every arrival looks some of them up.
pub(crate) type ByNo<K, V> = HashMap<K, V, BuildHasherDefault<NumberHasher>>;

/// One multiplication: spreads consecutive numbers over all the bits.
#[derive(Debug, Default, Clone, Copy)]
pub(crate) struct NumberHasher(u64);

impl NumberHasher {
    const SPREAD: u64 = 0x9e37_79b9_7f4a_7c15;

    fn add(&mut self, number: u64) {
        self.0 = (self.0.rotate_left(5) ^ number).wrapping_mul(Self::SPREAD);
    }
}

impl Hasher for NumberHasher {
    fn finish(&self) -> u64 {
        self.0
    }

    fn write(&mut self, bytes: &[u8]) {
        bytes.iter().for_each(|byte| self.add(u64::from(*byte)));
    }

    fn write_u32(&mut self, number: u32) {
        self.add(u64::from(number));
    }

    fn write_u64(&mut self, number: u64) {
        self.add(number);
    }
}

/// The same for a set.
pub(crate) type Numbers<K> = HashSet<K, BuildHasherDefault<NumberHasher>>;
