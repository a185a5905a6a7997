//! Many concurrent ballots, and the invariants that must hold whatever happens to the server.

use std::collections::HashMap;
use std::sync::Mutex;
use std::sync::atomic::{AtomicUsize, Ordering};

use hearith_election::{Body, Entry, Lines, Notice, Receipt, leaf_hash, verify};
use hearith_election_server::client::{Client, ErrorKind};
use hearith_paillier::Engine;

use crate::common::{Cast, POLICY};

/// One ballot of each voter.
pub fn ballots(cast: &Cast) -> Vec<Notice> {
    let votes: Vec<_> = cast
        .voters
        .iter()
        .enumerate()
        .map(|(voter, (id, _))| {
            let values = cast.manifest.contests[0].choose(&[voter % 3]).unwrap();
            (id.clone(), vec![values.into()])
        })
        .collect();
    let prepared = cast.election.prepare_all(&votes).unwrap();
    prepared.into_iter().enumerate().map(|(voter, one)| cast.cast(voter, one.into_ballot())).collect()
}

/// The acknowledged ballots with their receipts.
#[derive(Default)]
pub struct Acknowledged(Mutex<HashMap<usize, Receipt>>);

impl Acknowledged {
    pub fn len(&self) -> usize {
        self.0.lock().unwrap().len()
    }

    /// Sends all ballots without a receipt, from several threads to one or two servers, and returns
    /// how many got one. A thread gives up when the server does not answer or reports a store
    /// failure.
    pub fn send(&self, clients: &[Client], ballots: &[Notice], threads: usize) -> usize {
        let (next, before) = (AtomicUsize::new(0), self.len());
        std::thread::scope(|scope| {
            for thread in 0..threads {
                let (next, client) = (&next, &clients[thread % clients.len()]);
                scope.spawn(move || {
                    loop {
                        let ballot = next.fetch_add(1, Ordering::Relaxed);
                        if ballot >= ballots.len() {
                            return;
                        }
                        if self.0.lock().unwrap().contains_key(&ballot) {
                            continue;
                        }
                        match client.send(&ballots[ballot]) {
                            Ok(text) => {
                                let receipt = Receipt::from_json(&text).unwrap();
                                self.0.lock().unwrap().insert(ballot, receipt);
                            }
                            Err(error) => match error.kind() {
                                ErrorKind::Refused { code, .. } if code == "store" => return,
                                ErrorKind::Refused { .. } => panic!("{error}"),
                                _ => return,
                            },
                        }
                    }
                });
            }
        });
        self.len() - before
    }

    /// Checks that everything acknowledged is on the board at the index in its receipt, that no
    /// voter counts twice, and that the record is valid.
    pub fn hold(&self, cast: &Cast, client: &Client, ballots: &[Notice]) {
        let mut lines = Vec::new();
        let record = client.record().unwrap();
        let mut source = Lines::new(&record);
        while let Some(line) = source.next_line().unwrap() {
            lines.push(line);
        }
        let receipts = self.0.lock().unwrap();
        for (ballot, receipt) in receipts.iter() {
            let line = &lines[receipt.index as usize];
            assert_eq!(leaf_hash(line), receipt.hash);
            assert_eq!(Entry::from_line(line).unwrap().notice.text(), ballots[*ballot].text());
            receipt.check_signature(cast.election.board()).unwrap();
        }
        let mut voted: Vec<String> = Vec::new();
        for line in &lines {
            if let Body::Ballot(ballot) = Entry::from_line(line).unwrap().notice.into_body() {
                voted.push(ballot.voter);
            }
        }
        let all = voted.len();
        voted.sort_unstable();
        voted.dedup();
        assert_eq!(voted.len(), all, "nobody votes twice");
        let report = verify(&record, POLICY, Engine::best(), &|_| ()).unwrap();
        assert!(report.is_good(), "{:?}", report.checks);
    }
}
