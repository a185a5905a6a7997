//! `hearith dghv keygen`.

use hearith_dghv::{InsecureHistoricalParameters, KeyPair, Ladder, PrivateKeys, PublicKeys, RecryptionKey};

use super::files::warn;
use super::parameters::chosen;
use crate::args::DghvKeygen;
use crate::failure::{CliError, name};
use crate::key_files::{DGHV, Pair};
use crate::progress::{Length, Progress};
use crate::report::Stopwatch;
use crate::session::Session;

/// Generates a key pair and writes its two files.
pub(super) fn run(
    session: &Session,
    command: &DghvKeygen,
    insecure: InsecureHistoricalParameters,
) -> Result<(), CliError> {
    let parameters = chosen(command)?;
    let rungs = |rungs| Ladder::check_rungs(&parameters, rungs).map(|()| rungs);
    let rungs = command.ladder.map(rungs).transpose().map_err(CliError::new)?;
    let recrypts = !command.without_recryption && RecryptionKey::can_recrypt(&parameters);
    let mut pair = Pair::begin(&command.out, DGHV, command.force)?;
    let mut watch = Stopwatch::start();
    let progress = Progress::start("making the key", Length::Steps);
    let advance = |done, all| progress.set_of(done, all);
    let make = || KeyPair::generate_with_progress(&parameters, session.engine, insecure, &advance);
    let KeyPair { private, public } = watch.compute(make).map_err(CliError::new)?;
    drop(progress);
    let progress = Progress::start("making the recryption key", Length::Steps);
    let advance = |done, all| progress.set_of(done, all);
    let make = || RecryptionKey::generate_with_progress(&private, &public, insecure, &advance);
    let recryption = watch.compute(|| recrypts.then(make).transpose()).map_err(CliError::new)?;
    drop(progress);
    let progress = Progress::start("making the ladder", Length::Steps);
    let advance = |done, all| progress.set_of(done, all);
    let make = |rungs| Ladder::generate_with_progress(&private, &public, rungs, insecure, &advance);
    let ladder = watch.compute(|| rungs.map(make).transpose()).map_err(CliError::new)?;
    drop(progress);
    let (ladder, rungs) = ladder.unzip();
    let private = PrivateKeys { key: private, rungs: rungs.unwrap_or_default() };
    let public = PublicKeys { key: public, recryption, ladder };
    warn(&name(&command.out.join(DGHV.private)), &parameters);
    pair.write_with(|output| private.write_to(output), |output| public.write_to(output))?;
    pair.commit()?;
    session.report(&watch.stop_key(private.key.id(), parameters.lengths().modulus));
    Ok(())
}
