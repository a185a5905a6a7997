//! NVIDIA's driver (`libcuda`), loaded on demand: the few functions of its interface that this
//! crate calls, under their own names.
//!
//! A program with this crate starts and runs on machines without the driver, where [`Driver::load`]
//! reports what is missing. CUDA's runtime library and compiler are not needed.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::fmt;
use std::path::Path;
use std::sync::{Arc, OnceLock};
use std::time::Duration;

use hearith_arith::Process;
use libloading::Library;

use crate::fault::{Fault, OLDEST};
use crate::limbs;

/// Overrides the path of the system's library, for drivers in unusual places and for tests.
pub const LIBRARY_VARIABLE: &str = "HEARITH_CUDA_DRIVER";

#[cfg(windows)]
const LIBRARY: &str = "nvcuda.dll";
#[cfg(not(windows))]
const LIBRARY: &str = "libcuda.so.1";

const SUCCESS: c_int = 0;

/// The first process that started a driver. Its children cannot use the driver.
static STARTED: OnceLock<Process> = OnceLock::new();

/// An address in a card's memory.
pub(crate) type Address = u64;
/// An object of the driver, known by the driver's own pointer.
pub(crate) type Handle = *mut c_void;

macro_rules! functions {
    ($($field:ident = $name:literal: fn($($argument:ty),*);)*) => {
        /// The driver's functions, each valid while the library is loaded.
        struct Functions {
            $($field: unsafe extern "system" fn($($argument),*) -> c_int,)*
        }

        impl Functions {
            fn of(library: &Library, name: &str) -> Result<Self, Fault> {
                let missing = |function| Fault::BrokenDriver { library: name.to_owned(), function };
                Ok(Functions {
                    // SAFETY: the types are those that cuda.h declares for these names.
                    $($field: *unsafe { library.get(concat!($name, "\0").as_bytes()) }.map_err(|_| missing($name))?,)*
                })
            }
        }
    };
}

functions! {
    init = "cuInit": fn(c_uint);
    version = "cuDriverGetVersion": fn(*mut c_int);
    error_string = "cuGetErrorString": fn(c_int, *mut *const c_char);
    device_count = "cuDeviceGetCount": fn(*mut c_int);
    device = "cuDeviceGet": fn(*mut c_int, c_int);
    device_name = "cuDeviceGetName": fn(*mut c_char, c_int, c_int);
    device_attribute = "cuDeviceGetAttribute": fn(*mut c_int, c_int, c_int);
    device_memory = "cuDeviceTotalMem_v2": fn(*mut usize, c_int);
    context_retain = "cuDevicePrimaryCtxRetain": fn(*mut Handle, c_int);
    context_release = "cuDevicePrimaryCtxRelease_v2": fn(c_int);
    context_current = "cuCtxSetCurrent": fn(Handle);
    synchronise = "cuCtxSynchronize": fn();
    module_load = "cuModuleLoadData": fn(*mut Handle, *const c_void);
    module_unload = "cuModuleUnload": fn(Handle);
    module_function = "cuModuleGetFunction": fn(*mut Handle, Handle, *const c_char);
    allocate = "cuMemAlloc_v2": fn(*mut Address, usize);
    free = "cuMemFree_v2": fn(Address);
    to_card = "cuMemcpyHtoD_v2": fn(Address, *const c_void, usize);
    fill = "cuMemsetD8_v2": fn(Address, u8, usize);
    stream_create = "cuStreamCreate": fn(*mut Handle, c_uint);
    stream_destroy = "cuStreamDestroy_v2": fn(Handle);
    stream_wait = "cuStreamWaitEvent": fn(Handle, Handle, c_uint);
    event_create = "cuEventCreate": fn(*mut Handle, c_uint);
    event_destroy = "cuEventDestroy_v2": fn(Handle);
    event_record = "cuEventRecord": fn(Handle, Handle);
    event_synchronise = "cuEventSynchronize": fn(Handle);
    event_elapsed = "cuEventElapsedTime": fn(*mut f32, Handle, Handle);
    pin = "cuMemHostAlloc": fn(*mut *mut c_void, usize, c_uint);
    unpin = "cuMemFreeHost": fn(*mut c_void);
    send = "cuMemcpyHtoDAsync_v2": fn(Address, *const c_void, usize, Handle);
    fetch = "cuMemcpyDtoHAsync_v2": fn(*mut c_void, Address, usize, Handle);
    launch = "cuLaunchKernel": fn(Handle, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Handle, *mut Handle, *mut Handle);
}

