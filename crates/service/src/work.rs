//! Operations on batches under one key. Batches can be joined and split by rows.

use std::borrow::Cow;
use std::fmt;
use std::ops::Range;

use hearith_paillier::{Batch, Ciphertexts, Error, ErrorKind, Plaintexts};
use zeroize::Zeroizing;

use crate::keys::ServedKey;

/// An operation with the parameters that must match for requests to share a batch.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Operation {
    /// Encryption.
    Encrypt,
    /// Re-randomisation.
    Rerandomise,
    /// Addition of two batches.
    Add,
    /// Multiplication by integers.
    Multiply {
        /// Bits of the integers' magnitudes.
        bits: u32,
        /// Whether the products are not re-randomised.
        deterministic: bool,
    },
    /// Sums of groups of rows.
    SumGroups,
    /// Decryption.
    Decrypt,
}

impl Operation {
    /// Its name in metrics and logs.
    pub fn name(self) -> &'static str {
        match self {
            Self::Encrypt => "encrypt",
            Self::Rerandomise => "rerandomise",
            Self::Add => "add",
            Self::Multiply { .. } => "multiply",
            Self::SumGroups => "sum_groups",
            Self::Decrypt => "decrypt",
        }
    }
}

/// The input of an operation.
#[derive(Clone)]
pub enum Input {
    /// Plaintexts to encrypt.
    Encrypt(Plaintexts),
    /// Ciphertexts to re-randomise.
    Rerandomise(Ciphertexts),
    /// Two batches of equal length to add.
    Add(Ciphertexts, Ciphertexts),
    /// Ciphertexts to multiply.
    Multiply {
        /// The ciphertexts.
        ciphertexts: Ciphertexts,
        /// The integers, one for each ciphertext.
        scalars: Zeroizing<Vec<i128>>,
        /// Bits of their magnitudes.
        bits: u32,
        /// Whether the products are not re-randomised.
        deterministic: bool,
    },
    /// Ciphertexts to sum.
    SumGroups {
        /// The ciphertexts.
        ciphertexts: Ciphertexts,
        /// The rows of each group. Every row is in exactly one.
        groups: Vec<Vec<u32>>,
    },
    /// Ciphertexts to decrypt.
    Decrypt(Ciphertexts),
}

/// The output of an operation.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Output {
    /// Ciphertexts.
    Ciphertexts(Ciphertexts),
    /// Plaintexts.
    Plaintexts(Plaintexts),
}

impl Input {
    /// Returns the operation.
    pub fn operation(&self) -> Operation {
        match self {
            Self::Encrypt(_) => Operation::Encrypt,
            Self::Rerandomise(_) => Operation::Rerandomise,
            Self::Add(..) => Operation::Add,
            &Self::Multiply { bits, deterministic, .. } => Operation::Multiply { bits, deterministic },
            Self::SumGroups { .. } => Operation::SumGroups,
            Self::Decrypt(_) => Operation::Decrypt,
        }
    }

    /// Returns the batch whose rows are counted.
    fn batch(&self) -> &Batch {
        match self {
            Self::Encrypt(plaintexts) => plaintexts.batch(),
            Self::Rerandomise(ciphertexts) | Self::Decrypt(ciphertexts) | Self::Add(ciphertexts, _) => {
                ciphertexts.batch()
            }
            Self::Multiply { ciphertexts, .. } | Self::SumGroups { ciphertexts, .. } => ciphertexts.batch(),
        }
    }

    /// The number of input rows.
    pub fn rows(&self) -> usize {
        self.batch().len()
    }

    /// The number of output rows.
    pub fn answers(&self) -> usize {
        match self {
            Self::SumGroups { groups, .. } => groups.len(),
            _ => self.rows(),
        }
    }

    /// The approximate size of the numbers in bytes.
    pub fn bytes(&self) -> usize {
        let batches = if matches!(self, Self::Add(..)) { 2 } else { 1 };
        batches * self.rows() * self.batch().limbs() * 8
    }

