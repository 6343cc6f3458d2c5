//! Do the functions of the header keep their word where a caller is wrong, and do contents come back?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::disallowed_methods, reason = "what a compiler reads")]

use outlast::{
    CCompletion, CStatistics, CallStatus, DeviceHandle, outlast_advance, outlast_advance_to_completion,
    outlast_capacity, outlast_completions, outlast_free, outlast_message, outlast_next_event, outlast_now,
    outlast_open_file, outlast_open_text, outlast_statistics, outlast_submit,
};
use std::ffi::{CStr, CString, c_int, c_void};
use std::mem::MaybeUninit;
use std::ptr;

const OK: c_int = CallStatus::Ok as c_int;
const BAD_ARGUMENT: c_int = CallStatus::BadArgument as c_int;
const READ: u32 = 0;
const WRITE: u32 = 1;
const FLUSH: u32 = 3;
const NEVER: u64 = u64::MAX;
const ABORTED: u32 = 4;
const ZONE_ERROR: u32 = 6;

/// A device that is freed at its end.
struct Opened(*mut DeviceHandle);

impl Opened {
    fn new(settings: &[&str]) -> Self {
        let texts: Vec<CString> = settings.iter().map(|&text| CString::new(text).unwrap()).collect();
        let pointers: Vec<_> = texts.iter().map(|text| text.as_ptr()).collect();
        let mut device = ptr::null_mut();
        // SAFETY: all pointers are those of vectors and strings that live until the call returns.
        let code = unsafe {
            outlast_open_file(c"serve-drive".as_ptr(), pointers.as_ptr(), pointers.len(), &raw mut device)
        };
        assert_eq!(code, OK, "{}", message());
        Self(device)
    }

    fn of_text(text: &CStr) -> Self {
        let mut device = ptr::null_mut();
        // SAFETY: the text ends with a zero, and the handle can be written.
        let code = unsafe { outlast_open_text(text.as_ptr(), ptr::null(), 0, &raw mut device) };
        assert_eq!(code, OK, "{}", message());
        Self(device)
    }

    fn submit(&self, op: u32, offset: u64, length: u64, tag: u64, data: Option<&[u8]>) -> c_int {
        assert!(data.is_none_or(|data| data.len() as u64 == length));
        let data = data.map_or(ptr::null(), |data| data.as_ptr().cast::<c_void>());
        // SAFETY: the handle is live, and contents are as long as `length`.
        unsafe { outlast_submit(self.0, op, 0, offset, length, tag, data) }
    }

    /// The next completion, which was served: tag and contents.
    fn next(&self) -> (u64, Vec<u8>) {
        let (tag, outcome, data) = self.ended();
        assert_eq!(outcome, 0);
        (tag, data)
    }

    /// The next completion: tag, outcome, and contents.
    fn ended(&self) -> (u64, u32, Vec<u8>) {
        let mut ended = MaybeUninit::<CCompletion>::uninit();
        // SAFETY: the handle is live and there is room for one, which is written where the count is 1; its contents are good until the next call.
        unsafe {
            assert_eq!(outlast_advance_to_completion(self.0, outlast_now(self.0) + 1_000_000_000), OK);
            assert_eq!(outlast_completions(self.0, ended.as_mut_ptr(), 1), 1);
            let ended = ended.assume_init();
            let data = if ended.data.is_null() {
                Vec::new()
            } else {
                std::slice::from_raw_parts(ended.data.cast::<u8>(), ended.length as usize).to_vec()
            };
            (ended.tag, ended.outcome, data)
        }
    }
}

impl Drop for Opened {
    fn drop(&mut self) {
        // SAFETY: the handle is live, and this is its end.
        unsafe { outlast_free(self.0) };
    }
}

fn message() -> String {
    // SAFETY: the message is a string until the next call of this thread.
    unsafe { CStr::from_ptr(outlast_message()) }.to_str().unwrap().to_owned()
}

#[test]
fn contents_that_are_written_are_read() {
    let device = Opened::new(&["device.bytes=true"]);
    let contents: Vec<u8> = (0..8192u32).map(|byte| (byte / 7) as u8).collect();
    assert_eq!(device.submit(WRITE, 4096, 8192, u64::MAX, Some(&contents)), OK);
    assert_eq!(device.next(), (u64::MAX, Vec::new()));
    assert_eq!(device.submit(FLUSH, 0, 0, 8, None), OK);
    assert_eq!(device.next().0, 8);
    assert_eq!(device.submit(READ, 6144, 4096, 9, None), OK);
    assert_eq!(device.next(), (9, contents[2048..6144].to_vec()));
    assert_eq!(device.submit(WRITE, 0, 4096, 1, None), BAD_ARGUMENT);
    assert!(message().contains("data: must be given"), "{}", message());
}