/// The driver, initialised. Cloning is cheap.
#[derive(Clone)]
pub struct Driver(Arc<Parts>);

struct Parts {
    functions: Functions,
    version: c_int,
    /// Keeps the functions valid; unloaded after them.
    _library: Library,
}

/// The properties of a card.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Properties {
    /// The manufacturer's name for the card.
    pub name: String,
    /// Compute capability.
    pub capability: (i32, i32),
    /// Multiprocessors.
    pub multiprocessors: usize,
    /// Bytes of memory.
    pub memory: usize,
}

impl fmt::Display for Properties {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let (major, minor) = self.capability;
        write!(f, "{}, sm_{major}{minor}, {} GiB", self.name, self.memory.div_ceil(1 << 30))
    }
}

impl Driver {
    /// Loads the driver of this machine, or the library that `HEARITH_CUDA_DRIVER` names.
    ///
    /// # Errors
    /// [`Fault::NoDriver`], [`Fault::BrokenDriver`], [`Fault::DriverTooOld`], or [`Fault::Call`] if
    /// it cannot be initialised.
    pub fn load() -> Result<Self, Fault> {
        match std::env::var_os(LIBRARY_VARIABLE).filter(|path| !path.is_empty()) {
            Some(path) => Self::open(Path::new(&path)),
            None => Self::open(Path::new(LIBRARY)),
        }
    }

    /// Loads the driver in this library.
    ///
    /// # Errors
    /// Those of [`Driver::load`].
    pub fn open(path: &Path) -> Result<Self, Fault> {
        let name = path.display().to_string();
        // SAFETY: the library must be a driver. Users who name another file run its code, as with
        // LD_LIBRARY_PATH.
        let library = unsafe { Library::new(path) };
        let library = library.map_err(|cause| Fault::NoDriver { library: name.clone(), cause: Arc::new(cause) })?;
        let functions = Functions::of(&library, &name)?;
        // The version is checked before cuInit, which an old driver may refuse for its own reasons.
        let mut version = 0;
        // SAFETY: the address of an integer.
        check(&functions, "cuDriverGetVersion", unsafe { (functions.version)(&mut version) })?;
        if version < OLDEST.0 {
            return Err(Fault::DriverTooOld { found: version });
        }
        if !STARTED.get_or_init(Process::current).is_current() {
            return Err(Fault::Forked);
        }
        // SAFETY: the flags must be 0.
        match check(&functions, "cuInit", unsafe { (functions.init)(0) }) {
            // CUDA_ERROR_NO_DEVICE
            Err(Fault::Call { code: 100, .. }) => return Err(Fault::NoCard),
            result => result?,
        }
        Ok(Driver(Arc::new(Parts { functions, version, _library: library })))
    }

    /// The driver's version in CUDA's format: 1000 times the major plus 10 times the minor number.
    pub fn version(&self) -> i32 {
        self.0.version
    }

    /// The number of cards.
    ///
    /// # Errors
    /// [`Fault::Call`].
    pub fn count(&self) -> Result<usize, Fault> {
        let mut count = 0;
        // SAFETY: the address of an integer.
        self.check("cuDeviceGetCount", unsafe { (self.functions().device_count)(&mut count) })?;
        Ok(usize::try_from(count).unwrap_or(0))
    }

    /// The properties of card `number`, counted from 0.
    ///
    /// # Errors
    /// [`Fault::NoSuchCard`] or [`Fault::Call`].
    pub fn properties(&self, number: usize) -> Result<Properties, Fault> {
        let device = self.device(number)?;
        let mut name = [0; 256];
        // SAFETY: the length is that of the array.
        self.check("cuDeviceGetName", unsafe { (self.functions().device_name)(name.as_mut_ptr(), 256, device) })?;
        name[255] = 0;
        // SAFETY: the array contains a terminating zero.
        let name = unsafe { CStr::from_ptr(name.as_ptr()) }.to_string_lossy().into_owned();
        let attribute = |which| {
            let mut value = 0;
            // SAFETY: the address of an integer.
            let code = unsafe { (self.functions().device_attribute)(&mut value, which, device) };
            self.check("cuDeviceGetAttribute", code).map(|()| value)
        };
        let mut memory = 0;
        // SAFETY: the address of a word.
        self.check("cuDeviceTotalMem", unsafe { (self.functions().device_memory)(&mut memory, device) })?;
        // Attribute numbers from cuda.h: multiprocessors, major and minor compute capability.
        let multiprocessors = usize::try_from(attribute(16)?).unwrap_or(1).max(1);
        Ok(Properties { name, capability: (attribute(75)?, attribute(76)?), multiprocessors, memory })
    }

