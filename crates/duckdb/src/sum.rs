//! Totals of groups in an aggregate: one ciphertext per group, without its rows.

use std::cell::OnceCell;
use std::sync::Arc;

use hearith_paillier::{Ciphertexts, ComputeError, Error, PublicKey, PublicKeyBackend};
use rayon::{ThreadPool, ThreadPoolBuilder};

use crate::fault::Fault;

/// A running total: the ciphertext of a sum as big-endian bytes, and its number of rows.
#[derive(Debug)]
pub(crate) struct Total {
    pub(crate) key: PublicKey,
    pub(crate) rows: u64,
    pub(crate) ciphertext: Box<[u8]>,
}

/// Ciphertexts to add to the totals of groups.
pub(crate) struct Addends<'a> {
    key: PublicKey,
    backend: Arc<dyn PublicKeyBackend>,
    rows: Vec<&'a [u8]>,
    /// For each group, the indices of its rows in `rows`.
    members: Vec<Vec<u32>>,
    /// For each group, the number of table rows that its ciphertexts represent.
    counts: Vec<u64>,
}

impl<'a> Addends<'a> {
    /// Allocates capacity for about `rows` ciphertexts of `groups` groups.
    pub(crate) fn new(key: &PublicKey, rows: usize, groups: usize) -> Self {
        // Twice the mean, so that few groups need to grow.
        let members = (0..groups).map(|_| Vec::with_capacity(2 * rows / groups + 1)).collect();
        let (key, backend) = (key.clone(), Arc::new(key.clone()));
        Self { key, backend, rows: Vec::with_capacity(rows + groups), members, counts: vec![0; groups] }
    }

    /// The same addends, summed by another backend.
    pub(crate) fn by(self, backend: Arc<dyn PublicKeyBackend>) -> Self {
        Self { backend, ..self }
    }

    /// Adds one ciphertext to a group.
    pub(crate) fn push(&mut self, group: usize, ciphertext: &'a [u8]) -> Result<(), Fault> {
        self.push_rows(group, ciphertext, 1)
    }

    fn push_rows(&mut self, group: usize, ciphertext: &'a [u8], rows: u64) -> Result<(), Fault> {
        let expected = self.key.ciphertext_bytes();
        if ciphertext.len() != expected {
            return Err(Fault::Width { bytes: ciphertext.len(), key: self.key.id(), expected });
        }
        self.members[group].push(self.rows.len() as u32);
        self.rows.push(ciphertext);
        self.counts[group] += rows;
        Ok(())
    }

    /// Adds a total to a group. It must have the same key.
    pub(crate) fn push_total(&mut self, group: usize, total: &'a Total) -> Result<(), Fault> {
        match total.key.id() == self.key.id() {
            true => self.push_rows(group, &total.ciphertext, total.rows),
            false => Err(Fault::KeyChanged(total.key.id(), self.key.id())),
        }
    }

    /// Computes the totals of the groups, `None` for a group without ciphertexts.
    ///
    /// Checks that the ciphertexts lie in `[1, n^2)`.
    pub(crate) fn totals(self) -> Result<Vec<Option<Total>>, Fault> {
        let Self { key, backend, rows, members, counts } = self;
        let width = key.ciphertext_bytes();
        let products = inline(|| backend.sum_groups(&key.ciphertexts_from_be_rows(&rows)?, &members));
        let products = computed(&key, products)?.to_be_bytes();
        let total = |(rows, product): (u64, &[u8])| {
            (rows > 0).then(|| Total { key: key.clone(), rows, ciphertext: product.into() })
        };
        Ok(counts.into_iter().zip(products.chunks_exact(width)).map(total).collect())
    }
}

/// Checks that totals, and therefore all of their ciphertexts, are coprime to `n`.
pub(crate) fn check_coprime(totals: &[&Total]) -> Result<(), Fault> {
    let Some(first) = totals.first() else { return Ok(()) };
    let key = &first.key;
    if let Some(other) = totals.iter().find(|total| total.key.id() != key.id()) {
        return Err(Fault::KeyChanged(key.id(), other.key.id()));
    }
    let rows: Vec<&[u8]> = totals.iter().map(|total| &*total.ciphertext).collect();
    let coprime = || Ok::<_, Error>(key.check_coprime(&key.ciphertexts_from_be_rows(&rows)?).is_ok());
    match inline(coprime)? {
        true => Ok(()),
        false => Err(Fault::NotCoprime(key.id())),
    }
}

/// Converts a backend's result to ciphertexts or a fault.
pub(crate) fn computed(key: &PublicKey, result: Result<Ciphertexts, ComputeError>) -> Result<Ciphertexts, Fault> {
    result.map_err(|error| match error {
        ComputeError::Batch(error) => operation(key, error),
        ComputeError::Service(cause) => Fault::Card(cause.into()),
    })
}

