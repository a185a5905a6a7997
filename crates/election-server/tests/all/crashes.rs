//! A server that is killed or whose disk is full loses nothing that it acknowledged.

use std::time::{Duration, Instant};

use crate::common::Cast;
use crate::load::{Acknowledged, ballots};
use crate::process::Process;

fn store(place: &tempfile::TempDir) -> String {
    format!("sqlite:{}", place.path().join("board.db").display())
}

fn begin(cast: &Cast, process: &Process) {
    for notice in cast.beginning() {
        process.client().send(&notice).unwrap();
    }
}

#[test]
fn kill_in_mid_load_loses_nothing() {
    let (cast, place) = (Cast::new(400, false), tempfile::tempdir().unwrap());
    let (ballots, acknowledged) = (ballots(&cast), Acknowledged::default());
    let mut process = Process::start(&cast, &store(&place), "");
    begin(&cast, &process);
    for round in 1..=3 {
        let client = process.client();
        std::thread::scope(|scope| {
            let sending = scope.spawn(|| acknowledged.send(&[client], &ballots, 8));
            // Some are acknowledged, some are being written, and some are queued.
            let until = Instant::now() + Duration::from_secs(60);
            while acknowledged.len() < round * 60 {
                assert!(Instant::now() < until && !sending.is_finished(), "{} acknowledged", acknowledged.len());
                std::thread::sleep(Duration::from_millis(1));
            }
            process.kill();
        });
        assert!(acknowledged.len() < ballots.len(), "it was killed in the middle");
        process = Process::start(&cast, &store(&place), "");
        acknowledged.hold(&cast, &process.client(), &ballots);
    }
    // Ballots without a receipt are sent again, whether they were entered or not.
    acknowledged.send(&[process.client()], &ballots, 8);
    assert_eq!(acknowledged.len(), ballots.len());
    assert_eq!(process.client().election().unwrap().voted, 400);
    assert!(process.end());
    let process = Process::start(&cast, &store(&place), "");
    acknowledged.hold(&cast, &process.client(), &ballots);
}

#[test]
fn a_full_disk_refuses_and_loses_nothing() {
    let (cast, place) = (Cast::new(400, false), tempfile::tempdir().unwrap());
    let (ballots, acknowledged) = (ballots(&cast), Acknowledged::default());
    // Limits files to half a mebibyte. A write beyond that fails, as on a full disk.
    let process = Process::start(&cast, &store(&place), "trap '' XFSZ; ulimit -f 1024;");
    begin(&cast, &process);
    acknowledged.send(&[process.client()], &ballots, 4);
    let before = acknowledged.len();
    assert!(0 < before && before < ballots.len(), "{before} acknowledged");
    // It still serves the existing record.
    acknowledged.hold(&cast, &process.client(), &ballots);
    process.kill();
    let process = Process::start(&cast, &store(&place), "");
    acknowledged.hold(&cast, &process.client(), &ballots);
    acknowledged.send(&[process.client()], &ballots, 4);
    assert_eq!(acknowledged.len(), ballots.len());
    acknowledged.hold(&cast, &process.client(), &ballots);
}
