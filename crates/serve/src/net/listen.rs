//! Listening sockets.

use std::fs::{DirBuilder, Permissions};
use std::io;
use std::net::{IpAddr, SocketAddr, TcpListener, ToSocketAddrs};
use std::os::fd::{AsFd, BorrowedFd};
use std::os::unix::fs::{DirBuilderExt, FileTypeExt, MetadataExt, PermissionsExt};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::{Path, PathBuf};
use std::str::FromStr;

use thiserror::Error;

use super::{ClientLink, ClientStream};

/// Address to listen at.
#[derive(Clone, Debug, PartialEq, Eq)]
pub enum ListenAddress {
    /// A Unix socket at this path, which only its user may open.
    Unix(PathBuf),
    /// A TCP address; port 0 stands for any free port.
    Tcp(SocketAddr),
}

/// Reason for which an address cannot be used.
#[derive(Debug, Error)]
pub enum ListenError {
    /// The text has neither of the two forms.
    #[error("\"{0}\": must be unix:PATH or tcp:ADDRESS:PORT, such as tcp:127.0.0.1:10809")]
    Form(String),
    /// Clients of other computers could connect, read and write everything.
    #[error(
        "\"tcp:{0}\": other machines can reach it, and clients need not encrypt: use tcp:127.0.0.1:PORT or unix:PATH, require TLS \
         (--tls-cert, --tls-key), or add --insecure"
    )]
    NotLoopback(SocketAddr),
    /// Error of the system.
    #[error("\"{place}\": {error}")]
    System {
        /// Address.
        place: String,
        /// The error.
        error: io::Error,
    },
}

impl FromStr for ListenAddress {
    type Err = ListenError;

    fn from_str(text: &str) -> Result<Self, ListenError> {
        match text.split_once(':') {
            Some(("unix", path)) if !path.is_empty() => Ok(Self::Unix(PathBuf::from(path))),
            Some(("tcp", address)) => {
                let resolved = address.to_socket_addrs().ok().and_then(|mut all| all.next());
                resolved.map(Self::Tcp).ok_or_else(|| ListenError::Form(text.to_owned()))
            }
            _ => Err(ListenError::Form(text.to_owned())),
        }
    }
}

impl ListenAddress {
    /// Refuses addresses that other computers can reach, unless `is_safe`.
    ///
    /// # Errors
    /// The address is not a loopback address.
    pub fn check(&self, is_safe: bool) -> Result<(), ListenError> {
        match self {
            Self::Tcp(address) if !is_safe && !is_loopback(address.ip()) => {
                Err(ListenError::NotLoopback(*address))
            }
            _ => Ok(()),
        }
    }
}

fn is_loopback(address: IpAddr) -> bool {
    address.to_canonical().is_loopback()
}

/// Listening socket. The file of a Unix socket is removed with it.
#[derive(Debug)]
pub(crate) struct ClientListener {
    socket: ListeningSocket,
    /// Address: an absolute path, or the port that the system has chosen.
    address: ListenAddress,
    /// Device and inode of a Unix socket's file. Another file at the same path must not be removed.
    file: Option<(u64, u64)>,
}

#[derive(Debug)]
enum ListeningSocket {
    Unix(UnixListener),
    Tcp(TcpListener),
}

impl ClientListener {
    /// Begins to listen. Clients that connect wait until they are accepted.
    pub(crate) fn bind(listen: &ListenAddress) -> Result<Self, ListenError> {
        let (place, bound) = match listen {
            ListenAddress::Unix(path) => (format!("unix:{}", path.display()), bind_unix(path)),
            ListenAddress::Tcp(address) => (format!("tcp:{address}"), bind_tcp(*address)),
        };
        bound.map_err(|error| ListenError::System { place, error })
    }

    /// Accepts the next client, if one waits.
    pub(crate) fn accept(&self) -> io::Result<Option<ClientLink>> {
        let accepted = match &self.socket {
            ListeningSocket::Unix(socket) => socket.accept().map(|(stream, _)| ClientStream::Unix(stream)),
            ListeningSocket::Tcp(socket) => socket.accept().map(|(stream, _)| ClientStream::Tcp(stream)),
        };
        match accepted {
            Ok(stream) => Ok(Some(ClientLink::new(stream.prepared()?))),
            Err(error) if error.kind() == io::ErrorKind::WouldBlock => Ok(None),
            Err(error) => Err(error),
        }
    }

