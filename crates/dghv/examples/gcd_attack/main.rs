//! Recovers the private key from a public one: greatest common divisors, with a search for the
//! noise.
//!
//! `cargo run --release -p hearith-dghv --example gcd_attack` generates a toy key of CMNT and
//! discards the private key. Within seconds it recovers the private key and decrypts with it a
//! message that the public key encrypts. `-- cnt toy` attacks CNT's toy key in minutes, and
//! `-- cmnt small` CMNT's small one.

mod attack;

use hearith_arith::Engine;
use hearith_dghv::{InsecureHistoricalParameters, KeyPair, Parameters, Scheme, Size};
use std::error::Error;
use std::time::Instant;

fn main() -> Result<(), Box<dyn Error>> {
    let mut arguments = std::env::args().skip(1);
    let scheme: Scheme = arguments.next().as_deref().unwrap_or("cmnt").parse()?;
    let size: Size = arguments.next().as_deref().unwrap_or("toy").parse()?;
    let parameters = Parameters::historical(scheme, size);
    let public = KeyPair::generate(&parameters, Engine::best(), InsecureHistoricalParameters)?.public;
    println!("{scheme} {size}: a public key, whose elements have noise of {} bits", parameters.lengths().key_noise);

    let start = Instant::now();
    let private = attack::find_key(&public).ok_or("no key found")?;
    println!("its private key, found in {:.1} s", start.elapsed().as_secs_f64());

    let message = [true, false, false, true, true, false, true, false];
    let read = private.decrypt(&public.encrypt(&message)?)?;
    println!("encrypted {message:?}\nread      {read:?}");
    if read == message { Ok(()) } else { Err("the key that was found does not decrypt".into()) }
}
