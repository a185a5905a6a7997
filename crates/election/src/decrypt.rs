//! Decryption of the tally, by trustees' shares or by the key holder, and the result.

use crate::body::{DecryptedMark, DecryptionOpening, Outcome, Share, Tally};
use crate::canonical::Bytes;
use crate::election::Election;
use crate::error::{ErrorKind, Place};
use hearith_paillier::{Ciphertexts, Plaintexts, PrivateKey};
use hearith_threshold::{self as threshold, KeyShare, Shares, VerificationKeys};

impl Election {
    /// A trustee's share of a tally's decryption. Verify the record first: a trustee who decrypts
    /// anything on request also decrypts single ballots.
    ///
    /// # Errors
    /// [`Secret`](ErrorKind::Secret) for a share of another key, an invalid ciphertext, or a
    /// failure of the random generator.
    pub fn share(&self, trustee: &KeyShare, tally: &Tally) -> Result<Share, ErrorKind> {
        self.check_trustee(trustee)?;
        let shares = trustee.decrypt(&self.share_contexts(), &self.numbers(tally)?)?;
        Ok(Share { election: self.id(), shares: Bytes(shares.to_be_bytes()), trustee: trustee.trustee() })
    }

    /// Checks that a share of the key is one of this election's.
    ///
    /// # Errors
    /// [`Secret`](ErrorKind::Secret).
    pub fn check_trustee(&self, trustee: &KeyShare) -> Result<(), ErrorKind> {
        let known = self.verification()?.trustee_keys_be();
        match known.get(trustee.trustee() as usize - 1) {
            Some(known) if trustee.key() == self.key() && *known == trustee.verification_be() => Ok(()),
            _ => Err(ErrorKind::Secret { problem: "the share of the key does not belong to this election" }),
        }
    }

    /// Checks a trustee's share.
    ///
    /// # Errors
    /// [`DoesNotHold`](ErrorKind::DoesNotHold) or [`OutOfRange`](ErrorKind::OutOfRange) with the
    /// first mark whose share is wrong.
    pub fn verify_share(&self, tally: &Tally, share: &Share) -> Result<(), ErrorKind> {
        let shares = self.shares(share)?;
        let found = self.verification()?.verify(&self.share_contexts(), &self.numbers(tally)?, &shares);
        found.map_err(|error| self.share_error(error))
    }

    /// Verifies all shares and combines them into the result. Needs at least the threshold number
    /// of trustees.
    ///
    /// # Errors
    /// [`TooFewShares`](ErrorKind::TooFewShares), the errors of [`Election::verify_share`], or
    /// [`NoResult`](ErrorKind::NoResult).
    pub fn combine(&self, tally: &Tally, shares: &[&Share]) -> Result<Outcome, ErrorKind> {
        let (verification, numbers) = (self.verification()?, self.numbers(tally)?);
        if shares.len() < verification.needed() as usize {
            return Err(ErrorKind::TooFewShares { needed: verification.needed(), given: shares.len() as u32 });
        }
        let parsed = shares.iter().map(|share| self.shares(share)).collect::<Result<Vec<_>, _>>()?;
        let combined = verification.combine(&self.share_contexts(), &numbers, &parsed.iter().collect::<Vec<_>>());
        let combined = combined.map_err(|error| self.share_error(error))?;
        self.outcome(&combined.plaintexts, tally.weight)
    }

    /// Decrypts the tally as the key holder.
    ///
    /// # Errors
    /// [`Secret`](ErrorKind::Secret) for another key, or an invalid ciphertext.
    pub fn open(&self, private: &PrivateKey, tally: &Tally) -> Result<DecryptionOpening, ErrorKind> {
        let key = self.key();
        if private.public() != key {
            return Err(ErrorKind::Secret { problem: "the private key does not belong to this election" });
        }
        let numbers = key.ciphertexts_from_be(&self.numbers(tally)?.to_be_bytes())?;
        let (plaintexts, openings) = private.open(&numbers)?;
        let (plaintexts, openings, width) = (plaintexts.to_be_bytes(), openings.to_be_bytes(), key.plaintext_bytes());
        let one = |mark: usize| DecryptedMark {
            opening: Bytes(openings[mark * width..][..width].to_vec()),
            plaintext: Bytes(plaintexts[mark * width..][..width].to_vec()),
        };
        let mut decrypted = (0..self.marks()).map(one);
        let contests = self.contests().iter().map(|contest| decrypted.by_ref().take(contest.marks()).collect());
        Ok(DecryptionOpening { contests: contests.collect(), election: self.id() })
    }

