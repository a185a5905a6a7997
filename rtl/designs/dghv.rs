//! `rtl/dghv`.

use hearith_verilated::build::Design;

pub fn designs() -> Vec<Design> {
    let ciphers = [1, 2, 5, 10].map(|rounds| {
        Design::new(&format!("aes_ctr_{rounds}"), "aes_ctr").parameter("Rounds", rounds).source("dghv/aes_pkg.sv")
    });
    let rows = Design::new("element_rows_5", "element_rows").source("dghv/aes_pkg.sv");
    ciphers.into_iter().chain([rows]).collect()
}
