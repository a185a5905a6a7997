//! Reads the text of a key, or of its passphrase, without leaving copies behind.

use super::encrypted::EncryptedJwk;
use crate::Error;
use crate::locked::Lock;
use serde::Deserialize;
use serde::de::IgnoredAny;
use std::fmt;
use std::fs::{File, Metadata};
use std::io::{self, Read};
use std::path::Path;
use zeroize::Zeroizing;

/// Maximum length of a key's text in bytes, several times that of the largest encrypted key.
pub const MAX_KEY_TEXT: usize = 1 << 16;

/// A text that may be secret, wiped when dropped and kept out of swap space where the system allows
/// it.
///
/// It is read into a fixed buffer of the maximum length, because the length of a pipe is not known
/// in advance and a growing buffer leaves copies behind.
pub struct SecretText {
    // Dropped first, so the text is wiped before it is unlocked.
    text: Zeroizing<String>,
    _lock: Lock,
    shared: bool,
}

/// The kind of key in a text, as far as it is visible before the text is fully parsed.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
#[non_exhaustive]
pub enum KeyKind {
    /// A public key, or no key.
    Public,
    /// An unencrypted private key.
    Private,
    /// A private key, or a share of one, that a passphrase protects.
    Encrypted,
    /// A trustee's unencrypted share of a private key.
    Share,
}

impl SecretText {
    /// Reads a file, a pipe or a device.
    ///
    /// # Errors
    /// If it cannot be read, is longer than [`MAX_KEY_TEXT`], or is not UTF-8.
    pub fn open(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let shared = is_shared(&file.metadata()?);
        Ok(Self { shared, ..Self::read(file)? })
    }

    /// Reads a text of up to `limit` bytes, which allows the long public keys of other schemes. A
    /// text longer than [`MAX_KEY_TEXT`] is public and is not kept out of swap space.
    ///
    /// # Errors
    /// As [`SecretText::open`], with this limit.
    pub fn open_long(path: &Path, limit: usize) -> io::Result<Self> {
        let mut file = File::open(path)?;
        let shared = is_shared(&file.metadata()?);
        let (mut buffer, lock) = fill(&mut file, |_| false)?;
        if buffer.len() > MAX_KEY_TEXT {
            let mut long = Vec::with_capacity(limit + 1);
            long.extend_from_slice(&buffer);
            let more = (limit + 1).saturating_sub(long.len());
            file.take(more as u64).read_to_end(&mut long)?;
            buffer = Zeroizing::new(long);
        }
        Ok(Self { shared, ..Self::checked(buffer, lock, limit)? })
    }

    /// Reads the first line of a file, a pipe or a device, without waiting for more.
    ///
    /// # Errors
    /// As [`SecretText::open`].
    pub fn open_line(path: &Path) -> io::Result<Self> {
        let file = File::open(path)?;
        let shared = is_shared(&file.metadata()?);
        Ok(Self { shared, ..Self::read_line(file)? })
    }

    /// Reads the whole input.
    ///
    /// # Errors
    /// As [`SecretText::open`].
    pub fn read(input: impl Read) -> io::Result<Self> {
        Self::read_until(input, |_| false)
    }

    /// Reads a line without waiting for more, from a terminal or a pipe that stays open.
    ///
    /// # Errors
    /// As [`SecretText::open`].
    pub fn read_line(input: impl Read) -> io::Result<Self> {
        Self::read_until(input, |read| read.contains(&b'\n'))
    }

    fn read_until(input: impl Read, is_enough: impl Fn(&[u8]) -> bool) -> io::Result<Self> {
        let (buffer, lock) = fill(input, is_enough)?;
        Self::checked(buffer, lock, MAX_KEY_TEXT)
    }

