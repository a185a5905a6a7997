//! Packing of several numbers into one plaintext, with headroom for additions.
//!
//! A row `v_0, v_1, ...` becomes `sum v_i 2^(w i)` modulo `n`, with slots of `w` bits. Adding
//! plaintexts adds every slot. A negative slot borrows from the slot above. Adding `2^(w-1)` to
//! every slot before splitting them reverses all borrows, because every slot is then in `[0, 2^w)`.

use super::Signed;
use crate::ciphertexts::check_key;
use crate::{Error, ErrorKind, Plaintexts, PublicKey};
use hearith_arith::Batch;
use hearith_arith::natural::{self, bits_at, has_bits_from};
use zeroize::Zeroizing;

/// Limbs for a slot: at most 128 bits of value, 64 bits for additions and a sign.
const SLOT_LIMBS: usize = 4;

/// How numbers share a plaintext: `slots` slots, each with bits for a number, for additions and for
/// a sign.
///
/// ```
/// # use hearith_paillier::{Engine, KeyPolicy, PrivateKey, Variant};
/// use hearith_paillier::encoding::SlotLayout;
/// # fn main() -> Result<(), Box<dyn std::error::Error>> {
/// # let private = PrivateKey::generate(512, Variant::Standard, KeyPolicy::AllowInsecure, Engine::best())?;
/// # let public = private.public();
/// // Two columns of numbers up to a million, to be added up a thousand times.
/// let layout = SlotLayout::new(public.bits(), 2, 1_000_000, 1000)?;
/// let rows = public.encrypt(&layout.pack(public, &[250_000, -3, /* row 1 */ 1_000_000, -4])?)?;
/// let totals = private.decrypt(&public.sum(&rows)?)?;
/// let totals: Vec<String> = layout.unpack(public, &totals, &[2])?.iter().flatten().map(|total| total.to_string()).collect();
/// assert_eq!(totals, ["1250000", "-7"]);
/// # Ok(())
/// # }
/// ```
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct SlotLayout {
    slots: usize,
    range: u128,
    max_additions: u64,
    value_bits: u32,
    addition_bits: u32,
}

impl SlotLayout {
    /// Creates a layout for keys of `key_bits` bits, with `slots` slots for numbers of magnitude up
    /// to `range` and sums of up to `max_additions` rows.
    ///
    /// # Errors
    /// [`DoesNotFit`](crate::ErrorKind::DoesNotFit), which states how many slots would fit, or
    /// [`EmptyLayout`](crate::ErrorKind::EmptyLayout) if `slots` or `max_additions` is 0.
    pub fn new(key_bits: u32, slots: usize, range: u128, max_additions: u64) -> Result<Self, Error> {
        if slots == 0 || max_additions == 0 {
            return Err(ErrorKind::EmptyLayout.into());
        }
        // range < 2^value_bits and max_additions <= 2^addition_bits, so sums are below the product
        // of both powers.
        let value_bits = u128::BITS - range.leading_zeros();
        let addition_bits = u64::BITS - (max_additions - 1).leading_zeros();
        let layout = SlotLayout { slots, range, max_additions, value_bits, addition_bits };
        let (slot_bits, fits) = (layout.slot_bits(), layout.fitting(key_bits));
        if slots <= fits { Ok(layout) } else { Err(ErrorKind::DoesNotFit { slots, slot_bits, key_bits, fits }.into()) }
    }

    /// Number of slots for such numbers that fit into a plaintext of a key of `key_bits` bits.
    pub fn fits(key_bits: u32, range: u128, max_additions: u64) -> usize {
        match SlotLayout::new(key_bits, usize::MAX, range, max_additions).as_ref().map_err(Error::kind) {
            Err(&ErrorKind::DoesNotFit { fits, .. }) => fits,
            _ => 0,
        }
    }

    /// Number of slots that fit: all of them together stay below `2^(key_bits - 1) <= n`.
    ///
    /// Proved: `slots_correct` in formal/coq/encodings.v.
    fn fitting(&self, key_bits: u32) -> usize {
        (key_bits.saturating_sub(1) / self.slot_bits()) as usize
    }

    /// Number of slots per plaintext.
    pub fn slots(&self) -> usize {
        self.slots
    }

    /// Maximum magnitude that [`SlotLayout::pack`] accepts.
    pub fn range(&self) -> u128 {
        self.range
    }

    /// Maximum number of rows in a sum.
    pub fn max_additions(&self) -> u64 {
        self.max_additions
    }