    fn device(&self, number: usize) -> Result<c_int, Fault> {
        let count = self.count()?;
        if count == 0 {
            return Err(Fault::NoCard);
        }
        let missing = Fault::NoSuchCard { number, count };
        let wanted = c_int::try_from(number).ok().filter(|_| number < count).ok_or(missing)?;
        let mut device = 0;
        // SAFETY: the address of an integer.
        self.check("cuDeviceGet", unsafe { (self.functions().device)(&mut device, wanted) })?;
        Ok(device)
    }

    fn functions(&self) -> &Functions {
        &self.0.functions
    }

    fn check(&self, call: &'static str, code: c_int) -> Result<(), Fault> {
        check(self.functions(), call, code)
    }
}

impl fmt::Debug for Driver {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "Driver(CUDA {}.{})", self.version() / 1000, self.version() % 1000 / 10)
    }
}

fn check(functions: &Functions, call: &'static str, code: c_int) -> Result<(), Fault> {
    if code == SUCCESS {
        return Ok(());
    }
    let mut text = std::ptr::null();
    // SAFETY: the address of a pointer, which the driver either sets to its own text or leaves
    // unchanged.
    let told = unsafe { (functions.error_string)(code, &mut text) } == SUCCESS && !text.is_null();
    // SAFETY: the driver's text ends in a zero and is never freed.
    let text =
        if told { unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned() } else { "no reason".to_owned() };
    Err(Fault::Call { call, text, code })
}

/// A card's primary context with one module in it. Closed when dropped.
pub(crate) struct Context {
    driver: Driver,
    device: c_int,
    context: Handle,
    module: Handle,
    process: Process,
}

// SAFETY: contexts and modules belong to the process, and every call makes the context current in
// its thread.
unsafe impl Send for Context {}

impl Context {
    /// Opens card `number` and loads an image: a cubin, or PTX that ends in a zero.
    pub(crate) fn open(driver: &Driver, number: usize, image: &[u8]) -> Result<Self, Fault> {
        let device = driver.device(number)?;
        let mut context = std::ptr::null_mut();
        // SAFETY: the address of a pointer.
        let code = unsafe { (driver.functions().context_retain)(&mut context, device) };
        driver.check("cuDevicePrimaryCtxRetain", code)?;
        let (driver, module) = (driver.clone(), std::ptr::null_mut());
        let mut opened = Context { driver, device, context, module, process: Process::current() };
        opened.enter()?;
        let mut module = std::ptr::null_mut();
        // SAFETY: an image that states its own length, or text that ends in a zero.
        let code = unsafe { (opened.driver.functions().module_load)(&mut module, image.as_ptr().cast()) };
        opened.driver.check("cuModuleLoadData", code)?;
        opened.module = module;
        Ok(opened)
    }

    /// Directs this thread's calls to this card. Fails in a child of the process that opened it,
    /// because the child has no context.
    fn enter(&self) -> Result<(), Fault> {
        if !self.process.is_current() {
            return Err(Fault::Forked);
        }
        // SAFETY: the context is retained.
        let code = unsafe { (self.driver.functions().context_current)(self.context) };
        self.driver.check("cuCtxSetCurrent", code)
    }

    pub(crate) fn function(&self, name: &str) -> Result<Handle, Fault> {
        self.enter()?;
        let name = format!("{name}\0");
        let mut function = std::ptr::null_mut();
        // SAFETY: the module is loaded, and the name ends in a zero.
        let code =
            unsafe { (self.driver.functions().module_function)(&mut function, self.module, name.as_ptr().cast()) };
        self.driver.check("cuModuleGetFunction", code)?;
        Ok(function)
    }

    pub(crate) fn allocate(&self, bytes: usize) -> Result<Address, Fault> {
        self.enter()?;
        let mut address = 0;
        // SAFETY: the address of a word.
        let code = unsafe { (self.driver.functions().allocate)(&mut address, bytes) };
        self.driver.check("cuMemAlloc", code)?;
        Ok(address)
    }

    pub(crate) fn free(&self, address: Address) -> Result<(), Fault> {
        self.enter()?;
        // SAFETY: the driver rejects addresses that it did not allocate.
        self.driver.check("cuMemFree", unsafe { (self.driver.functions().free)(address) })
    }

