//! Clients of one name share a rate and quotas.

use std::time::{Duration, Instant};

use crate::common::*;
use crate::standards::{Authority, named, protected};
use hearith_service::client;
use hearith_service::proto::ErrorReason;
use hearith_service::rights::Rights;
use hearith_service::server::Server;

/// A server with a file of rights, and the authority of its clients' certificates.
fn limited(rights: &str) -> (Server, Authority) {
    let ours = Authority::new();
    let protected = protected(&ours.sign("localhost", 4000), Some(&ours));
    let rights = Rights::read(rights).unwrap();
    let server = start_with(|options| {
        protected(options);
        options.rights = Some(rights.clone());
    });
    (server, ours)
}

#[test]
fn a_quota_is_shared_by_all_clients_of_a_name() {
    let (server, ours) = limited(
        r#"{ "clients": [
            { "name": "branch", "encrypt": true, "rows_per_day": 10 },
            { "name": "payroll", "decrypt": "*", "encrypt": true, "decrypted_rows_per_day": 3 } ] }"#,
    );
    let [branch, again, payroll] = ["branch", "branch", "payroll"].map(|name| named(&server, &ours, name));
    let some = |rows| plaintexts(KEY.public(), rows);
    let refused = |error: client::Error| assert_eq!(error.reason(), Some(ErrorReason::QuotaExceeded), "{error}");
    branch.encrypt(&some(6)).unwrap();
    refused(again.encrypt(&some(5)).unwrap_err());
    again.encrypt(&some(4)).unwrap();
    refused(branch.encrypt(&some(1)).unwrap_err());
    let ciphertexts = payroll.encrypt(&some(20)).unwrap();
    let rows = |from, to| ciphertexts.range(from..to).unwrap();
    assert_eq!(integers(KEY.public(), &payroll.decrypt(&rows(0, 2)).unwrap()), numbers(2));
    let error = payroll.decrypt(&rows(0, 2)).unwrap_err();
    assert!(error.to_string().contains("3 decrypted rows a day, with 1 left"), "{error}");
    payroll.decrypt(&rows(2, 3)).unwrap();
    // New rights do not reset the usage.
    let more = r#"{ "clients": [ { "name": "payroll", "decrypt": "*", "decrypted_rows_per_day": 4 } ] }"#;
    server.replace_rights(Rights::read(more).unwrap());
    payroll.decrypt(&rows(3, 4)).unwrap();
    refused(payroll.decrypt(&rows(4, 5)).unwrap_err());
    assert!(metric(&server, "hearith_requests_total{operation=\"decrypt\",outcome=\"QUOTA_EXCEEDED\"}") >= 2.0);
}

#[test]
fn a_rate_delays_its_own_client_alone() {
    let (server, ours) = limited(
        r#"{ "clients": [
            { "name": "slow", "encrypt": true, "rows_per_second": 20 }, { "name": "fast", "encrypt": true } ] }"#,
    );
    let (slow, fast) = (named(&server, &ours, "slow"), named(&server, &ours, "fast"));
    let start = Instant::now();
    for _ in 0..4 {
        slow.encrypt(&plaintexts(KEY.public(), 10)).unwrap();
    }
    assert!(start.elapsed() >= Duration::from_millis(950), "40 rows, 20 of them at once");
    assert_eq!(metric(&server, "hearith_delayed_total"), 2.0);
    fast.encrypt(&plaintexts(KEY.public(), 100)).unwrap();
    assert_eq!(metric(&server, "hearith_delayed_total"), 2.0);
}

/// A request that waits for its rate was not accepted, so a shutdown does not wait for it.
#[test]
fn a_shutdown_waits_for_no_rate() {
    let (server, ours) = limited(r#"{ "clients": [ { "name": "slow", "encrypt": true, "rows_per_second": 1 } ] }"#);
    let slow = named(&server, &ours, "slow");
    slow.encrypt(&plaintexts(KEY.public(), 100)).unwrap();
    std::thread::scope(|scope| {
        let waiting = scope.spawn(|| slow.encrypt(&plaintexts(KEY.public(), 1)));
        eventually("it waits", || metric(&server, "hearith_delayed_total") == 1.0);
        assert!(server.stop());
        let error = waiting.join().unwrap().unwrap_err();
        assert_eq!(error.reason(), Some(ErrorReason::ShuttingDown), "{error}");
    });
}