    /// Concatenates inputs of one operation under one key.
    ///
    /// # Errors
    /// The inputs have different keys.
    ///
    /// # Panics
    /// If `inputs` is empty or contains different operations.
    pub fn concat(inputs: &[&Input]) -> Result<Self, Error> {
        let first = inputs[0];
        assert!(inputs.iter().all(|input| input.operation() == first.operation()), "one operation");
        let ciphertexts = || {
            let parts: Vec<&Ciphertexts> = inputs.iter().filter_map(|input| input.ciphertexts()).collect();
            Ciphertexts::concat(parts[0], &parts[1..])
        };
        Ok(match first {
            Self::Encrypt(first) => {
                let rest: Vec<&Plaintexts> = inputs[1..].iter().filter_map(|input| input.plaintexts()).collect();
                Self::Encrypt(Plaintexts::concat(first, &rest)?)
            }
            Self::Rerandomise(_) => Self::Rerandomise(ciphertexts()?),
            Self::Decrypt(_) => Self::Decrypt(ciphertexts()?),
            Self::Add(..) => {
                let added: Vec<&Ciphertexts> = inputs.iter().filter_map(|input| input.added()).collect();
                Self::Add(ciphertexts()?, Ciphertexts::concat(added[0], &added[1..])?)
            }
            &Self::Multiply { bits, deterministic, .. } => {
                let mut scalars = Zeroizing::new(Vec::with_capacity(inputs.iter().map(|input| input.rows()).sum()));
                inputs.iter().for_each(|input| scalars.extend_from_slice(input.scalars()));
                Self::Multiply { ciphertexts: ciphertexts()?, scalars, bits, deterministic }
            }
            Self::SumGroups { .. } => {
                let (mut groups, mut before) = (Vec::new(), 0);
                for input in inputs {
                    groups.extend(input.groups().iter().map(|rows| rows.iter().map(|row| row + before).collect()));
                    before += input.rows() as u32;
                }
                Self::SumGroups { ciphertexts: ciphertexts()?, groups }
            }
        })
    }

