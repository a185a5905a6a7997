//! The files of a shared key: `public.json`, `verification.json`, and `share-N.json` for each
//! trustee.
//!
//! All files are written under temporary names first. Then the old public key and verification file
//! are removed, and the shares, the verification file and finally the public key are renamed. After
//! a crash at any point, nobody can encrypt under a key with missing shares. A crash during the
//! renames can leave shares of two keys, each of which names its key, and no public key.

use std::fs;
use std::ops::RangeInclusive;
use std::path::{Path, PathBuf};

use hearith_paillier::DEFAULT_ITERATIONS;
use hearith_paillier::SecretText;
use hearith_threshold::{KeyShare, MAX_TRUSTEES, VerificationKeys};

use crate::failure::{CliError, name};
use crate::interrupt;
use crate::key_files::{CreatedDirectories, JSON, RemovedFile, check_absent, write};
use crate::output::{Access, Output};

/// The file with the keys that verify shares.
pub(crate) const VERIFICATION: &str = "verification.json";

/// The files of a shared key being written to a directory. If dropped before it is committed, it
/// leaves nothing behind.
pub(crate) struct SharedKey {
    shares: Vec<Output>,
    verification: Output,
    public: Output,
    trustees: RangeInclusive<u32>,
    directory: PathBuf,
    created_directories: CreatedDirectories,
    replace: bool,
}

/// The steps of a commit, in order.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Step {
    RemoveOld,
    PlaceShare(u32),
    RemoveShares,
    PlaceVerification,
    PlacePublic,
    Done,
}

/// The name of a trustee's file.
pub(crate) fn share_file(trustee: u32) -> String {
    format!("share-{trustee}.json")
}

impl SharedKey {
    /// Begins the files of a key in a directory, which is created if it is missing. Never replaces
    /// the key of a single holder.
    ///
    /// `trustees` are those whose shares are written: all if a dealer generates the key, one if
    /// that trustee does.
    pub(crate) fn begin(directory: &Path, trustees: RangeInclusive<u32>, replace: bool) -> Result<Self, CliError> {
        let [public, verification] = [JSON.public, VERIFICATION].map(|file| directory.join(file));
        let share = |trustee: u32| directory.join(share_file(trustee));
        if fs::symlink_metadata(directory.join(JSON.private)).is_ok() {
            let what = "there is a key with one holder here: use another directory for a shared key";
            return Err(CliError::at(name(&directory.join(JSON.private)), what));
        }
        if !replace {
            (1..=MAX_TRUSTEES).try_for_each(|trustee| check_absent(&share(trustee)))?;
            [&public, &verification].into_iter().try_for_each(|path| check_absent(path))?;
        }
        let created_directories = CreatedDirectories::make(directory);
        let created_directories = created_directories.map_err(|error| CliError::writing(&name(directory), error))?;
        let shares = trustees.clone().map(|trustee| Output::file(&share(trustee), Access::Owner, replace));
        Ok(Self {
            shares: shares.collect::<Result<_, _>>()?,
            verification: Output::file(&verification, Access::Usual, replace)?,
            public: Output::file(&public, Access::Usual, replace)?,
            trustees,
            directory: directory.to_owned(),
            created_directories,
            replace,
        })
    }

    /// Writes all files to the disk under temporary names.
    pub(crate) fn write(
        &mut self,
        verification: &VerificationKeys,
        shares: &[KeyShare],
        passphrase: Option<&SecretText>,
    ) -> Result<(), CliError> {
        for (output, share) in self.shares.iter_mut().zip(shares) {
            match passphrase {
                None => write(output, &share.to_json())?,
                Some(passphrase) => {
                    let text = share.to_encrypted_json(passphrase.first_line(), DEFAULT_ITERATIONS);
                    write(output, &text.map_err(CliError::new)?)?;
                }
            }
        }
        write(&mut self.verification, &verification.to_json())?;
        write(&mut self.public, &verification.key().to_jwk())
    }

    /// Renames all files.
    ///
    /// # Errors
    /// Renaming failed. If it failed for a share and no other key was to be replaced, nothing is
    /// left.
    pub(crate) fn commit(self) -> Result<(), CliError> {
        interrupt::uninterrupted(|| self.commit_stepwise(|_| ()))
    }

