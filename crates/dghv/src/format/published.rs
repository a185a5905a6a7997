//! Parameters in the format of the published CNT program \[CNT12\]: a Python dictionary on one or
//! more lines, such as
//! `toy={'ty':"toy",'lam':42,'rho':26,'eta':988,'gam':147456,'Theta':150,'alpha':936,'tau':158}`.

use crate::{Error, Lengths, Parameters, Scheme};

/// Length in bytes of the longest parameter text that is read.
pub const MOST_BYTES: usize = 4096;

/// The values of a dictionary, named as in the literature.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Published {
    /// Name of the set (`ty`), if given.
    pub name: Option<String>,
    /// Nominal security in bits (`lam`).
    pub lambda: u32,
    /// Length in bits of the noise of the public elements (`rho`).
    pub rho: u32,
    /// Length in bits of the secret p (`eta`).
    pub eta: u32,
    /// Length in bits of the public elements (`gam`).
    pub gamma: u32,
    /// Length in bits of the random factors (`alpha`).
    pub alpha: u32,
    /// Number of public elements (`tau`).
    pub tau: u32,
    /// Number of encrypted bits of the squashed secret (`Theta`), if given.
    pub theta: Option<u32>,
}

/// Errors in a parameter text.
#[derive(Clone, Debug, thiserror::Error, PartialEq, Eq)]
#[non_exhaustive]
pub enum PublishedError {
    /// The text is longer than [`MOST_PUBLISHED_BYTES`](super::MOST_PUBLISHED_BYTES).
    #[error("longer than the maximum of {MOST_BYTES} bytes for a set of parameters")]
    TooLong,
    /// The text is not a dictionary.
    #[error("not a dictionary of parameters, {{'rho': 26, ...}}: byte {at}")]
    Syntax {
        /// The position of the error in bytes, counted from 1.
        at: usize,
    },
    /// A parameter that the published programs do not define.
    #[error("the parameter '{0}' is unknown")]
    Unknown(String),
    /// A parameter is given twice.
    #[error("the parameter '{0}' is given twice")]
    Twice(String),
    /// A parameter is missing.
    #[error("the parameter '{0}' is missing")]
    Missing(&'static str),
    /// A parameter is not an integer that fits in 32 bits.
    #[error("the parameter '{0}' is not a whole number in its range")]
    Value(String),
}

impl Published {
    /// Parses one dictionary, optionally preceded by a name and `=`. Ignores comments from `#` to
    /// the end of the line.
    ///
    /// # Errors
    /// If the text is not such a dictionary.
    ///
    /// ```
    /// use hearith_dghv::format::Published;
    /// let text = "toy={'ty':\"toy\",'lam':42,'rho':26,'eta':988,'gam':147456,'Theta':150,'alpha':936,'tau':158}";
    /// let toy = Published::parse(text)?;
    /// assert_eq!((toy.rho, toy.eta, toy.gamma, toy.alpha, toy.tau), (26, 988, 147_456, 936, 158));
    /// # Ok::<(), hearith_dghv::format::PublishedError>(())
    /// ```
    pub fn parse(text: &str) -> Result<Self, PublishedError> {
        if text.len() > MOST_BYTES {
            return Err(PublishedError::TooLong);
        }
        let mut parser = Parser { text: text.as_bytes(), at: 0 };
        let mut found: Vec<(String, Value)> = Vec::new();
        for (key, value) in parser.dictionary()? {
            if !KEYS.contains(&key.as_str()) {
                return Err(PublishedError::Unknown(key));
            }
            if found.iter().any(|(other, _)| *other == key) {
                return Err(PublishedError::Twice(key));
            }
            found.push((key, value));
        }
        let value = |key: &str| found.iter().find(|(other, _)| other == key).map(|(_, value)| value);
        let optional = |key: &'static str| value(key).map(|value| value.whole(key)).transpose();
        let needed = |key: &'static str| optional(key)?.ok_or(PublishedError::Missing(key));
        let name = match value("ty") {
            Some(Value::Text(name)) => Some(name.clone()),
            Some(Value::Number(_)) => return Err(PublishedError::Value("ty".to_owned())),
            None => None,
        };
        Ok(Self {
            name,
            lambda: needed("lam")?,
            rho: needed("rho")?,
            eta: needed("eta")?,
            gamma: needed("gam")?,
            alpha: needed("alpha")?,
            tau: needed("tau")?,
            theta: optional("Theta")?,
        })
    }
}

impl Published {
    /// The CNT parameters of this set, with encryption noise as long as the coefficients.
    ///
    /// # Errors
    /// If the scheme does not work with these lengths.
    pub fn parameters(&self) -> Result<Parameters, Error> {
        let lengths = Lengths {
            security: self.lambda,
            key_noise: self.rho,
            secret: self.eta,
            modulus: self.gamma,
            elements: self.tau,
            coefficient: self.alpha,
            encryption_noise: self.alpha,
        };
        Parameters::custom(Scheme::Cnt, lengths)
    }
}

/// The keys of a dictionary. The sizes and levels that the program prints (`pksize`, `seclevel`)
/// are ignored.
const KEYS: [&str; 10] = ["ty", "lam", "rho", "eta", "gam", "Theta", "pksize", "seclevel", "alpha", "tau"];

enum Value {
    Text(String),
    Number(String),
}

impl Value {
    fn whole(&self, key: &str) -> Result<u32, PublishedError> {
        match self {
            Self::Number(digits) => digits.parse().ok(),
            Self::Text(_) => None,
        }
        .ok_or_else(|| PublishedError::Value(key.to_owned()))
    }
}

struct Parser<'a> {
    text: &'a [u8],
    at: usize,
}

