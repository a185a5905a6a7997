//! A running model.

use std::cell::RefCell;
use std::collections::HashMap;
use std::env;
use std::ffi::{CString, c_void};
use std::fmt;
use std::fs;
use std::path::Path;
use std::ptr::NonNull;
use std::sync::atomic::{AtomicU32, Ordering};

use foldhash::fast::FixedState;

use crate::design::{Binding, Design, Direction, Port};

/// A model of a design: ports to set and get, evaluation.
///
/// Ports are named; `name[3]` is one bit of a port, `name[15:8]` a range of its bits. An unknown
/// port, a bit outside the port, the wrong direction, or a value that is too wide is a mistake of
/// the caller and panics.
pub struct Model {
    design: &'static Design,
    binding: &'static Binding,
    instance: NonNull<c_void>,
    /// The storage of each port.
    storage: Vec<NonNull<u8>>,
    /// The parsed names. Tests use the same names in every cycle, so the hash must be fast. No
    /// attacker chooses names that collide.
    parts: RefCell<HashMap<Box<str>, Part, FixedState>>,
    /// The time of the next values in the waveform file, if there is one.
    waves: Option<u64>,
}

// SAFETY: a Verilated model with its own context may be used from any one thread at a time, and
// nothing here is shared.
unsafe impl Send for Model {}

/// A port, or a range of its bits.
#[derive(Clone, Copy)]
struct Part {
    /// The port's number in the design.
    index: usize,
    port: &'static Port,
    /// The lowest bit.
    low: u32,
    /// Number of bits.
    width: u32,
}

/// A value for a port.
pub trait Bits {
    /// Limbs, least significant first; missing limbs are 0.
    fn limbs(&self) -> &[u64];
}

impl Bits for u64 {
    fn limbs(&self) -> &[u64] {
        std::slice::from_ref(self)
    }
}

impl Bits for bool {
    fn limbs(&self) -> &[u64] {
        if *self { &[1] } else { &[0] }
    }
}

impl Bits for [u64] {
    fn limbs(&self) -> &[u64] {
        self
    }
}

impl Bits for Vec<u64> {
    fn limbs(&self) -> &[u64] {
        self
    }
}

impl<const LIMBS: usize> Bits for [u64; LIMBS] {
    fn limbs(&self) -> &[u64] {
        self
    }
}

impl Model {
    pub(crate) fn new(design: &'static Design, binding: &'static Binding) -> Self {
        // SAFETY: the binding belongs to the design (contract of `Design::new`).
        let instance = NonNull::new(unsafe { (binding.new)() }).expect("out of memory");
        let count = design.ports().len() as u32;
        // SAFETY: as above; the numbers are those of the design's ports, which live as long as the
        // model.
        let port = |index| NonNull::new(unsafe { (binding.port)(instance.as_ptr(), index) }).expect("a port");
        let storage = (0..count).map(port).collect();
        let mut model = Self { design, binding, instance, storage, parts: RefCell::default(), waves: None };
        let inputs = design.ports().iter().filter(|port| port.direction == Direction::Input);
        inputs.for_each(|port| model.set(port.name, false));
        if let Some(directory) = env::var_os("HEARITH_WAVES") {
            let path = Path::new(&directory).join(model.file_name("fst"));
            if fs::create_dir_all(&directory).is_err() || !model.record(&path) {
                eprintln!("{}: no waveforms; was HEARITH_WAVES set while this was built?", path.display());
            }
        }
        model
    }

