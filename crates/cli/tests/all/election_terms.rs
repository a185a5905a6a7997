//! Further needs of organisers: dates, registrars, lost answers and credentials, letters, e-mails,
//! results on paper.

use std::fs;
use std::os::unix::fs::PermissionsExt;

use crate::common::serving::{LosingProxy, MailServer, Service};
use crate::common::{Run, TestDir};

const CONTESTS: &str = r#"[{ "about": "For two years.", "blank": true, "candidates": ["Ada", "=Bo", "nobody"],
  "details": [{ "link": "https://example.org/ada" }, {}, {}], "method": { "choose": { "exactly": 1 } },
  "shuffled": true, "title": "Chair" }]"#;
const SERVE: &str = "election serve --store sqlite:board.db --board-key club/board.json";

/// An election with its first entry, in `club`.
fn begun(options: &str) -> TestDir {
    let dir = TestDir::new();
    dir.write("contests.json", CONTESTS);
    dir.write("voters.csv", "voter\nann\nben\ncleo\n");
    dir.ok(&format!("election init --title Club --contests contests.json --out club {options}"));
    dir.ok("election ceremony club --bits 512 --out secret");
    dir
}

fn vote(dir: &TestDir, at: &str, credential: &str, voter: &str, candidate: &str) -> Run {
    dir.run(&format!("election vote {at} --credential {credential} --voter {voter} --choose Chair={candidate}"))
}

fn cast(run: Run) {
    assert!(run.text().starts_with("cast: entry "), "{}{}", run.text(), run.stderr);
}

#[test]
fn an_election_is_held_at_its_dates() {
    let dir = begun("--opens 2020-01-01T00:00:00Z --closes 9999-01-01T00:00:00Z --trial");
    dir.ok("election register club voters.csv --out credentials --open");
    cast(vote(&dir, "club", "credentials", "ann", "Ada"));
    dir.fails("election tally club", "club/record: voting ends later");
    let said = dir.ok("election verify club").text();
    for line in ["trial    its result is not binding\n", "opens    2020-01-01T00:00:00Z, by the board\n"] {
        assert!(said.contains(line), "{said}");
    }
    let dir = begun("--closes 2020-01-01T00:00:00Z");
    dir.ok("election register club voters.csv --out credentials --open");
    let late = vote(&dir, "club", "credentials", "ann", "Ada");
    late.failed("a late ballot", "club/record: voting has ended");
    dir.ok("election tally club");
    dir.ok("election verify club");
    let early = begun("--opens 9999-01-01T00:00:00Z");
    early.ok("election register club voters.csv --out credentials");
    early.fails("election register club --open", "club/record: voting begins later");
    let dates = "--opens 2026-11-20T08:00:00Z --closes 2026-11-20T08:00:00Z";
    dir.ok(&format!("election init --title Club --contests contests.json --out other {dates}"));
    dir.fails("election ceremony other --bits 512 --out third", "invalid election: voting must end after it begins");
}

