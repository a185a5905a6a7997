//! The bulletin board on its operator's side: accepts, numbers and chains entries, and signs heads
//! and receipts.

use crate::canonical::{Bytes, Hash, from_text, to_text};
use crate::entry::{Entry, NO_LINE, Notice, line_hash};
use crate::error::ErrorKind;
use crate::signature::{self, PublicKey, Signer};
use crate::time::is_time;
use crate::tree::{Tree, leaf_hash};
use serde::{Deserialize, Serialize};

/// The end of a board: the number of lines, the hash of the last line, and the tree over all lines.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Board {
    last: Hash,
    tree: Tree,
}

impl Default for Board {
    fn default() -> Self {
        Board { last: NO_LINE, tree: Tree::default() }
    }
}

impl Board {
    /// The number of entries.
    pub fn size(&self) -> u64 {
        self.tree.size()
    }

    /// The root of the hash tree.
    pub fn root(&self) -> Hash {
        self.tree.root()
    }

    /// Appends a notice and returns its line, without a newline. [`State`](crate::State) decides
    /// whether the notice may be entered.
    pub fn append(&mut self, notice: Notice) -> String {
        let line = Entry { notice, index: self.size(), previous: self.last }.to_line();
        self.push(&line);
        line
    }

    /// Appends an existing line of a board without checks. [`Board::follow`] checks the entry and
    /// the chain.
    pub fn push(&mut self, line: &str) {
        self.last = line_hash(line);
        self.tree.push(leaf_hash(line));
    }

    /// Checks and appends a line from an untrusted source, and returns its entry.
    ///
    /// # Errors
    /// The errors of [`Entry::from_line`], [`WrongIndex`](ErrorKind::WrongIndex) or
    /// [`BrokenChain`](ErrorKind::BrokenChain).
    pub fn follow(&mut self, line: &str) -> Result<Entry, ErrorKind> {
        let entry = Entry::from_line(line)?;
        self.follow_hashed(entry.index, &entry.previous, line_hash(line), leaf_hash(line))?;
        Ok(entry)
    }

    /// As [`Board::follow`], for a line that is already parsed and hashed.
    pub(crate) fn follow_hashed(
        &mut self,
        index: u64,
        previous: &Hash,
        line: Hash,
        leaf: Hash,
    ) -> Result<(), ErrorKind> {
        if index != self.size() {
            return Err(ErrorKind::WrongIndex { found: index });
        }
        if *previous != self.last {
            return Err(ErrorKind::BrokenChain);
        }
        self.last = line;
        self.tree.push(leaf);
        Ok(())
    }

    /// The signed head of the current board, at a time like `2026-11-22T20:15:00Z`.
    pub fn head(&self, time: &str, key: &Signer) -> SignedTreeHead {
        let unsigned = UnsignedTreeHead { root: self.root(), size: self.size(), time: time.into() };
        let signature = key.sign(signature::HEAD, &to_text(&unsigned));
        SignedTreeHead { root: unsigned.root, signature, size: unsigned.size, time: unsigned.time }
    }
}

/// The size and root of a board at a point in time, signed by its operator. Two heads of the same
/// size with different roots prove that the operator keeps two boards.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct SignedTreeHead {
    /// The root of the hash tree.
    pub root: Hash,
    /// The board's signature.
    pub signature: Bytes,
    /// The number of entries.
    pub size: u64,
    /// The time: RFC 3339 in UTC with `Z`, to the second.
    pub time: String,
}

/// The signed part of a head.
#[derive(Serialize)]
struct UnsignedTreeHead {
    root: Hash,
    size: u64,
    time: String,
}

impl SignedTreeHead {
    /// Parses a line as a head.
    ///
    /// # Errors
    /// If the line is not a head in canonical form, or its time is not a calendar date in the
    /// required form.
    pub fn from_line(line: &str) -> Result<Self, ErrorKind> {
        let head: SignedTreeHead = from_text("a head", line)?;
        if is_time(&head.time) { Ok(head) } else { Err(ErrorKind::NotCanonical { what: "the time of a head" }) }
    }

