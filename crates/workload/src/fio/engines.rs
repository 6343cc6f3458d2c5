//! fio's engines that read and write a block device.

/// Engines that submit one request at a time, whatever the depth.
pub(super) const SYNCHRONOUS: &[&str] =
    &["sync", "psync", "vsync", "pvsync", "pvsync2", "mmap", "splice", "libpmem", "dev-dax"];

/// Engines that keep as many requests in flight as the depth allows.
pub(super) const ASYNCHRONOUS: &[&str] = &[
    "libaio",
    "io_uring",
    "io_uring_cmd",
    "posixaio",
    "solarisaio",
    "windowsaio",
    "null",
    "sg",
    "rbd",
    "nbd",
    "xnvme",
    "libzbc",
    "libblkio",
];
