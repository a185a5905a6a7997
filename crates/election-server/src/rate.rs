//! How often somebody may do something: a bucket of tokens for each, which fills as time goes by.

use std::collections::HashMap;
use std::hash::Hash;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

/// Buckets that are kept; beyond, those that are full go, and if that is not enough, all.
const MOST: usize = 100_000;

/// Buckets by whose they are.
#[derive(Debug)]
pub(crate) struct Rates<K> {
    a_second: f64,
    room: f64,
    buckets: Mutex<HashMap<K, Bucket>>,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    tokens: f64,
    at: Instant,
}

impl<K: Eq + Hash> Rates<K> {
    /// Buckets that hold `room` tokens and get `a_second` of them in a second.
    pub(crate) fn new(a_second: f64, room: f64) -> Self {
        Self { a_second, room, buckets: Mutex::default() }
    }

    /// Takes a token; where there is none, says how long it takes until there is.
    pub(crate) fn take(&self, whose: K, now: Instant) -> Result<(), Duration> {
        self.with(whose, now, |bucket| {
            if bucket.tokens < 1.0 {
                return Err(Duration::from_secs_f64((1.0 - bucket.tokens) / self.a_second));
            }
            bucket.tokens -= 1.0;
            Ok(())
        })
    }

    /// Whether there is a token, which stays.
    pub(crate) fn has(&self, whose: K, now: Instant) -> bool {
        self.with(whose, now, |bucket| bucket.tokens >= 1.0)
    }

    fn with<T>(&self, whose: K, now: Instant, action: impl FnOnce(&mut Bucket) -> T) -> T {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        if buckets.len() >= MOST && !buckets.contains_key(&whose) {
            buckets.retain(|_, bucket| self.filled(*bucket, now) < self.room);
            if buckets.len() >= MOST {
                buckets.clear();
            }
        }
        let bucket = buckets.entry(whose).or_insert(Bucket { tokens: self.room, at: now });
        *bucket = Bucket { tokens: self.filled(*bucket, now), at: now };
        action(bucket)
    }

    fn filled(&self, bucket: Bucket, now: Instant) -> f64 {
        let since = now.saturating_duration_since(bucket.at).as_secs_f64();
        (bucket.tokens + since * self.a_second).min(self.room)
    }
}

/// Whom an address stands for: a household with IPv6 has a network of 64 bits.
pub(crate) fn household(address: IpAddr) -> IpAddr {
    match address.to_canonical() {
        IpAddr::V6(address) => IpAddr::V6(Ipv6Addr::from_bits(address.to_bits() & !u128::from(u64::MAX))),
        address => address,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn tokens_run_out_and_come_back() {
        let rates = Rates::new(2.0, 3.0);
        let start = Instant::now();
        for _ in 0..3 {
            assert_eq!(rates.take("a", start), Ok(()));
        }
        assert_eq!(rates.take("a", start), Err(Duration::from_millis(500)));
        assert_eq!(rates.take("b", start), Ok(()), "each has a bucket of its own");
        let later = start + Duration::from_millis(500);
        assert_eq!(rates.take("a", later), Ok(()));
        assert!(rates.take("a", later).is_err());
        // A bucket holds no more than it has room for.
        let much_later = start + Duration::from_secs(3600);
        assert_eq!((0..9).filter(|_| rates.take("a", much_later).is_ok()).count(), 3);
    }

    #[test]
    fn looking_takes_nothing() {
        let rates = Rates::new(0.0, 1.0);
        let now = Instant::now();
        assert!(rates.has("a", now) && rates.has("a", now));
        assert_eq!(rates.take("a", now), Ok(()));
        assert!(!rates.has("a", now));
    }

    #[test]
    fn buckets_do_not_grow_without_end() {
        let rates = Rates::new(1.0, 1.0);
        let now = Instant::now();
        for number in 0..MOST + 10 {
            assert_eq!(rates.take(number, now), Ok(()));
        }
        assert!(rates.buckets.lock().unwrap().len() <= MOST);
    }

    #[test]
    fn a_network_is_one_household() {
        let of = |text: &str| household(text.parse().unwrap());
        assert_eq!(of("2001:db8:1:2:3::4"), of("2001:db8:1:2::9"));
        assert_ne!(of("2001:db8:1:2::9"), of("2001:db8:1:3::9"));
        assert_eq!(of("::ffff:192.0.2.1"), of("192.0.2.1"));
        assert_ne!(of("192.0.2.1"), of("192.0.2.2"));
    }
}
