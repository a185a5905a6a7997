//! `rtl/links`.

use hearith_verilated::build::Design;

/// Short times, so that a simulation covers many frames.
const PERIOD: u32 = 8;
const HALF: u32 = 5;

fn link(name: &str, top: &str) -> Design {
    let design = Design::new(name, top).source("links/link_pkg.sv").parameter("Words", 6);
    design.parameter("Timeout", 6000).parameter("Retries", 4)
}

pub fn designs() -> Vec<Design> {
    vec![
        Design::new("uart_tx", "uart_tx").parameter("BaudDivisor", 11),
        Design::new("uart_rx", "uart_rx").parameter("BaudDivisor", 40),
        Design::new("uart_rx_24", "uart_rx").parameter("BaudDivisor", 24),
        Design::new("spi_controller", "spi_controller").parameter("SckHalfPeriod", HALF),
        Design::new("spi_peripheral", "spi_peripheral"),
        link("uart_link", "uart_link").parameter("BaudDivisor", PERIOD),
        link("spi_controller_link", "spi_controller_link").parameter("SckHalfPeriod", HALF).parameter("Burst", 3),
        link("spi_peripheral_link", "spi_peripheral_link"),
    ]
}
