//! Shares of decryptions under a shared key, and their verification, compared with a simple program
//! of the same equations over gmpy2 (`bench/shares_gmpy2.py`).

use crate::Result;
use crate::phe::python;
use crate::report::{Table, ratio};
use crate::statistics::Spread;
use hearith_arith::Engine;
use hearith_paillier::encoding::encode_signed;
use hearith_paillier::{Ciphertexts, KeyPolicy, PrivateKey, Variant};
use hearith_threshold::{Contexts, KeyShare, Shares, VerificationKeys, deal};
use serde::Deserialize;
use serde_json::{Value, json};
use std::io::Write as _;
use std::time::Instant;

/// One trustee's shares of the decryption of a batch.
struct Case {
    verification: VerificationKeys,
    trustee: KeyShare,
    ciphertexts: Ciphertexts,
    shares: Shares,
    rows: usize,
}

/// Seconds per row.
#[derive(Deserialize)]
struct Peer {
    /// To compute a share with its proof.
    decrypt: f64,
    /// To verify shares as a batch.
    batch: f64,
    /// To verify one share.
    single: f64,
}

/// Numbers of rows: ours, those that gmpy2 verifies as a batch, and those that it computes and
/// verifies one by one.
pub struct Rows {
    ours: usize,
    /// Verified as a batch.
    pub batch: usize,
    /// Computed and verified one by one.
    pub single: usize,
}

/// Measures ours and gmpy2's in alternation. Also returns the numbers of rows.
pub fn table(bits: u32, rounds: usize, quick: bool) -> Result<(Table, Rows)> {
    let rows = if quick { Rows { ours: 16, batch: 4, single: 2 } } else { Rows { ours: 256, batch: 40, single: 10 } };
    let many = Case::new(bits, rows.ours)?;
    let (one, request) = (many.first(1)?, many.first(rows.batch)?.request(rows.single));
    let (mut peers, mut ours) = (Vec::new(), [const { Vec::new() }; 4]);
    for round in 0..rounds {
        peers.push(peer(&request)?);
        let seconds = [many.decrypt()?, one.decrypt()?, many.verify()?, one.verify()?];
        ours.iter_mut().zip(seconds).for_each(|(times, seconds)| times.push(seconds));
        eprintln!("shares: round {} of {rounds}", round + 1);
    }
    let of_peer = |figure: fn(&Peer) -> f64| peers.iter().map(figure).collect::<Vec<f64>>();
    let theirs = [of_peer(|p| p.decrypt), of_peer(|p| p.decrypt), of_peer(|p| p.batch), of_peer(|p| p.single)];
    let names = [
        format!("make, a batch of {}", rows.ours),
        "make, one".into(),
        format!("verify, a batch of {}", rows.ours),
        "verify, one".into(),
    ];
    let mut table = Table::new(["", "us a share", "gmpy2, us", "x gmpy2", "least", "most"]);
    for ((name, ours), theirs) in names.into_iter().zip(&ours).zip(&theirs) {
        let ratios = Spread::of_ratios(theirs, ours);
        let [median, least, most] = [ratios.median, ratios.min, ratios.max].map(ratio);
        let microseconds = |times: &[f64]| format!("{:.1}", 1e6 * Spread::of(times.iter().copied()).median);
        table.row([name, microseconds(ours), microseconds(theirs), median, least, most]);
    }
    Ok((table, rows))
}

fn contexts(rows: usize) -> Contexts {
    Contexts::new(b"bench", std::iter::repeat_n(b"row", rows))
}

impl Case {
    /// Creates a key shared by five trustees, of whom three are needed, and `rows` ciphertexts.
    fn new(bits: u32, rows: usize) -> Result<Self> {
        let private = PrivateKey::generate_safe(bits, Variant::Djn, KeyPolicy::AllowInsecure, Engine::best())?;
        let (verification, mut trustees) = deal(&private, 3, 5)?;
        let numbers: Vec<i128> = (0..rows as i128).collect();
        let ciphertexts = verification.key().encrypt(&encode_signed(verification.key(), &numbers)?)?;
        let trustee = trustees.swap_remove(1);
        let shares = trustee.decrypt(&contexts(rows), &ciphertexts)?;
        Ok(Case { verification, trustee, ciphertexts, shares, rows })
    }

    /// The same case with its first rows only.
    fn first(&self, rows: usize) -> Result<Self> {
        let (key, width) = (self.verification.key(), Shares::row_bytes(self.verification.key()));
        Ok(Case {
            verification: self.verification.clone(),
            trustee: self.trustee.clone(),
            ciphertexts: self.ciphertexts.range(0..rows)?,
            shares: Shares::from_be_bytes(key, self.trustee.trustee(), &self.shares.to_be_bytes()[..rows * width])?,
            rows,
        })
    }

    /// Seconds per row to compute shares with their proofs.
    fn decrypt(&self) -> Result<f64> {
        let start = Instant::now();
        self.trustee.decrypt(&contexts(self.rows), &self.ciphertexts)?;
        Ok(start.elapsed().as_secs_f64() / self.rows as f64)
    }

    /// Seconds per row to verify shares.
    fn verify(&self) -> Result<f64> {
        let start = Instant::now();
        self.verification.verify(&contexts(self.rows), &self.ciphertexts, &self.shares)?;
        Ok(start.elapsed().as_secs_f64() / self.rows as f64)
    }

    /// The request to gmpy2, with everything in hexadecimal, including the trustee's own file. The
    /// first `single` rows are also verified one by one.
    fn request(&self, single: usize) -> Value {
        let hex = |bytes: &[u8]| bytes.iter().map(|byte| format!("{byte:02x}")).collect::<String>();
        let (shares, width) = (self.shares.to_be_bytes(), self.ciphertexts.row_bytes());
        let ciphertexts = self.ciphertexts.to_be_bytes();
        let rows = ciphertexts.chunks(width).zip(shares.chunks(shares.len() / self.rows));
        let row = |(c, share): (&[u8], &[u8])| {
            let [number, a, b] = [0, 1, 2].map(|index| hex(&share[index * width..][..width]));
            json!({ "c": hex(c), "share": number, "a": a, "b": b, "z": hex(&share[3 * width..]) })
        };
        json!({
            "file": self.trustee.to_json().as_str(),
            "single": single,
            "rows": rows.map(row).collect::<Vec<_>>(),
        })
    }
}

/// The times of gmpy2 for a request.
fn peer(request: &Value) -> Result<Peer> {
    let mut process = python("shares_gmpy2.py")?;
    process.stdin.take().ok_or("no pipe to Python")?.write_all(request.to_string().as_bytes())?;
    let output = process.wait_with_output()?;
    Ok(serde_json::from_slice(&output.stdout)?)
}
