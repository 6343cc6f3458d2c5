//! A server of disks in memory on a Unix socket: a thread for each client, for tests and measurements alone.
#![allow(clippy::disallowed_methods, reason = "real clients need a real server: threads, sockets, files")]

use std::io::{self, IoSlice, Read, Write};
use std::os::unix::net::{UnixListener, UnixStream};
use std::path::Path;
use std::sync::{Arc, Mutex, PoisonError};

use outlast_nbd::{ConnectionEvent, NbdConnection, NbdServer};

use super::disk::Disk;

/// One disk for each export, shared by all clients.
pub(crate) type Disks = Arc<Vec<Mutex<Disk>>>;

/// Empty disks for the exports of `server`.
pub(crate) fn disks(server: &NbdServer) -> Disks {
    Arc::new(server.exports().iter().map(|export| Mutex::new(Disk::new(export.size.0))).collect())
}

/// Serves at `path`, for as long as the process lives.
pub(crate) fn start(path: &Path, server: Arc<NbdServer>, disks: Disks) -> io::Result<()> {
    let listener = UnixListener::bind(path)?;
    std::thread::spawn(move || {
        for stream in listener.incoming().flatten() {
            let (server, disks) = (server.clone(), disks.clone());
            std::thread::spawn(move || session(stream, server, &disks));
        }
    });
    Ok(())
}

/// One client, to its end. An error of the socket is the client's leaving.
pub(crate) fn session(mut stream: UnixStream, server: Arc<NbdServer>, disks: &Disks) -> io::Result<()> {
    let mut connection = NbdConnection::new(server);
    let mut export = 0;
    loop {
        while let Some(event) = connection.poll() {
            match event {
                ConnectionEvent::Opened => export = connection.export().map_or(0, |(index, _)| index),
                ConnectionEvent::Request(request) => {
                    let answer =
                        disks[export].lock().unwrap_or_else(PoisonError::into_inner).answer(&request);
                    let id = request.id;
                    answer.give(&mut connection, id);
                }
                ConnectionEvent::StartTls => return Err(io::Error::other("TLS is not offered")),
                ConnectionEvent::Ended(_) => {}
            }
        }
        if connection.output_len() > 0 {
            let sent = {
                let slices: Vec<_> = connection.output().take(64).map(IoSlice::new).collect();
                stream.write_vectored(&slices)?
            };
            connection.sent(sent);
        } else if connection.is_finished() {
            return Ok(());
        } else {
            let count = stream.read(connection.space())?;
            if count == 0 {
                return Ok(());
            }
            connection.filled(count);
        }
    }
}