/// Converts an operation's error to an error about values of a column.
pub(crate) fn operation(key: &PublicKey, error: Error) -> Fault {
    match error.kind().is_bad_ciphertext() {
        true => Fault::Ciphertext { key: key.id(), fault: error.kind().clone() },
        false => error.into(),
    }
}

/// Runs a batch operation on this thread alone, because DuckDB already calls an aggregate on all
/// the threads that it may use.
fn inline<T: Send>(operation: impl FnOnce() -> T + Send) -> T {
    thread_local! {
        static POOL: OnceCell<Option<ThreadPool>> = const { OnceCell::new() };
    }
    POOL.with(|pool| {
        // A thread of another pool cannot start a pool of its own. That other pool then does the
        // work.
        let pool = pool.get_or_init(|| ThreadPoolBuilder::new().num_threads(1).use_current_thread().build().ok());
        match pool {
            Some(pool) => pool.install(operation),
            None => operation(),
        }
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use hearith_paillier::encoding::{decode_signed, encode_signed};
    use hearith_paillier::{Engine, ErrorKind, KeyPolicy, PrivateKey, Variant};

    fn key() -> PrivateKey {
        PrivateKey::generate(256, Variant::Standard, KeyPolicy::AllowInsecure, Engine::best()).unwrap()
    }

    fn encrypt(key: &PrivateKey, numbers: &[i128]) -> Vec<Vec<u8>> {
        let public = key.public();
        let ciphertexts = public.encrypt(&encode_signed(public, numbers).unwrap()).unwrap();
        ciphertexts.to_be_bytes().chunks(public.ciphertext_bytes()).map(<[u8]>::to_vec).collect()
    }

    fn decrypt(key: &PrivateKey, total: &Total) -> i128 {
        let public = key.public();
        let plaintexts = key.decrypt(&public.ciphertexts_from_be(&total.ciphertext).unwrap()).unwrap();
        decode_signed(public, &plaintexts).unwrap()[0].to_i128().unwrap()
    }

    #[test]
    fn totals_of_groups_and_of_totals() {
        let key = key();
        let numbers = [5, -7, 100, 1, 2];
        let mut addends = Addends::new(key.public(), 5, 4);
        let ciphertexts = encrypt(&key, &numbers);
        for (ciphertext, group) in ciphertexts.iter().zip([0, 1, 0, 2, 0]) {
            addends.push(group, ciphertext).unwrap();
        }
        let totals = addends.totals().unwrap();
        let found: Vec<Option<i128>> = totals.iter().map(|total| Some(decrypt(&key, total.as_ref()?))).collect();
        assert_eq!(found, [Some(107), Some(-7), Some(1), None]);
        assert_eq!(totals.iter().flatten().map(|total| total.rows).collect::<Vec<_>>(), [3, 1, 1]);
        let mut addends = Addends::new(key.public(), 0, 1);
        let present: Vec<&Total> = totals.iter().flatten().collect();
        present.iter().for_each(|total| addends.push_total(0, total).unwrap());
        let all = addends.totals().unwrap().remove(0).unwrap();
        assert_eq!((decrypt(&key, &all), all.rows), (101, 5));
        check_coprime(&present).unwrap();
    }

    #[test]
    fn what_is_no_ciphertext_is_refused() {
        let (private, other) = (key(), key());
        let public = private.public();
        let width = public.ciphertext_bytes();
        let (short, one) = (vec![1; width - 1], encrypt(&private, &[1]).remove(0));
        let mut addends = Addends::new(public, 1, 1);
        assert!(matches!(addends.push(0, &short), Err(Fault::Width { .. })));
        assert!(matches!(addends.push(0, &[]), Err(Fault::Width { .. })));
        for (value, wrong) in
            [(vec![0; width], ErrorKind::CiphertextZero), (vec![0xff; width], ErrorKind::CiphertextTooLarge)]
        {
            let mut addends = Addends::new(public, 1, 1);
            addends.push(0, &one).unwrap();
            addends.push(0, &value).unwrap();
            let fault = addends.totals().unwrap_err();
            assert!(matches!(&fault, Fault::Ciphertext { fault, .. } if *fault == wrong), "{fault}");
        }
        // n itself is in [1, n^2), but is not a unit.
        let mut n = vec![0; width - public.modulus_be().len()];
        n.extend(public.modulus_be());
        let mut addends = Addends::new(public, 2, 1);
        addends.push(0, &one).unwrap();
        addends.push(0, &n).unwrap();
        let totals = addends.totals().unwrap();
        assert!(matches!(check_coprime(&[totals[0].as_ref().unwrap()]), Err(Fault::NotCoprime(_))));
        let mut addends = Addends::new(other.public(), 1, 1);
        assert!(matches!(addends.push_total(0, totals[0].as_ref().unwrap()), Err(Fault::KeyChanged(..))));
    }
}
