//! An AXI4-Lite manager.
//!
//! Writes and reads are queued, or made one at a time. The five channels are separate streams, each
//! under its own pressure: an address may arrive long before or after its data, and reads proceed
//! independently of writes. A response fails the test if it arrives before its address (and data)
//! was accepted, or if AXI4-Lite does not define it.

use super::{Bench, BusError, Pressure, Response, Sink, Source, Streams};

/// A manager, and its channels.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AxiLite {
    /// AW.
    pub write_address: Source,
    /// W.
    pub write_data: Source,
    /// B.
    pub write_response: Sink,
    /// AR.
    pub read_address: Source,
    /// R.
    pub read_data: Sink,
    index: usize,
}

/// The answer to a read.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ReadAnswer {
    /// The value read; meaningless after an error.
    pub value: u64,
    /// The response.
    pub response: Response,
}

/// The state of a manager.
#[derive(Debug)]
pub(super) struct Manager {
    bus: AxiLite,
    strobes: u64,
    limit: u64,
    queued_writes: usize,
    queued_reads: usize,
    /// Transfers that the subordinate accepted in earlier cycles.
    addresses: usize,
    data: usize,
    read_addresses: usize,
    writes: Vec<Response>,
    reads: Vec<ReadAnswer>,
}

impl Bench {
    /// Adds an AXI4-Lite manager. Its ports are named by the prefix plus `awvalid` and so on, each
    /// with or without `_i` and `_o`. `awprot` and `arprot` are optional.
    pub fn axi_lite(&mut self, prefix: &str) -> AxiLite {
        let design = self.model.design();
        let name = |name: &str| design.bus_port(prefix, name).name;
        let strobes = (1 << design.bus_port(prefix, "wstrb").width) - 1;
        let optional = |name: &str| design.find_bus_port(prefix, name).map(|port| port.name);
        let address = |channel: &str| {
            let address = [name(&format!("{channel}addr"))].into_iter().chain(optional(&format!("{channel}prot")));
            address.collect::<Vec<_>>()
        };
        let (write_addresses, read_addresses) = (address("aw"), address("ar"));
        let bus = AxiLite {
            write_address: self.source(name("awvalid"), name("awready"), &write_addresses),
            write_data: self.source(name("wvalid"), name("wready"), &[name("wdata"), name("wstrb")]),
            write_response: self.sink(name("bvalid"), name("bready"), &[name("bresp")]),
            read_address: self.source(name("arvalid"), name("arready"), &read_addresses),
            read_data: self.sink(name("rvalid"), name("rready"), &[name("rdata"), name("rresp")]),
            index: self.managers.len(),
        };
        self.managers.push(Manager {
            bus,
            strobes,
            limit: 1000,
            queued_writes: 0,
            queued_reads: 0,
            addresses: 0,
            data: 0,
            read_addresses: 0,
            writes: Vec::new(),
            reads: Vec::new(),
        });
        bus
    }

    /// Puts all channels of a manager under the same pressure.
    pub fn set_axi_lite_pressure(&mut self, bus: AxiLite, pressure: Pressure) {
        for source in [bus.write_address, bus.write_data, bus.read_address] {
            self.set_source_pressure(source, pressure);
        }
        for sink in [bus.write_response, bus.read_data] {
            self.set_sink_pressure(sink, pressure);
        }
    }

    /// Sets the most cycles that [`Bench::write`] and [`Bench::read`] wait (default 1000).
    pub fn set_axi_lite_limit(&mut self, bus: AxiLite, cycles: u64) {
        self.managers[bus.index].limit = cycles;
    }

    /// Queues a write with strobes, one bit per byte. Its answer will be the next of
    /// [`Bench::write_answers`].
    pub fn queue_write(&mut self, bus: AxiLite, address: u64, value: u64, strobes: u64) {
        self.managers[bus.index].queued_writes += 1;
        self.push_address(bus.write_address, address);
        self.push(bus.write_data, &[&[value], &[strobes]]);
    }

    /// Queues a read. Its answer will be the next of [`Bench::read_answers`].
    pub fn queue_read(&mut self, bus: AxiLite, address: u64) {
        self.managers[bus.index].queued_reads += 1;
        self.push_address(bus.read_address, address);
    }