    /// Commits, and calls `before` before each step.
    fn commit_stepwise(self, mut before: impl FnMut(Step)) -> Result<(), CliError> {
        let Self { shares, verification, public, trustees, directory, created_directories, replace } = self;
        before(Step::RemoveOld);
        let old = [VERIFICATION, JSON.public].map(|file| RemovedFile::file(&directory.join(file)));
        let [old_verification, old_public] = old;
        let (old_verification, old_public) = (old_verification?, old_public?);
        let mut placed = Vec::with_capacity(shares.len());
        for (share, trustee) in shares.into_iter().zip(trustees.clone()) {
            let path = PathBuf::from(share.name());
            before(Step::PlaceShare(trustee));
            if let Err(failure) = share.commit() {
                if placed.is_empty() {
                    old_verification.restore()?;
                    old_public.restore()?;
                } else if !replace {
                    placed.iter().for_each(|path| drop(fs::remove_file(path)));
                }
                return Err(failure);
            }
            placed.push(path);
        }
        // Shares of trustees that only the old key had.
        before(Step::RemoveShares);
        for trustee in (1..=MAX_TRUSTEES).filter(|trustee| !trustees.contains(trustee)) {
            let _ = fs::remove_file(directory.join(share_file(trustee)));
        }
        created_directories.keep();
        before(Step::PlaceVerification);
        verification.commit()?;
        before(Step::PlacePublic);
        public.commit()?;
        before(Step::Done);
        Ok(())
    }
}

#[cfg(test)]
mod tests {
    use std::process::Command;

    use hearith_paillier::{Engine, KeyPolicy, PrivateKey, PublicKey, Variant};
    use hearith_threshold::deal;

    use super::*;

    fn written(directory: &Path, trustees: u32, replace: bool) -> Result<(SharedKey, VerificationKeys), CliError> {
        let (policy, engine) = (KeyPolicy::AllowInsecure, Engine::Serial);
        let private = PrivateKey::generate_safe(128, Variant::Standard, policy, engine).unwrap();
        let (verification, shares) = deal(&private, 2, trustees).unwrap();
        let mut files = SharedKey::begin(directory, 1..=trustees, replace)?;
        files.write(&verification, &shares, None)?;
        Ok((files, verification))
    }

    fn files(directory: &Path) -> Vec<String> {
        let mut files: Vec<String> =
            fs::read_dir(directory).unwrap().map(|file| file.unwrap().file_name().into_string().unwrap()).collect();
        files.sort();
        files
    }

    #[test]
    fn a_key_replaces_another_whole() {
        let directory = tempfile::tempdir().unwrap();
        written(directory.path(), 4, false).unwrap().0.commit().unwrap();
        let expected = ["public.json", "share-1.json", "share-2.json", "share-3.json", "share-4.json", VERIFICATION];
        assert_eq!(files(directory.path()), expected);
        assert!(written(directory.path(), 2, false).is_err());
        let (pending, verification) = written(directory.path(), 2, true).unwrap();
        pending.commit().unwrap();
        assert_eq!(files(directory.path()), ["public.json", "share-1.json", "share-2.json", VERIFICATION]);
        let read = |file: &str| fs::read_to_string(directory.path().join(file)).unwrap();
        let (policy, engine) = (KeyPolicy::AllowInsecure, Engine::Serial);
        assert_eq!(&PublicKey::from_jwk(&read("public.json"), policy, engine).unwrap(), verification.key());
        assert_eq!(VerificationKeys::from_json(&read(VERIFICATION), policy, engine).unwrap(), verification);
        for trustee in [1, 2] {
            let share = KeyShare::from_json(&read(&share_file(trustee)), policy, engine).unwrap();
            assert_eq!((share.trustee(), share.key()), (trustee, verification.key()));
        }
    }

    /// Environment variables that tell the killed process where to write and at which step to die.
    const DIRECTORY: &str = "HEARITH_TEST_SHARED_KEY";
    const LAST: &str = "HEARITH_TEST_SHARED_STEP";
    const STEPS: [Step; 7] = [
        Step::RemoveOld,
        Step::PlaceShare(1),
        Step::PlaceShare(2),
        Step::RemoveShares,
        Step::PlaceVerification,
        Step::PlacePublic,
        Step::Done,
    ];