    /// Address: an absolute path, or the port that the system has chosen.
    pub(crate) fn address(&self) -> &ListenAddress {
        &self.address
    }
}

impl AsFd for ClientListener {
    fn as_fd(&self) -> BorrowedFd<'_> {
        match &self.socket {
            ListeningSocket::Unix(socket) => socket.as_fd(),
            ListeningSocket::Tcp(socket) => socket.as_fd(),
        }
    }
}

impl Drop for ClientListener {
    fn drop(&mut self) {
        if let ListenAddress::Unix(path) = &self.address {
            let present = std::fs::symlink_metadata(path).ok().map(|data| (data.dev(), data.ino()));
            if present.is_some() && present == self.file {
                // Fails only if somebody else has removed the file first.
                let _ = std::fs::remove_file(path);
            }
        }
    }
}

fn bind_unix(path: &Path) -> io::Result<ClientListener> {
    let path = std::path::absolute(path)?;
    if let Some(folder) = path.parent()
        && !folder.exists()
    {
        DirBuilder::new().mode(0o700).recursive(true).create(folder)?;
    }
    // A bind fails if the file exists, even if no server listens any more.
    remove_stale(&path)?;
    let socket = UnixListener::bind(&path)?;
    std::fs::set_permissions(&path, Permissions::from_mode(0o600))?;
    socket.set_nonblocking(true)?;
    let file = std::fs::symlink_metadata(&path).ok().map(|data| (data.dev(), data.ino()));
    Ok(ClientListener { socket: ListeningSocket::Unix(socket), address: ListenAddress::Unix(path), file })
}

fn bind_tcp(address: SocketAddr) -> io::Result<ClientListener> {
    let socket = TcpListener::bind(address)?;
    socket.set_nonblocking(true)?;
    let address = ListenAddress::Tcp(socket.local_addr()?);
    Ok(ClientListener { socket: ListeningSocket::Tcp(socket), address, file: None })
}

/// Removes a socket file that an ended server left behind, recognised by a refused connection. Any other file is left alone.
fn remove_stale(path: &Path) -> io::Result<()> {
    let Ok(present) = std::fs::symlink_metadata(path) else { return Ok(()) };
    if !present.file_type().is_socket() {
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
    fn only_loopback_addresses_are_allowed_by_default() {
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
            let listen: ListenAddress = text.parse().unwrap();
            assert_eq!(listen.check(false).is_ok(), is_local, "{text}");
            assert!(listen.check(true).is_ok(), "{text}");
        }
        for text in ["", "unix:", "tcp:", "tcp:127.0.0.1", "10809", "udp:127.0.0.1:1", "tcp:127.0.0.1:99999"]
        {
            assert!(text.parse::<ListenAddress>().is_err(), "{text}");
        }
    }

    #[test]
    fn a_socket_left_behind_is_replaced_and_nothing_else_is() {
        let folder = std::env::temp_dir().join(format!("outlast-listen-{}", std::process::id()));
        let path = folder.join("new").join("s");
        let at = ListenAddress::Unix(path.clone());
        // The folder is created for its user alone.
        let first = ClientListener::bind(&at).unwrap();
        assert_eq!(std::fs::metadata(path.parent().unwrap()).unwrap().mode() & 0o777, 0o700);
        assert_eq!(std::fs::symlink_metadata(&path).unwrap().mode() & 0o777, 0o600);
        let taken = ClientListener::bind(&at).unwrap_err().to_string();
        assert!(taken.contains("another server listens there"), "{taken}");
        drop(first);
        assert!(!path.exists(), "the file goes with the listener");
        // A killed server leaves its file.
        drop(UnixListener::bind(&path).unwrap());
        assert!(path.exists());
        drop(ClientListener::bind(&at).unwrap());
        std::fs::write(&path, "mine").unwrap();
        let file = ClientListener::bind(&at).unwrap_err().to_string();
        assert!(file.contains("a file that is not a socket"), "{file}");
        assert_eq!(std::fs::read(&path).unwrap(), b"mine");
        std::fs::remove_dir_all(folder).unwrap();
    }
}