    /// The answers to all writes so far, in order.
    pub fn write_answers(&self, bus: AxiLite) -> &[Response] {
        &self.managers[bus.index].writes
    }

    /// The answers to all reads so far, in order.
    pub fn read_answers(&self, bus: AxiLite) -> &[ReadAnswer] {
        &self.managers[bus.index].reads
    }

    /// Whether everything queued was answered.
    pub fn axi_lite_is_idle(&self, bus: AxiLite) -> bool {
        let manager = &self.managers[bus.index];
        manager.writes.len() == manager.queued_writes && manager.reads.len() == manager.queued_reads
    }

    /// Writes all bytes of a word, and steps until this and all earlier writes are answered.
    ///
    /// # Errors
    /// - [`BusError::Refused`]
    /// - [`BusError::Silent`]: the write is still on the bus until the bench is reset
    pub fn write(&mut self, bus: AxiLite, address: u64, value: u64) -> Result<(), BusError> {
        let strobes = self.managers[bus.index].strobes;
        self.queue_write(bus, address, value, strobes);
        self.wait(bus, |manager| manager.writes.len() == manager.queued_writes)?;
        self.write_answers(bus).last().map_or(Ok(()), |response| response.done())
    }

    /// Reads a word, and steps until this and all earlier reads are answered.
    ///
    /// # Errors
    /// Those of [`Bench::write`].
    pub fn read(&mut self, bus: AxiLite, address: u64) -> Result<u64, BusError> {
        self.queue_read(bus, address);
        self.wait(bus, |manager| manager.reads.len() == manager.queued_reads)?;
        let answer = *self.read_answers(bus).last().expect("it was answered");
        answer.response.done().map(|()| answer.value)
    }

    fn wait(&mut self, bus: AxiLite, answered: impl Fn(&Manager) -> bool) -> Result<(), BusError> {
        let limit = self.managers[bus.index].limit;
        for _ in 0..limit {
            if answered(&self.managers[bus.index]) {
                return Ok(());
            }
            self.step();
        }
        if answered(&self.managers[bus.index]) { Ok(()) } else { Err(BusError::Silent(limit)) }
    }

    /// Queues an address, with 0 for the protection bits (data, secure, unprivileged) if there are
    /// any.
    fn push_address(&mut self, source: Source, address: u64) {
        let fields: &[&[u64]] = &[&[address], &[0]];
        let count = self.streams.source(source).fields();
        self.push(source, &fields[..count]);
    }
}

impl Manager {
    pub fn reset(&mut self) {
        (self.queued_writes, self.queued_reads) = (0, 0);
        (self.addresses, self.data, self.read_addresses) = (0, 0, 0);
        (self.writes, self.reads) = (Vec::new(), Vec::new());
    }

    /// Processes the responses of this cycle, and checks that none is unsolicited.
    pub fn act(&mut self, streams: &mut Streams, cycle: u64) {
        let bus = self.bus;
        let written = streams.sink(bus.write_response);
        assert!(
            !written.offered || self.writes.len() < self.addresses.min(self.data),
            "{} in cycle {cycle} answers a write whose address or data was not taken yet",
            written.valid
        );
        self.writes.extend(written.received.drain(..).map(|transfer| response(transfer.fields[0][0], cycle)));
        let read = streams.sink(bus.read_data);
        assert!(
            !read.offered || self.reads.len() < self.read_addresses,
            "{} in cycle {cycle} answers a read whose address was not taken yet",
            read.valid
        );
        self.reads.extend(read.received.drain(..).map(|transfer| ReadAnswer {
            value: transfer.fields[0][0],
            response: response(transfer.fields[1][0], cycle),
        }));
        self.addresses += streams.source(bus.write_address).taken.drain(..).len();
        self.data += streams.source(bus.write_data).taken.drain(..).len();
        self.read_addresses += streams.source(bus.read_address).taken.drain(..).len();
    }
}

fn response(code: u64, cycle: u64) -> Response {
    let response = Response::new(code);
    assert_ne!(response, Response::ExclusiveOkay, "AXI4-Lite has no EXOKAY (cycle {cycle})");
    response
}