#[test]
fn a_registrar_lists_voters_and_the_organiser_does_not() {
    let dir = TestDir::new();
    let public = dir.ok("election registrar-key --out registrar.json").text();
    let place_of = begun(&format!("--late --registrar {}", public.trim()));
    fs::copy(dir.file("registrar.json"), place_of.file("registrar.json")).unwrap();
    let dir = place_of;
    dir.ok("election restore --store sqlite:board.db club");
    let service = Service::of(&dir, SERVE);
    let url = service.url.clone();
    let register = format!("election register club voters.csv --out credentials --server {url}");
    dir.fails(&register, &format!("{url}: voters are listed with another key"));
    assert!(!dir.files().contains(&"credentials".to_owned()));
    let register = format!("election register {url} voters.csv --registrar registrar.json");
    dir.ok(&format!("{register} --out credentials --codes codes.csv --aliases"));
    // The board has aliases, in an order that reveals nothing. The table of codes has the names.
    let codes = dir.read("codes.csv");
    assert!(codes.starts_with("voter,name,code,link\n") && codes.contains(",\"ann\","), "{codes}");
    let board = dir.read("credentials");
    assert!(board.contains("\"voter\":\"voter ") && !board.contains("\"voter\":\"ann\""));
    assert!(!dir.ok(&format!("election audit {url} --voters")).text().contains("  ann\n"));
    dir.ok(&format!("election register club --open --server {url}"));
    // A voter is added late, and loses the credential.
    dir.write("late.csv", "voter\ndora\n");
    let late = format!("election register {url} late.csv --registrar registrar.json");
    dir.ok(&format!("{late} --out dora"));
    dir.ok(&format!("{late} --replace --out again"));
    vote(&dir, &url, "dora", "dora", "Ada").failed("a lost credential", &format!("{url}: the signature"));
    cast(vote(&dir, &url, "again", "dora", "nobody"));
    dir.fails(&format!("{late} --replace --out third"), &format!("{url}: voter 0 of the entry: the voter has voted"));
    assert!(!dir.files().iter().any(|file| file.starts_with("third")), "{:?}", dir.files());
    let said = dir.ok(&format!("election audit {url} --voters")).text();
    assert!(said.contains(": voter added while voting went on: dora\n"), "{said}");
    assert!(said.contains(": credential replaced while voting went on: dora\n"), "{said}");
    let said = dir.ok(&format!("election verify {url}")).text();
    assert!(said.contains("changes  credentials replaced: 1\n") && said.contains("voters   listed by a registrar\n"));
    assert_eq!(service.end("-TERM"), Some(0));
}

#[test]
fn a_lost_answer_makes_no_second_credentials() {
    let dir = begun("");
    dir.ok("election restore --store sqlite:board.db club");
    let service = Service::of(&dir, SERVE);
    let url = service.url.clone();
    let register = "election register club --out credentials";
    // The request itself is lost: no voter is on the board, and no secret is left.
    let proxy = LosingProxy::start(&service.address, false);
    let run = dir.run(&format!("{register} voters.csv --codes codes.csv --server {proxy}"));
    run.failed("a lost request", &format!("{proxy}: cannot connect"));
    assert!(!dir.files().iter().any(|file| file.starts_with("c") && file != "club" && file != "contests.json"));
    // The server accepts the voters, but its answer is lost.
    let proxy = LosingProxy::start(&service.address, true);
    let run = dir.run(&format!("{register} voters.csv --codes codes.csv --server {proxy}"));
    run.failed("a lost answer", &format!("{proxy}: cannot connect"));
    assert!(run.stderr.contains("their credentials are kept"), "{}", run.stderr);
    let kept = dir.read("credentials");
    assert_eq!(kept.lines().count(), 3);
    for secret in ["credentials", "codes.csv", "credentials.pending"] {
        assert_eq!(fs::metadata(dir.file(secret)).unwrap().permissions().mode() & 0o777, 0o600, "{secret}");
    }
    // A second set of credentials does not overwrite the first.
    dir.fails(&format!("{register} voters.csv --server {url}"), "credentials: ");
    let run = dir.ok(&format!("{register} --again --server {url}"));
    assert_eq!(run.text(), "0 entries sent\n");
    assert!(!dir.files().contains(&"credentials.pending".to_owned()));
    assert_eq!(dir.read("credentials"), kept);
    dir.ok(&format!("election register club --open --server {url}"));
    for voter in ["ann", "ben", "cleo"] {
        cast(vote(&dir, &url, "credentials", voter, "Ada"));
    }
    // Entries that the board does not have are sent.
    let second = begun("");
    second.ok("election restore --store sqlite:board.db club");
    let server = Service::of(&second, SERVE);
    let proxy = LosingProxy::start(&server.address, true);
    let _ = second.run(&format!("{register} voters.csv --server {proxy}"));
    let pending = second.read("credentials.pending");
    assert_eq!(server.end("-TERM"), Some(0));
    second.ok("election restore --store sqlite:other.db club");
    let server = Service::of(&second, &SERVE.replace("board.db", "other.db"));
    assert_eq!(pending.lines().count(), 1);
    let run = second.ok(&format!("{register} --again --server {}", server.url));
    assert_eq!(run.text(), "1 entries sent\n");
}