#[test]
fn wrong_arguments_change_nothing_and_say_why() {
    let device = Opened::new(&[]);
    for (code, says) in [
        (device.submit(READ, 1, 4096, 0, None), "offset = 1: must be a multiple of 512"),
        (device.submit(READ, 0, 100, 0, None), "length = 100: must be a multiple of 512"),
        (device.submit(READ, 0, 0, 0, None), "length = 0: must be from 512"),
        (device.submit(WRITE, 0, 1 << 50, 0, None), "length = 1125899906842624: must be from 512"),
        (device.submit(4, 0, 512, 0, None), "op = 4: must be OUTLAST_READ to OUTLAST_FLUSH"),
        (device.submit(READ, 0, 512, 0, Some(&[0; 512])), "data: belongs to a write"),
    ] {
        assert_eq!(code, BAD_ARGUMENT, "{says}");
    }
    // SAFETY: the handle is live; the others are null, which each function allows.
    unsafe {
        assert_eq!(outlast_submit(device.0, READ, 2, 0, 512, 0, ptr::null()), BAD_ARGUMENT);
        assert!(message().contains("flags = 0x2"), "{}", message());
        assert_eq!(outlast_advance(device.0, 1_000), OK);
        assert_eq!(outlast_advance(device.0, 999), BAD_ARGUMENT);
        assert_eq!(message(), "time = 999 ns: it is 1000 ns already");
        assert_eq!(outlast_advance(device.0, NEVER), BAD_ARGUMENT);
        assert_eq!(outlast_now(device.0), 1_000);
        assert_eq!(outlast_completions(device.0, ptr::null_mut(), 5), 0);
        assert_eq!(outlast_statistics(device.0, ptr::null_mut(), 8), BAD_ARGUMENT);
        assert_eq!(outlast_advance(ptr::null_mut(), 0), BAD_ARGUMENT);
        assert_eq!((outlast_capacity(ptr::null_mut()), outlast_next_event(ptr::null_mut())), (0, NEVER));
        outlast_free(ptr::null_mut());
        let mut none = ptr::null_mut();
        assert_eq!(outlast_open_text(ptr::null(), ptr::null(), 0, &raw mut none), BAD_ARGUMENT);
        assert_eq!(outlast_open_text(c"".as_ptr(), ptr::null(), 1, &raw mut none), BAD_ARGUMENT);
        assert_eq!(outlast_open_text(c"".as_ptr(), ptr::null(), 0, ptr::null_mut()), BAD_ARGUMENT);
        let bad = CallStatus::BadScenario as c_int;
        assert_eq!(outlast_open_text(c"seed = -1".as_ptr(), ptr::null(), 0, &raw mut none), bad);
        assert!(none.is_null() && message().contains("seed"), "{}", message());
    }
}

#[test]
fn no_more_requests_are_in_flight_than_there_can_be() {
    let device = Opened::new(&[]);
    let in_flight = (0..1 << 16).filter(|&tag| device.submit(READ, 0, 512, tag, None) == OK).count();
    assert_eq!(in_flight, 1 << 16);
    assert_eq!(device.submit(READ, 0, 512, 0, None), CallStatus::Full as c_int);
    device.next();
    assert_eq!(device.submit(READ, 0, 512, 0, None), OK);
}

#[test]
fn an_older_header_gets_the_statistics_that_it_knows() {
    let device = Opened::new(&[]);
    assert_eq!(device.submit(WRITE, 0, 4096, 1, None), OK);
    device.next();
    let mut seen = [u64::MAX; size_of::<CStatistics>() / 8];
    // SAFETY: the handle is live, and there is room for a whole structure of numbers of eight bytes.
    assert_eq!(unsafe { outlast_statistics(device.0, seen.as_mut_ptr().cast(), 32) }, OK);
    assert_eq!(seen[..5], [1, 0, 0, 4096, u64::MAX]);
}

/// The constants and structures of the header are those of the library: the C compiler says so.
#[test]
fn the_header_says_what_the_library_has() {
    let folder = tempfile::tempdir().unwrap();
    let source = folder.path().join("sizes.c");
    let text = format!(
        "#include <outlast.h>\n_Static_assert(sizeof(outlast_completion) == {}, \"completion\");\n\
         _Static_assert(sizeof(outlast_statistics_t) == {}, \"statistics\");\n\
         _Static_assert(OUTLAST_ABI == {} && OUTLAST_BUG == {} && OUTLAST_INVALID_OPCODE == {}, \"constants\");\n",
        size_of::<CCompletion>(),
        size_of::<CStatistics>(),
        outlast::outlast_abi(),
        CallStatus::Bug as c_int,
        outlast_device::Outcome::KINDS - 1,
    );
    std::fs::write(&source, text).unwrap();
    let include = concat!("-I", env!("CARGO_MANIFEST_DIR"), "/../../python/outlast/include");
    let done = std::process::Command::new("cc")
        .args(["-std=c11", "-Wall", "-Werror", "-fsyntax-only", include])
        .arg(&source)
        .output()
        .expect("cc");
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
}

