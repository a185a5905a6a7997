//! Several elections on one server, each below its own path.

use hearith_election::verify;
use hearith_election_server::client::Client;
use hearith_election_server::server::{Another, Error, Server};
use hearith_paillier::Engine;

use crate::common::{Cast, Hall, POLICY, code, wide};

fn another(hall: &Hall, cast: &Cast, name: &str) -> Another {
    Another {
        name: name.into(),
        store: format!("sqlite:{}", hall.file(&format!("{name}.db")).display()).parse().unwrap(),
        last_head: None,
        board: cast.board(),
        organiser: Some(cast.organiser.public()),
        audit: None,
    }
}

#[test]
fn elections_have_boards_of_their_own() {
    let mut hall = Hall::of(Cast::new(2, false), wide());
    let spring = Cast::new(2, true);
    let others = vec![another(&hall, &spring, "spring-2026"), another(&hall, &Cast::new(1, false), "empty")];
    hall.start(|options| options.others = others);
    let url = format!("http://{}", hall.address());
    let below = |name: &str| Client::new(&format!("{url}/{name}/"), None).unwrap();
    let (first, second) = (hall.client(), below("spring-2026"));
    hall.begin();
    // The first election's organiser may not begin an election on the second board.
    assert_eq!(code(second.send(&hall.cast.first())), "not_signed");
    for notice in spring.beginning() {
        second.send(&notice).unwrap();
    }
    first.send(&hall.cast.ballot(0, 1)).unwrap();
    second.send(&spring.ballot(0, 2)).unwrap();
    second.send(&spring.ballot(0, 0)).unwrap();
    assert_eq!(code(first.send(&spring.ballot(1, 0))), "bad_request");
    assert_eq!(below("empty").election().unwrap().phase, "empty");
    for (client, cast, ballots) in [(&first, &hall.cast, 1), (&second, &spring, 2)] {
        let report = verify(&client.record().unwrap(), POLICY, Engine::best(), &|_| {}).unwrap();
        assert!(report.is_good(), "{:?}", report.checks);
        assert_eq!(report.kinds[&hearith_election::Kind::Ballot], ballots);
        assert_eq!(report.state.unwrap().election().id(), cast.election.id());
    }
    // The metrics count all boards: four entries here, five there.
    assert!(hall.metrics().contains("hearith_election_board_entries 9\n"), "{}", hall.metrics());
    assert_eq!(code(below("autumn").election()), "not_found");
}

#[test]
fn names_are_parts_of_addresses() {
    let hall = Hall::of(Cast::new(1, false), wide());
    let start = |names: &[&str], same_store: bool| {
        let cast = Cast::new(1, false);
        let mut others: Vec<Another> = names.iter().map(|name| another(&hall, &cast, name)).collect();
        if same_store {
            others[0].store = hall.options().store;
        }
        let mut options = hall.options();
        options.others = others;
        Server::start(options).map(drop)
    };
    for names in [&["api"][..], &["record"], &[""], &["Spring"], &["a/b"], &["a b"], &["one", "one"]] {
        assert!(matches!(start(names, false), Err(Error::Name(..))), "{names:?}");
    }
    assert!(matches!(start(&["one"], true), Err(Error::Name(..))));
}
