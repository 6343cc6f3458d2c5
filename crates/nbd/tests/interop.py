"""A client's view of flags and errors, through libnbd: `interop.py URI URI-OF-A-READ-ONLY-EXPORT`."""

import errno
import sys

import nbd

SIZE = 64 << 20
uri, fixed = sys.argv[1:]


def connected(uri: str, structured: bool = True) -> nbd.NBD:
    """A client that checks nothing itself."""
    h = nbd.NBD()
    h.set_request_structured_replies(structured)
    h.add_meta_context("base:allocation")
    h.add_meta_context("x-outlast:health")
    h.set_strict_mode(0)
    h.connect_uri(uri)
    return h


def fails(code: int, what) -> None:
    """`what` ends in `code`, and the session goes on."""
    try:
        what()
    except nbd.Error as error:
        assert error.errnum == code, f"{errno.errorcode[code]} was due: {error}"
    else:
        raise AssertionError(f"{errno.errorcode[code]} was due")


def extents(h: nbd.NBD, count: int, offset: int, flags: int = 0) -> dict[str, list[int]]:
    """What the contexts say."""
    found: dict[str, list[int]] = {}
    h.block_status(count, offset, lambda name, at, entries, error: found.__setitem__(name, entries) or 0, flags)
    return found


for structured in (True, False):
    h = connected(uri, structured)
    h.pwrite(b"a" * 4096, 0, nbd.CMD_FLAG_FUA)
    h.pwrite(b"b" * 512, 512)
    assert h.pread(1024, 0) == b"a" * 512 + b"b" * 512
    h.flush()
    h.trim(4096, 0, nbd.CMD_FLAG_FUA)
    h.cache(1 << 20, 0)
    assert h.pread(4096, 0) == bytes(4096)
    h.pwrite(b"c" * 8192, 0)
    h.zero(4096, 0)
    h.zero(4096, 4096, nbd.CMD_FLAG_NO_HOLE | nbd.CMD_FLAG_FUA)
    assert h.pread(8192, 0) == bytes(8192)
    h.zero(4096, 0, nbd.CMD_FLAG_FAST_ZERO)
    fails(errno.ENOTSUP, lambda: h.zero(4096, 0, nbd.CMD_FLAG_FAST_ZERO | nbd.CMD_FLAG_NO_HOLE))
    fails(errno.EINVAL, lambda: h.pread(512, SIZE))
    fails(errno.EINVAL, lambda: h.pread(1024, SIZE - 512))
    fails(errno.ENOSPC, lambda: h.pwrite(bytes(1024), SIZE - 512))
    fails(errno.ENOSPC, lambda: h.zero(1024, SIZE - 512))
    fails(errno.EINVAL, lambda: h.trim(1024, SIZE - 512))
    fails(errno.EINVAL, lambda: h.pread(100, 0))
    fails(errno.EINVAL, lambda: h.pread(512, 100))
    fails(errno.EINVAL, lambda: h.pwrite(bytes(100), 0))
    fails(errno.EINVAL, lambda: h.pread(0, 0))
    fails(errno.EINVAL, lambda: h.trim(512, 0, nbd.CMD_FLAG_DF))
    fails(errno.EINVAL, lambda: h.pwrite(bytes(512), 0, nbd.CMD_FLAG_REQ_ONE))
    # libnbd itself reads no more than 64 MiB; the server's limit is 32.
    fails(errno.EOVERFLOW if structured else errno.EINVAL, lambda: h.pread((32 << 20) + 512, 0))
    assert len(h.pread(32 << 20, 16 << 20)) == 32 << 20
    fails(errno.EIO, lambda: h.pread(4096, 8 << 20))
    h.pwrite(bytes(512), 16 << 20)
    h.shutdown()

h = connected(uri)
# What of a read is good, and where it is bad: 8 MiB is the first of two lost sectors.
h.pwrite(b"d" * 512, (8 << 20) - 512)
h.pwrite(b"e" * 512, (8 << 20) + 1024)
seen = []
fails(
    errno.EIO,
    lambda: h.pread_structured(
        2048, (8 << 20) - 512, lambda data, at, kind, error: seen.append((kind, at, bytes(data), error.value)) or 0
    ),
)
good = [(at, data) for kind, at, data, _ in seen if kind == nbd.READ_DATA]
assert good == [((8 << 20) - 512, b"d" * 512), ((8 << 20) + 1024, b"e" * 512)], good
assert [at for kind, at, _, _ in seen if kind == nbd.READ_ERROR] == [8 << 20], seen
# Unfragmented: one chunk of data.
kinds = []
h.pread_structured(8192, 0, lambda data, at, kind, error: kinds.append((kind, at, len(data))) or 0, nbd.CMD_FLAG_DF)
assert len(kinds) == 1, kinds
# Writing makes it good again.
h.pwrite(b"f" * 1024, 8 << 20)
assert h.pread(1024, 8 << 20) == b"f" * 1024

h.pwrite(b"g" * 4096, 20 << 20)
assert extents(h, 1 << 20, 20 << 20) == {
    "base:allocation": [4096, 0, (1 << 20) - 4096, 3],
    "x-outlast:health": [4096, 4, (1 << 20) - 4096, 0],
}
one = extents(h, 1 << 20, 20 << 20, nbd.CMD_FLAG_REQ_ONE)
assert one == {"base:allocation": [4096, 0], "x-outlast:health": [4096, 4]}, one
one = extents(h, 512, 20 << 20, nbd.CMD_FLAG_REQ_ONE)
assert one == {"base:allocation": [512, 0], "x-outlast:health": [512, 4]}, one
h.flush()
assert extents(h, 512, 20 << 20)["x-outlast:health"][1] == 0
fails(errno.EINVAL, lambda: extents(h, 1024, SIZE - 512))

# A connection that negotiates and does not come to an end does not hold up another one.
slow = nbd.NBD()
slow.set_opt_mode(True)
slow.connect_uri(uri)
names: list[str] = []
slow.opt_list(lambda name, description: names.append(name) or 0)
assert names == ["disk", "fixed", "name with spaces"], names
assert h.pread(512, 20 << 20) == b"g" * 512
for name in ("n" * 4096, "none"):
    slow.set_export_name(name)
    fails(errno.ENOENT, slow.opt_info)
slow.set_export_name("disk")
slow.opt_info()
slow.opt_go()
assert slow.get_size() == SIZE
slow.shutdown()

h = connected(fixed)
assert h.is_read_only()
fails(errno.EPERM, lambda: h.pwrite(bytes(512), 0))
fails(errno.EPERM, lambda: h.trim(512, 0))
fails(errno.EPERM, lambda: h.zero(512, 0))
assert h.pread(512, 0) == bytes(512)
h.shutdown()
print("all as specified")
