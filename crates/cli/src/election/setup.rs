//! `hearith election init`, `trustee-key` and `registrar-key`.

use hearith_election::signature::PublicKey;
use hearith_election::{Bytes, Contest, KeyRole, SecretKey, Signer, canonical};
use serde::{Deserialize, Serialize};

use super::organiser_dir::{BOARD, DRAFT, ORGANISER, of, text, write_new};
use crate::args::{ElectionInit, ElectionTrusteeKey};
use crate::engines::{print, print_json};
use crate::failure::{CliError, name};
use crate::key_files::{CreatedDirectories, check_absent};
use crate::output::Access;
use crate::session::Session;

/// An election before it has a key.
#[derive(Serialize, Deserialize)]
#[serde(deny_unknown_fields)]
pub(super) struct Draft {
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) about: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) closes: Option<String>,
    pub(super) contests: Vec<Contest>,
    #[serde(default)]
    pub(super) late: bool,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) opens: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(super) registrar: Option<Bytes>,
    pub(super) revoting: bool,
    pub(super) title: String,
    #[serde(default)]
    pub(super) trial: bool,
}

/// Generates the organiser's and the board's keys.
pub(super) fn init(_: &Session, command: &ElectionInit) -> Result<(), CliError> {
    let contests = canonical::parse("a list of contests", &text(&command.contests)?);
    let contests: Vec<Contest> = contests.map_err(|error| of(&command.contests, error))?;
    let about = command.about.as_deref().map(text).transpose()?.map(|about| about.trim_end().to_owned());
    let registrar = command.registrar.as_deref().map(public_key).transpose()?;
    let ElectionInit { opens, closes, late, trial, revoting, title, .. } = command.clone();
    let draft = Draft { about, closes, contests, late, opens, registrar, revoting, title, trial };
    let files = [ORGANISER, BOARD, DRAFT].map(|file| command.out.join(file));
    files.iter().try_for_each(|file| check_absent(file))?;
    let directories = CreatedDirectories::make(&command.out);
    let directories = directories.map_err(|error| CliError::writing(&name(&command.out), error))?;
    for (file, role) in [(&files[0], KeyRole::Organiser), (&files[1], KeyRole::Board)] {
        let signer = Signer::generate().map_err(|error| of(file, error))?;
        write_new(file, Access::Owner, &SecretKey::of_office(role, &signer).to_line())?;
    }
    write_new(&files[2], Access::Usual, &canonical::to_text(&draft))?;
    directories.keep();
    Ok(())
}

/// Parses a public key from an option.
fn public_key(text: &str) -> Result<Bytes, CliError> {
    let wrong = |_| CliError::new("--registrar: not the public half of a registrar's key");
    let key: Bytes = canonical::parse("a public key", &canonical::to_text(&text.trim())).map_err(wrong)?;
    PublicKey::new("the registrar's", &key).map_err(wrong)?;
    Ok(key)
}

/// Generates a trustee's or registrar's signing key, on that person's own machine.
pub(super) fn signing_key(session: &Session, command: &ElectionTrusteeKey, role: KeyRole) -> Result<(), CliError> {
    check_absent(&command.out)?;
    let signer = Signer::generate().map_err(|error| of(&command.out, error))?;
    write_new(&command.out, Access::Owner, &SecretKey::of_office(role, &signer).to_line())?;
    let public = base64(&signer.public());
    match session.json {
        true => print_json(&serde_json::json!({ "public": public })),
        false => print(&format!("{public}\n")),
    }
}

pub(super) fn base64(bytes: &Bytes) -> String {
    canonical::to_text(bytes).trim_matches('"').to_owned()
}