#[test]
fn results_are_written_as_tables_and_pages() {
    let dir = begun("--late");
    dir.ok("election register club voters.csv --out credentials --open");
    for (voter, candidate) in [("ann", "=Bo"), ("ben", "nobody"), ("cleo", "nobody")] {
        cast(vote(&dir, "club", "credentials", voter, candidate));
    }
    dir.ok("election tally club");
    dir.fails("election result club --csv result.csv", "club/record: there is no result yet");
    dir.ok("election finish club --key secret/private.json");
    dir.ok("election result club --csv result.csv --pdf result.pdf --language fr");
    let expected = "contest,candidate,votes,percent,outcome\r\nChair,Ada,0,0.0,\r\nChair,'=Bo,1,33.3,elected\r\n\
                    Chair,nobody,2,66.7,blank\r\n";
    assert_eq!(dir.read("result.csv"), expected);
    let pdf = fs::read(dir.file("result.pdf")).unwrap();
    assert!(pdf.starts_with(b"%PDF-1.7") && pdf.ends_with(b"%%EOF"));
    // In WinAnsiEncoding, where ASCII letters keep their codes.
    for text in ["(Chair)", "(=Bo)", "(1 voix)", "(vote blanc)"] {
        assert!(pdf.windows(text.len()).any(|part| part == text.as_bytes()), "{text}");
    }
    dir.fails("election result club --csv result.csv", "result.csv: ");
    let board = "club/record/board/00000000.jsonl";
    dir.write(board, dir.read(board).replace("\"cleo\"", "\"chloe\""));
    let run = dir.run("election result club --csv other.csv");
    assert_eq!(run.status, Some(1), "{}", run.stderr);
    assert!(!dir.files().contains(&"other.csv".to_owned()));
}

/// Credentials as codes, with links.
fn with_codes() -> TestDir {
    let dir = begun("");
    let text = "voter,code,link\r\n\"ann\",\"aaaq eaye auda ocaj bifq ydio b46j\",\"https://vote.example/#/vote/aaaqeaye\"\r\n\
                \"Zoë \"\"Z\"\" Li\",\"bbbb eaye auda ocaj bifq ydio b46j\",\"https://vote.example/#/vote/bbbbeaye\"\r\n";
    dir.write("codes.csv", text);
    fs::set_permissions(dir.file("codes.csv"), fs::Permissions::from_mode(0o600)).unwrap();
    dir
}

#[test]
fn credentials_are_handed_out_on_paper_and_as_files() {
    let dir = with_codes();
    let run = dir.ok("election deliver codes.csv --title Club --letters letters.pdf");
    assert_eq!(run.text(), "2 letters\n");
    let pdf = fs::read(dir.file("letters.pdf")).unwrap();
    let has = |text: &[u8]| pdf.windows(text.len()).any(|part| part == text);
    assert!(
        has(b"/Count 2") && has(b"(aaaq eaye auda ocaj bifq ydio b46j)") && has(b"(Address: https://vote.example)")
    );
    assert!(has(b"(For Zo\xeb \"Z\" Li)") || has(b"466F72205A6FEB"), "a name in WinAnsiEncoding");
    // The black squares of the QR codes.
    assert!(pdf.windows(4).filter(|part| part == b" re\n").count() > 400);
    assert_eq!(fs::metadata(dir.file("letters.pdf")).unwrap().permissions().mode() & 0o777, 0o600);
    dir.write("codes.csv", "voter,code\nŁukasz,aaaa\n");
    let wrong = "'Ł' (U+0141) is not in Helvetica: choose a TrueType font that has it with --font";
    dir.fails("election deliver codes.csv --letters other.pdf", wrong);
    dir.write("font.ttf", "no font");
    dir.fails("election deliver codes.csv --letters other.pdf --font font.ttf", "font.ttf: not a TrueType font");
    dir.write("codes.csv", "voter,code\n");
    dir.fails("election deliver codes.csv --letters other.pdf", "codes.csv: there are no codes");
    dir.ok("election register club voters.csv --out credentials");
    assert_eq!(dir.ok("election deliver credentials --files each").text(), "3 files\n");
    let lines = dir.read("credentials");
    for (line, file) in lines.lines().zip(["0001-ann.json", "0002-ben.json", "0003-cleo.json"]) {
        assert_eq!(dir.read(&format!("each/{file}")).trim_end(), line);
        assert_eq!(fs::metadata(dir.file(&format!("each/{file}"))).unwrap().permissions().mode() & 0o777, 0o600);
    }
}

