//! Clocks that are set back, and two servers with different clocks: heads never go back.

use hearith_election::{Board, SignedTreeHead, Signer, in_order, verify};
use hearith_election_server::backup::repair_heads;
use hearith_election_server::client::Client;
use hearith_election_server::store::{Location, Store};
use hearith_paillier::Engine;
use tokio::runtime::Runtime;

use crate::common::{Cast, Hall, POLICY};

const AHEAD: &str = "2099-01-01T00:00:00Z";
const FURTHER_AHEAD: &str = "2199-01-01T00:00:00Z";

/// A store with the runtime of its connections.
pub struct Kept {
    runtime: Runtime,
    store: Store,
}

impl Kept {
    pub fn open(location: &Location) -> Self {
        let runtime = tokio::runtime::Builder::new_current_thread().enable_all().build().unwrap();
        let store = runtime.block_on(Store::open_existing(location)).unwrap();
        Self { runtime, store }
    }

    /// Signs a head of `size` entries like a server whose clock shows `time`.
    pub fn sign(&self, cast: &Cast, size: u64, time: &str) {
        self.runtime.block_on(async {
            let mut append = self.store.append().await.unwrap();
            let mut board = Board::default();
            append.lines(0, size).await.unwrap().iter().for_each(|line| board.push(line));
            append.drop_head(size).await.unwrap();
            append.head(size, &board.head(time, &cast.board()).to_line()).await.unwrap();
            append.commit().await.unwrap();
        });
    }

    pub fn heads(&self) -> Vec<SignedTreeHead> {
        let lines = self.runtime.block_on(self.store.heads(0)).unwrap();
        lines.iter().map(|line| SignedTreeHead::from_line(line).unwrap()).collect()
    }

    pub fn repair(&self, key: Signer) -> Result<u64, hearith_election_server::backup::Error> {
        self.runtime.block_on(repair_heads(&self.store, key, POLICY, Engine::best()))
    }
}

impl Drop for Kept {
    fn drop(&mut self) {
        self.runtime.block_on(self.store.close());
    }
}

/// Sends ballots through all servers in turn, after a server whose clock was ahead signed a head.
pub fn go_on_after_a_clock_ahead(cast: &Cast, location: &Location, clients: &[Client]) {
    let kept = Kept::open(location);
    let size = clients[0].election().unwrap().size;
    kept.sign(cast, size, AHEAD);
    for (voter, client) in (0..4).zip(clients.iter().cycle()) {
        client.send(&cast.ballot(voter, 1)).unwrap();
    }
    let heads = kept.heads();
    assert_eq!(in_order(&heads).len(), heads.len(), "{heads:?}");
    let last = heads.last().unwrap();
    assert_eq!((last.size, last.time.as_str()), (size + 4, AHEAD));
    for client in clients {
        let report = verify(&client.record().unwrap(), POLICY, Engine::best(), &|_| {}).unwrap();
        assert!(report.is_good(), "{:?}", report.checks);
    }
}

#[test]
fn heads_of_a_server_whose_clock_is_set_back_do_not_go_back() {
    let mut hall = Hall::open(4, false);
    // A restart reads the store again.
    go_on_after_a_clock_ahead(&hall.cast, &hall.options().store, &[hall.client()]);
    hall.start(|_| {});
    let report = verify(&hall.client().record().unwrap(), POLICY, Engine::best(), &|_| {}).unwrap();
    assert!(report.is_good(), "{:?}", report.checks);
}

#[test]
fn heads_of_two_servers_over_one_file_do_not_go_back() {
    let hall = Hall::open(4, false);
    let mut options = hall.options();
    options.audit = None;
    let other = hearith_election_server::server::Server::start(options).unwrap();
    let second = Client::new(&format!("http://{}", other.address()), None).unwrap();
    go_on_after_a_clock_ahead(&hall.cast, &hall.options().store, &[hall.client(), second]);
    assert!(other.stop());
}

/// Breaks the heads of a store and repairs them. The store must not be in use.
pub fn break_and_repair(cast: &Cast, location: &Location) {
    let kept = Kept::open(location);
    let before = kept.heads();
    let last = before.last().unwrap().clone();
    kept.sign(cast, 2, FURTHER_AHEAD);
    assert_eq!(in_order(&kept.heads()).len(), before.len() - 1);
    assert!(kept.repair(Signer::generate().unwrap()).is_err());
    assert_eq!(kept.repair(cast.board()).unwrap(), 1);
    let after = kept.heads();
    assert_eq!(in_order(&after).len(), before.len() - 1);
    assert_eq!(after.last().unwrap(), &last);
    // Only the last head is wrong, so another one is signed.
    kept.sign(cast, last.size, "2001-01-01T00:00:00Z");
    assert_eq!(kept.repair(cast.board()).unwrap(), 1);
    let last = kept.heads().pop().unwrap();
    assert!(last.size == after.last().unwrap().size && last.time >= after[after.len() - 2].time);
    assert_eq!(kept.repair(cast.board()).unwrap(), 0);
}

#[test]
fn heads_of_a_file_that_go_back_are_repaired() {
    let mut hall = Hall::open(2, false);
    hall.client().send(&hall.cast.ballot(0, 1)).unwrap();
    assert!(hall.server.take().unwrap().stop());
    break_and_repair(&hall.cast, &hall.options().store);
    hall.start(|_| {});
    let report = verify(&hall.client().record().unwrap(), POLICY, Engine::best(), &|_| {}).unwrap();
    assert!(report.is_good(), "{:?}", report.checks);
}
