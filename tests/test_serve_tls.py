"""Is what is served over TLS encrypted, the same bytes, and for nobody but those who are meant?"""

from __future__ import annotations

import random
import socket
import ssl
import struct
import subprocess
import time
from collections.abc import Iterator
from contextlib import ExitStack, suppress
from pathlib import Path

import pytest

from conftest import call
from patience import PATIENCE_S
from served import SMALL, Served, needs, serving

MIB = 1 << 20
EC = ("-newkey", "ec", "-pkeyopt", "ec_paramgen_curve:prime256v1", "-nodes", "-days", "2")
NAMES = "subjectAltName=DNS:localhost,IP:127.0.0.1\nbasicConstraints=CA:FALSE\nextendedKeyUsage="

pytestmark = needs("openssl")


def openssl(folder: Path, *words: str) -> None:
    subprocess.run(["openssl", *words], cwd=folder, check=True, capture_output=True)


def certificates(folder: Path) -> Path:
    """An authority, and its certificates for a server and a client, by the names that libnbd and QEMU know."""
    folder.mkdir()
    openssl(folder, "req", "-x509", *EC, "-keyout", "ca-key.pem", "-out", "ca-cert.pem", "-subj", f"/CN={folder.name}")
    for who, use in (("server", "serverAuth"), ("client", "clientAuth")):
        (folder / "ext").write_text(NAMES + use)
        openssl(folder, "req", *EC, "-keyout", f"{who}-key.pem", "-out", f"{who}.csr", "-subj", "/CN=localhost")
        signing = ("-CA", "ca-cert.pem", "-CAkey", "ca-key.pem", "-CAcreateserial", "-days", "2", "-extfile", "ext")
        openssl(folder, "x509", "-req", "-in", f"{who}.csr", "-out", f"{who}-cert.pem", *signing)
    return folder


