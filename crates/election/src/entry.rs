//! Entries, the lines of the board: a signed notice, its index, and the hash of the previous line.

use crate::body::{Body, Kind};
use crate::canonical::{Bytes, Hash, parse, to_text};
use crate::error::ErrorKind;
use crate::signature::{self, PublicKey, Signer};
use serde::Deserialize;
use serde_json::value::RawValue;

/// A notice submitted to the board: a body and its author's signature. The author does not know its
/// index in advance.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    body: Body,
    text: String,
    signature: Bytes,
}

/// A notice on its own, as in a file or a request.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct NoticeMembers<'a> {
    #[serde(borrow)]
    body: &'a RawValue,
    kind: Kind,
    signature: Bytes,
}

/// A line of the board.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line<'a> {
    #[serde(borrow)]
    body: &'a RawValue,
    index: u64,
    kind: Kind,
    previous: Hash,
    signature: Bytes,
}

impl Notice {
    /// Signs a body as its author.
    pub fn signed(body: Body, author: &Signer) -> Self {
        let text = body.to_text();
        let signature = author.sign(signature::ENTRY, &signed_text(body.kind(), &text));
        Notice { body, text, signature }
    }

    /// Builds a notice from untrusted parts.
    ///
    /// # Errors
    /// If the body is not of this kind or not in canonical form.
    pub fn new(kind: Kind, body: &str, signature: Bytes) -> Result<Self, ErrorKind> {
        Ok(Notice { body: Body::from_text(kind, body)?, text: body.to_owned(), signature })
    }

    /// Parses the output of [`Notice::to_json`].
    ///
    /// # Errors
    /// If the text is not a notice in canonical form.
    pub fn from_json(text: &str) -> Result<Self, ErrorKind> {
        let what = "an entry to be made";
        let members: NoticeMembers<'_> = parse(what, text)?;
        let notice = Notice::new(members.kind, members.body.get(), members.signature)?;
        if notice.to_json() == text { Ok(notice) } else { Err(ErrorKind::NotCanonical { what }) }
    }

    /// The notice as canonical JSON.
    pub fn to_json(&self) -> String {
        let [kind, signature] = [to_text(&self.kind()), to_text(&self.signature)];
        format!(r#"{{"body":{},"kind":{kind},"signature":{signature}}}"#, self.text)
    }

    /// The kind of the body.
    pub fn kind(&self) -> Kind {
        self.body.kind()
    }

    /// The body.
    pub fn body(&self) -> &Body {
        &self.body
    }

    /// The body, by value.
    pub fn into_body(self) -> Body {
        self.body
    }

    /// The canonical form of the body.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The author's signature.
    pub fn signature(&self) -> &Bytes {
        &self.signature
    }

    /// The hash of the body. It determines a ballot's [`tracker`](crate::tracker), and that of the
    /// first entry is the election's id.
    pub fn hash(&self) -> Hash {
        Hash::of(&[self.text.as_bytes()])
    }

    /// Checks the author's signature.
    ///
    /// # Errors
    /// [`BadSignature`](ErrorKind::BadSignature).
    pub fn check_signature(&self, author: &PublicKey) -> Result<(), ErrorKind> {
        author.verify(signature::ENTRY, &signed_text(self.kind(), &self.text), &self.signature)
    }
}

/// The text that the author of an entry signs.
fn signed_text(kind: Kind, body: &str) -> String {
    format!(r#"{{"body":{body},"kind":{}}}"#, to_text(&kind))
}

/// An entry: a notice with its index on the board.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// The notice.
    pub notice: Notice,
    /// The index, from 0.
    pub index: u64,
    /// The hash of the previous line, all zeros for the first entry.
    pub previous: Hash,
}

/// The `previous` hash of the first line.
pub const NO_LINE: Hash = Hash([0; 32]);

/// The beginning of a line.
const BEFORE_BODY: &str = r#"{"body":"#;

impl Entry {
    /// The line, without its newline.
    pub fn to_line(&self) -> String {
        [BEFORE_BODY, &self.notice.text, &self.after_body()].concat()
    }

    /// The part of the line after the body.
    fn after_body(&self) -> String {
        let [kind, signature] = [to_text(&self.notice.kind()), to_text(&self.notice.signature)];
        let (index, previous) = (self.index, self.previous);
        format!(r#","index":{index},"kind":{kind},"previous":"{previous}","signature":{signature}}}"#)
    }

    /// Parses the output of [`Entry::to_line`].
    ///
    /// # Errors
    /// If the line is not an entry in canonical form.
    pub fn from_line(line: &str) -> Result<Self, ErrorKind> {
        let what = "an entry";
        let Line { body, index, kind, previous, signature } = parse(what, line)?;
        let entry = Entry { notice: Notice::new(kind, body.get(), signature)?, index, previous };
        // Nearly all of a line is its body, which is already checked. Only the short rest is
        // compared.
        let rest = line.strip_prefix(BEFORE_BODY).and_then(|line| line.strip_prefix(body.get()));
        if rest == Some(&entry.after_body()) { Ok(entry) } else { Err(ErrorKind::NotCanonical { what }) }
    }
}

/// The hash of a line, which the next line contains as `previous`.
pub fn line_hash(line: &str) -> Hash {
    Hash::of(&[line.as_bytes()])
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::ElectionRef;

    fn open() -> (Notice, Signer) {
        let signer = Signer::generate().unwrap();
        (Notice::signed(Body::Open(ElectionRef { election: Hash::of(&[b"one"]) }), &signer), signer)
    }

    #[test]
    fn lines_are_read_as_they_are_written() {
        let (notice, _) = open();
        let entry = Entry { notice: notice.clone(), index: 7, previous: Hash::of(&[b"before"]) };
        let line = entry.to_line();
        assert!(
            line.starts_with(r#"{"body":{"election":""#) && line.contains(r#","index":7,"kind":"open","previous":""#)
        );
        assert_eq!(Entry::from_line(&line).unwrap(), entry);
        assert_eq!(Notice::from_json(&notice.to_json()).unwrap(), notice);
        for bad in [
            line.replace(":7,", ": 7,"),
            line.replace(":7,", ":07,"),
            line.replace(":7,", ":-7,"),
            line.replace("\"open\"", "\"Open\""),
            line.replace("\"kind\"", "\"k\\u0069nd\""),
            line.replace("\"election\":", "\"election\": "),
            line.replace("{\"body\"", "{\"also\":1,\"body\""),
            format!("{line}\n"),
            line[..line.len() - 1].to_owned(),
            line.replace("\"open\"", "\"ballot\""),
        ] {
            assert!(Entry::from_line(&bad).is_err(), "{bad}");
        }
    }

    #[test]
    fn signatures_bind_kind_and_body() {
        let (notice, signer) = open();
        let author = PublicKey::new("the organiser's", &signer.public()).unwrap();
        assert!(notice.check_signature(&author).is_ok());
        let closed = Notice::new(Kind::Close, notice.text(), notice.signature().clone()).unwrap();
        assert!(closed.check_signature(&author).is_err());
        let other = notice.text().replace(&Hash::of(&[b"one"]).to_string(), &Hash::of(&[b"two"]).to_string());
        let other = Notice::new(Kind::Open, &other, notice.signature().clone()).unwrap();
        assert!(other.check_signature(&author).is_err());
    }
}
