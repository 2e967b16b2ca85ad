//! MIT Kerberos as the machine has it (RFC 2743, RFC 2744), loaded when it is first asked for: the
//! program starts where it is not installed. It finds tickets, keytabs and centers as its own
//! configuration and environment tell it.

use std::ffi::{CStr, c_int, c_void};
use std::ptr::{NonNull, null_mut};
use std::sync::OnceLock;

/// What the library is called on Linux.
const NAME: &CStr = c"libgssapi_krb5.so.2";

/// `GSS_C_NT_HOSTBASED_SERVICE`, 1.2.840.113554.1.2.1.4.
const HOST_BASED_SERVICE: &[u8] = b"\x2a\x86\x48\x86\xf7\x12\x01\x02\x01\x04";
/// SPNEGO (RFC 4178), 1.3.6.1.5.5.2: says which kind of proof follows.
const SPNEGO: &[u8] = b"\x2b\x06\x01\x05\x05\x02";
/// Kerberos (RFC 4121), 1.2.840.113554.1.2.2.
const KERBEROS: &[u8] = b"\x2a\x86\x48\x86\xf7\x12\x01\x02\x02";

const MUTUAL_FLAG: u32 = 2;
const REPLAY_FLAG: u32 = 4;
const CONTINUE_NEEDED: u32 = 1;
/// Errors of the call and of the routine; below are hints.
const ERRORS: u32 = 0xffff_0000;
const ROUTINE_ERRORS: u32 = 0x00ff_0000;
const NO_CREDENTIALS: u32 = 7 << 16;
const INITIATE: c_int = 1;
/// Which of the two numbers a text is wanted for.
const OF_LIBRARY: c_int = 1;
const OF_MECHANISM: c_int = 2;
/// Texts of one number; one is usual.
const TEXTS_MAX: usize = 8;

/// `gss_OID_desc`
#[repr(C)]
struct Oid {
    length: u32,
    elements: *mut c_void,
}

impl Oid {
    /// The library only reads what the pointer leads to.
    fn of(bytes: &'static [u8]) -> Self {
        Self { length: bytes.len() as u32, elements: bytes.as_ptr().cast_mut().cast() }
    }
}

/// `gss_OID_set_desc`
#[repr(C)]
struct OidSet {
    count: usize,
    elements: *mut Oid,
}

/// `gss_buffer_desc`
#[repr(C)]
struct Buffer {
    length: usize,
    value: *mut c_void,
}

impl Buffer {
    const EMPTY: Self = Self { length: 0, value: null_mut() };

    /// The library only reads what the pointer leads to.
    fn of(bytes: &[u8]) -> Self {
        Self { length: bytes.len(), value: bytes.as_ptr().cast_mut().cast() }
    }
}

/// A name, a context, credentials: things of the library.
type Thing = *mut c_void;

type ImportName = unsafe extern "C" fn(*mut u32, *mut Buffer, *mut Oid, *mut Thing) -> u32;
type Release = unsafe extern "C" fn(*mut u32, *mut Thing) -> u32;
type ReleaseBuffer = unsafe extern "C" fn(*mut u32, *mut Buffer) -> u32;
type DeleteContext = unsafe extern "C" fn(*mut u32, *mut Thing, *mut Buffer) -> u32;
type DisplayStatus =
    unsafe extern "C" fn(*mut u32, u32, c_int, *mut Oid, *mut u32, *mut Buffer) -> u32;
type AcquireCredentials = unsafe extern "C" fn(
    *mut u32,
    Thing,
    u32,
    *mut OidSet,
    c_int,
    *mut Thing,
    *mut *mut OidSet,
    *mut u32,
) -> u32;
type InitContext = unsafe extern "C" fn(
    *mut u32,
    Thing,
    *mut Thing,
    Thing,
    *mut Oid,
    u32,
    u32,
    *mut c_void,
    *mut Buffer,
    *mut *mut Oid,
    *mut Buffer,
    *mut u32,
    *mut u32,
) -> u32;

/// The loaded library. It is never unloaded: contexts live as long as they like.
#[derive(Debug)]
pub struct Library {
    import_name: ImportName,
    release_name: Release,
    init_context: InitContext,
    delete_context: DeleteContext,
    acquire_credentials: AcquireCredentials,
    release_credentials: Release,
    display_status: DisplayStatus,
    release_buffer: ReleaseBuffer,
}