    /// Bits of one number's magnitude.
    pub fn value_bits(&self) -> u32 {
        self.value_bits
    }

    /// Additional bits for sums.
    pub fn addition_bits(&self) -> u32 {
        self.addition_bits
    }

    /// Bits of a slot: for a magnitude, for additions and for a sign.
    // Proved: `slots_correct` in formal/coq/encodings.v.
    pub fn slot_bits(&self) -> u32 {
        self.value_bits + self.addition_bits + 1
    }

    /// Packs rows of `slots` consecutive numbers into plaintexts. Constant time in the values.
    ///
    /// # Errors
    /// [`OutOfRange`](crate::ErrorKind::OutOfRange), [`PartialRow`](crate::ErrorKind::PartialRow),
    /// or [`DoesNotFit`](crate::ErrorKind::DoesNotFit) if the key is too short for the layout.
    // Proved: `slots_correct` in formal/coq/encodings.v.
    pub fn pack(&self, key: &PublicKey, values: &[i128]) -> Result<Plaintexts, Error> {
        self.check_key_length(key)?;
        if !values.len().is_multiple_of(self.slots) {
            return Err(ErrorKind::PartialRow { values: values.len(), slots: self.slots }.into());
        }
        if let Some(at) = values.iter().position(|value| value.unsigned_abs() > self.range) {
            return Err(ErrorKind::OutOfRange.at_row(at / self.slots).at_slot(at % self.slots));
        }
        let mut raised = Batch::zeros(values.len() / self.slots, key.plaintext_limbs());
        for (row, values) in raised.rows_mut().zip(values.chunks_exact(self.slots)) {
            for (slot, &value) in values.iter().enumerate() {
                self.put(row, slot, &self.raise(value));
            }
        }
        let offsets = Batch::repeat(&self.offset(key), raised.len());
        let residues = key.root().sub(&raised, &offsets);
        Ok(Plaintexts::new(key.id(), key.plaintext_bytes(), residues))
    }

    /// Unpacks the numbers in the slots of plaintexts, `slots` consecutive numbers per row.
    /// Constant time in the values.
    ///
    /// `additions` states for each plaintext how many packed rows it is the sum of; a row
    /// multiplied by `w` counts `w` times. The plaintext alone does not reveal this: a sum of more
    /// than [`SlotLayout::max_additions`] rows can carry undetected from slot to slot.
    ///
    /// All slots of a row are `None` if it is the sum of more rows than that, or if no sum within
    /// the headroom yields this plaintext. In that case a slot has overflowed or the plaintext was
    /// packed differently.
    ///
    /// # Errors
    /// [`WrongKey`](crate::ErrorKind::WrongKey), or [`Lengths`](crate::ErrorKind::Lengths) unless
    /// there is one entry in `additions` per plaintext.
    // Proved: `slots_correct` in formal/coq/encodings.v.
    pub fn unpack(
        &self,
        key: &PublicKey,
        plaintexts: &Plaintexts,
        additions: &[u64],
    ) -> Result<Vec<Option<Signed>>, Error> {
        check_key(key.id(), plaintexts.key_id())?;
        if additions.len() != plaintexts.len() {
            return Err(ErrorKind::Lengths { left: additions.len(), right: plaintexts.len() }.into());
        }
        if self.check_key_length(key).is_err() {
            return Ok(vec![None; plaintexts.len() * self.slots]);
        }
        let offsets = Batch::repeat(&self.offset(key), plaintexts.len());
        let raised = key.root().add(plaintexts.batch(), &offsets);
        let mut numbers = Vec::with_capacity(plaintexts.len() * self.slots);
        for (row, &additions) in raised.rows().zip(additions) {
            let fits = !has_bits_from(row, self.slots as u32 * self.slot_bits());
            let inside = fits && additions <= self.max_additions;
            numbers.extend((0..self.slots).map(|slot| inside.then(|| self.take(row, slot))));
        }
        Ok(numbers)
    }

    fn check_key_length(&self, key: &PublicKey) -> Result<(), Error> {
        let (slots, slot_bits, key_bits, fits) = (self.slots, self.slot_bits(), key.bits(), self.fitting(key.bits()));
        if slots <= fits { Ok(()) } else { Err(ErrorKind::DoesNotFit { slots, slot_bits, key_bits, fits }.into()) }
    }

