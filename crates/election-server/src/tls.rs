//! TLS: see `hearith-serving`.

pub(crate) use hearith_serving::tls::{Current, certificates};
pub use hearith_serving::tls::{Error, Tls};
