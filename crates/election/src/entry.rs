//! Entries, the lines of the board: what an author signed, its place, and the hash of the line
//! before.

use crate::body::{Body, Kind};
use crate::canonical::{Bytes, Hash, parse, to_text};
use crate::error::ErrorKind;
use crate::signature::{self, PublicKey, Signer};
use serde::Deserialize;
use serde_json::value::RawValue;

/// What somebody has the board enter: a body, and its author's signature. Where it will stand the
/// author does not know.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Notice {
    body: Body,
    text: String,
    signature: Bytes,
}

/// A notice by itself, as a file or a request has it.
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
    /// A body, signed by its author.
    pub fn signed(body: Body, author: &Signer) -> Self {
        let text = body.to_text();
        let signature = author.sign(signature::ENTRY, &signed_text(body.kind(), &text));
        Notice { body, text, signature }
    }

    /// The parts of a notice that come from outside.
    ///
    /// # Errors
    /// If the body is not of this kind and in canonical form.
    pub fn new(kind: Kind, body: &str, signature: Bytes) -> Result<Self, ErrorKind> {
        Ok(Notice { body: Body::from_text(kind, body)?, text: body.to_owned(), signature })
    }

    /// What [`Notice::to_json`] wrote.
    ///
    /// # Errors
    /// If the text is no notice in canonical form.
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

    /// What it is.
    pub fn kind(&self) -> Kind {
        self.body.kind()
    }

    /// What it says.
    pub fn body(&self) -> &Body {
        &self.body
    }

    /// The same, by value.
    pub fn into_body(self) -> Body {
        self.body
    }

    /// The body's canonical form.
    pub fn text(&self) -> &str {
        &self.text
    }

    /// The author's signature.
    pub fn signature(&self) -> &Bytes {
        &self.signature
    }

    /// The hash of the body: a ballot's [`tracker`](crate::tracker) comes from it, and the
    /// election's id is that of the first entry.
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

/// What the author of an entry signs.
fn signed_text(kind: Kind, body: &str) -> String {
    format!(r#"{{"body":{body},"kind":{}}}"#, to_text(&kind))
}

/// An entry in its place.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Entry {
    /// What was entered.
    pub notice: Notice,
    /// Its place, from 0.
    pub index: u64,
    /// The hash of the line before; zeros for the first.
    pub previous: Hash,
}

/// What the first line names as the hash of the line before.
pub const NO_LINE: Hash = Hash([0; 32]);

/// How a line begins.
const BEFORE_BODY: &str = r#"{"body":"#;

impl Entry {
    /// The line, without its newline.
    pub fn to_line(&self) -> String {
        [BEFORE_BODY, &self.notice.text, &self.after_body()].concat()
    }

    /// What comes after the body.
    fn after_body(&self) -> String {
        let [kind, signature] = [to_text(&self.notice.kind()), to_text(&self.notice.signature)];
        let (index, previous) = (self.index, self.previous);
        format!(r#","index":{index},"kind":{kind},"previous":"{previous}","signature":{signature}}}"#)
    }

    /// What [`Entry::to_line`] wrote.
    ///
    /// # Errors
    /// If the line is no entry in canonical form.
    pub fn from_line(line: &str) -> Result<Self, ErrorKind> {
        let what = "an entry";
        let Line { body, index, kind, previous, signature } = parse(what, line)?;
        let entry = Entry { notice: Notice::new(kind, body.get(), signature)?, index, previous };
        // Nearly all of a line is its body, which is the canonical one; the rest is short.
        let rest = line.strip_prefix(BEFORE_BODY).and_then(|line| line.strip_prefix(body.get()));
        if rest == Some(&entry.after_body()) { Ok(entry) } else { Err(ErrorKind::NotCanonical { what }) }
    }
}

/// The hash by which a line's successor names it.
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