/// The machine's library; the error is the system's text. A library that was missing is looked for
/// again.
pub fn library() -> Result<&'static Library, String> {
    static LOADED: OnceLock<Library> = OnceLock::new();
    match LOADED.get() {
        Some(library) => Ok(library),
        None => Library::load(NAME).map(|library| LOADED.get_or_init(|| library)),
    }
}

/// The text of the last failure of loading on this thread.
fn loading_failed() -> String {
    // SAFETY: takes nothing.
    let text = unsafe { libc::dlerror() };
    if text.is_null() {
        return String::from("it cannot be loaded");
    }
    // SAFETY: a text of the loader ends with a NUL and stays until the thread's next call to it.
    unsafe { CStr::from_ptr(text) }.to_string_lossy().into_owned()
}

/// The address of a function as a function.
///
/// # Safety
/// `handle` is a loaded library whose function of that name has the type `F`.
unsafe fn function<F: Copy>(handle: NonNull<c_void>, name: &CStr) -> Result<F, String> {
    const { assert!(size_of::<F>() == size_of::<*mut c_void>()) };
    // SAFETY: the handle is open, the name ends with a NUL.
    let address = unsafe { libc::dlsym(handle.as_ptr(), name.as_ptr()) };
    if address.is_null() {
        return Err(loading_failed());
    }
    // SAFETY: the address is not null, as large as `F`, and of that type as the caller promised.
    Ok(unsafe { std::mem::transmute_copy::<*mut c_void, F>(&address) })
}

impl Library {
    fn load(name: &CStr) -> Result<Self, String> {
        // SAFETY: the name ends with a NUL. What the library does when it is loaded is what it does
        // in every program that is linked with it.
        let handle = unsafe { libc::dlopen(name.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
        let handle = NonNull::new(handle).ok_or_else(loading_failed)?;
        // SAFETY: the types are those of RFC 2744, appendix A, which the library's name stands for.
        unsafe {
            Ok(Self {
                import_name: function(handle, c"gss_import_name")?,
                release_name: function(handle, c"gss_release_name")?,
                init_context: function(handle, c"gss_init_sec_context")?,
                delete_context: function(handle, c"gss_delete_sec_context")?,
                acquire_credentials: function(handle, c"gss_acquire_cred")?,
                release_credentials: function(handle, c"gss_release_cred")?,
                display_status: function(handle, c"gss_display_status")?,
                release_buffer: function(handle, c"gss_release_buffer")?,
            })
        }
    }

    /// What the buffer holds; the library takes it back.
    fn taken(&self, mut buffer: Buffer) -> Vec<u8> {
        if buffer.value.is_null() {
            return Vec::new();
        }
        // SAFETY: a buffer of the library is as long as it says, and nobody else has it.
        let bytes = unsafe { std::slice::from_raw_parts(buffer.value.cast::<u8>(), buffer.length) };
        let bytes = bytes.to_vec();
        let mut minor = 0;
        // SAFETY: the buffer came from the library and is given back once.
        unsafe { (self.release_buffer)(&raw mut minor, &raw mut buffer) };
        bytes
    }

    /// The texts of a number.
    fn texts(&self, status: u32, of: c_int, found: &mut Vec<String>) {
        let (mut more, mut minor) = (0, 0);
        for _ in 0..TEXTS_MAX {
            let mut text = Buffer::EMPTY;
            // SAFETY: all pointers lead to variables of ours; no mechanism is named.
            let major = unsafe {
                let texts = (&raw mut more, &raw mut text);
                (self.display_status)(&raw mut minor, status, of, null_mut(), texts.0, texts.1)
            };
            if major & ERRORS != 0 {
                return;
            }
            let text = String::from_utf8_lossy(&self.taken(text)).trim().to_owned();
            if !text.is_empty() && !found.contains(&text) {
                found.push(text);
            }
            if more == 0 {
                return;
            }
        }
    }

    /// Why a call failed: the mechanism's words, else the library's.
    fn why(&self, major: u32, minor: u32) -> String {
        let mut found = Vec::new();
        if minor != 0 {
            self.texts(minor, OF_MECHANISM, &mut found);
        }
        if found.is_empty() {
            self.texts(major, OF_LIBRARY, &mut found);
        }
        found.join(": ")
    }

    /// Why there are no credentials, as Kerberos alone says it; `None` = there are some.
    fn why_no_credentials(&self) -> Option<String> {
        let mut kerberos = Oid::of(KERBEROS);
        let mut wanted = OidSet { count: 1, elements: &raw mut kerberos };
        let (mut credentials, mut minor) = (null_mut(), 0);
        // SAFETY: all pointers lead to variables of ours or say that nothing is wanted.
        let major = unsafe {
            (self.acquire_credentials)(
                &raw mut minor,
                null_mut(),
                u32::MAX,
                &raw mut wanted,
                INITIATE,
                &raw mut credentials,
                null_mut(),
                null_mut(),
            )
        };
        if major & ERRORS != 0 {
            return Some(self.why(major, minor));
        }
        // SAFETY: the library gave them, and they are given back once.
        unsafe { (self.release_credentials)(&raw mut minor, &raw mut credentials) };
        None
    }
}

/// What comes of a step.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Step {
    /// What the other side is to be told.
    pub token: Vec<u8>,
    /// Whether its answer is awaited.
    pub more: bool,
}

/// One side's proof that it is who it is, for one service.
#[derive(Debug)]
pub struct Context {
    library: &'static Library,
    target: Thing,
    context: Thing,
}

// SAFETY: the library's things belong to no thread; only the owner of the context
// uses them.
unsafe impl Send for Context {}

impl Context {
    /// A proof for `service@host`. Asks nobody.
    pub fn new(library: &'static Library, service_at_host: &str) -> Result<Self, String> {
        let mut name = Buffer::of(service_at_host.as_bytes());
        let mut kind = Oid::of(HOST_BASED_SERVICE);
        let (mut target, mut minor) = (null_mut(), 0);
        // SAFETY: all pointers lead to variables of ours, which the call outlives by none.
        let major = unsafe {
            (library.import_name)(&raw mut minor, &raw mut name, &raw mut kind, &raw mut target)
        };
        if major & ERRORS != 0 {
            return Err(library.why(major, minor));
        }
        Ok(Self { library, target, context: null_mut() })
    }

