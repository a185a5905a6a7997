//! NVIDIA's driver (`libcuda`), loaded when it is asked for: the few functions of its interface
//! that this crate calls, by their own names.
//!
//! A program that contains this starts and runs on machines without the driver; [`Driver::load`]
//! says what is missing. The runtime library and the compiler of CUDA are not needed.

use std::ffi::{CStr, c_char, c_int, c_uint, c_void};
use std::fmt;
use std::path::Path;
use std::sync::Arc;

use hearith_arith::Process;
use libloading::Library;

use crate::fault::{Fault, OLDEST};

/// Names the library instead of the system's: for drivers in unusual places, and tests.
pub const LIBRARY_VARIABLE: &str = "HEARITH_CUDA_DRIVER";

#[cfg(windows)]
const LIBRARY: &str = "nvcuda.dll";
#[cfg(not(windows))]
const LIBRARY: &str = "libcuda.so.1";

const SUCCESS: c_int = 0;

/// An address in a card's memory.
pub(crate) type Address = u64;
/// Something that the driver knows by a pointer of its own.
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
    from_card = "cuMemcpyDtoH_v2": fn(*mut c_void, Address, usize);
    fill = "cuMemsetD8_v2": fn(Address, u8, usize);
    launch = "cuLaunchKernel": fn(Handle, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, c_uint, Handle, *mut Handle, *mut Handle);
}

/// The driver, initialised. Cloning is cheap.
#[derive(Clone)]
pub struct Driver(Arc<Parts>);

struct Parts {
    functions: Functions,
    version: c_int,
    /// Keeps the functions valid; never unloaded before them.
    _library: Library,
}