    /// The design of this model.
    pub fn design(&self) -> &'static Design {
        self.design
    }

    /// Sets an input.
    pub fn set(&mut self, name: &str, value: impl Bits) {
        self.set_limbs(name, value.limbs());
    }

    /// Sets an input to a number of 64-bit limbs, least significant first; missing limbs are 0.
    pub fn set_limbs(&mut self, name: &str, limbs: &[u64]) {
        let part = self.find(name);
        assert!(part.port.direction == Direction::Input, "{name} of {} is an output", self.design.name());
        assert!(bit_length(limbs) <= part.width as usize, "{name} of {} has {} bits", self.design.name(), part.width);
        if part.width == part.port.width {
            self.write(&part, limbs);
        } else {
            let mut whole = self.read(&part);
            for at in 0..part.width as usize {
                let bit = limbs.get(at / 64).map_or(0, |limb| limb >> (at % 64) & 1);
                let place = part.low as usize + at;
                whole[place / 64] = whole[place / 64] & !(1 << (place % 64)) | bit << (place % 64);
            }
            self.write(&part, &whole);
        }
    }

    /// The value of a port, in as many limbs as its width needs.
    pub fn get(&self, name: &str) -> Vec<u64> {
        let part = self.find(name);
        let whole = self.read(&part);
        if part.width == part.port.width {
            return whole;
        }
        let mut limbs = vec![0; part.width.div_ceil(64) as usize];
        for at in 0..part.width as usize {
            let place = part.low as usize + at;
            limbs[at / 64] |= (whole[place / 64] >> (place % 64) & 1) << (at % 64);
        }
        limbs
    }

    /// The value of a port of at most 64 bits.
    pub fn get_u64(&self, name: &str) -> u64 {
        let part = self.find(name);
        assert!(part.width <= 64, "{name} of {} has {} bits", self.design.name(), part.width);
        if part.width != part.port.width {
            return self.get(name)[0];
        }
        let storage = self.storage[part.index].as_ptr();
        // SAFETY: as in `write`; Verilator aligns its variables.
        unsafe {
            match storage_bytes(part.width) {
                1 => storage.read().into(),
                2 => storage.cast::<u16>().read().into(),
                4 => storage.cast::<u32>().read().into(),
                _ => storage.cast::<u64>().read(),
            }
        }
    }

    /// The width of a port, or of the named part of one, in bits.
    pub fn width(&self, name: &str) -> u32 {
        self.find(name).width
    }

    /// The value of a port of one bit.
    pub fn bit(&self, name: &str) -> bool {
        self.get_u64(name) != 0
    }

    /// Lets the inputs take effect.
    pub fn eval(&mut self) {
        // SAFETY: the instance belongs to this binding and lives until `drop`.
        unsafe { (self.binding.eval)(self.instance.as_ptr()) }
        if let Some(time) = &mut self.waves {
            // SAFETY: as above; a file is open.
            unsafe { (self.binding.dump)(self.instance.as_ptr(), *time) };
            *time += 1;
        }
    }

    /// Writes waveforms to a file in the FST format, from now on until the model is dropped.
    ///
    /// Every evaluation is one unit of time, so a clock cycle has two. With `HEARITH_WAVES`, every
    /// model does so from its creation.
    ///
    /// Returns false if the model already writes a file, if the file cannot be created, or if the
    /// model was built without waveforms: neither with `HEARITH_WAVES` nor with `Design::waves` in
    /// the build script.
    pub fn record(&mut self, path: &Path) -> bool {
        let Ok(path) = CString::new(path.to_string_lossy().as_bytes()) else { return false };
        // SAFETY: as in `eval`; the path ends in a zero byte.
        let open = self.waves.is_none() && unsafe { (self.binding.record)(self.instance.as_ptr(), path.as_ptr()) };
        if open {
            self.waves = Some(0);
        }
        open
    }

    /// A clock cycle of `clk_i`: lets the inputs take effect, then a rising edge.
    pub fn clock(&mut self) {
        self.set("clk_i", false);
        self.eval();
        self.edge();
    }

    /// The rising edge of `clk_i` alone, after [`Model::settle`].
    pub fn edge(&mut self) {
        self.set("clk_i", true);
        self.eval();
    }

    /// The first half of a cycle: inputs take effect, and the outputs that depend on them become
    /// valid.
    pub fn settle(&mut self) {
        self.set("clk_i", false);
        self.eval();
    }

    /// Resets the model: `rst_ni` is low for four cycles, two of which a synchroniser in the design
    /// uses up.
    pub fn reset(&mut self) {
        self.set("rst_ni", false);
        (0..4).for_each(|_| self.clock());
        self.set("rst_ni", true);
    }

    pub(crate) fn binding(&self) -> &'static Binding {
        self.binding
    }

    pub(crate) fn instance(&self) -> *mut c_void {
        self.instance.as_ptr()
    }

    /// The port or part of a port with this name, from the cache if possible.
    fn find(&self, name: &str) -> Part {
        if let Some(&part) = self.parts.borrow().get(name) {
            return part;
        }
        let part = self.parse(name);
        self.parts.borrow_mut().insert(name.into(), part);
        part
    }

    /// Parses a name.
    fn parse(&self, name: &str) -> Part {
        let (base, selection) = match name.split_once('[') {
            Some((base, rest)) => (base, Some(rest.trim_end_matches(']'))),
            None => (name, None),
        };
        let found = self.design.ports().iter().position(|port| port.name == base);
        let index = found.unwrap_or_else(|| panic!("{} has no port {base}", self.design.name()));
        let port = &self.design.ports()[index];
        let Some(selection) = selection else { return Part { index, port, low: 0, width: port.width } };
        let (high, low) = selection.split_once(':').unwrap_or((selection, selection));
        match (high.parse::<u32>(), low.parse::<u32>()) {
            (Ok(high), Ok(low)) if low <= high && high < port.width => Part { index, port, low, width: high - low + 1 },
            _ => panic!("{} has no {name}: {base} has {} bits", self.design.name(), port.width),
        }
    }

    /// All limbs of a part's port.
    fn read(&self, part: &Part) -> Vec<u64> {
        let mut bytes = vec![0; 8 * part.port.width.div_ceil(64) as usize];
        let stored = storage_bytes(part.port.width).min(bytes.len());
        // SAFETY: as in `write`.
        unsafe { self.storage[part.index].as_ptr().copy_to_nonoverlapping(bytes.as_mut_ptr(), stored) };
        bytes.chunks_exact(8).map(|limb| limb.iter().rev().fold(0, |all, &byte| all << 8 | u64::from(byte))).collect()
    }

    /// Sets all limbs of a part's port.
    fn write(&mut self, part: &Part, limbs: &[u64]) {
        let storage = self.storage[part.index].as_ptr();
        let stored = storage_bytes(part.port.width);
        for start in (0..stored).step_by(8) {
            let limb = limbs.get(start / 8).copied().unwrap_or(0).to_le_bytes();
            // SAFETY: the storage of a port of this width has this many bytes, and the model is not
            // being evaluated.
            unsafe { storage.add(start).copy_from_nonoverlapping(limb.as_ptr(), (stored - start).min(8)) };
        }
    }

    /// A file name for this model, unique across models and processes.
    pub(crate) fn file_name(&self, extension: &str) -> String {
        static NUMBER: AtomicU32 = AtomicU32::new(0);
        let number = NUMBER.fetch_add(1, Ordering::Relaxed);
        format!("{}-{}-{number}.{extension}", self.design.name(), std::process::id())
    }

    /// Writes coverage, if the model counts it, to the directory that `HEARITH_RTL_COVERAGE` names.
    fn save_coverage(&self) {
        let Some(directory) = env::var_os("HEARITH_RTL_COVERAGE") else { return };
        let path = Path::new(&directory).join(self.file_name("dat"));
        if let Ok(path) = CString::new(path.to_string_lossy().as_bytes()) {
            // SAFETY: as in `eval`; the path ends in a zero byte.
            unsafe { (self.binding.save_coverage)(self.instance.as_ptr(), path.as_ptr()) }
        }
    }
}

impl Drop for Model {
    fn drop(&mut self) {
        self.save_coverage();
        // SAFETY: the instance is not used after this.
        unsafe { (self.binding.delete)(self.instance.as_ptr()) }
    }
}

impl fmt::Debug for Model {
    fn fmt(&self, f: &mut fmt::Formatter) -> fmt::Result {
        f.debug_struct("Model").field("design", &self.design.name()).finish_non_exhaustive()
    }
}

/// Bytes in which Verilator stores a port of this width.
fn storage_bytes(width: u32) -> usize {
    match width {
        0..=8 => 1,
        9..=16 => 2,
        17..=32 => 4,
        33..=64 => 8,
        _ => 4 * width.div_ceil(32) as usize,
    }
}

pub(crate) fn bit_length(limbs: &[u64]) -> usize {
    let top = limbs.iter().rposition(|&limb| limb != 0);
    top.map_or(0, |top| 64 * top + 64 - limbs[top].leading_zeros() as usize)
}