    /// The head as a line, without its newline.
    pub fn to_line(&self) -> String {
        to_text(self)
    }

    /// Checks the board's signature.
    ///
    /// # Errors
    /// [`BadSignature`](ErrorKind::BadSignature).
    pub fn check_signature(&self, board: &PublicKey) -> Result<(), ErrorKind> {
        let unsigned = UnsignedTreeHead { root: self.root, size: self.size, time: self.time.clone() };
        board.verify(signature::HEAD, &to_text(&unsigned), &self.signature)
    }
}

/// The board's signed commitment that a line is on it at a given index.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Receipt {
    /// The election.
    pub election: Hash,
    /// The leaf hash of the line.
    pub hash: Hash,
    /// The index of the entry.
    pub index: u64,
    /// The board's signature.
    pub signature: Bytes,
}

/// The signed part of a receipt.
#[derive(Serialize)]
struct UnsignedReceipt {
    election: Hash,
    hash: Hash,
    index: u64,
}

impl Receipt {
    /// Issues a receipt for a line.
    pub fn new(election: Hash, index: u64, line: &str, key: &Signer) -> Self {
        let hash = leaf_hash(line);
        let signature = key.sign(signature::RECEIPT, &to_text(&UnsignedReceipt { election, hash, index }));
        Receipt { election, hash, index, signature }
    }

    /// Parses a receipt.
    ///
    /// # Errors
    /// If the text is not a receipt in canonical form.
    pub fn from_json(text: &str) -> Result<Self, ErrorKind> {
        from_text("a receipt", text)
    }

    /// The receipt as canonical JSON.
    pub fn to_json(&self) -> String {
        to_text(self)
    }

    /// Checks that this receipt covers a given notice of an election. `line` is the line that the
    /// board shows for it.
    ///
    /// The signature alone only proves that some entry is on the board. An attacker between voter
    /// and board could drop a ballot and return the receipt of another one.
    ///
    /// # Errors
    /// [`BadSignature`](ErrorKind::BadSignature), [`WrongElection`](ErrorKind::WrongElection), the
    /// errors of [`Entry::from_line`], or [`WrongReceipt`](ErrorKind::WrongReceipt) if the line's
    /// hash, index or notice differs.
    pub fn check_entry(&self, board: &PublicKey, election: Hash, line: &str, notice: &Notice) -> Result<(), ErrorKind> {
        self.check_signature(board)?;
        if self.election != election {
            return Err(ErrorKind::WrongElection);
        }
        let entry = Entry::from_line(line)?;
        if leaf_hash(line) != self.hash || entry.index != self.index || entry.notice != *notice {
            return Err(ErrorKind::WrongReceipt { index: self.index });
        }
        Ok(())
    }