    pub(crate) fn write(&self, to: Address, bytes: &[u8]) -> Result<(), Fault> {
        self.enter()?;
        // SAFETY: `bytes` has this length; the driver checks the length on the card.
        let code = unsafe { (self.driver.functions().to_card)(to, bytes.as_ptr().cast(), bytes.len()) };
        self.driver.check("cuMemcpyHtoD", code)
    }

    pub(crate) fn zero(&self, address: Address, bytes: usize) -> Result<(), Fault> {
        self.enter()?;
        // SAFETY: the driver checks the length on the card.
        self.driver.check("cuMemsetD8", unsafe { (self.driver.functions().fill)(address, 0, bytes) })
    }

    /// Starts a kernel in a stream. Without a stream, waits for the kernel to end.
    ///
    /// # Safety
    /// The kernel takes one argument of type `T`. Until it has ended, every address in the argument
    /// refers to memory of this card of the size that the kernel assumes.
    pub(crate) unsafe fn launch<T>(
        &self,
        function: Handle,
        (blocks, threads): (u32, u32),
        argument: &T,
        stream: Option<Stream>,
    ) -> Result<(), Fault> {
        self.enter()?;
        let mut arguments = [(argument as *const T).cast_mut().cast::<c_void>()];
        let launch = self.driver.functions().launch;
        let into = stream.map_or(std::ptr::null_mut(), |stream| stream.0);
        // SAFETY: the caller guarantees the argument, and the driver copies it.
        let code = unsafe {
            launch(function, blocks, 1, 1, threads, 1, 1, 0, into, arguments.as_mut_ptr(), std::ptr::null_mut())
        };
        self.driver.check("cuLaunchKernel", code)?;
        if stream.is_none() { self.synchronise() } else { Ok(()) }
    }

    /// Waits for everything in progress.
    pub(crate) fn synchronise(&self) -> Result<(), Fault> {
        self.enter()?;
        // SAFETY: no arguments.
        self.driver.check("cuCtxSynchronize", unsafe { (self.driver.functions().synchronise)() })
    }

    /// Creates a stream. Its operations run in order, concurrently with other streams. Calls
    /// without a stream wait for all streams, and streams wait for them.
    pub(crate) fn stream(&self) -> Result<Stream, Fault> {
        self.enter()?;
        let mut stream = std::ptr::null_mut();
        // SAFETY: the address of a pointer. Without flags, the stream is ordered with calls that
        // name no stream.
        self.driver.check("cuStreamCreate", unsafe { (self.driver.functions().stream_create)(&mut stream, 0) })?;
        Ok(Stream(stream))
    }

    /// Creates a mark for streams.
    pub(crate) fn event(&self) -> Result<Event, Fault> {
        self.enter()?;
        let mut event = std::ptr::null_mut();
        // SAFETY: the address of a pointer.
        self.driver.check("cuEventCreate", unsafe { (self.driver.functions().event_create)(&mut event, 0) })?;
        Ok(Event(event))
    }

    /// Destroys streams and marks. Failures are ignored.
    pub(crate) fn end(&self, streams: &[Stream], events: &[Event]) {
        if self.enter().is_ok() {
            // SAFETY: created by `stream` and `event`, and not used again.
            streams.iter().for_each(|stream| _ = unsafe { (self.driver.functions().stream_destroy)(stream.0) });
            // SAFETY: as above.
            events.iter().for_each(|event| _ = unsafe { (self.driver.functions().event_destroy)(event.0) });
        }
    }

    /// Puts a mark after everything started so far in a stream.
    pub(crate) fn mark(&self, event: Event, stream: Stream) -> Result<(), Fault> {
        self.enter()?;
        // SAFETY: both belong to this context.
        self.driver.check("cuEventRecord", unsafe { (self.driver.functions().event_record)(event.0, stream.0) })
    }

    /// Makes a stream wait for a mark.
    pub(crate) fn follow(&self, stream: Stream, event: Event) -> Result<(), Fault> {
        self.enter()?;
        // SAFETY: both belong to this context.
        self.driver.check("cuStreamWaitEvent", unsafe { (self.driver.functions().stream_wait)(stream.0, event.0, 0) })
    }

    /// Waits for a mark in this thread.
    pub(crate) fn reach(&self, event: Event) -> Result<(), Fault> {
        self.enter()?;
        // SAFETY: the mark belongs to this context.
        self.driver.check("cuEventSynchronize", unsafe { (self.driver.functions().event_synchronise)(event.0) })
    }

