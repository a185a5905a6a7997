//! Groups of independent entries that share a transaction.

use std::collections::HashSet;

use hearith_election::{Ballot, Body, Notice};

/// Splits a batch, in order, into groups of independent notices: ballots and challenges of
/// different voters with different ciphertexts, or one notice of another kind. Each notice can then
/// be checked against the board before its group.
pub(crate) fn groups<T>(batch: Vec<T>, notice: impl Fn(&T) -> &Notice) -> Vec<Vec<T>> {
    let mut groups: Vec<Vec<T>> = Vec::new();
    // The claims of the last group. `None` for a group that nothing may join.
    let mut claimed: Option<HashSet<Vec<u8>>> = None;
    for one in batch {
        let claims = ballot(notice(&one)).map(claims);
        match (&mut claimed, claims) {
            (Some(claimed), Some(claims)) if claims.iter().all(|claim| !claimed.contains(claim)) => {
                claimed.extend(claims);
                if let Some(last) = groups.last_mut() {
                    last.push(one);
                }
            }
            (_, claims) => {
                claimed = claims.map(HashSet::from_iter);
                groups.push(vec![one]);
            }
        }
    }
    groups
}

fn ballot(notice: &Notice) -> Option<&Ballot> {
    match notice.body() {
        Body::Ballot(ballot) => Some(ballot),
        Body::Challenge(challenge) => Some(&challenge.ballot),
        _ => None,
    }
}

/// The claims that must be unique in a group: the voter and each ciphertext.
fn claims(ballot: &Ballot) -> Vec<Vec<u8>> {
    let marks = ballot.contests.iter().flat_map(|contest| &contest.marks);
    let ciphertexts = marks.map(|mark| [b"c", &mark.ciphertext.0[..]].concat());
    [[b"v", ballot.voter.as_bytes()].concat()].into_iter().chain(ciphertexts).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use hearith_election::{Bytes, ElectionRef, Hash, Mark, Selection, Signer};

    fn of(name: &str) -> Notice {
        let (election, signer) = (Hash::of(&[]), Signer::generate().unwrap());
        let Some((voter, ciphertext)) = name.split_once(' ') else {
            return Notice::signed(Body::Close(ElectionRef { election }), &signer);
        };
        let mark = Mark { ciphertext: Bytes(ciphertext.into()), proof: Bytes::default() };
        let contests = vec![Selection { marks: vec![mark], sum: None }];
        Notice::signed(Body::Ballot(Ballot { contests, election, voter: voter.into() }), &signer)
    }

    #[test]
    fn what_bears_on_another_comes_after_it() {
        let batch = ["ann 1", "bob 2", "ann 3", "cid 4", "dan 3", "close", "eve 5", "fay 6", "close", "close"];
        let notices: Vec<_> = batch.iter().map(|name| (*name, of(name))).collect();
        let found: Vec<Vec<&str>> = groups(notices, |one| &one.1)
            .into_iter()
            .map(|group| group.into_iter().map(|one| one.0).collect())
            .collect();
        let expected: [&[&str]; 7] = [
            &["ann 1", "bob 2"],
            &["ann 3", "cid 4"],
            &["dan 3"],
            &["close"],
            &["eve 5", "fay 6"],
            &["close"],
            &["close"],
        ];
        assert_eq!(found, expected);
    }
}
