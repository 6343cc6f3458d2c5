//! Where clients come in.

use std::fs::{DirBuilder, Permissions};
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use thiserror::Error;

use super::{Link, Stream};

/// Where to listen.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum Listen {
    /// A Unix socket at this path, which only its user may open.
    Unix(PathBuf),
    /// A TCP port; number 0 is any free one.
    Tcp(SocketAddr),
}

/// Why nobody can listen there.
#[derive(Debug, Error)]
pub enum ListenError {
    /// Neither of the two forms.
    #[error("--listen \"{0}\": must be unix:PATH or tcp:ADDRESS:PORT, such as tcp:127.0.0.1:10809")]
    Form(String),
    /// Whoever can reach the address could read and write everything.
    #[error(
        "--listen \"tcp:{0}\": is not of this machine alone, and clients need not encrypt: use tcp:127.0.0.1:PORT or unix:PATH, require TLS \
         (--tls-cert, --tls-key), or add --insecure"
    )]
    NotLoopback(SocketAddr),
    /// What the system says.
    #[error("--listen \"{place}\": {error}")]
    System {
        /// Where.
        place: String,
        /// What.
        error: io::Error,
    },
}

impl FromStr for Listen {
    type Err = ListenError;

    fn from_str(text: &str) -> Result<Self, ListenError> {
        match text.split_once(':') {
            Some(("unix", path)) if !path.is_empty() => Ok(Self::Unix(PathBuf::from(path))),
            Some(("tcp", address)) => {
                let found = address.to_socket_addrs().ok().and_then(|mut all| all.next());
                found.map(Self::Tcp).ok_or_else(|| ListenError::Form(text.to_owned()))
            }
            _ => Err(ListenError::Form(text.to_owned())),
        }
    }
}

impl Listen {
    /// Refuses what others than this machine can reach, unless that is `safe` or wanted.
    ///
    /// # Errors
    /// An address that is not a loopback one.
    pub fn check(&self, safe: bool) -> Result<(), ListenError> {
        match self {
            Self::Tcp(address) if !safe && !is_loopback(address.ip()) => {
                Err(ListenError::NotLoopback(*address))
            }
            _ => Ok(()),
        }
    }
}

fn is_loopback(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}

/// A socket that clients connect to; a Unix socket's file goes with it.
#[derive(Debug)]
pub(crate) struct Listener {
    socket: Socket,
    /// The address: an absolute path, or the port that the system has chosen.
    place: Listen,
    /// Device and inode of a Unix socket's file: another one at the same path is not ours to remove.
    made: Option<(u64, u64)>,
}

#[derive(Debug)]
enum Socket {
    Unix(UnixListener),
    Tcp(TcpListener),
}

impl Listener {
    /// Listens. Nothing is accepted yet; who connects waits.
    pub(crate) fn bind(at: &Listen) -> Result<Self, ListenError> {
        let (place, bound) = match at {
            Listen::Unix(path) => (format!("unix:{}", path.display()), bind_unix(path)),
            Listen::Tcp(address) => (format!("tcp:{address}"), bind_tcp(*address)),
        };
        bound.map_err(|error| ListenError::System { place, error })
    }

    /// The next client, if one waits.
    pub(crate) fn accept(&self) -> io::Result<Option<Link>> {
        let accepted = match &self.socket {
            Socket::Unix(socket) => socket.accept().map(|(stream, _)| Stream::Unix(stream)),
            Socket::Tcp(socket) => socket.accept().map(|(stream, _)| Stream::Tcp(stream)),
        };
        match accepted {
            Ok(stream) => Ok(Some(Link::new(stream.prepared()?))),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// The address: an absolute path, or the port that the system has chosen.
    pub(crate) fn place(&self) -> &Listen {
        &self.place
    }
}

impl AsFd for Listener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.socket {
            Socket::Unix(socket) => socket.as_fd(),
            Socket::Tcp(socket) => socket.as_fd(),
        }
    }
}

impl Drop for Listener {
    fn drop(&mut self) {
        if let Listen::Unix(path) = &self.place {
            let there = std::fs::symlink_metadata(path).ok().map(|data| (data.dev(), data.ino()));
            if there.is_some() && there == self.made {
                // Who removes it first does not matter.
                let _ = std::fs::remove_file(path);
            }
        }
    }
}

