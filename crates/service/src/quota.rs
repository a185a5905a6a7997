//! Quotas: counts the rows of each client, by its name in the file of rights.
//!
//! A rate is a bucket with one second's rows. A request removes its rows and waits until the
//! missing ones have been refilled. A day begins at midnight UTC.

use std::collections::HashMap;
use std::num::NonZeroU64;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

use crate::proto::ErrorReason;
use crate::refusal::Refusal;
use crate::rights::{Entry, Right};

const DAY: u64 = 24 * 3600;

/// The usage of each client name.
#[derive(Debug, Default)]
pub(crate) struct Quotas {
    accounts: Mutex<HashMap<Arc<str>, Account>>,
}

#[derive(Debug, Default)]
struct Account {
    bucket: Option<Bucket>,
    day: u64,
    rows: u64,
    decrypted: u64,
}

/// The remaining rows of a rate. Negative while requests wait.
#[derive(Clone, Copy, Debug)]
struct Bucket {
    rows: f64,
    at: Instant,
}

impl Quotas {
    /// Charges rows. Returns how long they have to wait.
    ///
    /// # Errors
    /// The rows exceed the day's remaining quota. Nothing is charged.
    pub(crate) fn charge(&self, entry: &Entry, right: Right, rows: u64) -> Result<Duration, Refusal> {
        let seconds = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |time| time.as_secs());
        self.charge_at(entry, right, rows, seconds / DAY, Instant::now())
    }

    fn charge_at(&self, entry: &Entry, right: Right, rows: u64, day: u64, now: Instant) -> Result<Duration, Refusal> {
        let mut accounts = self.accounts.lock().unwrap_or_else(PoisonError::into_inner);
        // Names come from the files of rights, not from clients, so the map stays small.
        let account = accounts.entry(entry.name.clone()).or_default();
        account.begin_day(day);
        let all = after(account.rows, rows, entry.quota.rows_per_day, "")?;
        let decrypts = matches!(right, Right::Decrypt(_));
        let decrypted = match decrypts {
            true => after(account.decrypted, rows, entry.quota.decrypted_rows_per_day, "decrypted ")?,
            false => account.decrypted,
        };
        (account.rows, account.decrypted) = (all, decrypted);
        Ok(entry.quota.rows_per_second.map_or(Duration::ZERO, |rate| account.take(rows, rate, now)))
    }
}

impl Account {
    /// Begins a new day. A clock that goes back begins none.
    fn begin_day(&mut self, day: u64) {
        if day > self.day {
            (self.day, self.rows, self.decrypted) = (day, 0, 0);
        }
    }

    /// Removes rows from the bucket. Returns the time until they have been refilled.
    ///
    /// A request for more rows than the bucket holds waits for a full bucket and leaves a debt to
    /// the next.
    fn take(&mut self, rows: u64, rate: NonZeroU64, now: Instant) -> Duration {
        let (rate, rows) = (rate.get() as f64, rows as f64);
        let bucket = self.bucket.unwrap_or(Bucket { rows: rate, at: now });
        let since = now.saturating_duration_since(bucket.at).as_secs_f64();
        let available = (bucket.rows + since * rate).min(rate);
        self.bucket = Some(Bucket { rows: available - rows, at: now });
        let missing = (rows.min(rate) - available).max(0.0);
        Duration::try_from_secs_f64(missing / rate).unwrap_or(Duration::MAX)
    }
}

/// Returns a client's usage including these rows, or an error if it exceeds `most`.
fn after(had: u64, rows: u64, most: Option<u64>, kind: &str) -> Result<u64, Refusal> {
    let sum = had.saturating_add(rows);
    match most {
        Some(most) if sum > most => {
            let left = most.saturating_sub(had);
            let text = format!(
                "the client's quota is {most} {kind}rows a day, with {left} left until midnight UTC, \
                 but the request has {rows}"
            );
            Err(Refusal::new(ErrorReason::QuotaExceeded, text))
        }
        _ => Ok(sum),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::rights::Quota;

    fn entry(name: &str, quota: Quota) -> Entry {
        Entry { name: name.into(), quota }
    }

    fn decrypt() -> Right {
        Right::Decrypt("0".repeat(32).parse().unwrap_or_else(|_| panic!("an id")))
    }

    #[test]
    fn a_day_has_so_many_rows_and_no_more() {
        let quotas = Quotas::default();
        let quota = Quota { rows_per_day: Some(10), decrypted_rows_per_day: Some(3), ..Quota::default() };
        let (one, other) = (entry("one", quota), entry("other", quota));
        let now = Instant::now();
        let charge = |entry, right, rows, day| quotas.charge_at(entry, right, rows, day, now);
        assert_eq!(charge(&one, Right::Encrypt, 5, 1), Ok(Duration::ZERO));
        assert_eq!(charge(&one, decrypt(), 3, 1), Ok(Duration::ZERO));
        let refusal = charge(&one, decrypt(), 1, 1).unwrap_err();
        assert_eq!(refusal.reason(), ErrorReason::QuotaExceeded);
        assert!(refusal.to_string().contains("3 decrypted rows a day, with 0 left"), "{refusal}");
        let refusal = charge(&one, Right::Aggregate, 3, 1).unwrap_err();
        assert!(refusal.to_string().contains("10 rows a day, with 2 left"), "{refusal}");
        assert_eq!(charge(&one, Right::Aggregate, 2, 1), Ok(Duration::ZERO), "what was refused is not charged");
        assert_eq!(charge(&other, decrypt(), 3, 1), Ok(Duration::ZERO), "each name has its own");
        assert!(charge(&one, Right::Encrypt, 1, 0).is_err(), "a clock that steps back renews nothing");
        assert_eq!(charge(&one, decrypt(), 3, 2), Ok(Duration::ZERO), "the next day");
        assert!(charge(&one, Right::Encrypt, u64::MAX, 2).is_err());
    }

    #[test]
    fn rows_wait_for_their_rate_one_request_after_another() {
        let quotas = Quotas::default();
        let quota = Quota { rows_per_second: NonZeroU64::new(10), ..Quota::default() };
        let one = entry("one", quota);
        let start = Instant::now();
        let wait = |rows, seconds: f64| {
            let now = start + Duration::from_secs_f64(seconds);
            quotas.charge_at(&one, Right::Encrypt, rows, 1, now).unwrap().as_secs_f64()
        };
        assert_eq!(wait(10, 0.0), 0.0, "a second's rows come at once");
        assert_eq!(wait(5, 0.0), 0.5);
        assert_eq!(wait(5, 0.0), 1.0, "behind the request before");
        assert_eq!(wait(5, 1.0), 0.5);
        // A large request waits for a full bucket. The next ones wait for its excess.
        assert_eq!(wait(40, 10.0), 0.0);
        assert_eq!(wait(1, 10.0), 3.1);
    }

    #[test]
    fn nothing_bounds_what_is_not_said() {
        let quotas = Quotas::default();
        let free = entry("free", Quota::default());
        for _ in 0..3 {
            assert_eq!(quotas.charge(&free, decrypt(), u64::MAX / 2), Ok(Duration::ZERO));
        }
    }
}