    /// The first step, or the answer to what the other side said. The first one may ask the key
    /// distribution center, which blocks as long as the library is patient. The error is the
    /// library's text.
    pub fn step(&mut self, heard: Option<&[u8]>) -> Result<Step, String> {
        let mut heard = heard.map_or(Buffer::EMPTY, Buffer::of);
        let mut mechanism = Oid::of(SPNEGO);
        let (mut token, mut minor) = (Buffer::EMPTY, 0);
        // SAFETY: name and context are the library's own, all other pointers lead to variables of
        // ours or say that nothing is wanted.
        let major = unsafe {
            (self.library.init_context)(
                &raw mut minor,
                null_mut(),
                &raw mut self.context,
                self.target,
                &raw mut mechanism,
                MUTUAL_FLAG | REPLAY_FLAG,
                0,
                null_mut(),
                &raw mut heard,
                null_mut(),
                &raw mut token,
                null_mut(),
                null_mut(),
            )
        };
        let token = self.library.taken(token);
        if major & ERRORS == 0 {
            return Ok(Step { token, more: major & CONTINUE_NEEDED != 0 });
        }
        let known = self.library.why(major, minor);
        // What chooses among mechanisms says only that none is left.
        let why = match major & ROUTINE_ERRORS {
            NO_CREDENTIALS => self.library.why_no_credentials().unwrap_or(known),
            _ => known,
        };
        Err(why)
    }
}

impl Drop for Context {
    fn drop(&mut self) {
        let mut minor = 0;
        // SAFETY: both are the library's own or null, and nobody uses them any more.
        unsafe {
            (self.library.delete_context)(&raw mut minor, &raw mut self.context, null_mut());
            (self.library.release_name)(&raw mut minor, &raw mut self.target);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_library_that_is_not_there_is_named() {
        let why = Library::load(c"libgssapi_nothing.so.0").unwrap_err();
        assert!(why.contains("libgssapi_nothing.so.0"), "{why}");
        // A library without these functions.
        let why = Library::load(c"libm.so.6").unwrap_err();
        assert!(why.contains("gss_import_name"), "{why}");
    }
}