@pytest.fixture(scope="module")
def ours(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Certificates of the authority that is trusted."""
    return certificates(tmp_path_factory.mktemp("tls") / "ours")


@pytest.fixture(scope="module")
def theirs(tmp_path_factory: pytest.TempPathFactory) -> Path:
    """Certificates of another authority."""
    return certificates(tmp_path_factory.mktemp("tls") / "theirs")


def encrypted(folder: Path, certificates: Path, *more: str) -> list[str]:
    """Arguments of a server on TCP."""
    (folder / "small.toml").write_text(SMALL)
    keys = ["--tls-cert", str(certificates / "server-cert.pem"), "--tls-key", str(certificates / "server-key.pem")]
    listen = [] if "--listen" in more else ["--listen", "tcp:127.0.0.1:0"]
    return ["small.toml", "--clock", "virtual", *listen, *keys, *more]


@pytest.fixture
def drive(tmp_path: Path, ours: Path) -> Iterator[Served]:
    """A small drive that only those who encrypt find."""
    with serving(tmp_path, *encrypted(tmp_path, ours)) as served:
        yield served


def as_known_to(certificates: Path, uri: str) -> str:
    """The address with what libnbd needs to know."""
    return f"{uri}{'&' if '?' in uri else '?'}tls-certificates={certificates}"


@needs("nbdinfo")
def test_nbdinfo_finds_the_drive_by_tls_and_nothing_without(drive: Served, ours: Path, theirs: Path) -> None:
    assert drive.uri.startswith("nbds://127.0.0.1:")
    found = drive.json("nbdinfo", "--json", as_known_to(ours, drive.uri))
    assert found["TLS"] is True and found["structured"] is True
    assert found["exports"][0]["export-size"] == 96 * MIB
    assert [each["export-name"] for each in found["exports"]] == ["small"]
    plain = drive.uri.replace("nbds:", "nbd:")
    for words in (["nbdinfo", plain], ["nbdinfo", "--list", plain]):
        refused = drive.run(*words, check=False)
        assert refused.returncode != 0 and "96M" not in refused.stdout and "small" not in refused.stdout
    stranger = drive.run("nbdinfo", as_known_to(theirs, drive.uri), check=False)
    assert stranger.returncode != 0 and "certificate" in stranger.stderr
    # None of that has harmed anybody.
    assert drive.json("nbdinfo", "--json", as_known_to(ours, drive.uri))["TLS"] is True


@needs("nbdcopy")
def test_what_goes_there_and_back_encrypted_is_the_same(drive: Served, ours: Path) -> None:
    uri = as_known_to(ours, drive.uri)
    content = random.Random(5).randbytes(64 * MIB) + bytes(32 * MIB)
    (drive.folder / "image").write_bytes(content)
    drive.run("nbdcopy", "--flush", "--connections=4", "--request-size=1048576", "image", uri)
    drive.run("nbdcopy", "--connections=4", uri, "back")
    assert (drive.folder / "back").read_bytes() == content


@needs("qemu-img")
def test_qemu_encrypts_too(drive: Served, ours: Path, theirs: Path) -> None:
    port = drive.uri.split(":")[2].split("/")[0]
    (drive.folder / "part").write_bytes(random.Random(6).randbytes(MIB))

    def qemu(certificates: Path, *words: str, check: bool = True) -> subprocess.CompletedProcess[str]:
        tls = f"tls-creds-x509,id=tls0,endpoint=client,dir={certificates}"
        return drive.run("qemu-img", words[0], "--object", tls, *words[1:], check=check)

    image = f"driver=nbd,host=localhost,port={port},export=small,tls-creds=tls0"
    assert "96 MiB" in qemu(ours, "info", "--image-opts", image).stdout
    qemu(ours, "convert", "-n", "-f", "raw", "--target-image-opts", "part", image)
    shown = qemu(ours, "compare", "--image-opts", "driver=file,filename=part", image, check=False)
    # Behind the part there are zeroes, which is no difference.
    assert shown.returncode == 0, shown
    assert qemu(theirs, "info", "--image-opts", image, check=False).returncode != 0
    plain = drive.run("qemu-img", "info", drive.uri.replace("nbds:", "nbd:"), check=False)
    assert plain.returncode != 0 and "TLS" in plain.stderr


@needs("nbdinfo")
def test_only_clients_with_a_certificate_of_the_authority_are_let_in(tmp_path: Path, ours: Path, theirs: Path) -> None:
    (tmp_path / "stranger").mkdir()
    (tmp_path / "nobody").mkdir()
    for name in ("client-cert.pem", "client-key.pem"):
        (tmp_path / "stranger" / name).write_bytes((theirs / name).read_bytes())
    for who in ("stranger", "nobody"):
        (tmp_path / who / "ca-cert.pem").write_bytes((ours / "ca-cert.pem").read_bytes())
    with serving(tmp_path, *encrypted(tmp_path, ours, "--tls-ca", str(ours / "ca-cert.pem"))) as served:
        assert served.json("nbdinfo", "--json", as_known_to(ours, served.uri))["TLS"] is True
        for who in ("stranger", "nobody"):
            refused = served.run("nbdinfo", as_known_to(tmp_path / who, served.uri), check=False)
            assert refused.returncode != 0 and "96M" not in refused.stdout, who


@needs("nbdinfo", "nbdcopy")
def test_encryption_may_be_left_to_clients(tmp_path: Path, ours: Path) -> None:
    socket = f"unix:{tmp_path / 'nbd'}"
    (tmp_path / "part").write_bytes(random.Random(7).randbytes(MIB))
    with serving(tmp_path, *encrypted(tmp_path, ours, "--tls", "offer", "--listen", socket)) as served:
        assert served.uri.startswith("nbd+unix:")
        served.run("nbdcopy", "part", served.uri)
        secure = as_known_to(ours, served.uri.replace("nbd+unix:", "nbds+unix:"))
        assert served.json("nbdinfo", "--json", secure)["TLS"] is True
        served.run("nbdcopy", secure, "back")
        assert (tmp_path / "back").read_bytes()[:MIB] == (tmp_path / "part").read_bytes()


def exactly(stream: socket.socket, count: int) -> bytes:
    """Receives `count` bytes; fewer where the other side has hung up."""
    found = b""
    while len(found) < count and (more := stream.recv(count - len(found))):
        found += more
    return found


def knock(port: int) -> socket.socket:
    """A client that has been told to begin with TLS."""
    stream = socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S)
    assert exactly(stream, 18).startswith(b"NBDMAGICIHAVEOPT")
    stream.sendall(struct.pack(">I8sII", 3, b"IHAVEOPT", 5, 0))
    assert struct.unpack(">QIII", exactly(stream, 20)) == (0x3E889045565A9, 5, 1, 0)
    return stream


def ended(stream: socket.socket) -> bool:
    """True if the server hangs up."""
    stream.settimeout(PATIENCE_S)
    try:
        while stream.recv(4096):
            pass
    except TimeoutError:
        return False
    except ConnectionError:
        pass
    return True


@needs("nbdinfo")
def test_a_handshake_that_does_not_end_holds_nobody_up_and_has_its_time(drive: Served, ours: Path) -> None:
    with ExitStack() as stack:
        hold_up(drive, as_known_to(ours, drive.uri), stack)


HANDSHAKE_S = 10
"""Seconds that the server gives a client to open the export."""


def hold_up(drive: Served, uri: str, stack: ExitStack) -> None:
    """Clients that do not come to an end, among good ones."""
    port = int(drive.uri.split(":")[2].split("/")[0])
    begun = time.monotonic()
    silent = [stack.enter_context(knock(port)) for _ in range(8)]
    # Half a hello, and a byte now and then.
    silent[0].sendall(b"\x16\x03\x01\x02\x00\x01")
    nonsense = stack.enter_context(knock(port))
    nonsense.sendall(b"GET / HTTP/1.1\r\n\r\n" * 100)
    assert ended(nonsense)
    behind = stack.enter_context(socket.create_connection(("127.0.0.1", port), timeout=PATIENCE_S))
    behind.sendall(struct.pack(">I8sII", 3, b"IHAVEOPT", 5, 0) + b"plain text behind it")
    assert ended(behind)
    for _ in range(5):
        drive.run("nbdinfo", "--size", uri)
        # It may have been hung up on a machine on which these five take its ten seconds.
        with suppress(ConnectionError):
            silent[0].sendall(b"\x00")
    assert all(ended(stream) for stream in silent)
    assert time.monotonic() - begun >= HANDSHAKE_S
    drive.run("nbdinfo", "--size", uri)


def test_what_was_agreed_in_plain_text_is_forgotten_and_tls_1_2_is_enough(drive: Served, ours: Path) -> None:
    port = int(drive.uri.split(":")[2].split("/")[0])
    context = ssl.create_default_context(cafile=str(ours / "ca-cert.pem"))
    context.maximum_version = ssl.TLSVersion.TLSv1_2
    with context.wrap_socket(knock(port), server_hostname="localhost") as stream:
        assert stream.version() == "TLSv1.2"
        stream.sendall(struct.pack(">8sII", b"IHAVEOPT", 3, 0))
        # One export, of a name of five letters; then the acknowledgement.
        head = exactly(stream, 20)
        kind, length = struct.unpack(">8xIII", head)[1:]
        assert (kind, exactly(stream, length)[:9]) == (2, b"\0\0\0\x05small")
        assert struct.unpack(">8xIII", exactly(stream, 20)) == (3, 1, 0)
    context.minimum_version = context.maximum_version = ssl.TLSVersion.TLSv1_3
    other = ssl.create_default_context()
    with pytest.raises(ssl.SSLCertVerificationError):
        other.wrap_socket(knock(port), server_hostname="localhost")
    with context.wrap_socket(knock(port), server_hostname="localhost") as stream:
        assert stream.version() == "TLSv1.3"


@pytest.mark.parametrize("place", ["tcp:0.0.0.0:0", "tcp:[::]:0"])
def test_other_machines_come_in_only_where_all_encrypt(tmp_path: Path, ours: Path, place: str) -> None:
    arguments = encrypted(tmp_path, ours, "--listen", place)
    plain = ["small.toml", "--clock", "virtual", "--listen", place]
    with serving(tmp_path, *arguments) as served:
        assert served.uri.startswith("nbds://")
    for words in ([*arguments, "--tls", "offer"], plain):
        refused = call("serve", *words, cwd=tmp_path, check=False)
        assert (refused.returncode, refused.stdout) == (2, "")
        assert refused.stderr.count("\n") == 1 and "--tls-cert" in refused.stderr and "--insecure" in refused.stderr
    with serving(tmp_path, *plain, "--insecure") as served:
        assert served.uri.startswith("nbd://")


def test_what_cannot_encrypt_is_refused_in_one_line(tmp_path: Path, ours: Path, theirs: Path) -> None:
    (tmp_path / "small.toml").write_text(SMALL)
    (tmp_path / "text").write_text("no certificate")
    cert, key = str(ours / "server-cert.pem"), str(ours / "server-key.pem")
    for arguments, words in (
        (["--tls-cert", "none", "--tls-key", key], '--tls-cert "none": No such file'),
        (["--tls-cert", "text", "--tls-key", key], '--tls-cert "text": has no certificate'),
        (["--tls-cert", cert, "--tls-key", "text"], '--tls-key "text": has no private key'),
        (["--tls-cert", cert, "--tls-key", str(theirs / "server-key.pem")], "does not fit --tls-cert"),
        (["--tls-cert", cert, "--tls-key", key, "--tls-ca", "text"], '--tls-ca "text": has no certificate'),
        (["--tls-cert", cert], "--tls-cert and --tls-key belong together"),
        (["--tls-key", key], "--tls-cert and --tls-key belong together"),
        (["--tls", "offer"], "--tls and --tls-ca belong to --tls-cert"),
        (["--tls-cert", cert, "--tls-key", key, "--file", "drive"], "--file connects without TLS: add --tls offer"),
    ):
        refused = call("serve", "small.toml", *arguments, cwd=tmp_path, check=False)
        assert (refused.returncode, refused.stdout) == (2, ""), arguments
        assert words in refused.stderr and refused.stderr.rstrip().count("\n") <= 1, refused.stderr


def test_nothing_readable_is_on_the_wire(tmp_path: Path, ours: Path) -> None:
    """A man in the middle sees the knock, and from then on nothing that he knows."""
    with ExitStack() as stack:
        served = stack.enter_context(serving(tmp_path, *encrypted(tmp_path, ours)))
        port = int(served.uri.split(":")[2].split("/")[0])
        context = ssl.create_default_context(cafile=str(ours / "ca-cert.pem"))
        outside, inside = ssl.MemoryBIO(), ssl.MemoryBIO()
        tls = context.wrap_bio(inside, outside, server_hostname="localhost")
        stream, wire = stack.enter_context(knock(port)), b""

        def exchange(what: str, *words: int | bytes) -> bytes:
            nonlocal wire
            while True:
                try:
                    found = getattr(tls, what)(*words)
                    stream.sendall(outside.read())
                    return found if isinstance(found, bytes) else b""
                except ssl.SSLWantReadError:
                    stream.sendall(outside.read())
                    more = stream.recv(1 << 16)
                    wire += more
                    inside.write(more)

        exchange("do_handshake")
        exchange("write", struct.pack(">8sII", b"IHAVEOPT", 3, 0))
        assert b"small" in exchange("read", 64)
        assert wire and b"small" not in wire and b"\x00\x03\xe8\x89" not in wire
