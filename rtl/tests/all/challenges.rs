//! The challenges of the boards' proofs (`rtl/election`), for keys of 256 and 2048 bits, compared
//! with the transcripts that the READMEs of `crates/proofs` and `crates/threshold` describe.

use crate::idle;
use hearith_rtl::{PROOF_CHALLENGE_512, PROOF_CHALLENGE_4096, SHARE_CHALLENGE_4096};
use hearith_verilated::Design;
use hearith_verilated::bench::{Bench, Random};
use rug::{Integer, integer::Order};
use sha2::{Digest, Sha256};

const VOTER: u32 = 0x00c0_ffee;
/// Contest and mark.
const PLACE: [u32; 2] = [3, 8];
/// The parameters w, l, i of a trustee.
const COUNTERS: [u32; 3] = [3, 5, 4];

/// A number of exactly `bits` bits, with zeros in the middle.
fn number(random: &mut Random, bits: u32) -> Integer {
    let limbs: Vec<u64> = (0..bits / 64).map(|at| if at % 5 == 3 { 0 } else { random.next() }).collect();
    let mut number = Integer::from_digits(&limbs, Order::Lsf);
    number.set_bit(bits - 1, true);
    number
}

fn big_endian(number: &Integer, bits: u32) -> Vec<u8> {
    let digits = number.to_digits::<u8>(Order::Msf);
    [vec![0; bits as usize / 8 - digits.len()], digits].concat()
}

/// SHA-256 over parts, each preceded by its length.
fn transcript(parts: &[Vec<u8>]) -> Integer {
    let add = |hash: Sha256, part: &Vec<u8>| hash.chain_update((part.len() as u64).to_be_bytes()).chain_update(part);
    Integer::from_digits(&parts.iter().fold(Sha256::new(), add).finalize(), Order::Msf)
}

/// The design's challenge for its inputs.
fn challenge(design: &'static Design, inputs: &[(&str, Integer)]) -> Integer {
    let mut bench = Bench::new(design.model(), 1);
    bench.reset();
    // Inputs may change in every cycle before a challenge is requested.
    let mut random = Random::new(4);
    let ports: Vec<&str> = inputs.iter().map(|(port, _)| *port).collect();
    for _ in 0..5 {
        idle::change(&mut bench.model, &ports, &mut random);
        bench.step();
    }
    inputs.iter().for_each(|(port, value)| bench.model.set_limbs(port, &value.to_digits(Order::Lsf)));
    bench.model.set("in_valid_i", true);
    for _ in 0..20_000 {
        bench.step();
        if bench.model.bit("out_valid_o") {
            return Integer::from_digits(&bench.model.get("challenge_o"), Order::Lsf);
        }
    }
    panic!("no challenge");
}

/// All three proofs for n^2 of `bits` bits.
fn proofs(design: &'static Design, bits: u32) {
    let mut random = Random::new(bits.into());
    for proof in 0..3_u32 {
        let [n, h] = [(); 2].map(|()| number(&mut random, bits / 2));
        let [c, first, second] = [(); 3].map(|()| number(&mut random, bits));
        let election = number(&mut random, 256);
        let inputs = [
            ("proof_i", Integer::from(proof)),
            ("election_i", election.clone()),
            ("voter_i", Integer::from(VOTER)),
            ("contest_i", Integer::from(PLACE[0])),
            ("mark_i", Integer::from(PLACE[1])),
            ("n_i", n.clone()),
            ("h_i", h.clone()),
            ("c_i", c.clone()),
            ("first_i", first.clone()),
            ("second_i", second.clone()),
        ];
        let (known, of_mark) = (proof == 2, proof == 0);
        let place = if of_mark { PLACE[1].to_string() } else { "\"sum\"".into() };
        let texts = [
            format!("hearith-proofs 1 {}, short", if known { "residue" } else { "membership" }),
            format!("hearith-election 1 {election:064x}"),
            format!("[\"{VOTER:08x}\",{},{place}]", PLACE[0]),
        ];
        let mut parts: Vec<_> = texts.map(String::into_bytes).into();
        parts.extend([&n, &h].map(|number| big_endian(number, bits / 2)));
        if !known {
            // The set: 0 and 1.
            parts.push(big_endian(&Integer::from(1), bits));
        }
        parts.push(big_endian(&c, bits));
        let mut commitments = big_endian(&first, bits);
        if !known {
            commitments.extend(big_endian(&second, bits));
        }
        parts.push(commitments);
        assert_eq!(challenge(design, &inputs), transcript(&parts), "proof {proof}, {bits} bits");
    }
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn challenges_of_marks_and_sums_are_the_pages() {
    proofs(&PROOF_CHALLENGE_512, 512);
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn wide_challenges_of_marks_and_sums_are_the_pages() {
    proofs(&PROOF_CHALLENGE_4096, 4096);
}

#[test]
#[cfg_attr(not(verilator), ignore = "needs Verilator")]
fn wide_challenges_of_shares_are_the_pages() {
    let (bits, mut random) = (4096, Random::new(9));
    let (n, election) = (number(&mut random, bits / 2), number(&mut random, 256));
    let names = ["generator_i", "verifier_i", "c_i", "share_i", "first_i", "second_i"];
    let numbers = names.map(|name| (name, number(&mut random, bits)));
    let [needed, trustees, trustee] = COUNTERS.map(Integer::from);
    let [contest, mark] = PLACE.map(Integer::from);
    let others = [
        ("election_i", election.clone()),
        ("contest_i", contest),
        ("mark_i", mark),
        ("n_i", n.clone()),
        ("needed_i", needed),
        ("trustees_i", trustees),
        ("trustee_i", trustee),
    ];
    let texts = [
        "hearith-proofs 1 share".to_owned(),
        format!("hearith-election 1 share {election:064x}"),
        format!("[{},{}]", PLACE[0], PLACE[1]),
    ];
    let mut parts: Vec<_> = texts.map(String::into_bytes).into();
    parts.push(big_endian(&n, bits / 2));
    parts.push(COUNTERS.iter().flat_map(|counter| counter.to_be_bytes()).collect());
    parts.extend(numbers.iter().map(|(_, number)| big_endian(number, bits)));
    assert_eq!(challenge(&SHARE_CHALLENGE_4096, &[&others[..], &numbers[..]].concat()), transcript(&parts));
}
