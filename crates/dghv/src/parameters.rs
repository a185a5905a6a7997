//! Parameter sets: the published ones, and custom ones for tests and for keys of other programs.

use crate::{Error, ErrorKind};
use std::fmt;
use std::str::FromStr;

/// The two schemes.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub enum Scheme {
    /// Coron, Mandal, Naccache and Tibouchi \[CMNT11\]: encryption is quadratic in the elements of
    /// the public key.
    Cmnt,
    /// Coron, Naccache and Tibouchi \[CNT12\]: encryption is linear in them, and public keys are
    /// compressed.
    Cnt,
}

impl Scheme {
    /// Both schemes.
    pub const ALL: &[Scheme] = &[Scheme::Cmnt, Scheme::Cnt];

    /// The name by which users select the scheme.
    pub fn name(self) -> &'static str {
        match self {
            Scheme::Cmnt => "cmnt",
            Scheme::Cnt => "cnt",
        }
    }
}

/// A published set of parameters. All sets are broken: see
/// [`InsecureHistoricalParameters`](crate::InsecureHistoricalParameters).
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub enum Size {
    /// Nominally 42-bit security.
    Toy,
    /// Nominally 52-bit security.
    Small,
    /// Nominally 62-bit security.
    Medium,
    /// Nominally 72-bit security.
    Large,
}

impl Size {
    /// All sizes, the smallest first.
    pub const ALL: &[Size] = &[Size::Toy, Size::Small, Size::Medium, Size::Large];

    /// The name by which users select the size.
    pub fn name(self) -> &'static str {
        match self {
            Size::Toy => "toy",
            Size::Small => "small",
            Size::Medium => "medium",
            Size::Large => "large",
        }
    }
}

macro_rules! named {
    ($type:ty, $what:literal, $known:literal) => {
        impl fmt::Display for $type {
            fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.pad(self.name())
            }
        }

        impl FromStr for $type {
            type Err = Error;

            fn from_str(name: &str) -> Result<Self, Error> {
                let found = <$type>::ALL.iter().find(|value| value.name() == name);
                Ok(*found.ok_or(ErrorKind::UnknownName { what: $what, known: $known })?)
            }
        }
    };
}

named!(Scheme, "scheme", "cmnt, cnt");
named!(Size, "parameters", "toy, small, medium, large");

/// The lengths of a set of parameters, in bits except for [`elements`](Lengths::elements).
///
/// Each field gives its name in the papers.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Hash)]
pub struct Lengths {
    /// Nominal security, `lambda`. The corrections of compressed keys are this many bits longer
    /// than the secret.
    pub security: u32,
    /// Noise of the public key's elements, `rho`.
    pub key_noise: u32,
    /// The secret prime, `eta`.
    pub secret: u32,
    /// Ciphertexts and the modulus `A_0`, `gamma`.
    pub modulus: u32,
    /// Number of elements. CMNT: `beta`, and the key has twice as many elements, `A_{i,0}` and
    /// `A_{i,1}`. CNT: `tau`.
    pub elements: u32,
    /// Random coefficients of an encryption, `alpha`.
    pub coefficient: u32,
    /// Noise added by an encryption, `rho'`.
    pub encryption_noise: u32,
}

/// A scheme, its lengths, and the level of the key in its ladder.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub struct Parameters {
    scheme: Scheme,
    lengths: Lengths,
    level: u8,
}

impl Parameters {
    /// The published set.
    ///
    /// CNT's published coefficients are so long that fresh ciphertexts decrypt but cannot be
    /// multiplied. Use a key with [shorter coefficients](Parameters::with_short_coefficients), or
    /// recrypt ciphertexts first.
    pub fn historical(scheme: Scheme, size: Size) -> Parameters {
        let (security, key_noise, secret, modulus, elements, coefficient) = match (scheme, size) {
            (Scheme::Cmnt, Size::Toy) => (42, 16, 1088, 160_000, 12, 42),
            (Scheme::Cmnt, Size::Small) => (52, 24, 1632, 860_000, 23, 52),
            (Scheme::Cmnt, Size::Medium) => (62, 32, 2176, 4_200_000, 44, 62),
            (Scheme::Cmnt, Size::Large) => (72, 39, 2720, 19_000_000, 88, 72),
            (Scheme::Cnt, Size::Toy) => (42, 26, 988, 147_456, 158, 936),
            (Scheme::Cnt, Size::Small) => (52, 41, 1558, 843_033, 572, 1476),
            (Scheme::Cnt, Size::Medium) => (62, 56, 2128, 4_251_866, 2110, 2016),
            (Scheme::Cnt, Size::Large) => (72, 71, 2698, 19_575_950, 7659, 2556),
        };
        let encryption_noise = match scheme {
            Scheme::Cmnt => 4 * security,
            Scheme::Cnt => coefficient,
        };
        let lengths = Lengths { security, key_noise, secret, modulus, elements, coefficient, encryption_noise };
        Parameters { scheme, lengths, level: 0 }
    }