    /// Checks the board's signature.
    ///
    /// # Errors
    /// [`BadSignature`](ErrorKind::BadSignature).
    pub fn check_signature(&self, board: &PublicKey) -> Result<(), ErrorKind> {
        let Receipt { election, hash, index, .. } = *self;
        board.verify(signature::RECEIPT, &to_text(&UnsignedReceipt { election, hash, index }), &self.signature)
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::body::{Body, ElectionRef};

    fn board(lines: usize) -> (Board, Vec<String>) {
        let (mut board, signer) = (Board::default(), Signer::generate().unwrap());
        let open = || Notice::signed(Body::Open(ElectionRef { election: NO_LINE }), &signer);
        let lines = (0..lines).map(|_| board.append(open())).collect();
        (board, lines)
    }

    #[test]
    fn lines_follow_each_other_in_one_way() {
        let (board, lines) = board(5);
        let mut again = Board::default();
        for (index, line) in lines.iter().enumerate() {
            assert_eq!(again.follow(line).unwrap().index, index as u64);
        }
        assert_eq!(again, board);
        let found = |order: &[usize]| {
            let mut board = Board::default();
            order.iter().map(|&line| board.follow(&lines[line])).find_map(Result::err)
        };
        assert!(matches!(found(&[0, 2]), Some(ErrorKind::WrongIndex { found: 2 })));
        assert!(matches!(found(&[0, 1, 1]), Some(ErrorKind::WrongIndex { found: 1 })));
        let other = lines[1].replace(",\"index\":1,", ",\"index\":0,");
        assert!(matches!(Board::default().follow(&other), Err(ErrorKind::BrokenChain)));
    }

    #[test]
    fn heads_and_receipts_are_signed() {
        let (board, lines) = board(3);
        let key = Signer::generate().unwrap();
        let public = PublicKey::new("the board's", &key.public()).unwrap();
        let head = board.head("2026-11-22T20:15:00Z", &key);
        assert_eq!((head.size, head.root), (3, board.root()));
        assert!(head.check_signature(&public).is_ok());
        assert_eq!(SignedTreeHead::from_line(&head.to_line()).unwrap(), head);
        for other in [
            SignedTreeHead { size: 2, ..head.clone() },
            SignedTreeHead { root: NO_LINE, ..head.clone() },
            SignedTreeHead { time: "2026-11-22T20:15:01Z".into(), ..head.clone() },
        ] {
            assert!(other.check_signature(&public).is_err());
        }
        for time in ["2026-11-22 20:15:00Z", "2026-11-22T20:15:00+00:00", "2026-11-22T20:15:00.5Z", ""] {
            assert!(SignedTreeHead::from_line(&board.head(time, &key).to_line()).is_err(), "{time}");
        }
        let receipt = Receipt::new(NO_LINE, 1, &lines[1], &key);
        assert!(receipt.check_signature(&public).is_ok());
        assert_eq!(Receipt::from_json(&receipt.to_json()).unwrap(), receipt);
        assert!(Receipt { index: 2, ..receipt }.check_signature(&public).is_err());
    }

    #[test]
    fn a_receipt_is_for_what_was_sent_and_nothing_else() {
        let (author, key) = (Signer::generate().unwrap(), Signer::generate().unwrap());
        let public = PublicKey::new("the board's", &key.public()).unwrap();
        let mut board = Board::default();
        let of = |body: fn(ElectionRef) -> Body| Notice::signed(body(ElectionRef { election: NO_LINE }), &author);
        let (sent, other) = (of(Body::Open), of(Body::Close));
        let lines = [&sent, &other].map(|notice| board.append(notice.clone()));
        let receipts = [0, 1].map(|index| Receipt::new(NO_LINE, index, &lines[index as usize], &key));
        let check = |receipt: &Receipt, line: &str| receipt.check_entry(&public, NO_LINE, line, &sent);
        assert!(check(&receipts[0], &lines[0]).is_ok());
        // Another notice's receipt with either line, and the right receipt with another line.
        for (receipt, line) in [(1, 1), (1, 0), (0, 1)] {
            let found = check(&receipts[receipt], &lines[line]);
            assert!(matches!(found, Err(ErrorKind::WrongReceipt { .. })), "{receipt} {line}: {found:?}");
        }
        // A forged line with the right entry at another index.
        let mut elsewhere = Board::default();
        elsewhere.append(other.clone());
        let line = elsewhere.append(sent.clone());
        assert!(check(&receipts[1], &line).is_err());
        let stranger = Receipt::new(NO_LINE, 0, &lines[0], &author);
        assert!(matches!(check(&stranger, &lines[0]), Err(ErrorKind::BadSignature)));
        let elsewhere = Receipt::new(Hash([1; 32]), 0, &lines[0], &key);
        assert!(matches!(check(&elsewhere, &lines[0]), Err(ErrorKind::WrongElection)));
    }
}
