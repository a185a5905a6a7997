//! A simulated device behind the drivers' transport: its Verilated model, linked in.

use std::sync::Arc;

use hearith_device::{Error, ErrorKind, Exchange, Transport};
use hearith_verilated::{Design, Model};

/// Cycles that a register access may take.
const REGISTER_CYCLES: u32 = 1000;
const OKAY: u64 = 0;

/// A device simulated cycle by cycle, in reset until it is made.
#[derive(Debug)]
pub struct Simulated {
    model: Model,
    /// Bytes of a beat of either stream.
    beat: usize,
    cycles: u64,
}

impl Simulated {
    /// A fresh device after its reset.
    ///
    /// # Errors
    /// [`ErrorKind::Transport`] if the program was built without Verilator.
    pub fn new(design: &'static Design) -> Result<Self, Error> {
        let mut model = design.instantiate().map_err(|error| ErrorKind::Transport(Arc::new(error)))?;
        model.reset();
        let beat = design.parameter("StreamBits") as usize / 8;
        Ok(Self { model, beat, cycles: 0 })
    }

    /// Clock cycles since the reset.
    pub fn cycles(&self) -> u64 {
        self.cycles
    }

    /// Pulls the device's reset, as a board's reset button does.
    pub fn reset(&mut self) {
        for valid in ["s_axis_tvalid_i", "m_axis_tready_i", "axil_awvalid_i", "axil_wvalid_i", "axil_arvalid_i"] {
            self.model.set(valid, false);
        }
        self.model.reset();
    }

    fn edge(&mut self) {
        self.model.edge();
        self.cycles += 1;
    }

    /// Cycles until the output is high, and one more, at whose end it is taken.
    fn wait_for(&mut self, output: &str, address: u32) -> Result<(), Error> {
        for _ in 0..REGISTER_CYCLES {
            self.model.settle();
            let there = self.model.bit(output);
            self.edge();
            if there {
                return Ok(());
            }
        }
        Err(ErrorKind::Silent { address }.into())
    }
}

impl Transport for Simulated {
    fn describe(&self) -> String {
        format!("simulated {}", self.model.design().name())
    }

    fn read(&mut self, address: u32) -> Result<u32, Error> {
        self.model.set("axil_araddr_i", u64::from(address));
        self.model.set("axil_arvalid_i", true);
        let taken = self.wait_for("axil_arready_o", address);
        self.model.set("axil_arvalid_i", false);
        taken?;
        self.model.set("axil_rready_i", false);
        self.wait_for("axil_rvalid_o", address)?;
        let (value, response) = (self.model.get_u64("axil_rdata_o"), self.model.get_u64("axil_rresp_o"));
        self.model.set("axil_rready_i", true);
        self.wait_for("axil_rvalid_o", address)?;
        self.model.set("axil_rready_i", false);
        if response == OKAY { Ok(value as u32) } else { Err(ErrorKind::Refused { address }.into()) }
    }

    fn write(&mut self, address: u32, value: u32) -> Result<(), Error> {
        self.model.set("axil_awaddr_i", u64::from(address));
        self.model.set("axil_awvalid_i", true);
        let taken = self.wait_for("axil_awready_o", address);
        self.model.set("axil_awvalid_i", false);
        taken?;
        self.model.set("axil_wdata_i", u64::from(value));
        self.model.set("axil_wstrb_i", 0xf_u64);
        self.model.set("axil_wvalid_i", true);
        let taken = self.wait_for("axil_wready_o", address);
        self.model.set("axil_wvalid_i", false);
        // Nothing secret stays on the bus.
        self.model.set("axil_wdata_i", 0_u64);
        taken?;
        self.model.set("axil_bready_i", false);
        self.wait_for("axil_bvalid_o", address)?;
        let response = self.model.get_u64("axil_bresp_o");
        self.model.set("axil_bready_i", true);
        self.wait_for("axil_bvalid_o", address)?;
        self.model.set("axil_bready_i", false);
        if response == OKAY { Ok(()) } else { Err(ErrorKind::Refused { address }.into()) }
    }

    fn exchange(&mut self, mut exchange: Exchange<'_>) -> Result<(), Error> {
        let result = self.pass(&mut exchange);
        self.model.set("s_axis_tvalid_i", false);
        self.model.set("m_axis_tready_i", false);
        result
    }
}

impl Simulated {
    fn pass(&mut self, exchange: &mut Exchange<'_>) -> Result<(), Error> {
        let (mut sent, mut received, mut quiet) = (0, 0, 0);
        self.offer(exchange, sent);
        self.model.set("m_axis_tready_i", true);
        while received < exchange.output.len() {
            self.model.settle();
            let takes = sent < exchange.input.len() && self.model.bit("s_axis_tready_o");
            let gives = self.model.bit("m_axis_tvalid_o");
            if gives {
                let data = self.model.get("m_axis_tdata_o");
                let bytes = data.iter().flat_map(|limb| limb.to_le_bytes());
                exchange.output[received..][..self.beat].iter_mut().zip(bytes).for_each(|(to, byte)| *to = byte);
                received += self.beat;
                check_end(exchange, received, self.model.bit("m_axis_tlast_o"))?;
            }
            self.edge();
            if takes {
                sent += self.beat;
                self.offer(exchange, sent);
            }
            quiet = if takes || gives { 0 } else { quiet + 1 };
            if quiet > exchange.quiet_cycles {
                return Err(exchange.stalled(sent, received));
            }
        }
        Ok(())
    }

    /// Offers the beat at this byte, if there is one.
    fn offer(&mut self, exchange: &Exchange<'_>, at: usize) {
        let valid = at < exchange.input.len();
        self.model.set("s_axis_tvalid_i", valid);
        if valid {
            let beat = &exchange.input[at..][..self.beat];
            let limb = |bytes: &[u8]| bytes.iter().rev().fold(0, |limb, &byte| limb << 8 | u64::from(byte));
            let limbs: Vec<u64> = beat.chunks(8).map(limb).collect();
            self.model.set("s_axis_tdata_i", limbs);
            self.model.set("s_axis_tlast_i", (at + self.beat).is_multiple_of(exchange.input_packet));
        }
    }
}

/// Whether a packet ends where it should.
fn check_end(exchange: &Exchange<'_>, received: usize, last: bool) -> Result<(), Error> {
    let expected = exchange.output_packet;
    if last == received.is_multiple_of(expected) {
        return Ok(());
    }
    let packet = (received - 1) / expected;
    Err(ErrorKind::CutShort { packet, bytes: received - packet * expected, expected }.into())
}