    /// The offset `2^(w-1)` of every slot.
    fn middle(&self) -> [u64; SLOT_LIMBS] {
        let top = self.slot_bits() - 1;
        std::array::from_fn(|index| if index as u32 == top / 64 { 1 << (top % 64) } else { 0 })
    }

    /// The offsets of all slots combined.
    fn offset(&self, key: &PublicKey) -> Vec<u64> {
        let mut offset = vec![0; key.plaintext_limbs()];
        (0..self.slots).for_each(|slot| self.put(&mut offset, slot, &self.middle()));
        offset
    }

    /// `value + 2^(w-1)`, which is not negative.
    fn raise(&self, value: i128) -> Zeroizing<[u64; SLOT_LIMBS]> {
        let sign = (value >> 127) as u64;
        let mut raised = Zeroizing::new([value as u64, (value >> 64) as u64, sign, sign]);
        natural::add_assign(&mut *raised, &self.middle());
        raised
    }

    /// Writes a number below `2^w` into a slot that is 0.
    fn put(&self, row: &mut [u64], slot: usize, number: &[u64; SLOT_LIMBS]) {
        let position = slot * self.slot_bits() as usize;
        let (at, shift) = (position / 64, position % 64);
        for (index, &limb) in number.iter().enumerate() {
            // Bits beyond the row or shifted out of a limb are zero.
            if let Some(low) = row.get_mut(at + index) {
                *low |= limb << shift;
            }
            if let (Some(high), 1..) = (row.get_mut(at + index + 1), shift) {
                *high |= limb >> (64 - shift);
            }
        }
    }

    /// The signed number in a slot of a row to which the offsets were added.
    fn take(&self, row: &[u64], slot: usize) -> Signed {
        let width = self.slot_bits() as usize;
        let part = |from: usize| bits_at(row, slot * width + from, width.saturating_sub(from).min(32) as u32);
        let mut number: [u64; SLOT_LIMBS] = std::array::from_fn(|index| part(64 * index) | part(64 * index + 32) << 32);
        let below_zero = natural::sub_assign(&mut number, &self.middle());
        let mut magnitude = vec![0; SLOT_LIMBS];
        natural::sub_assign(&mut magnitude, &number);
        natural::assign_if(&mut magnitude, &number, 1 ^ below_zero);
        Signed::new(below_zero == 1, magnitude)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn widths_follow_from_the_ranges() {
        let bits = |range, additions| {
            let layout = SlotLayout::new(4096, 1, range, additions).unwrap();
            (layout.value_bits(), layout.addition_bits(), layout.slot_bits())
        };
        assert_eq!(bits(1000, 1), (10, 0, 11));
        assert_eq!(bits(1023, 2), (10, 1, 12));
        assert_eq!(bits(1024, 3), (11, 2, 14));
        assert_eq!(bits(0, 1 << 32), (0, 32, 33));
        assert_eq!(bits(u128::MAX, u64::MAX), (128, 64, 193));
    }

    #[test]
    fn layouts_that_do_not_fit_say_what_would() {
        assert_eq!(SlotLayout::fits(2048, 1 << 30, 1 << 32), 2047 / 64);
        let refused = SlotLayout::new(2048, 32, 1 << 30, 1 << 32);
        let expected = ErrorKind::DoesNotFit { slots: 32, slot_bits: 64, key_bits: 2048, fits: 31 };
        assert_eq!(refused, Err(expected.into()));
        assert_eq!(SlotLayout::new(2048, 0, 1, 1), Err(ErrorKind::EmptyLayout.into()));
        assert_eq!(SlotLayout::new(2048, 1, 1, 0), Err(ErrorKind::EmptyLayout.into()));
        assert_eq!(SlotLayout::fits(64, u128::MAX, 2), 0);
        assert_eq!(SlotLayout::fits(64, 1, 0), 0);
    }

    #[test]
    fn slots_hold_every_width() {
        for value_bits in (0..=127).step_by(7) {
            for additions in [1, 2, 1 << 20, u64::MAX] {
                let range = (1u128 << value_bits) - 1;
                let layout = SlotLayout::new(4096, 3, range, additions).unwrap();
                let mut row = vec![0; 12];
                let values = [range as i128, -(range as i128), 0];
                values.iter().enumerate().for_each(|(slot, &value)| layout.put(&mut row, slot, &layout.raise(value)));
                let found: Vec<_> = (0..3).map(|slot| layout.take(&row, slot).to_i128().unwrap()).collect();
                assert_eq!(found, values);
            }
        }
    }
}