/// What a card is.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Properties {
    /// The name that its maker gave it.
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
    /// The driver of this machine, or the library that `HEARITH_CUDA_DRIVER` names.
    ///
    /// # Errors
    /// [`Fault::NoDriver`], [`Fault::BrokenDriver`], [`Fault::DriverTooOld`], or
    /// [`Fault::Call`] if it cannot be initialised.
    pub fn load() -> Result<Self, Fault> {
        match std::env::var_os(LIBRARY_VARIABLE).filter(|path| !path.is_empty()) {
            Some(path) => Self::open(Path::new(&path)),
            None => Self::open(Path::new(LIBRARY)),
        }
    }

    /// The driver in this library.
    ///
    /// # Errors
    /// As [`Driver::load`].
    pub fn open(path: &Path) -> Result<Self, Fault> {
        let name = path.display().to_string();
        // SAFETY: a driver's library has no other condition than being one; whoever names another
        // file as the driver has it run, as with LD_LIBRARY_PATH.
        let library = unsafe { Library::new(path) };
        let library = library.map_err(|cause| Fault::NoDriver { library: name.clone(), cause: Arc::new(cause) })?;
        let functions = Functions::of(&library, &name)?;
        let mut version = 0;
        // Before cuInit, which an old driver may refuse for its own reasons.
        // SAFETY: the address of an integer.
        check(&functions, "cuDriverGetVersion", unsafe { (functions.version)(&mut version) })?;
        if version < OLDEST.0 {
            return Err(Fault::DriverTooOld { found: version });
        }
        // SAFETY: flags must be 0.
        match check(&functions, "cuInit", unsafe { (functions.init)(0) }) {
            // CUDA_ERROR_NO_DEVICE
            Err(Fault::Call { code: 100, .. }) => return Err(Fault::NoCard),
            result => result?,
        }
        Ok(Driver(Arc::new(Parts { functions, version, _library: library })))
    }

    /// The driver's version as CUDA counts: 1000 times the major plus 10 times the minor number.
    pub fn version(&self) -> i32 {
        self.0.version
    }

    /// How many cards there are.
    ///
    /// # Errors
    /// [`Fault::Call`].
    pub fn count(&self) -> Result<usize, Fault> {
        let mut count = 0;
        // SAFETY: the address of an integer.
        self.check("cuDeviceGetCount", unsafe { (self.functions().device_count)(&mut count) })?;
        Ok(usize::try_from(count).unwrap_or(0))
    }

    /// What card `number` is, counted from 0.
    ///
    /// # Errors
    /// [`Fault::NoSuchCard`] or [`Fault::Call`].
    pub fn properties(&self, number: usize) -> Result<Properties, Fault> {
        let device = self.device(number)?;
        let mut name = [0; 256];
        // SAFETY: the length is that of the array.
        self.check("cuDeviceGetName", unsafe { (self.functions().device_name)(name.as_mut_ptr(), 256, device) })?;
        name[255] = 0;
        // SAFETY: the array ends in a zero at the latest.
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
        // As cuda.h numbers them: multiprocessors, major and minor compute capability.
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
    // SAFETY: the address of a pointer, which the driver sets to a text of its own or leaves.
    let told = unsafe { (functions.error_string)(code, &mut text) } == SUCCESS && !text.is_null();
    // SAFETY: the driver's text, which ends in a zero and is never freed.
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
// the thread that it comes from.
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
        // SAFETY: an image that says itself how long it is, or text that ends in a zero.
        let code = unsafe { (opened.driver.functions().module_load)(&mut module, image.as_ptr().cast()) };
        opened.driver.check("cuModuleLoadData", code)?;
        opened.module = module;
        Ok(opened)
    }

    /// Makes this thread's calls go to this card. Fails in a child of the process that opened it,
    /// which has no context of its own.
    fn enter(&self) -> Result<(), Fault> {
        if !self.process.is_current() {
            return Err(Fault::Forked);
        }
        // SAFETY: a context that is retained.
        let code = unsafe { (self.driver.functions().context_current)(self.context) };
        self.driver.check("cuCtxSetCurrent", code)
    }

    pub(crate) fn function(&self, name: &str) -> Result<Handle, Fault> {
        self.enter()?;
        let name = format!("{name}\0");
        let mut function = std::ptr::null_mut();
        // SAFETY: a module that is loaded, and a name that ends in a zero.
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
        // SAFETY: the driver refuses addresses that it did not give.
        self.driver.check("cuMemFree", unsafe { (self.driver.functions().free)(address) })
    }

    pub(crate) fn write(&self, to: Address, bytes: &[u8]) -> Result<(), Fault> {
        self.enter()?;
        // SAFETY: so many bytes are here; the driver looks whether they are there.
        let code = unsafe { (self.driver.functions().to_card)(to, bytes.as_ptr().cast(), bytes.len()) };
        self.driver.check("cuMemcpyHtoD", code)
    }

    pub(crate) fn read(&self, from: Address, bytes: &mut [u8]) -> Result<(), Fault> {
        self.enter()?;
        // SAFETY: so many bytes are here; the driver looks whether they are there.
        let code = unsafe { (self.driver.functions().from_card)(bytes.as_mut_ptr().cast(), from, bytes.len()) };
        self.driver.check("cuMemcpyDtoH", code)
    }

    pub(crate) fn zero(&self, address: Address, bytes: usize) -> Result<(), Fault> {
        self.enter()?;
        // SAFETY: the driver looks whether so many bytes are there.
        self.driver.check("cuMemsetD8", unsafe { (self.driver.functions().fill)(address, 0, bytes) })
    }

    /// Runs a kernel to its end.
    ///
    /// # Safety
    /// The kernel takes one argument of type `T`, and every address in it is of memory of this card
    /// that is as long as the kernel takes it for.
    pub(crate) unsafe fn launch<T>(
        &self,
        function: Handle,
        blocks: u32,
        threads: u32,
        argument: &T,
    ) -> Result<(), Fault> {
        self.enter()?;
        let mut arguments = [(argument as *const T).cast_mut().cast::<c_void>()];
        let none = std::ptr::null_mut();
        let launch = self.driver.functions().launch;
        // SAFETY: the argument is the kernel's, as the caller promises; the driver copies it.
        let code = unsafe {
            launch(function, blocks, 1, 1, threads, 1, 1, 0, none, arguments.as_mut_ptr(), std::ptr::null_mut())
        };
        self.driver.check("cuLaunchKernel", code)?;
        self.synchronise()
    }

    fn synchronise(&self) -> Result<(), Fault> {
        // SAFETY: no arguments.
        self.driver.check("cuCtxSynchronize", unsafe { (self.driver.functions().synchronise)() })
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        // What fails here has no one to be told: the context goes either way.
        match self.enter() {
            Err(Fault::Forked) => return,
            // SAFETY: a module that is loaded and not used any more.
            Ok(()) if !self.module.is_null() => {
                _ = unsafe { (self.driver.functions().module_unload)(self.module) };
            }
            _ => {}
        }
        // SAFETY: retained once, by `open`.
        let _ = unsafe { (self.driver.functions().context_release)(self.device) };
    }
}