    /// Returns the names of the renamed files with their keys. Each file must be complete.
    fn keys(directory: &Path) -> Vec<(String, PublicKey)> {
        let (policy, engine) = (KeyPolicy::AllowInsecure, Engine::Serial);
        let key = |file: &str, text: &str| match file {
            "public.json" => PublicKey::from_jwk(text, policy, engine).unwrap(),
            VERIFICATION => VerificationKeys::from_json(text, policy, engine).unwrap().key().clone(),
            _ => KeyShare::from_json(text, policy, engine).unwrap().key().clone(),
        };
        let named = files(directory).into_iter().filter(|file| !file.ends_with(".part"));
        named.map(|file| (file.clone(), key(&file, &fs::read_to_string(directory.join(&file)).unwrap()))).collect()
    }

    /// Returns the key that a directory offers for encryption, after checking that everything
    /// needed to decrypt is there.
    fn offered(directory: &Path, trustees: u32) -> Option<PublicKey> {
        let keys = keys(directory);
        let public = keys.iter().find(|(file, _)| file == "public.json")?.1.clone();
        let of_it = keys.iter().filter(|(_, key)| *key == public).count() as u32;
        assert_eq!((keys.len() as u32, of_it), (trustees + 2, trustees + 2), "files of two keys beside a public one");
        Some(public)
    }

    #[test]
    fn a_kill_at_any_step_leaves_whole_files_and_no_key_without_its_shares() {
        for (number, last) in STEPS.into_iter().enumerate() {
            for replaces in [false, true] {
                let directory = tempfile::tempdir().unwrap();
                let old = replaces.then(|| {
                    let (pending, verification) = written(directory.path(), 3, false).unwrap();
                    pending.commit().unwrap();
                    verification.key().clone()
                });
                let killed = Command::new(std::env::current_exe().unwrap())
                    .args(["shared_key::tests::victim", "--exact", "--test-threads=1"])
                    .env(DIRECTORY, directory.path())
                    .env(LAST, number.to_string())
                    .output()
                    .unwrap();
                assert_eq!(killed.status.code(), None, "{killed:?}");
                let left = match last {
                    Step::RemoveOld => offered(directory.path(), 3),
                    _ => offered(directory.path(), 2),
                };
                // The old key until its public key is removed, then none, then the new key.
                match last {
                    Step::RemoveOld => assert_eq!(left, old),
                    Step::Done => assert!(left.is_some() && left != old),
                    _ => assert_eq!(left, None, "{last:?}"),
                }
                // A later key replaces whatever is there, and leftovers are removed.
                let (pending, verification) = written(directory.path(), 2, true).unwrap();
                pending.commit().unwrap();
                assert_eq!(files(directory.path()), ["public.json", "share-1.json", "share-2.json", VERIFICATION]);
                assert_eq!(offered(directory.path(), 2).as_ref(), Some(verification.key()));
            }
        }
    }

    /// The process started by
    /// [`a_kill_at_any_step_leaves_whole_files_and_no_key_without_its_shares`]. Does nothing
    /// otherwise.
    #[test]
    fn victim() {
        let (Some(directory), Ok(last)) = (std::env::var_os(DIRECTORY), std::env::var(LAST)) else { return };
        let last = STEPS[last.parse::<usize>().unwrap()];
        let (pending, _) = written(Path::new(&directory), 2, true).unwrap();
        let die = |step| {
            if step == last {
                let _ = Command::new("kill").args(["-KILL", &std::process::id().to_string()]).status();
                std::thread::sleep(std::time::Duration::from_secs(20));
            }
        };
        pending.commit_stepwise(die).unwrap();
    }

    #[test]
    fn what_is_not_committed_leaves_nothing() {
        let directory = tempfile::tempdir().unwrap();
        let deep = directory.path().join("a/b");
        drop(written(&deep, 3, false).unwrap());
        assert!(files(directory.path()).is_empty());
        // If another process creates a file of the same name, the renamed shares are removed again.
        let (pending, _) = written(directory.path(), 3, false).unwrap();
        fs::write(directory.path().join("share-2.json"), "mine").unwrap();
        pending.commit().unwrap_err();
        assert_eq!(files(directory.path()), ["share-2.json"]);
        assert_eq!(fs::read_to_string(directory.path().join("share-2.json")).unwrap(), "mine");
    }
}
