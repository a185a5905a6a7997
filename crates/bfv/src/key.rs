//! Keys and the text format of their files.
//!
//! A private key is a seed. Its streams generate the secret and the public key's uniform half and
//! error, so a private key file is short and the public key can be regenerated.

use crate::convert::{self, Convert};
use crate::packing::{pack, packed_bytes, unpack};
use crate::parameters::Set;
use crate::random::{SEED_BYTES, Seed, Stream, seed};
use crate::ring::{Poly, Ring};
use crate::{Error, ErrorKind};
use base64ct::{Base64UrlUnpadded, Encoding};
use hearith_arith::Engine;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fmt;
use std::sync::Arc;
use zeroize::{Zeroize, Zeroizing};

/// The key type (`kty`) in this scheme's key files.
pub const KEY_TYPE: &str = "HEARITH-BFV";
/// Maximum length of a key's text in bytes. The public key of the largest set has 1.1 million.
pub const MAX_KEY_TEXT: usize = 1 << 21;

/// Whether a text claims to be a key of this scheme. The key may be damaged.
pub fn is_key(text: &str) -> bool {
    #[derive(Deserialize)]
    struct Kind<'a> {
        #[serde(borrow)]
        kty: std::borrow::Cow<'a, str>,
    }
    serde_json::from_str::<Kind<'_>>(text).is_ok_and(|kind| kind.kty == KEY_TYPE)
}

/// Identifies a key pair: the first 16 bytes of the SHA-256 of the set's name and the public key.
#[derive(Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct KeyId(pub(crate) [u8; 16]);

impl fmt::Display for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.0.iter().try_for_each(|byte| write!(f, "{byte:02x}"))
    }
}

impl fmt::Debug for KeyId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        fmt::Display::fmt(self, f)
    }
}

/// Encrypts, and computes sums of ciphertexts. Cheap to clone.
#[derive(Clone)]
pub struct PublicKey {
    pub(crate) parts: Arc<PublicParts>,
    /// Converts plaintexts to residues; `None` means this CPU.
    converter: Option<Arc<dyn Convert>>,
}

pub(crate) struct PublicParts {
    pub(crate) ring: Arc<Ring>,
    pub(crate) id: KeyId,
    seed: Seed,
    packed: Vec<u8>,
    /// `a s + e` and `a` as values of the transform, in Montgomery form.
    pub(crate) b: Poly,
    pub(crate) a: Poly,
}

impl fmt::Debug for PublicKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PublicKey({}, {})", self.set(), self.id())
    }
}

/// Decrypts. The key is never printed, and wiped when dropped.
pub struct PrivateKey {
    public: PublicKey,
    seed: Zeroizing<Seed>,
    /// The secret as values of the transform, in Montgomery form.
    pub(crate) s: Poly,
}

impl fmt::Debug for PrivateKey {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "PrivateKey({}, {})", self.public.set(), self.public.id())
    }
}

/// Numbers of the streams of a private key's seed.
const SECRET: u64 = 0;
const UNIFORM: u64 = 1;
const ERROR: u64 = 2;

/// Expands a public seed to a uniform polynomial, as values of the transform.
pub(crate) fn expanded(ring: &Ring, seed: &Seed) -> Poly {
    let mut a = ring.zeros();
    ring.each(&mut a, |_, i, a, prime| Stream::new(seed, i as u64).uniform(a, prime.q));
    a
}

impl PrivateKey {
    /// Generates a new key.
    ///
    /// # Errors
    /// If the engine is not available or the operating system provides no random numbers.
    pub fn generate(set: Set, engine: Engine) -> Result<Self, Error> {
        Self::from_seed(&*seed()?, Ring::new(set, engine)?)
    }

    fn from_seed(seed: &Seed, ring: Arc<Ring>) -> Result<Self, Error> {
        let mut small = Zeroizing::new(vec![Default::default(); ring.vectors()]);
        Stream::new(seed, SECRET).ternary(&mut small);
        let mut s = ring.small(&small);
        ring.forward(&mut s);
        ring.make_montgomery(&mut s);

        let public_seed = *Stream::new(seed, UNIFORM).seed();
        let a = expanded(&ring, &public_seed);
        Stream::new(seed, ERROR).errors(&mut small);
        let mut b = ring.small(&small);
        ring.forward(&mut b);
        ring.multiply_add(&mut b, &a, &s);
        Ok(PrivateKey { public: PublicKey::new(ring, public_seed, b, a), seed: Zeroizing::new(*seed), s })
    }

    /// The public half.
    pub fn public(&self) -> &PublicKey {
        &self.public
    }

    /// Sets the converter, as [`PublicKey::with_converter`] does.
    pub fn with_converter(mut self, converter: Arc<dyn Convert>) -> Self {
        self.public.converter = Some(converter);
        self
    }

    /// The text of the key's file, as JSON.
    pub fn to_text(&self) -> Zeroizing<String> {
        let mut seed = Zeroizing::new([0; 43]);
        // The buffer has the length of 32 encoded bytes, so this cannot fail.
        let seed = Base64UrlUnpadded::encode(&*self.seed, &mut *seed).unwrap_or_default();
        let (set, id) = (self.public.set(), self.public.id());
        let mut text = Zeroizing::new(String::with_capacity(256));
        for part in
            ["{\"kty\":\"", KEY_TYPE, "\",\"set\":\"", set.name(), "\",\"kid\":\"", &id.to_string(), "\",\"d\":\""]
        {
            text.push_str(part);
        }
        text.push_str(seed);
        text.push_str("\"}\n");
        text
    }

