//! The interface of an engine: conversion of part of a batch to residues and back.

#[cfg(target_arch = "x86_64")]
mod avx2;
#[cfg(target_arch = "x86_64")]
mod ifma;
mod serial;

use crate::basis::System;
use hearith_arith::{Available, Batch, dispatch};
use std::ops::Range;

/// The conversions of one basis on one engine: this crate's kernel.
pub(crate) trait ResidueKernel: Send + Sync {
    /// Prepares the tables.
    fn new(system: &System) -> Self
    where
        Self: Sized;

    /// Fills one column per modulus with the residues of `numbers`, which have at most as many bits
    /// as `Q`.
    fn residues(&self, numbers: &Numbers<'_>, columns: &mut [&mut [u64]]);

    /// Fills rows with the numbers whose residues are in the columns. A row has as many limbs as
    /// `Q`, and each residue is below its modulus.
    fn numbers(&self, columns: &[&[u64]], rows: &mut [u64]);

    /// The number of IFMA instructions for eight numbers, to residues and back, if the engine uses
    /// them.
    fn instructions(&self) -> Option<[u64; 2]> {
        None
    }
}

/// The kernel of an engine.
pub(crate) fn kernel(engine: Available, system: &System) -> Box<dyn ResidueKernel> {
    dispatch!(engine, K in { serial: serial::Serial, avx2: avx2::Avx2, ifma: ifma::Ifma } => Box::new(K::new(system)))
}

/// Numbers in their memory layout.
pub(crate) enum Numbers<'a> {
    /// One number after another, each of `limbs` limbs.
    Rows { words: &'a [u64], limbs: usize },
    /// For each limb, a slice with this limb of all numbers.
    Slices(Vec<&'a [u64]>),
}

impl<'a> Numbers<'a> {
    pub(crate) fn rows(batch: &'a Batch) -> Self {
        Numbers::Rows { words: batch.as_limbs(), limbs: batch.limbs() }
    }

    pub(crate) fn len(&self) -> usize {
        match self {
            Numbers::Rows { words, limbs } => words.len() / limbs,
            Numbers::Slices(slices) => slices.first().map_or(0, |slice| slice.len()),
        }
    }

    /// Number of limbs of each number.
    pub(crate) fn limbs(&self) -> usize {
        match self {
            Numbers::Rows { limbs, .. } => *limbs,
            Numbers::Slices(slices) => slices.len(),
        }
    }

    /// The numbers in an index range.
    pub(crate) fn range(&self, range: Range<usize>) -> Numbers<'a> {
        match self {
            Numbers::Rows { words, limbs } => {
                Numbers::Rows { words: &words[range.start * limbs..range.end * limbs], limbs: *limbs }
            }
            Numbers::Slices(slices) => Numbers::Slices(slices.iter().map(|slice| &slice[range.clone()]).collect()),
        }
    }

    /// The index of the first number with more than `bits` bits. Reads only the limbs that can
    /// contain such bits.
    pub(crate) fn longer_than(&self, bits: u32) -> Option<usize> {
        let (whole, rest) = ((bits / 64) as usize, bits % 64);
        if self.limbs() <= whole {
            return None;
        }
        // The excess bits, without a branch for each number.
        let excess = |upper: &[u64]| upper[1..].iter().fold(upper[0] >> rest, |any, &limb| any | limb);
        match self {
            Numbers::Rows { words, limbs } => {
                let rows = || words.chunks_exact(*limbs).map(|row| excess(&row[whole..]));
                match rows().fold(0, |any, excess| any | excess) {
                    0 => None,
                    _ => rows().position(|excess| excess != 0),
                }
            }
            Numbers::Slices(slices) => {
                let first = slices[whole].iter().position(|&limb| limb >> rest != 0);
                let others = slices[whole + 1..].iter().filter_map(|slice| slice.iter().position(|&limb| limb != 0));
                first.into_iter().chain(others).min()
            }
        }
    }
}
