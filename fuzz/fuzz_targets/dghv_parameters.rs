//! Parameters in the form of the published program: accepted parameters survive a round trip
//! through its plainest form.
#![no_main]

use hearith_dghv::format::Published;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|text: &str| {
    let Ok(read) = Published::parse(text) else { return };
    let Published { name, lambda, rho, eta, gamma, alpha, tau, theta } = &read;
    let mut plain = format!("{{'lam':{lambda},'rho':{rho},'eta':{eta},'gam':{gamma},'alpha':{alpha},'tau':{tau}");
    theta.iter().for_each(|theta| plain += &format!(",'Theta':{theta}"));
    name.iter().for_each(|name| plain += &format!(",'ty':\"{name}\""));
    assert_eq!(Published::parse(&(plain + "}")).as_ref(), Ok(&read));
    let _ = read.parameters();
});