    fn checked(mut buffer: Zeroizing<Vec<u8>>, lock: Lock, limit: usize) -> io::Result<Self> {
        if buffer.len() > limit {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "the text is too long for a key"));
        }
        if std::str::from_utf8(&buffer).is_err() {
            return Err(io::Error::new(io::ErrorKind::InvalidData, "it is not text"));
        }
        // Checked above: the buffer itself becomes the text.
        let text = String::from_utf8(std::mem::take(&mut *buffer)).unwrap_or_default();
        Ok(Self { text: Zeroizing::new(text), _lock: lock, shared: false })
    }

    /// The text.
    pub fn as_str(&self) -> &str {
        &self.text
    }

    /// The first line without its line ending, for a passphrase.
    pub fn first_line(&self) -> &str {
        self.text.lines().next().unwrap_or_default()
    }

    /// Whether users other than the owner may access the file that the text was read from. Always
    /// false for pipes and devices.
    pub fn is_shared(&self) -> bool {
        self.shared
    }

    /// The kind of key in the text.
    pub fn kind(&self) -> KeyKind {
        kind(&self.text)
    }

    /// Decrypts an encrypted JSON Web Key.
    ///
    /// # Errors
    /// As [`EncryptedJwk::decrypt`].
    pub fn decrypt(&self, passphrase: &str) -> Result<Self, Error> {
        let text = EncryptedJwk::parse(&self.text)?.decrypt(passphrase.as_bytes())?;
        let lock = lock(text.as_bytes());
        Ok(Self { text, _lock: lock, shared: self.shared })
    }
}

impl From<String> for SecretText {
    fn from(text: String) -> Self {
        let lock = lock(text.as_bytes());
        Self { text: Zeroizing::new(text), _lock: lock, shared: false }
    }
}

impl fmt::Debug for SecretText {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("SecretText").field("kind", &self.kind()).finish_non_exhaustive()
    }
}

/// Reads up to [`MAX_KEY_TEXT`] bytes and one more, into a buffer that does not move.
fn fill(mut input: impl Read, is_enough: impl Fn(&[u8]) -> bool) -> io::Result<(Zeroizing<Vec<u8>>, Lock)> {
    let mut buffer = Zeroizing::new(vec![0; MAX_KEY_TEXT + 1]);
    let lock = lock(&buffer);
    let mut filled = 0;
    while filled < buffer.len() && !is_enough(&buffer[..filled]) {
        match input.read(&mut buffer[filled..]) {
            Ok(0) => break,
            Ok(count) => filled += count,
            Err(error) if error.kind() == io::ErrorKind::Interrupted => {}
            Err(error) => return Err(error),
        }
    }
    buffer.truncate(filled);
    Ok((buffer, lock))
}

/// Keeps bytes out of swap space.
fn lock(bytes: &[u8]) -> Lock {
    let start = bytes.as_ptr().addr();
    let range = start..start + bytes.len();
    Lock::new(std::slice::from_ref(&range))
}

/// The kind of key in a text.
pub(crate) fn kind(text: &str) -> KeyKind {
    #[derive(Deserialize)]
    struct Members {
        p: Option<IgnoredAny>,
        q: Option<IgnoredAny>,
        d: Option<IgnoredAny>,
        s: Option<IgnoredAny>,
        r#pub: Option<IgnoredAny>,
        ciphertext: Option<IgnoredAny>,
    }
    match serde_json::from_str::<Members>(text) {
        Ok(key) if key.ciphertext.is_some() => KeyKind::Encrypted,
        Ok(key) if key.s.is_some() => KeyKind::Share,
        Ok(key) if key.p.is_some() || key.q.is_some() || key.d.is_some() || key.r#pub.is_some() => KeyKind::Private,
        Err(_) if EncryptedJwk::is_compact(text) => KeyKind::Encrypted,
        _ => KeyKind::Public,
    }
}

#[cfg(unix)]
fn is_shared(file: &Metadata) -> bool {
    use std::os::unix::fs::PermissionsExt;
    file.is_file() && file.permissions().mode() & 0o077 != 0
}