#[test]
fn credentials_are_sent_by_mail_once_to_each() {
    let dir = with_codes();
    dir.write("members.csv", "voter,email\nann,ann@example.org\n\"Zoë \"\"Z\"\" Li\",zoe@example.org\n");
    let server = MailServer::start("zoe@example.org");
    let settings = |security: &str| {
        format!(
            "server = \"127.0.0.1\"\nport = {}\nsecurity = \"{security}\"\nfrom = \"Office <vote@example.org>\"\n",
            server.port
        )
    };
    let deliver =
        "election deliver codes.csv --title Vereinswahl --language de --smtp mail.toml --addresses members.csv";
    // Nothing is sent without the required security.
    dir.write("mail.toml", settings("starttls"));
    let run = dir.run(deliver);
    assert_eq!(run.status, Some(2), "{}", run.stderr);
    assert_eq!(server.taken().len(), 0);
    dir.write("mail.toml", settings("none").replace("127.0.0.1", "192.0.2.1"));
    dir.fails(deliver, "mail.toml: without TLS, codes are sent only to this machine");
    dir.write("mail.toml", settings("none"));
    dir.write("few.csv", "voter,email\nann,ann@example.org\n");
    let without = deliver.replace("members.csv", "few.csv");
    dir.fails(&without, "1 voters have no address, the first is 'Zoë \"Z\" Li'");
    assert_eq!(server.taken().len(), 0);
    // One address is permanently rejected. The others get their e-mails.
    let run = dir.run(deliver);
    assert_eq!(run.status, Some(2), "{}", run.stderr);
    assert!(run.stderr.contains("Zoë \"Z\" Li: "), "{}", run.stderr);
    assert!(run.stderr.ends_with("127.0.0.1: 1 addresses were rejected\n"), "{}", run.stderr);
    let taken = server.taken();
    assert_eq!(taken.len(), 1);
    assert!(taken[0].starts_with("ann@example.org\n"), "{}", taken[0]);
    for part in ["Subject: Vereinswahl: Ihr Wahlcode", "From: Office <vote@example.org>", "aaaq eaye auda ocaj"] {
        assert!(taken[0].contains(part), "{part}: {}", taken[0]);
    }
    assert!(taken[0].contains("https://vote.example/#/vote/aaaqeaye"), "{}", taken[0]);
    // Nobody gets two e-mails.
    assert_eq!(dir.read("codes.csv.sent"), "ann\n");
    server.relent();
    assert_eq!(dir.ok(deliver).text(), "1 e-mails sent\n");
    assert_eq!(dir.ok(deliver).text(), "0 e-mails sent\n");
    assert_eq!(server.taken().len(), 2);
}