    /// Returns a slice with these rows.
    ///
    /// For sums, rows are counted group by group, so slices have few groups in common. A slice
    /// contains only the groups of its own rows. [`Input::join`] combines the outputs of slices.
    ///
    /// # Errors
    /// [`ErrorKind::NoSuchRow`] if there are no such rows.
    pub fn range(&self, rows: Range<usize>) -> Result<Cow<'_, Self>, Error> {
        if rows == (0..self.rows()) {
            return Ok(Cow::Borrowed(self));
        }
        Ok(Cow::Owned(match self {
            Self::Encrypt(plaintexts) => Self::Encrypt(plaintexts.range(rows)?),
            Self::Rerandomise(ciphertexts) => Self::Rerandomise(ciphertexts.range(rows)?),
            Self::Decrypt(ciphertexts) => Self::Decrypt(ciphertexts.range(rows)?),
            Self::Add(left, right) => Self::Add(left.range(rows.clone())?, right.range(rows)?),
            &Self::Multiply { ref ciphertexts, ref scalars, bits, deterministic } => {
                let ciphertexts = ciphertexts.range(rows.clone())?;
                let scalars = Zeroizing::new(scalars[rows].to_vec());
                Self::Multiply { ciphertexts, scalars, bits, deterministic }
            }
            Self::SumGroups { ciphertexts, groups } => {
                let (mut taken, mut parts) = (Vec::with_capacity(rows.len()), Vec::new());
                for (group, range) in groups.iter().zip(row_ranges(groups)) {
                    let (start, end) = (rows.start.max(range.start), rows.end.min(range.end));
                    if start < end {
                        let first = taken.len() as u32;
                        let part = &group[start - range.start..end - range.start];
                        taken.extend(part.iter().map(|&row| row as usize));
                        parts.push((first..taken.len() as u32).collect());
                    }
                }
                if taken.len() < rows.len() {
                    return Err(ErrorKind::NoSuchRow { rows: self.rows() }.into());
                }
                Self::SumGroups { ciphertexts: ciphertexts.select(&taken)?, groups: parts }
            }
        }))
    }

    /// Returns the row of this input that is at `index` in a slice.
    pub fn row_of(&self, rows: &Range<usize>, index: usize) -> usize {
        let position = rows.start + index;
        match self {
            Self::SumGroups { groups, .. } if *rows != (0..self.rows()) => {
                groups.iter().flatten().nth(position).map_or(position, |&row| row as usize)
            }
            _ => position,
        }
    }

    /// Returns the lowest row of this input in a slice, or `usize::MAX` if the slice is empty.
    pub fn first_row(&self, rows: &Range<usize>) -> usize {
        match self {
            Self::SumGroups { groups, .. } => {
                let taken = groups.iter().flatten().skip(rows.start).take(rows.len());
                taken.min().map_or(usize::MAX, |&row| row as usize)
            }
            _ => rows.start,
        }
    }

    /// Combines the outputs of all slices, in order, into the output of this input.
    ///
    /// Adds the partial sums of groups that several slices share, at most one group for each slice
    /// boundary.
    ///
    /// # Errors
    /// The outputs do not fit together, or belong to another key.
    pub fn join(&self, key: &ServedKey, slices: Vec<(Range<usize>, Output)>) -> Result<Output, Error> {
        let (ranges, outputs): (Vec<Range<usize>>, Vec<Output>) = slices.into_iter().unzip();
        let Self::SumGroups { groups, .. } = self else { return Output::concat(outputs) };
        if outputs.len() == 1 {
            return Output::concat(outputs);
        }
        let Output::Ciphertexts(partial) = Output::concat(outputs)? else {
            return Err(ErrorKind::Lengths { left: groups.len(), right: 0 }.into());
        };
        // The index of the next partial sum, and of the current slice. Each group has one partial
        // sum for each of its slices.
        let (mut next, mut slice) = (0, 0);
        let (mut split, mut order) = (Vec::new(), Vec::with_capacity(groups.len()));
        for range in row_ranges(groups) {
            let first = next;
            let mut start = range.start;
            while start < range.end {
                while ranges.get(slice).is_some_and(|rows| rows.end <= start) {
                    slice += 1;
                }
                start = ranges.get(slice).map_or(range.end, |rows| rows.end.min(range.end));
                next += 1;
            }
            if next - first == 1 {
                order.push(first);
            } else {
                order.push(partial.len() + split.len());
                split.push((first as u32..next as u32).collect());
            }
        }
        let sums = key.public().sum_groups(&partial, &split)?;
        Ciphertexts::concat(&partial, &[&sums])?.select(&order).map(Output::Ciphertexts)
    }

    fn ciphertexts(&self) -> Option<&Ciphertexts> {
        match self {
            Self::Encrypt(_) => None,
            Self::Rerandomise(ciphertexts) | Self::Decrypt(ciphertexts) | Self::Add(ciphertexts, _) => {
                Some(ciphertexts)
            }
            Self::Multiply { ciphertexts, .. } | Self::SumGroups { ciphertexts, .. } => Some(ciphertexts),
        }
    }

    fn plaintexts(&self) -> Option<&Plaintexts> {
        if let Self::Encrypt(plaintexts) = self { Some(plaintexts) } else { None }
    }

    fn added(&self) -> Option<&Ciphertexts> {
        if let Self::Add(_, added) = self { Some(added) } else { None }
    }

    fn scalars(&self) -> &[i128] {
        if let Self::Multiply { scalars, .. } = self { scalars } else { &[] }
    }

    fn groups(&self) -> &[Vec<u32>] {
        if let Self::SumGroups { groups, .. } = self { groups } else { &[] }
    }

    /// Checks that no ciphertext shares a factor with `n`, where the operation itself does not.
    ///
    /// The protocol requires this of every ciphertext. Multiplication and decryption check it
    /// themselves. The other operations would return a number that is not a ciphertext.
    ///
    /// # Errors
    /// [`ErrorKind::CiphertextSharesFactor`] for the first row that does.
    pub fn check(&self, key: &ServedKey) -> Result<(), Error> {
        match self {
            Self::Rerandomise(ciphertexts) | Self::SumGroups { ciphertexts, .. } => {
                key.public().check_coprime(ciphertexts)
            }
            Self::Add(left, right) => {
                key.public().check_coprime(left)?;
                key.public().check_coprime(right)
            }
            Self::Encrypt(_) | Self::Multiply { .. } | Self::Decrypt(_) => Ok(()),
        }
    }

    /// Computes on this CPU. Uses the private key if there is one, because that encrypts faster.
    ///
    /// Checks decryptions, because a faulty result would leak the key to the client.
    ///
    /// # Errors
    /// A row is invalid, or the random generator failed.
    pub fn compute(&self, key: &ServedKey) -> Result<Output, Error> {
        self.check(key)?;
        let public = key.public();
        let ciphertexts = match (self, key.private()) {
            (Self::Decrypt(ciphertexts), Some(private)) => {
                return private.decrypt_checked(ciphertexts).map(Output::Plaintexts);
            }
            (Self::Decrypt(_), None) => unreachable!("requests for a key that is not there are refused"),
            (Self::Encrypt(plaintexts), Some(private)) => private.encrypt(plaintexts),
            (Self::Encrypt(plaintexts), None) => public.encrypt(plaintexts),
            (Self::Rerandomise(ciphertexts), Some(private)) => private.rerandomise(ciphertexts),
            (Self::Rerandomise(ciphertexts), None) => public.rerandomise(ciphertexts),
            (Self::Add(left, right), _) => public.add(left, right),
            (Self::Multiply { ciphertexts, scalars, bits, deterministic: true }, _) => {
                public.multiply_deterministic(ciphertexts, scalars, *bits)
            }
            (Self::Multiply { ciphertexts, scalars, bits, .. }, _) => {
                public.multiply_bounded(ciphertexts, scalars, *bits)
            }
            (Self::SumGroups { ciphertexts, groups }, _) => public.sum_groups(ciphertexts, groups),
        };
        ciphertexts.map(Output::Ciphertexts)
    }
}

