//! Rows of a product with `mulx`, `adcx` and `adox`. One carry chain adds the products of
//! neighbouring limbs, and the other adds the existing sum. The compiler would use a single chain
//! and save its carry between the two.

use crate::natural::mac;
use std::arch::asm;

/// Adds `a y` to `t`, which is as long as `a`, and returns the limb carried out.
#[target_feature(enable = "adx,bmi2")]
pub(super) fn add_row(t: &mut [u64], a: &[u64], y: u64) -> u64 {
    let (blocks, rest) = t.as_chunks_mut::<8>();
    let (factors, last) = a.as_chunks::<8>();
    let mut carry = 0;
    for (t, a) in blocks.iter_mut().zip(factors) {
        carry = add_block(t, a, y, carry);
    }
    for (t, &limb) in rest.iter_mut().zip(last) {
        (*t, carry) = mac(*t, limb, y, carry);
    }
    carry
}

/// Adds `a y` and a carry to eight limbs and returns the limb carried out.
#[inline]
#[target_feature(enable = "adx,bmi2")]
fn add_block(t: &mut [u64; 8], a: &[u64; 8], y: u64, mut carry: u64) -> u64 {
    // SAFETY: only reads the eight limbs at `a`, and reads and writes those at `t`. `xor` clears
    // both carry flags. At the end they are added to the highest limb, which cannot overflow.
    unsafe {
        asm!(
            "xor {zero:e}, {zero:e}",
            "mulx {high}, {low}, [{a}]",
            "adcx {low}, {carry}",
            "adox {low}, [{t}]",
            "mov [{t}], {low}",
            "mulx {carry}, {low}, [{a} + 8]",
            "adcx {low}, {high}",
            "adox {low}, [{t} + 8]",
            "mov [{t} + 8], {low}",
            "mulx {high}, {low}, [{a} + 16]",
            "adcx {low}, {carry}",
            "adox {low}, [{t} + 16]",
            "mov [{t} + 16], {low}",
            "mulx {carry}, {low}, [{a} + 24]",
            "adcx {low}, {high}",
            "adox {low}, [{t} + 24]",
            "mov [{t} + 24], {low}",
            "mulx {high}, {low}, [{a} + 32]",
            "adcx {low}, {carry}",
            "adox {low}, [{t} + 32]",
            "mov [{t} + 32], {low}",
            "mulx {carry}, {low}, [{a} + 40]",
            "adcx {low}, {high}",
            "adox {low}, [{t} + 40]",
            "mov [{t} + 40], {low}",
            "mulx {high}, {low}, [{a} + 48]",
            "adcx {low}, {carry}",
            "adox {low}, [{t} + 48]",
            "mov [{t} + 48], {low}",
            "mulx {carry}, {low}, [{a} + 56]",
            "adcx {low}, {high}",
            "adox {low}, [{t} + 56]",
            "mov [{t} + 56], {low}",
            "adcx {carry}, {zero}",
            "adox {carry}, {zero}",
            a = in(reg) a.as_ptr(),
            t = in(reg) t.as_mut_ptr(),
            carry = inout(reg) carry,
            low = out(reg) _,
            high = out(reg) _,
            zero = out(reg) _,
            in("rdx") y,
            options(nostack),
        );
    }
    carry
}

#[cfg(test)]
mod tests {
    use super::add_row;
    use hearith_testing::has;
    use proptest::prelude::*;

    /// Limbs with long carry chains, and random ones.
    fn limb() -> impl Strategy<Value = u64> {
        prop_oneof![Just(0), Just(1), Just(u64::MAX), Just(u64::MAX - 1), any::<u64>()]
    }

    proptest! {
        /// Compared with 128-bit sums, limb by limb.
        #[test]
        fn rows_are_added(row in prop::collection::vec((limb(), limb()), 0..40), y in limb()) {
            let there = std::arch::is_x86_feature_detected!("adx") && std::arch::is_x86_feature_detected!("bmi2");
            if !has("adx", there) {
                return Ok(());
            }
            let (mut sum, factor): (Vec<u64>, Vec<u64>) = row.iter().copied().unzip();
            let mut carry = 0_u128;
            let expected: Vec<u64> = row
                .iter()
                .map(|&(t, a)| {
                    let limb = u128::from(a) * u128::from(y) + u128::from(t) + carry;
                    carry = limb >> 64;
                    limb as u64
                })
                .collect();
            // SAFETY: the CPU supports the instructions.
            let out = unsafe { add_row(&mut sum, &factor, y) };
            prop_assert_eq!(sum, expected);
            prop_assert_eq!(u128::from(out), carry);
        }
    }
}