/// A drive with zones is written at the write pointers of its zones alone.
#[test]
fn a_write_beside_the_write_pointer_of_a_zone_ends_with_the_error_of_zones() {
    let text = c"
        device.geometry.channels = 4
        device.geometry.chips_per_channel = 1
        device.geometry.dies_per_chip = 1
        device.geometry.planes_per_die = 2
        device.geometry.blocks_per_plane = 64
        device.geometry.pages_per_block = 48
        device.geometry.page_size = '16KiB'
        device.timing = { read = '60us', program = '700us', erase = '3.5ms', bus = '667MB/s' }
        device.ftl.mapping_unit = '4KiB'
        device.zones = { count = 48, max_active = 6 }
        precondition = { fill = 'none', overwrite = 'none' }
        workload.zoned = { size = '64KiB', bytes = '64MiB' }
    ";
    let device = Opened::of_text(text);
    for (offset, outcome) in [(0, 0), (8192, ZONE_ERROR), (4096, 0)] {
        assert_eq!(device.submit(WRITE, offset, 4096, offset, None), OK);
        assert_eq!(device.ended(), (offset, outcome, Vec::new()));
    }
}

/// A member is gone and a stripe is in doubt when the power fails: such an array does not start by itself.
#[test]
fn requests_to_an_array_that_does_not_start_are_aborted() {
    let text = c"
        extends = 'serve-drive'
        array = { level = 'raid5', members = 4, chunk = '16KiB' }
        [[faults]]
        at = '1ms'
        kind = 'device'
        device = 2
        [[faults]]
        at = '2ms'
        kind = 'power'
    ";
    let device = Opened::of_text(text);
    let mut now = 0;
    for tag in 0..64 {
        assert_eq!(device.submit(WRITE, tag * 4096, 4096, tag, None), OK, "{}", message());
        now += 50_000;
        // SAFETY: the handle is live.
        assert_eq!(unsafe { outlast_advance(device.0, now) }, OK, "{}", message());
    }
    let outcomes: Vec<u32> = (0..64).map(|_| device.ended().1).collect();
    assert_eq!((outcomes[0], outcomes[63]), (0, ABORTED), "{outcomes:?}");
    for op in [READ, FLUSH] {
        assert_eq!(device.submit(op, 0, 4096, 99, None), OK, "{}", message());
        assert_eq!(device.ended(), (99, ABORTED, Vec::new()));
    }
}

/// A destructor of the caller's own runs after those of this library's values.
#[test]
fn a_call_that_fails_while_its_thread_ends_has_a_code_and_no_message() {
    struct AtEnd;
    impl Drop for AtEnd {
        fn drop(&mut self) {
            // SAFETY: no device is given, which is refused.
            let code = unsafe { outlast_advance(ptr::null_mut(), 0) };
            assert_eq!((code, message()), (BAD_ARGUMENT, String::new()));
        }
    }
    thread_local! {
        static AT_END: AtEnd = const { AtEnd };
    }
    let ends = || {
        // Destructors run in the opposite order: the message's value is made later, and is gone first.
        AT_END.with(|_| ());
        // SAFETY: as above.
        assert_eq!(unsafe { outlast_advance(ptr::null_mut(), 0) }, BAD_ARGUMENT);
        assert!(!message().is_empty());
    };
    std::thread::Builder::new().spawn(ends).unwrap().join().unwrap();
}

/// The header says that threads may use a device in turn.
#[test]
fn a_device_may_go_from_thread_to_thread() {
    const fn goes<T: Send>() {}
    const { goes::<outlast::VirtualHost>() };
}

/// The header says how much: coroutines of event-driven simulators have small stacks.
#[test]
fn a_device_is_opened_and_used_on_a_stack_of_512_kib() {
    let uses = || {
        for text in
            [c"extends = 'serve-drive'", c"extends = 'serve-drive'\narray = { level = 'raid5', members = 4 }"]
        {
            let device = Opened::of_text(text);
            assert_eq!(device.submit(WRITE, 0, 4096, 1, None), OK, "{}", message());
            assert_eq!(device.next().0, 1);
        }
    };
    std::thread::Builder::new().stack_size(512 << 10).spawn(uses).unwrap().join().unwrap();
}
