//! Sums computed limb by limb.

use super::{Coefficients, SumKernel};
use crate::elements::Elements;
use hearith_arith::natural::{Secret, add_assign, add_multiple};
use rayon::prelude::*;
use zeroize::Zeroizing;

/// The portable engine's kernel.
pub(super) struct Serial;

impl SumKernel for Serial {
    fn sums(elements: &Elements, first: usize, coefficients: &[Coefficients], limbs: usize) -> Vec<Secret> {
        let nothing = || coefficients.iter().map(|_| Zeroizing::new(vec![0; limbs])).collect::<Vec<Secret>>();
        let count = coefficients.first().map_or(0, Coefficients::len);
        let each_core = count.div_ceil(rayon::current_num_threads()).max(1);
        let parts = (0..count).into_par_iter().chunks(each_core).map(|indices| {
            let mut sums = nothing();
            for index in indices {
                let element = elements.number(first + index);
                for (sum, coefficients) in sums.iter_mut().zip(coefficients) {
                    for (limb, &digit) in coefficients.get(index).iter().enumerate() {
                        add_multiple(&mut sum[limb..], &element, digit);
                    }
                }
            }
            sums
        });
        parts.reduce(nothing, |mut sums, others| {
            sums.iter_mut().zip(&others).for_each(|(sum, other)| _ = add_assign(sum, other));
            sums
        })
    }
}