    /// Parses the text of a key's file.
    ///
    /// # Errors
    /// If the text is not a private key, its parts contradict each other, or the engine is not
    /// available.
    pub fn from_text(text: &str, engine: Engine) -> Result<Self, Error> {
        let fields = Fields::parse(text)?;
        let encoded = fields.d.as_deref().ok_or(ErrorKind::Malformed("the key has no private part"))?;
        let mut seed = Zeroizing::new([0; SEED_BYTES]);
        let decoded = Base64UrlUnpadded::decode(encoded, &mut *seed).map(<[u8]>::len);
        if decoded != Ok(SEED_BYTES) {
            return Err(ErrorKind::Malformed("d is not 32 bytes in base64url").into());
        }
        let key = Self::from_seed(&seed, Ring::new(fields.set.parse()?, engine)?)?;
        fields.check_id(key.public.id())?;
        Ok(key)
    }
}

impl PublicKey {
    fn new(ring: Arc<Ring>, seed: Seed, mut b: Poly, mut a: Poly) -> Self {
        let packed = pack(&b);
        let digest = Sha256::new().chain_update(ring.set.name()).chain_update(seed).chain_update(&packed).finalize();
        let mut id = [0; 16];
        id.copy_from_slice(&digest[..16]);
        ring.make_montgomery(&mut b);
        ring.make_montgomery(&mut a);
        PublicKey { parts: Arc::new(PublicParts { ring, id: KeyId(id), seed, packed, b, a }), converter: None }
    }

    /// The parameters.
    pub fn set(&self) -> Set {
        self.parts.ring.set
    }

    /// The key's ID.
    pub fn id(&self) -> KeyId {
        self.parts.id
    }

    /// The engine that computes.
    pub fn engine(&self) -> Engine {
        self.parts.ring.engine
    }

    /// The same key with a converter that computes the residues of plaintexts. With the same
    /// randomness, ciphertexts stay the same byte for byte.
    pub fn with_converter(mut self, converter: Arc<dyn Convert>) -> Self {
        self.converter = Some(converter);
        self
    }

    /// Adds plaintexts to an encryption of zeros.
    pub(crate) fn add_plain(&self, a: &mut Poly, numbers: &[i128], bits: u32) -> Result<(), Error> {
        let ring = &self.parts.ring;
        match &self.converter {
            Some(converter) => convert::add_plain(ring, a, numbers, bits, &**converter),
            None => {
                ring.add_plain(a, numbers, bits);
                Ok(())
            }
        }
    }

    /// The text of the key's file, as JSON.
    pub fn to_text(&self) -> String {
        let fields = Fields {
            kty: KEY_TYPE.into(),
            set: self.set().name().into(),
            kid: self.id().to_string(),
            d: None,
            seed: Some(Base64UrlUnpadded::encode_string(&self.parts.seed)),
            b: Some(Base64UrlUnpadded::encode_string(&self.parts.packed)),
        };
        serde_json::to_string(&fields).unwrap_or_default() + "\n"
    }

    /// Parses the text of a key's file. For a private key's file, regenerates the public half.
    ///
    /// # Errors
    /// If the text is not a key, its parts contradict each other, or the engine is not available.
    pub fn from_text(text: &str, engine: Engine) -> Result<Self, Error> {
        let fields = Fields::parse(text)?;
        if fields.d.is_some() {
            return Ok(PrivateKey::from_text(text, engine)?.public);
        }
        let (Some(seed), Some(b)) = (&fields.seed, &fields.b) else {
            return Err(ErrorKind::Malformed("the key has no public part").into());
        };
        let ring = Ring::new(fields.set.parse()?, engine)?;
        let bytes = |text: &str, count: usize| {
            let bytes = Base64UrlUnpadded::decode_vec(text).ok().filter(|bytes| bytes.len() == count);
            bytes.ok_or_else(|| {
                Error::from(ErrorKind::Malformed(
                    "a part of the key does not have the length that its parameter set requires",
                ))
            })
        };
        let seed = Seed::try_from(bytes(seed, SEED_BYTES)?).unwrap_or_default();
        let b = unpack(&bytes(b, packed_bytes(ring.primes.len(), ring.vectors()))?, &ring.primes, ring.vectors())?;
        let a = expanded(&ring, &seed);
        let key = PublicKey::new(ring, seed, b, a);
        fields.check_id(key.id())?;
        Ok(key)
    }
}

/// The members of a key file.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
struct Fields {
    kty: String,
    set: String,
    kid: String,
    #[serde(skip_serializing_if = "Option::is_none")]
    d: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    seed: Option<String>,
    #[serde(skip_serializing_if = "Option::is_none")]
    b: Option<String>,
}

impl Drop for Fields {
    fn drop(&mut self) {
        self.d.zeroize();
    }
}

impl Fields {
    fn parse(text: &str) -> Result<Self, Error> {
        if text.len() > MAX_KEY_TEXT {
            return Err(ErrorKind::Malformed("the text is too long for a key").into());
        }
        let fields: Fields = serde_json::from_str(text).map_err(|_| ErrorKind::Malformed("this is not a key"))?;
        match fields.kty == KEY_TYPE {
            true => Ok(fields),
            false => Err(ErrorKind::Malformed("the key belongs to another scheme").into()),
        }
    }

    fn check_id(&self, id: KeyId) -> Result<(), Error> {
        match self.kid == id.to_string() {
            true => Ok(()),
            false => Err(ErrorKind::Malformed("the key's ID does not match its parts").into()),
        }
    }
}
