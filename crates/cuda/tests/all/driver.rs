//! Missing, broken or old drivers cause messages, never a crash.

use std::path::Path;

use hearith_cuda::{Driver, Fault, LoadedCard, OLD_DRIVER};
use hearith_device::{ErrorKind, Trust};

use crate::keys::{driver, subgroup};

fn opened(path: &str) -> Fault {
    Driver::open(Path::new(path)).unwrap_err()
}

#[test]
fn a_missing_driver_is_a_message() {
    let fault = opened("/nowhere/libcuda.so.1");
    assert!(matches!(fault, Fault::NoDriver { .. }));
    assert_eq!(fault.to_string(), "no driver: /nowhere/libcuda.so.1 cannot be loaded");
}

/// A library that is not a driver.
#[test]
#[cfg(target_os = "linux")]
fn a_broken_driver_is_a_message() {
    let fault = opened("libc.so.6");
    assert_eq!(fault.to_string(), "broken driver: libc.so.6 lacks cuInit");
}

#[test]
fn an_old_driver_is_a_message() {
    let text = opened(OLD_DRIVER).to_string();
    assert_eq!(text, "driver too old: it supports CUDA 12.4, but the kernels need 580 (CUDA 13.0) or newer");
}

#[test]
fn cards_without_kernels_are_refused() {
    let (key, _) = subgroup(1024);
    let error = |number| match LoadedCard::with_private(&driver(), number, &key, Trust::Checked).unwrap_err().kind() {
        ErrorKind::Transport(cause) => cause.to_string(),
        other => panic!("{other}"),
    };
    assert_eq!(error(3), "card too old: Emulated old has compute capability 7.5, but the kernels need 8.0");
    assert_eq!(error(99), "no card 99: there are 9, counted from 0");
}