fn bind_unix(path: &Path) -> io::Result<Listener> {
    let path = std::path::absolute(path)?;
    if let Some(folder) = path.parent()
        && !folder.exists()
    {
        DirBuilder::new().mode(0o700).recursive(true).create(folder)?;
    }
    remove_stale(&path)?;
    let socket = UnixListener::bind(&path)?;
    std::fs::set_permissions(&path, Permissions::from_mode(0o600))?;
    socket.set_nonblocking(true)?;
    let made = std::fs::symlink_metadata(&path).ok().map(|data| (data.dev(), data.ino()));
    Ok(Listener { socket: Socket::Unix(socket), place: Listen::Unix(path), made })
}

fn bind_tcp(address: SocketAddr) -> io::Result<Listener> {
    let socket = TcpListener::bind(address)?;
    socket.set_nonblocking(true)?;
    let place = Listen::Tcp(socket.local_addr()?);
    Ok(Listener { socket: Socket::Tcp(socket), place, made: None })
}

/// A socket that a server has left behind is removed: one that nobody answers at. Anything else is not ours.
fn remove_stale(path: &Path) -> io::Result<()> {
    let Ok(there) = std::fs::symlink_metadata(path) else { return Ok(()) };
    if !there.file_type().is_socket() {
        return Err(io::Error::new(io::ErrorKind::AlreadyExists, "there is a file that is not a socket"));
    }
    match UnixStream::connect(path) {
        Err(error) if error.kind() == io::ErrorKind::ConnectionRefused => std::fs::remove_file(path),
        Err(error) => Err(error),
        Ok(_) => Err(io::Error::new(io::ErrorKind::AddrInUse, "another server listens there")),
    }
}

#[cfg(test)]
#[allow(clippy::disallowed_methods, reason = "what a listener must leave alone is a file")]
mod tests {
    use super::*;

    #[test]
    fn only_this_machine_is_let_in_unless_said_otherwise() {
        for (text, is_local) in [
            ("tcp:127.0.0.1:10809", true),
            ("tcp:127.9.8.7:1", true),
            ("tcp:[::1]:10809", true),
            ("tcp:[::ffff:127.0.0.1]:1", true),
            ("tcp:0.0.0.0:10809", false),
            ("tcp:[::]:10809", false),
            ("tcp:192.0.2.1:10809", false),
            ("unix:/tmp/x", true),
        ] {
            let listen: Listen = text.parse().unwrap();
            assert_eq!(listen.check(false).is_ok(), is_local, "{text}");
            assert!(listen.check(true).is_ok(), "{text}");
        }
        for text in ["", "unix:", "tcp:", "tcp:127.0.0.1", "10809", "udp:127.0.0.1:1", "tcp:127.0.0.1:99999"]
        {
            assert!(text.parse::<Listen>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_socket_left_behind_is_replaced_and_nothing_else_is() {
        let folder = std::env::temp_dir().join(format!("outlast-listen-{}", std::process::id()));
        let path = folder.join("new").join("s");
        let at = Listen::Unix(path.clone());
        // The folder is made, for its user alone.
        let first = Listener::bind(&at).unwrap();
        assert_eq!(std::fs::metadata(path.parent().unwrap()).unwrap().mode() & 0o777, 0o700);
        assert_eq!(std::fs::symlink_metadata(&path).unwrap().mode() & 0o777, 0o600);
        let taken = Listener::bind(&at).unwrap_err().to_string();
        assert!(taken.contains("another server listens there"), "{taken}");
        drop(first);
        assert!(!path.exists(), "the file goes with the listener");
        // A server that was killed leaves its file.
        drop(UnixListener::bind(&path).unwrap());
        assert!(path.exists());
        drop(Listener::bind(&at).unwrap());
        std::fs::write(&path, "mine").unwrap();
        let file = Listener::bind(&at).unwrap_err().to_string();
        assert!(file.contains("a file that is not a socket"), "{file}");
        assert_eq!(std::fs::read(&path).unwrap(), b"mine");
        std::fs::remove_dir_all(folder).unwrap();
    }
}