#[test]
fn candidates_are_put_in_order() {
    let dir = TestDir::new();
    let contests = r#"[{ "candidates": ["Ada", "Bo", "Cy"], "method": { "rank": { "points": [3, 2, 1] } }, "title": "Chair" },
      { "candidates": ["Mon", "Tue", "Wed"], "method": { "rank": { "points": [5, 2] } }, "title": "Day" }]"#;
    let init = "election init --title Club --contests contests.json";
    dir.write("contests.json", contests.replace("[5, 2]", "[2, 5]"));
    dir.ok(&format!("{init} --out rising"));
    let wrong = "contest 1 is invalid: the points of ranks must be whole numbers from 1 to 65535, each less than the one before";
    dir.fails("election ceremony rising --bits 512 --out first", wrong);
    dir.write("contests.json", contests.replace("\"title\": \"Chair\"", "\"title\": \"Chair\", \"blank\": true"));
    dir.ok(&format!("{init} --out blank"));
    let wrong = "contest 0 is invalid: a ranked contest cannot have a blank vote";
    dir.fails("election ceremony blank --bits 512 --out another", wrong);
    dir.write("contests.json", contests);
    dir.write("voters.csv", "voter,weight\nann,1\nben,2\ncleo,1\n");
    dir.ok(&format!("{init} --out club"));
    dir.ok("election ceremony club --bits 512 --out secret");
    dir.ok("election register club voters.csv --out credentials --open");
    // The order of the options is the order of the candidates.
    let chosen = |order: &[&str]| order.iter().map(|one| format!(" --choose {one}")).collect::<String>();
    let ann = chosen(&["Day=Wed", "Chair=Ada", "Chair=Bo", "Day=Mon", "Chair=Cy"]);
    let vote = "election vote club --credential credentials --voter ann";
    for few in [&["Chair=Ada", "Day=Wed", "Day=Mon"][..], &["Chair=Ada", "Chair=Bo", "Chair=Ada", "Day=Wed", "Day=Mon"]]
    {
        let run = dir.run(&format!("{vote}{}", chosen(few)));
        assert!(run.status != Some(0) && run.stderr.contains("contest 0: "), "{}", run.stderr);
    }
    // A challenged ballot shows the order.
    dir.ok(&format!("{vote} --prepare first{ann}"));
    let run = dir.ok("election challenge club first --credential credentials");
    assert!(run.text().ends_with("Chair: 1. Ada; 2. Bo; 3. Cy\nDay: 1. Wed; 2. Mon\n"), "{}", run.text());
    cast(dir.run(&format!("{vote}{ann}")));
    dir.write("ballots.csv", "voter,Chair,Day\nben,Cy;Ada;Bo,Mon;Tue\ncleo,Bo;Cy;Ada,Wed;Tue\n");
    dir.ok("election vote club --credential credentials --ballots ballots.csv");
    dir.ok("election tally club");
    let result = "Chair\n  Ada           8 points; by rank: 1, 2, 1\n  Bo            7 points; by rank: 1, 1, 2\n  \
                  Cy            9 points; by rank: 2, 1, 1\nDay\n  Mon          12 points; by rank: 2, 1\n  \
                  Tue           6 points; by rank: 0, 3\n  Wed          10 points; by rank: 2, 0\n";
    assert_eq!(dir.ok("election finish club --key secret/private.json").text(), result);
    let said = dir.ok("election verify club").text();
    assert!(said.ends_with(result), "{said}");
    let json = dir.ok("election verify club --json").text();
    assert!(json.contains("[[8,7,9,1,1,2,2,1,1,1,2,1],[12,6,10,2,0,2,1,3,0]]"), "{json}");
    dir.ok("election result club --csv result.csv --pdf result.pdf --language de");
    let table = "contest,candidate,votes,percent,outcome,points,ranks\r\nChair,Ada,4,66.7,,8,1;2;1\r\n\
                 Chair,Bo,4,58.3,,7,1;1;2\r\nChair,Cy,4,75.0,elected,9,2;1;1\r\nDay,Mon,3,60.0,elected,12,2;1\r\n\
                 Day,Tue,3,30.0,,6,0;3\r\nDay,Wed,2,50.0,,10,2;0\r\n";
    assert_eq!(dir.read("result.csv"), table);
    assert!(fs::read(dir.file("result.pdf")).unwrap().starts_with(b"%PDF-"));
}
