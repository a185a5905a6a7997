//! Rate limits: a token bucket for each client, refilled over time.

use std::hash::Hash;
use std::net::{IpAddr, Ipv6Addr};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use hashlink::LruCache;

/// Maximum number of buckets. A new bucket replaces the least recently used one. A client with many
/// addresses can therefore reset only buckets that are rarely used.
const MOST: usize = 100_000;

/// Token buckets by owner.
#[derive(Debug)]
pub struct RateLimiter<K> {
    per_second: f64,
    capacity: f64,
    buckets: Mutex<LruCache<K, Bucket>>,
}

#[derive(Clone, Copy, Debug)]
struct Bucket {
    tokens: f64,
    at: Instant,
}

impl<K: Eq + Hash> RateLimiter<K> {
    /// Creates buckets of `capacity` tokens that gain `per_second` tokens each second.
    pub fn new(per_second: f64, capacity: f64) -> Self {
        Self { per_second, capacity, buckets: Mutex::new(LruCache::new(MOST)) }
    }

    /// Takes a token.
    ///
    /// # Errors
    /// The bucket has no token. The error is the time until it has one.
    pub fn take(&self, whose: K, now: Instant) -> Result<(), Duration> {
        self.with(whose, now, |bucket| {
            if bucket.tokens < 1.0 {
                return Err(Duration::from_secs_f64((1.0 - bucket.tokens) / self.per_second));
            }
            bucket.tokens -= 1.0;
            Ok(())
        })
    }

    /// Returns an unused token.
    pub fn give_back(&self, whose: K, now: Instant) {
        self.with(whose, now, |bucket| bucket.tokens = (bucket.tokens + 1.0).min(self.capacity));
    }

    /// Whether there is a token. Takes none.
    pub fn has(&self, whose: K, now: Instant) -> bool {
        self.with(whose, now, |bucket| bucket.tokens >= 1.0)
    }

    fn with<T>(&self, whose: K, now: Instant, action: impl FnOnce(&mut Bucket) -> T) -> T {
        let mut buckets = self.buckets.lock().unwrap_or_else(PoisonError::into_inner);
        let kept = buckets.get(&whose).copied();
        let mut bucket = kept.map_or(Bucket { tokens: self.capacity, at: now }, |bucket| self.filled(bucket, now));
        let result = action(&mut bucket);
        buckets.insert(whose, bucket);
        result
    }

    fn filled(&self, bucket: Bucket, now: Instant) -> Bucket {
        let since = now.saturating_duration_since(bucket.at).as_secs_f64();
        Bucket { tokens: (bucket.tokens + since * self.per_second).min(self.capacity), at: now }
    }
}

/// The client that an address stands for. For IPv6 this is the /64 network.
pub fn client_prefix(address: IpAddr) -> IpAddr {
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
        let rates = RateLimiter::new(2.0, 3.0);
        let start = Instant::now();
        for _ in 0..3 {
            assert_eq!(rates.take("a", start), Ok(()));
        }
        assert_eq!(rates.take("a", start), Err(Duration::from_millis(500)));
        assert_eq!(rates.take("b", start), Ok(()), "each has a bucket of its own");
        let later = start + Duration::from_millis(500);
        assert_eq!(rates.take("a", later), Ok(()));
        assert!(rates.take("a", later).is_err());
        // The bucket holds no more than its capacity.
        let much_later = start + Duration::from_secs(3600);
        assert_eq!((0..9).filter(|_| rates.take("a", much_later).is_ok()).count(), 3);
    }

    #[test]
    fn looking_takes_nothing() {
        let rates = RateLimiter::new(0.0, 1.0);
        let now = Instant::now();
        assert!(rates.has("a", now) && rates.has("a", now));
        assert_eq!(rates.take("a", now), Ok(()));
        assert!(!rates.has("a", now));
        rates.give_back("a", now);
        rates.give_back("a", now);
        assert_eq!(rates.take("a", now), Ok(()));
        assert!(!rates.has("a", now), "no more than the bucket holds");
    }

    #[test]
    fn many_addresses_lift_the_limit_of_none() {
        let rates = RateLimiter::new(1.0, 1.0);
        let now = Instant::now();
        assert_eq!(rates.take(usize::MAX, now), Ok(()));
        for number in 0..3 * MOST {
            assert_eq!(rates.take(number, now), Ok(()));
            if number % (MOST / 2) == 0 {
                assert!(rates.take(usize::MAX, now).is_err(), "after {number} others");
            }
        }
        assert!(rates.take(3 * MOST - 1, now).is_err());
        assert!(rates.buckets.lock().unwrap().len() <= MOST);
    }

    #[test]
    fn a_network_is_one_client() {
        let of = |text: &str| client_prefix(text.parse().unwrap());
        assert_eq!(of("2001:db8:1:2:3::4"), of("2001:db8:1:2::9"));
        assert_ne!(of("2001:db8:1:2::9"), of("2001:db8:1:3::9"));
        assert_eq!(of("::ffff:192.0.2.1"), of("192.0.2.1"));
        assert_ne!(of("192.0.2.1"), of("192.0.2.2"));
    }
}