/// The row ranges of the groups, with rows counted group by group.
fn row_ranges(groups: &[Vec<u32>]) -> impl Iterator<Item = Range<usize>> {
    groups.iter().scan(0, |end, group| {
        let start = *end;
        *end += group.len();
        Some(start..*end)
    })
}

/// Omits the numbers.
impl fmt::Debug for Input {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Input({:?} of {} rows)", self.operation(), self.rows())
    }
}

impl Output {
    /// The number of rows.
    pub fn rows(&self) -> usize {
        match self {
            Self::Ciphertexts(ciphertexts) => ciphertexts.len(),
            Self::Plaintexts(plaintexts) => plaintexts.len(),
        }
    }

    /// Concatenates outputs.
    ///
    /// # Errors
    /// The outputs have different keys, there are none, or they mix ciphertexts and plaintexts.
    pub fn concat(parts: Vec<Self>) -> Result<Self, Error> {
        let mixed = || Error::from(ErrorKind::Lengths { left: parts.len(), right: 0 });
        if let [_] = &*parts {
            return parts.into_iter().next().ok_or(ErrorKind::Lengths { left: 0, right: 1 }.into());
        }
        let ciphertexts: Vec<&Ciphertexts> = parts.iter().filter_map(Self::ciphertexts).collect();
        let plaintexts: Vec<&Plaintexts> = parts.iter().filter_map(Self::plaintexts).collect();
        match (&*ciphertexts, &*plaintexts) {
            ([first, rest @ ..], []) => Ciphertexts::concat(first, rest).map(Self::Ciphertexts),
            ([], [first, rest @ ..]) => Plaintexts::concat(first, rest).map(Self::Plaintexts),
            _ => Err(mixed()),
        }
    }

    fn ciphertexts(&self) -> Option<&Ciphertexts> {
        if let Self::Ciphertexts(ciphertexts) = self { Some(ciphertexts) } else { None }
    }

    fn plaintexts(&self) -> Option<&Plaintexts> {
        if let Self::Plaintexts(plaintexts) = self { Some(plaintexts) } else { None }
    }

    /// Splits the rows into pieces of these lengths.
    ///
    /// # Errors
    /// [`ErrorKind::Lengths`] if the lengths do not sum to the number of rows.
    pub fn split(self, lengths: &[usize]) -> Result<Vec<Self>, Error> {
        let (left, right) = (self.rows(), lengths.iter().sum());
        if left != right {
            return Err(ErrorKind::Lengths { left, right }.into());
        }
        if lengths.len() == 1 {
            return Ok(vec![self]);
        }
        let mut start = 0;
        let mut piece = |length: usize| {
            let rows = start..start + length;
            start += length;
            match &self {
                Self::Ciphertexts(ciphertexts) => ciphertexts.range(rows).map(Self::Ciphertexts),
                Self::Plaintexts(plaintexts) => plaintexts.range(rows).map(Self::Plaintexts),
            }
        };
        lengths.iter().map(|&length| piece(length)).collect()
    }
}