impl Parser<'_> {
    /// Parses `NAME = { 'key': value, ... }` up to the end of the text.
    fn dictionary(&mut self) -> Result<Vec<(String, Value)>, PublishedError> {
        if self.peek() != Some(b'{') {
            self.word(|byte| byte.is_ascii_alphanumeric() || byte == b'_')?;
            self.expect(b'=')?;
        }
        self.expect(b'{')?;
        let mut pairs = Vec::new();
        while self.peek() != Some(b'}') {
            let key = self.quoted()?;
            self.expect(b':')?;
            let value = match self.peek() {
                Some(b'"' | b'\'') => Value::Text(self.quoted()?),
                _ => Value::Number(self.word(|byte| byte.is_ascii_digit() || byte == b'.')?),
            };
            pairs.push((key, value));
            match self.peek() {
                Some(b',') => self.at += 1,
                Some(b'}') => {}
                _ => return Err(self.wrong()),
            }
        }
        self.expect(b'}')?;
        match self.peek() {
            None => Ok(pairs),
            Some(_) => Err(self.wrong()),
        }
    }

    /// The next byte that is neither white space nor in a comment.
    fn peek(&mut self) -> Option<u8> {
        loop {
            match self.text.get(self.at)? {
                b'#' => self.at += self.text[self.at..].iter().take_while(|&&byte| byte != b'\n').count(),
                byte if byte.is_ascii_whitespace() => self.at += 1,
                &byte => return Some(byte),
            }
        }
    }

    fn expect(&mut self, byte: u8) -> Result<(), PublishedError> {
        match self.peek() {
            Some(found) if found == byte => {
                self.at += 1;
                Ok(())
            }
            _ => Err(self.wrong()),
        }
    }

    fn word(&mut self, belongs: impl Fn(u8) -> bool) -> Result<String, PublishedError> {
        self.peek();
        let rest = &self.text[self.at..];
        let length = rest.iter().take_while(|&&byte| belongs(byte)).count();
        if length == 0 {
            return Err(self.wrong());
        }
        self.at += length;
        Ok(rest[..length].iter().copied().map(char::from).collect())
    }

    fn quoted(&mut self) -> Result<String, PublishedError> {
        let Some(quote @ (b'"' | b'\'')) = self.peek() else { return Err(self.wrong()) };
        self.at += 1;
        let word = self.word(|byte| byte.is_ascii_alphanumeric() || byte == b'_' || byte == b'-')?;
        match self.text.get(self.at) {
            Some(&byte) if byte == quote => {
                self.at += 1;
                Ok(word)
            }
            _ => Err(self.wrong()),
        }
    }

    fn wrong(&self) -> PublishedError {
        PublishedError::Syntax { at: self.at + 1 }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    const TOY: &str = "toy={'ty':\"toy\",'lam':42,'rho':26,'eta':988,'gam':147456,'Theta':150,'pksize':0.076519,\
                       'seclevel':42.0,'alpha':936,'tau':158}";

    #[test]
    fn forms_of_the_same() {
        let toy = Published::parse(TOY).unwrap();
        assert_eq!(toy.name.as_deref(), Some("toy"));
        assert_eq!((toy.lambda, toy.theta), (42, Some(150)));
        let bare = TOY.trim_start_matches("toy=").replace(',', ",  # a comment, {\n\t").replace('}', ",}\n# end");
        assert_eq!(Published::parse(&bare), Ok(toy));
    }

    #[test]
    fn mistakes_are_named() {
        let wrong = |text: &str| Published::parse(text).unwrap_err().to_string();
        assert_eq!(wrong(&TOY.replace("'tau'", "'tow'")), "the parameter 'tow' is unknown");
        assert_eq!(wrong(&TOY.replace("'lam'", "'rho'")), "the parameter 'rho' is given twice");
        assert_eq!(wrong(&TOY.replace("'alpha':936,", "")), "the parameter 'alpha' is missing");
        for number in ["26.5", "4294967296", "'26'", ".", "1.2.3"] {
            let text = TOY.replace(":26,", &format!(":{number},"));
            assert_eq!(wrong(&text), "the parameter 'rho' is not a whole number in its range", "{number}");
        }
        for (text, at) in [("", 1), ("toy", 4), ("{'rho' 26}", 8), ("{'rho':-26}", 8), ("{'rho\":26}", 6), ("{} {}", 4)]
        {
            assert_eq!(wrong(text), format!("not a dictionary of parameters, {{'rho': 26, ...}}: byte {at}"), "{text}");
        }
        assert!(wrong(&" ".repeat(5000)).starts_with("longer than the maximum of 4096 bytes"));
    }
}