/// Always false on systems without Unix file modes.
#[cfg(not(unix))]
fn is_shared(_: &Metadata) -> bool {
    false
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A pipe that yields a few bytes at a time and whose length is unknown.
    struct Dribble<'a>(&'a [u8], usize);

    impl Read for Dribble<'_> {
        fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
            self.1 += 1;
            if self.1.is_multiple_of(3) {
                return Err(io::ErrorKind::Interrupted.into());
            }
            let count = self.0.len().min(5).min(buffer.len());
            buffer[..count].copy_from_slice(&self.0[..count]);
            self.0 = &self.0[count..];
            Ok(count)
        }
    }

    #[test]
    fn what_dribbles_in_stays_in_one_buffer() {
        let text = "secret ".repeat(3000);
        let read = SecretText::read(Dribble(text.as_bytes(), 0)).unwrap();
        assert_eq!(read.as_str(), text);
        // The buffer has the maximum capacity: it never grew.
        assert!(read.text.capacity() > MAX_KEY_TEXT);
    }

    #[test]
    fn what_is_too_long_or_no_text_is_refused() {
        let longest = vec![b'x'; MAX_KEY_TEXT];
        assert_eq!(SecretText::read(&longest[..]).unwrap().as_str().len(), MAX_KEY_TEXT);
        let error = |bytes: &[u8]| SecretText::read(bytes).unwrap_err().to_string();
        assert_eq!(error(&[b'x'; MAX_KEY_TEXT + 1]), "the text is too long for a key");
        assert_eq!(error(&[0xff, 0xfe]), "it is not text");
        assert!(SecretText::read(io::repeat(b'x')).is_err(), "an endless device");
    }

    #[test]
    fn a_long_text_is_read_up_to_its_limit() {
        let path = std::env::temp_dir().join(format!("hearith-long-text-{}", std::process::id()));
        let open = |length: usize, limit: usize| {
            std::fs::write(&path, vec![b'x'; length]).unwrap();
            SecretText::open_long(&path, limit).map(|text| text.as_str().len()).map_err(|error| error.to_string())
        };
        let limit = 3 * MAX_KEY_TEXT;
        for length in [0, 1, MAX_KEY_TEXT, MAX_KEY_TEXT + 1, MAX_KEY_TEXT + 2, limit] {
            assert_eq!(open(length, limit), Ok(length));
        }
        assert_eq!(open(limit + 1, limit), Err("the text is too long for a key".to_owned()));
        assert_eq!(open(2 * limit, limit), Err("the text is too long for a key".to_owned()));
        assert_eq!(open(MAX_KEY_TEXT + 1, MAX_KEY_TEXT), Err("the text is too long for a key".to_owned()));
        std::fs::remove_file(&path).unwrap();
    }

    #[test]
    fn kinds_are_told_apart() {
        let kind = |text: &str| SecretText::from(text.to_owned()).kind();
        assert_eq!(kind(r#"{"kty": "DAJ", "n": "AQ"}"#), KeyKind::Public);
        assert_eq!(kind(r#"{"kty": "DAJ", "p": 1}"#), KeyKind::Private);
        assert_eq!(kind(r#"{"pub": {}, "q": ""}"#), KeyKind::Private);
        assert_eq!(kind(r#"{"kty": "HEARITH-BFV", "d": ""}"#), KeyKind::Private);
        assert_eq!(kind(r#"{"pub": {}, "s": ""}"#), KeyKind::Share);
        assert_eq!(kind(r#"{"protected": "e30", "ciphertext": "AA"}"#), KeyKind::Encrypted);
        assert_eq!(kind("e30.AA.AA.AA.AA\n"), KeyKind::Encrypted);
        assert_eq!(kind("a.b"), KeyKind::Public);
        assert_eq!(kind(""), KeyKind::Public);
    }

    #[test]
    fn a_passphrase_is_the_first_line() {
        for (text, line) in [("word\n", "word"), (" a b \r\nnext", " a b "), ("word", "word"), ("", ""), ("\nx", "")] {
            assert_eq!(SecretText::from(text.to_owned()).first_line(), line);
        }
    }

    #[test]
    fn a_line_is_not_waited_beyond() {
        /// A pipe that nobody closes.
        struct Open<'a>(&'a [u8]);
        impl Read for Open<'_> {
            fn read(&mut self, buffer: &mut [u8]) -> io::Result<usize> {
                assert!(!self.0.is_empty(), "reading on would wait for ever");
                self.0.read(&mut buffer[..1])
            }
        }
        assert_eq!(SecretText::read_line(Open(b"word\nmore")).unwrap().first_line(), "word");
        assert_eq!(SecretText::read_line(&b"no end"[..]).unwrap().first_line(), "no end");
    }

    #[test]
    fn nothing_of_the_text_is_shown() {
        assert!(!format!("{:?}", SecretText::from("word".to_owned())).contains("word"));
    }
}
