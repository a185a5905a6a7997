//! A store with fewer entries than readers have seen is an older backup. It is not served, and it
//! is not restored unnoticed.

use std::fs;
use std::path::Path;

use hearith_election::{Folder, SignedTreeHead};
use hearith_election_server::backup::{self, backup, restore};
use hearith_election_server::server::Server;
use hearith_election_server::store::{Location, Store};
use hearith_paillier::Engine;

use crate::common::{Hall, POLICY};

/// The error of starting a server with the store.
fn refused(hall: &Hall) -> String {
    Server::start(hall.options()).map(drop).unwrap_err().to_string()
}

fn stop(hall: &mut Hall) {
    assert!(hall.server.take().unwrap().stop());
}

/// Copies the store with its auxiliary files.
fn copy(from: &Path, to: &Path) {
    for part in ["", "-wal", "-shm"] {
        let [from, to] = [from, to].map(|path| format!("{}{part}", path.display()));
        let _ = fs::remove_file(&to);
        if Path::new(&from).exists() {
            fs::copy(from, to).unwrap();
        }
    }
}

#[test]
fn an_older_copy_of_a_store_is_not_served() {
    let mut hall = Hall::open(4, false);
    let (store, old, head) = (hall.file("board.db"), hall.file("old.db"), hall.file("board.db.head"));
    hall.client().send(&hall.cast.ballot(0, 0)).unwrap();
    stop(&mut hall);
    copy(&store, &old);
    hall.start(|_| ());
    hall.client().send(&hall.cast.ballot(1, 0)).unwrap();
    // An entry with a receipt is covered by the file before the receipt is sent.
    let kept = fs::read_to_string(&head).unwrap();
    assert_eq!(SignedTreeHead::from_line(kept.trim_end()).unwrap().size, 5);
    stop(&mut hall);
    copy(&old, &store);
    let error = refused(&hall);
    assert!(error.contains("has 4 entries, and the board signed a head of 5"), "{error}");
    assert!(error.contains("board.db.head") && error.contains("older backup"), "{error}");
    // An operator who removes the file accepts the loss. Other ballots then make a different board.
    fs::remove_file(&head).unwrap();
    hall.start(|_| ());
    hall.client().send(&hall.cast.ballot(2, 0)).unwrap();
    stop(&mut hall);
    fs::write(&head, &kept).unwrap();
    assert!(refused(&hall).contains("differ from the head"), "{}", refused(&hall));
    // An invalid, altered or truncated file is rejected. An empty file, as after a power failure,
    // is accepted.
    for wrong in ["no head", &kept.replacen("\"size\":5", "\"size\":3", 1), &kept[..40]] {
        fs::write(&head, wrong).unwrap();
        assert!(refused(&hall).contains("not the last head that this board signed"), "{wrong}: {}", refused(&hall));
    }
    fs::write(&head, "").unwrap();
    hall.start(|_| ());
    hall.client().send(&hall.cast.ballot(3, 0)).unwrap();
    stop(&mut hall);
    // An empty store has fewer entries than any head.
    for part in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(format!("{}{part}", store.display()));
    }
    assert!(refused(&hall).contains("has 0 entries"), "{}", refused(&hall));
}

#[test]
fn the_file_is_where_it_is_said_to_be() {
    let mut hall = Hall::open(1, false);
    let elsewhere = hall.file("elsewhere");
    let named = elsewhere.clone();
    hall.start(|options| options.last_head = Some(named));
    hall.client().send(&hall.cast.ballot(0, 0)).unwrap();
    stop(&mut hall);
    let head = SignedTreeHead::from_line(fs::read_to_string(&elsewhere).unwrap().trim_end()).unwrap();
    assert_eq!(head.size, 4);
    let postgres: Location = "postgres://db/election".parse().unwrap();
    assert_eq!(postgres.last_head(), None);
    assert_eq!(hall.options().store.last_head(), Some(hall.file("board.db.head")));
}

#[test]
fn an_older_backup_is_not_restored() {
    let mut hall = Hall::open(3, false);
    let runtime = tokio::runtime::Builder::new_multi_thread().enable_all().build().unwrap();
    let location = hall.options().store;
    let keep = |folder: &Path| {
        runtime.block_on(async {
            let store = Store::open_existing(&location).await.unwrap();
            backup(&store, folder).await.unwrap();
            store.close().await;
        });
    };
    let (old, new) = (hall.file("old"), hall.file("new"));
    hall.client().send(&hall.cast.ballot(0, 0)).unwrap();
    keep(&old);
    hall.client().send(&hall.cast.ballot(1, 0)).unwrap();
    stop(&mut hall);
    keep(&new);
    for part in ["", "-wal", "-shm"] {
        let _ = fs::remove_file(format!("{}{part}", hall.file("board.db").display()));
    }
    let again = |folder: &Path| {
        runtime.block_on(async {
            let store = Store::open(&location).await.unwrap();
            let restored = restore(&store, &Folder(folder.to_owned()), POLICY, Engine::best(), &|_| ()).await;
            let size = store.size().await.unwrap();
            store.close().await;
            (restored, size)
        })
    };
    let (refused, size) = again(&old);
    let error = refused.unwrap_err();
    assert!(matches!(error, backup::Error::BoardLog(_)) && size == 0, "{error}");
    assert!(error.to_string().contains("has 4 entries, and the board signed a head of 5"), "{error}");
    assert!(matches!(again(&new), (Ok(5), 5)));
    hall.start(|_| ());
    hall.client().send(&hall.cast.ballot(2, 0)).unwrap();
}