    /// The set with coefficients and encryption noise as short as CMNT's, `lambda` and `4 lambda`
    /// bits. Fresh CNT ciphertexts can then be multiplied. CMNT's published sets do not change.
    pub fn with_short_coefficients(mut self) -> Parameters {
        let security = self.lengths.security;
        self.lengths.coefficient = self.lengths.coefficient.min(security);
        self.lengths.encryption_noise = self.lengths.encryption_noise.min(4 * security);
        self
    }

    /// A set with custom lengths.
    ///
    /// # Errors
    /// [`ErrorKind::Parameters`] if a fresh ciphertext would not decrypt, or a length is out of
    /// range.
    pub fn custom(scheme: Scheme, lengths: Lengths) -> Result<Parameters, Error> {
        let Lengths { security, key_noise, secret, modulus, elements, coefficient, encryption_noise } = lengths;
        let refuse = |what| Err(ErrorKind::Parameters { what }.into());
        if !(1..=256).contains(&security) {
            return refuse("the nominal security is not between 1 and 256 bits");
        }
        if !(64..=8192).contains(&secret) {
            return refuse("the secret prime does not have between 64 and 8192 bits");
        }
        if modulus < secret + 512 || modulus > 100_000_000 {
            return refuse("the modulus is not at least 512 bits longer than the secret, or has more than 10^8 bits");
        }
        if !(1..=100_000).contains(&elements) || scheme == Scheme::Cmnt && elements > 1000 {
            return refuse("the public key has no elements, or too many");
        }
        if coefficient == 0 || coefficient > secret || encryption_noise > secret || key_noise > secret {
            return refuse("coefficients or noise are longer than the secret");
        }
        let parameters = Parameters { scheme, lengths, level: 0 };
        if parameters.fresh_noise() > parameters.noise_limit() {
            return refuse("a fresh ciphertext would not decrypt");
        }
        Ok(parameters)
    }

    /// The scheme.
    pub fn scheme(&self) -> Scheme {
        self.scheme
    }

    /// The lengths.
    pub fn lengths(&self) -> &Lengths {
        &self.lengths
    }

    /// The level in a [`Ladder`](crate::Ladder): the number of rungs from a key's own parameters
    /// down to these, 0 for the key itself.
    pub fn level(&self) -> u8 {
        self.level
    }

    /// The same lengths, at a level of a ladder.
    pub(crate) fn at_level(self, level: u8) -> Parameters {
        Parameters { level, ..self }
    }

    /// The size of the published set that these parameters equal, if any.
    pub fn size(&self) -> Option<Size> {
        Size::ALL.iter().copied().find(|&size| Parameters::historical(self.scheme, size) == *self)
    }

    /// Number of elements in the public key besides the modulus: `tau`, or `2 beta`.
    pub fn key_elements(&self) -> usize {
        match self.scheme {
            Scheme::Cmnt => 2 * self.lengths.elements as usize,
            Scheme::Cnt => self.lengths.elements as usize,
        }
    }

    /// Number of 64-bit limbs of a ciphertext.
    pub fn limbs(&self) -> usize {
        self.lengths.modulus.div_ceil(64) as usize
    }

    /// Number of 64-bit limbs of a correction in a compressed public key.
    pub fn correction_limbs(&self) -> usize {
        (self.lengths.secret + self.lengths.security + 1).div_ceil(64) as usize
    }

    /// Largest noise in bits that decrypts.
    pub fn noise_limit(&self) -> f64 {
        f64::from(self.lengths.secret) - 2.0
    }

    /// Largest noise in bits of a fresh ciphertext.
    pub fn fresh_noise(&self) -> f64 {
        let Lengths { key_noise, elements, coefficient, encryption_noise, .. } = self.lengths;
        let (key_noise, elements, coefficient) = (f64::from(key_noise), f64::from(elements), f64::from(coefficient));
        let sum = match self.scheme {
            Scheme::Cmnt => 1.0 + 2.0 * elements.log2() + coefficient + 2.0 * key_noise,
            Scheme::Cnt => 1.0 + elements.log2() + coefficient + key_noise,
        };
        crate::noise::sum(sum, crate::noise::sum(f64::from(encryption_noise) + 1.0, 0.0))
    }
}

/// `cnt toy`, `cnt toy with short coefficients`, `cnt of other lengths`, or `cnt at level 3`.
impl fmt::Display for Parameters {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let short = |size: &&Size| Parameters::historical(self.scheme, **size).with_short_coefficients() == *self;
        if self.level > 0 {
            return write!(f, "{} at level {}", self.scheme, self.level);
        }
        match (self.size(), Size::ALL.iter().find(short)) {
            (Some(size), _) => write!(f, "{} {size}", self.scheme),
            (None, Some(size)) => write!(f, "{} {size} with short coefficients", self.scheme),
            (None, None) => write!(f, "{} of other lengths", self.scheme),
        }
    }
}
