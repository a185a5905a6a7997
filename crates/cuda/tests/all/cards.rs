//! Data left on a card, and the use of cards in children of `fork`.

use hearith_cuda::{Driver, EMULATED_DRIVER};
use hearith_paillier::encoding::encode_signed;
use hearith_paillier::{DecryptError, DecryptionBackend, PublicKeyBackend};
use libloading::Library;

use crate::keys::{known, private, public, subgroup};

/// Bytes of an emulated card's memory that are not 0.
fn written(card: i32) -> usize {
    // SAFETY: the library is this crate's own, and this is the type of its function.
    unsafe {
        let library = Library::new(EMULATED_DRIVER).unwrap();
        let written: libloading::Symbol<'_, unsafe extern "C" fn(i32) -> usize> =
            library.get(b"hearith_emulated_written\0").unwrap();
        written(card)
    }
}

/// The emulated driver itself checks that memory is overwritten before it is freed.
#[test]
fn nothing_of_a_batch_stays_on_the_card() {
    let (key, vector) = subgroup(1024);
    let plaintexts = encode_signed(key.public(), &[1, 2, 3]).unwrap();
    let computing = public(7, key.public());
    let ciphertexts = computing.encrypt(&plaintexts).unwrap();
    assert_eq!(written(7), 0);
    computing.multiply(&ciphertexts, &[3, 4, 5], 3).unwrap();
    computing.sum_groups(&ciphertexts, &[vec![0, 1, 2]]).unwrap();
    assert_eq!(written(7), 0);
    let decrypting = private(7, &key);
    assert_eq!(decrypting.decrypt(&ciphertexts).unwrap(), plaintexts);
    assert_eq!(written(7), 0);
    // Also after a batch that ends in an error.
    let (_, foreign) = known(key.public(), &vector["foreign"], 1);
    assert!(decrypting.decrypt(&foreign).is_err());
    assert_eq!(written(7), 0);
}

/// A child of `fork` has no context, and the driver cannot create one. Every use reports this, and
/// the parent's card stays intact. `auto` uses the CPU.
#[test]
#[cfg(unix)]
fn children_of_fork_are_refused() {
    let (key, vector) = subgroup(1024);
    let (plaintexts, ciphertexts) = known(key.public(), &vector["own"], 1);
    let card = private(0, &key);
    assert_eq!(card.decrypt(&ciphertexts).unwrap(), plaintexts);
    // SAFETY: the child computes nothing in threads, and ends without unwinding.
    let child = unsafe { libc::fork() };
    if child == 0 {
        let expected = "this process was forked from one that uses cards";
        let refused = match card.decrypt(&ciphertexts) {
            Err(DecryptError::Device(error)) => error.to_string().contains(expected),
            _ => false,
        };
        let anew = Driver::open(EMULATED_DRIVER.as_ref()).is_err_and(|fault| fault.to_string().contains(expected));
        let status = i32::from(!refused) + 2 * i32::from(!anew);
        // The parent's card is dropped without a call to the driver.
        drop(card);
        // SAFETY: ends the child.
        unsafe { libc::_exit(status) };
    }
    let mut status = -1;
    // SAFETY: the child that was just created, and the address of an integer.
    assert_eq!(unsafe { libc::waitpid(child, &mut status, 0) }, child);
    assert_eq!(status, 0);
    assert_eq!(card.decrypt(&ciphertexts).unwrap(), plaintexts);
}