    /// Checks the key holder's decryption by re-encrypting it, and returns the result.
    ///
    /// # Errors
    /// [`WrongOpening`](ErrorKind::WrongOpening) or [`OutOfRange`](ErrorKind::OutOfRange) with the
    /// first mark at fault, or [`NoResult`](ErrorKind::NoResult).
    pub fn check_opening(&self, tally: &Tally, opening: &DecryptionOpening) -> Result<Outcome, ErrorKind> {
        let key = self.key();
        let bytes = |of: fn(&DecryptedMark) -> &Bytes| -> Vec<u8> {
            opening.contests.iter().flatten().flat_map(|one| of(one).0.iter().copied()).collect()
        };
        let outside = |error: hearith_paillier::Error| match error.row() {
            Some(mark) => ErrorKind::OutOfRange { place: self.place(mark) },
            None => error.into(),
        };
        let plaintexts = key.plaintexts_from_be(&bytes(|one| &one.plaintext)).map_err(outside)?;
        let openings = key.openings_from_be(&bytes(|one| &one.opening)).map_err(outside)?;
        let found = key.check_openings(&self.numbers(tally)?, &plaintexts, &openings);
        found.map_err(|error| match error.row() {
            Some(mark) => ErrorKind::WrongOpening { place: self.place(mark) },
            None => error.into(),
        })?;
        self.outcome(&plaintexts, tally.weight)
    }

    /// The result, from the tally's plaintexts.
    fn outcome(&self, plaintexts: &Plaintexts, weight: u64) -> Result<Outcome, ErrorKind> {
        let bytes = plaintexts.to_be_bytes();
        let mut numbers = bytes.chunks_exact(plaintexts.row_bytes());
        let mut contests = Vec::with_capacity(self.contests().len());
        for (number, contest) in self.contests().iter().enumerate() {
            let of_contest: Vec<&[u8]> = numbers.by_ref().take(contest.marks()).collect();
            let votes = contest.votes(&of_contest, weight).ok_or(ErrorKind::NoResult { contest: number })?;
            contests.push(votes);
        }
        Ok(Outcome { contests, election: self.id() })
    }

    fn verification(&self) -> Result<&VerificationKeys, ErrorKind> {
        self.trustees().ok_or(ErrorKind::Shape { problem: "the key of this election is not shared" })
    }

    /// The ciphertexts of a tally.
    fn numbers(&self, tally: &Tally) -> Result<Ciphertexts, ErrorKind> {
        let key = self.key();
        let rows: Vec<&[u8]> = tally.contests.iter().flatten().map(|number| &number.0[..]).collect();
        let outside = |error: hearith_paillier::Error| match error.row() {
            Some(mark) => ErrorKind::OutOfRange { place: self.place(mark) },
            None => error.into(),
        };
        let numbers = key.ciphertexts_from_be_rows(&rows).map_err(outside)?;
        key.check_coprime(&numbers).map_err(outside)?;
        Ok(numbers)
    }

    fn shares(&self, share: &Share) -> Result<Shares, ErrorKind> {
        let shares = self.verification()?.shares_from_be_bytes(share.trustee, &share.shares.0);
        shares.map_err(|error| self.share_error(error))
    }

    fn place(&self, mark: usize) -> Place {
        self.places().get(mark).copied().unwrap_or(Place { contest: 0, mark: None })
    }

    /// Converts a share's error to one at its place in the tally.
    fn share_error(&self, error: threshold::Error) -> ErrorKind {
        match (error.kind(), error.row()) {
            (threshold::ErrorKind::DoesNotHold, Some(mark)) => ErrorKind::DoesNotHold { place: self.place(mark) },
            (threshold::ErrorKind::OutOfRange, Some(mark)) => ErrorKind::OutOfRange { place: self.place(mark) },
            _ => error.into(),
        }
    }
}