    /// The time between two marks that have been reached.
    pub(crate) fn between(&self, first: Event, second: Event) -> Result<Duration, Fault> {
        self.enter()?;
        let mut milliseconds = 0.0;
        let elapsed = self.driver.functions().event_elapsed;
        // SAFETY: the address of a number, and marks of this context.
        self.driver.check("cuEventElapsedTime", unsafe { elapsed(&mut milliseconds, first.0, second.0) })?;
        Ok(Duration::try_from_secs_f32(milliseconds / 1000.0).unwrap_or_default())
    }

    /// Allocates memory of this machine that the card can access directly.
    pub(crate) fn pin(&self, bytes: usize) -> Result<Pinned, Fault> {
        self.enter()?;
        let mut at = std::ptr::null_mut();
        // SAFETY: the address of a pointer.
        self.driver.check("cuMemHostAlloc", unsafe { (self.driver.functions().pin)(&mut at, bytes, 0) })?;
        // SAFETY: the driver has just allocated this many bytes, and nothing else refers to them.
        unsafe { std::ptr::write_bytes(at.cast::<u8>(), 0, bytes) };
        Ok(Pinned { at: at.cast(), bytes })
    }

    /// Overwrites and frees pinned memory. No copy from or to it may be in progress.
    pub(crate) fn unpin(&self, mut pinned: Pinned) -> Result<(), Fault> {
        // A child may not even have the memory.
        if !self.process.is_current() {
            return Err(Fault::Forked);
        }
        limbs::wipe(pinned.bytes_mut());
        self.enter()?;
        // SAFETY: allocated by `pin`, and consumed here.
        self.driver.check("cuMemFreeHost", unsafe { (self.driver.functions().unpin)(pinned.at.cast()) })
    }

    /// Starts to copy the first bytes of pinned memory to the card.
    ///
    /// # Safety
    /// The memory is neither written nor freed before the copy has ended.
    pub(crate) unsafe fn send(&self, to: Address, from: &Pinned, bytes: usize, stream: Stream) -> Result<(), Fault> {
        self.enter()?;
        assert!(bytes <= from.bytes, "the copy is of what is there");
        // SAFETY: the memory has at least this many bytes; the driver checks the length on the
        // card.
        let code = unsafe { (self.driver.functions().send)(to, from.at.cast(), bytes, stream.0) };
        self.driver.check("cuMemcpyHtoDAsync", code)
    }

    /// Starts to copy from the card to pinned memory.
    ///
    /// # Safety
    /// The memory is neither read nor freed before the copy has ended.
    pub(crate) unsafe fn fetch(&self, into: &Pinned, from: Address, bytes: usize, stream: Stream) -> Result<(), Fault> {
        self.enter()?;
        assert!(bytes <= into.bytes, "the copy is of what is there");
        // SAFETY: the memory has at least this many bytes; the driver checks the length on the
        // card.
        let code = unsafe { (self.driver.functions().fetch)(into.at.cast(), from, bytes, stream.0) };
        self.driver.check("cuMemcpyDtoHAsync", code)
    }
}

/// Operations on a card that run in order.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Stream(Handle);

/// A mark in a stream.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Event(Handle);

/// Memory of this machine that is locked in place. [`Context::unpin`] frees it.
#[derive(Debug)]
pub(crate) struct Pinned {
    at: *mut u8,
    bytes: usize,
}

impl Pinned {
    /// Its length in bytes.
    pub(crate) fn len(&self) -> usize {
        self.bytes
    }

    /// Its content. No copy into it may be in progress.
    pub(crate) fn bytes(&self) -> &[u8] {
        // SAFETY: this many bytes exist, and were initialised when they were pinned.
        unsafe { std::slice::from_raw_parts(self.at, self.bytes) }
    }

    /// Its content, mutable. No copy from or to it may be in progress.
    pub(crate) fn bytes_mut(&mut self) -> &mut [u8] {
        // SAFETY: as above, and borrowed exclusively.
        unsafe { std::slice::from_raw_parts_mut(self.at, self.bytes) }
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // Failures are ignored: the context is released either way.
        match self.enter() {
            Err(Fault::Forked) => return,
            // SAFETY: the module is loaded and not used any more.
            Ok(()) if !self.module.is_null() => {
                _ = unsafe { (self.driver.functions().module_unload)(self.module) };
            }
            _ => {}
        }
        // SAFETY: retained once, by `open`.
        let _ = unsafe { (self.driver.functions().context_release)(self.device) };
    }
}
