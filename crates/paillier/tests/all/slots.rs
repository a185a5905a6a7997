//! Packed plaintexts, at the limits of their headroom.

use crate::common::{self, decrypt_small, engines, key, some_keys};
use hearith_paillier::encoding::{Signed, SlotLayout};
use hearith_paillier::{Ciphertexts, ErrorKind, PrivateKey, Variant};
use proptest::prelude::*;

fn unpacked(key: &PrivateKey, layout: SlotLayout, c: &Ciphertexts, additions: &[u64]) -> Vec<Option<Signed>> {
    layout.unpack(key.public(), &key.decrypt(c).unwrap(), additions).unwrap()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(24))]

    /// Sums of rows with extreme or arbitrary values, in the maximum number of slots, up to exactly
    /// the layout's number of additions.
    #[test]
    fn sums_of_packed_rows(
        range in prop_oneof![1u128..4, any::<u64>().prop_map(u128::from), any::<u128>().prop_map(|range| range >> 2)],
        additions in 1u64..40,
        picks in proptest::collection::vec(0usize..6, 200),
        anything: i128,
    ) {
        let most = range as i128;
        let choices = [most, -most, 0, -1i128.min(most), 1i128.min(most), anything % (most + 1)];
        for key in some_keys() {
            let slots = SlotLayout::fits(512, range, additions);
            let layout = SlotLayout::new(512, slots, range, additions).unwrap();
            let values: Vec<i128> =
                (0..slots * additions as usize).map(|at| choices[picks[at % picks.len()]]).collect();
            let packed = layout.pack(key.public(), &values).unwrap();
            prop_assert_eq!(layout.unpack(key.public(), &packed, &vec![1; additions as usize]).unwrap(), values.iter().map(|&v| Some(v.into())).collect::<Vec<_>>());
            let total = key.public().sum(&key.public().encrypt(&packed).unwrap()).unwrap();
            for (slot, found) in unpacked(key, layout, &total, &[additions]).into_iter().enumerate() {
                let column = values.iter().skip(slot).step_by(slots);
                let expected = column.clone().try_fold(0i128, |sum, &value| sum.checked_add(value));
                let found = found.expect("inside the headroom");
                prop_assert!(!found.exceeds(range, additions));
                // Sums beyond 128 bits are compared with GMP's.
                match expected {
                    Some(expected) => prop_assert_eq!(found.to_i128(), Some(expected)),
                    None => {
                        let sum = column.fold(rug::Integer::new(), |sum, &value| sum + value);
                        prop_assert_eq!(found.to_string(), sum.to_string());
                    }
                }
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    /// Sums of any number of rows: correct numbers within the headroom and none beyond it, whatever
    /// the plaintext.
    #[test]
    fn sums_of_more_rows_than_the_layout_is_for_have_no_numbers(
        range in prop_oneof![1u128..4, 1000u128..1050, any::<u64>().prop_map(u128::from)],
        most in 1u64..9,
        rows in 1usize..20,
        picks in proptest::collection::vec(0usize..4, 60),
    ) {
        let choices = [range as i128, -(range as i128), range as i128 / 2, 0];
        for key in some_keys() {
            let public = key.public();
            let layout = SlotLayout::new(512, 3, range, most).unwrap();
            let values: Vec<i128> = (0..3 * rows).map(|at| choices[picks[at % picks.len()]]).collect();
            let total = public.sum(&public.encrypt(&layout.pack(public, &values).unwrap()).unwrap()).unwrap();
            let sum = |slot: usize| values.iter().skip(slot).step_by(3).sum::<i128>();
            let expected = (0..3).map(|slot| (rows as u64 <= most).then(|| Signed::from(sum(slot))));
            prop_assert_eq!(unpacked(key, layout, &total, &[rows as u64]), expected.collect::<Vec<_>>());
        }
    }
}

/// A reported case: a layout for one row, and a sum of two rows that fits all slots together.
#[test]
fn a_layout_for_one_row_gives_no_sum_of_two() {
    for key in some_keys() {
        let public = key.public();
        let layout = SlotLayout::new(512, 2, 1000, 1).unwrap();
        let total = public.sum(&public.encrypt(&layout.pack(public, &[1000, 1, 1000, 1]).unwrap()).unwrap()).unwrap();
        assert_eq!(unpacked(key, layout, &total, &[2]), [None, None]);
        // The numbers that the plaintext alone suggests.
        let wrong = unpacked(key, layout, &total, &[1]);
        assert_eq!(wrong, [Some(Signed::from(2000 - 2048)), Some(Signed::from(3))]);
    }
}

/// The worst carries: the most negative sum in all slots, so that every slot borrows, and the most
/// positive one.
#[test]
fn full_headroom_in_every_slot() {
    let additions = 1u64 << 32;
    for engine in engines() {
        for bits in [256, 512, 1024] {
            let key = key(bits, Variant::Standard, engine);
            let public = key.public();
            for range in [(1u128 << 31) - 1, 1 << 31, 1, u128::from(u64::MAX)] {
                let slots = SlotLayout::fits(bits, range, additions);
                let layout = SlotLayout::new(bits, slots, range, additions).unwrap();
                assert!((slots as u32 + 1) * layout.slot_bits() > bits - 1);
                let most = range as i128;
                for pattern in
                    [[most, most], [-most, -most], [most, -most], [-most, most], [0, -most], [-most, 0], [0, most]]
                {
                    let values: Vec<i128> = (0..slots).map(|slot| pattern[slot % 2]).collect();
                    let c = public.encrypt(&layout.pack(public, &values).unwrap()).unwrap();
                    // 2^32 additions of the same row at once.
                    let total = public.multiply(&c, &[i128::from(additions)]).unwrap();
                    let expected = values.iter().map(|&value| Some((value * i128::from(additions)).into()));
                    assert_eq!(
                        unpacked(&key, layout, &total, &[additions]),
                        expected.collect::<Vec<_>>(),
                        "{bits} bits, range {range}"
                    );
                }
            }
        }
    }
}

#[test]
fn overflowing_rows_are_seen_when_they_leave_the_layout() {
    for key in some_keys() {
        let public = key.public();
        let layout = SlotLayout::new(512, 3, 1000, 4).unwrap();
        let values = [1000, -1000, 1000, 1, 2, 3];
        let c = public.encrypt(&layout.pack(public, &values).unwrap()).unwrap();
        // The top slot overflows; the other row is unaffected.
        let found = unpacked(key, layout, &public.multiply(&c, &[1 << 20, 1]).unwrap(), &[4, 1]);
        let kept = |value: i128| Some(Signed::from(value));
        assert_eq!(found, [None, None, None, kept(1), kept(2), kept(3)]);
        // A residue from the middle of the range is also outside the layout.
        let far = common::plaintexts(public, &[common::modulus(public) / 2u32]);
        assert_eq!(layout.unpack(public, &far, &[1]).unwrap(), [None, None, None]);
    }
}

#[test]
fn values_and_keys_that_do_not_suit_are_refused() {
    for key in some_keys() {
        let public = key.public();
        let layout = SlotLayout::new(512, 2, 1000, 4).unwrap();
        let pack = |values: &[i128]| layout.pack(public, values).map(|plaintexts| plaintexts.len());
        assert_eq!(pack(&[1000, -1000, 0, 0]), Ok(2));
        assert_eq!(pack(&[0, 0, 0, 1001]), Err(ErrorKind::OutOfRange.at_row(1).at_slot(1)));
        assert_eq!(pack(&[-1001, 0]), Err(ErrorKind::OutOfRange.at_row(0).at_slot(0)));
        assert_eq!(pack(&[i128::MIN, 0]), Err(ErrorKind::OutOfRange.at_row(0).at_slot(0)));
        assert_eq!(pack(&[0, 0, 0]), Err(ErrorKind::PartialRow { values: 3, slots: 2 }.into()));
        let wide = SlotLayout::new(1024, 40, 1000, 1 << 14).unwrap();
        let refused = ErrorKind::DoesNotFit { slots: 40, slot_bits: 25, key_bits: 512, fits: 20 };
        assert_eq!(wide.pack(public, &[0; 40]), Err(refused.into()));
        let one = layout.pack(public, &[1, 2]).unwrap();
        let refused = ErrorKind::Lengths { left: 2, right: 1 };
        assert_eq!(layout.unpack(public, &one, &[1, 1]), Err(refused.into()));
        assert_eq!(wide.unpack(public, &one, &[1]).unwrap(), vec![None; 40]);
    }
}

#[test]
fn a_single_slot_is_a_signed_integer() {
    for key in some_keys() {
        let layout = SlotLayout::new(512, 1, 1 << 100, 1).unwrap();
        let values = [-(1 << 100), 1 << 100, -7];
        let c = key.public().encrypt(&layout.pack(key.public(), &values).unwrap()).unwrap();
        assert_eq!(decrypt_small(key, &c), values);
    }
}
