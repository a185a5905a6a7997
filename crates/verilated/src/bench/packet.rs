//! AXI4-Stream: bytes in packets, with `tlast` on the last beat of each and the least significant
//! byte first.
//!
//! `tkeep`, if the design has it, is all ones except on the last beat of a packet that does not
//! fill the beat. There it marks the valid bytes, from the lowest on without a gap.

use super::{Bench, Sink, Source, Streams};
use crate::model::Model;

/// A stream of packets into the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketSource {
    source: Source,
    /// Bytes of a beat.
    beat: usize,
    keep: bool,
}

/// A stream of packets out of the model.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct PacketSink {
    sink: Sink,
    index: usize,
}

/// A packet received from the model.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Packet {
    /// The cycle of its first beat.
    pub first: u64,
    /// The cycle of its last beat.
    pub last: u64,
    /// Its content.
    pub bytes: Vec<u8>,
}

/// The packets of a sink.
#[derive(Debug)]
pub(super) struct PacketState {
    sink: Sink,
    name: String,
    beat: usize,
    keep: bool,
    /// Most beats of a packet.
    longest: usize,
    /// The packet in progress, and its number of beats.
    open: Option<(Packet, usize)>,
    packets: Vec<Packet>,
}

impl Bench {
    /// Adds a stream of packets into the model. Its ports are named by the prefix plus `tvalid`,
    /// `tready`, `tdata`, `tlast`, and optionally `tkeep`, each with or without `_i` and `_o`.
    pub fn packet_source(&mut self, prefix: &str) -> PacketSource {
        let names = Names::new(&self.model, prefix);
        let mut fields = vec![&names.data[..], &names.last];
        fields.extend(names.keep.as_deref());
        let source = self.source(&names.valid, &names.ready, &fields);
        PacketSource { source, beat: names.beat, keep: names.keep.is_some() }
    }

    /// Adds a stream of packets out of the model, of at most `longest` beats each. The ports are
    /// named like those of a source.
    pub fn packet_sink(&mut self, prefix: &str, longest: usize) -> PacketSink {
        let names = Names::new(&self.model, prefix);
        let mut fields = vec![&names.data[..], &names.last];
        fields.extend(names.keep.as_deref());
        let sink = self.sink(&names.valid, &names.ready, &fields);
        let (beat, keep, name) = (names.beat, names.keep.is_some(), names.valid);
        self.packets.push(PacketState { sink, name, beat, keep, longest, open: None, packets: Vec::new() });
        PacketSink { sink, index: self.packets.len() - 1 }
    }

    /// Queues a packet.
    ///
    /// # Panics
    /// If it is empty, or if it does not fill its last beat and there is no `tkeep`.
    pub fn send(&mut self, source: PacketSource, bytes: &[u8]) {
        assert!(!bytes.is_empty(), "a packet has at least a beat");
        assert!(source.keep || bytes.len().is_multiple_of(source.beat), "without tkeep, packets are of whole beats");
        let beats = bytes.chunks(source.beat);
        let end = beats.len() - 1;
        for (at, beat) in beats.enumerate() {
            let (data, keep) = (limbs(beat), ones(beat.len()));
            let last = [u64::from(at == end)];
            let fields: &[&[u64]] = &[&data, &last, &keep];
            self.push(source.source, if source.keep { fields } else { &fields[..2] });
        }
    }

    /// The packets that the model has sent and that have not been fetched.
    pub fn packets(&self, sink: PacketSink) -> &[Packet] {
        &self.packets[sink.index].packets
    }

    /// Fetches the received packets.
    pub fn take_packets(&mut self, sink: PacketSink) -> Vec<Packet> {
        std::mem::take(&mut self.packets[sink.index].packets)
    }

    /// Steps until the model has sent `packets` packets, and fetches them.
    ///
    /// # Panics
    /// If that takes more than `limit` cycles.
    pub fn run_packets(&mut self, sink: PacketSink, packets: usize, limit: u64) -> Vec<Packet> {
        let end = self.cycle() + limit;
        while self.packets(sink).len() < packets {
            let (there, open) = (self.packets(sink).len(), self.packets[sink.index].open.as_ref());
            let open = open.map_or(0, |(_, beats)| *beats);
            assert!(
                self.cycle() < end,
                "{there} of {packets} packets within {limit} cycles, and {open} beats of the next"
            );
            self.step();
        }
        self.take_packets(sink)
    }
}

impl PacketSource {
    /// The stream of its beats.
    pub fn source(self) -> Source {
        self.source
    }
}

impl PacketSink {
    /// The stream of its beats. The bench consumes its transfers.
    pub fn sink(self) -> Sink {
        self.sink
    }
}

impl PacketState {
    pub fn reset(&mut self) {
        (self.open, self.packets) = (None, Vec::new());
    }

    /// Joins received beats to packets.
    pub fn act(&mut self, streams: &mut Streams) {
        for transfer in streams.sink(self.sink).received.drain(..) {
            let (cycle, fields) = (transfer.cycle, transfer.fields);
            let last = fields[1] == [1];
            let kept = if self.keep { self.kept(&fields[2], last, cycle) } else { self.beat };
            let empty = Packet { first: cycle, last: cycle, bytes: Vec::new() };
            let (packet, beats) = self.open.get_or_insert((empty, 0));
            packet.bytes.extend(fields[0].iter().flat_map(|limb| limb.to_le_bytes()).take(kept));
            packet.last = cycle;
            *beats += 1;
            if last {
                self.packets.extend(self.open.take().map(|(packet, _)| packet));
            } else {
                let longest = self.longest;
                assert!(*beats < longest, "no tlast within {longest} beats at {}, in cycle {cycle}", self.name);
            }
        }
    }

    /// The number of valid bytes of a beat.
    fn kept(&self, keep: &[u64], last: bool, cycle: u64) -> usize {
        let kept: usize = keep.iter().map(|limb| limb.count_ones() as usize).sum();
        let mut expected = ones(kept);
        expected.resize(keep.len(), 0);
        assert_eq!(keep, expected, "tkeep of {} has a gap in cycle {cycle}", self.name);
        assert!(kept == self.beat || last && kept > 0, "tkeep of {} leaves out bytes in cycle {cycle}", self.name);
        kept
    }
}

/// The ports of a stream.
struct Names {
    valid: String,
    ready: String,
    data: String,
    last: String,
    keep: Option<String>,
    beat: usize,
}

impl Names {
    fn new(model: &Model, prefix: &str) -> Self {
        let design = model.design();
        let [valid, ready, data, last] =
            ["tvalid", "tready", "tdata", "tlast"].map(|name| design.bus_port(prefix, name).name.to_owned());
        let beat = design.bus_port(prefix, "tdata").width as usize / 8;
        let keep = design.find_bus_port(prefix, "tkeep").map(|port| port.name.to_owned());
        Self { valid, ready, data, last, keep, beat }
    }
}

/// The limbs of a little-endian number.
fn limbs(bytes: &[u8]) -> Vec<u64> {
    bytes.chunks(8).map(|chunk| chunk.iter().rev().fold(0, |limb, &byte| limb << 8 | u64::from(byte))).collect()
}

/// A number with `count` ones from the lowest bit on.
fn ones(count: usize) -> Vec<u64> {
    (0..count.div_ceil(64)).map(|limb| u64::MAX >> (64 - (count - 64 * limb).min(64))).collect()
}
