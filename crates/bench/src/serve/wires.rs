//! The same requests over NBD and over NVMe/TCP: what a request costs the server's thread, whose processor time the system counts in nanoseconds
//! (`/proc/self/task/*/schedstat`). The clients are threads of this process that know the sizes of answers and count bytes, so that both protocols
//! have clients of the same kind.

use std::fmt::Write as _;
use std::fs;
use std::io::{self, Read, Write};
use std::net::TcpStream;
use std::thread;
use std::time::Duration;

use outlast_units::rng::SplitMix;

use super::NbdLoad;

/// Bytes of a request's data.
const BLOCK: u64 = 4096;
/// Blocks of the drive.
const BLOCKS: u64 = (1 << 30) / BLOCK;

/// A protocol, with the digests of NVMe/TCP.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Wire {
    Nbd,
    Nvme { digests: bool },
}

/// Addresses of a server.
pub(super) struct ServedAt<'a> {
    pub(super) nbd: &'a str,
    pub(super) nvme: &'a str,
}

/// A connection of a client, ready for requests.
struct BenchClient {
    socket: TcpStream,
    wire: Wire,
    is_read: bool,
    /// Bytes of an answer.
    answer: usize,
    rng: SplitMix,
    next_id: u16,
}

/// Wires in the order of their columns; the first is what the others are held against.
const WIRES: [(&str, Wire); 3] = [
    ("NBD", Wire::Nbd),
    ("NVMe/TCP", Wire::Nvme { digests: false }),
    ("NVMe/TCP, digests", Wire::Nvme { digests: true }),
];

/// The table of all loads, in turns of so many requests of each wire, whose median counts: neighbours on the machine disturb some.
pub(super) fn table(
    at: &ServedAt<'_>,
    loads: &[NbdLoad],
    (turns, requests): (usize, u64),
) -> Result<String, String> {
    let mut text = String::from(
        "Processor time of the server's thread by protocol over TCP, microseconds a request, and as a multiple of NBD's in the same turn; medians\n",
    );
    // What is touched first costs the server pages of memory.
    cost(at, Wire::Nbd, ("randread", 32, 1), requests).map_err(|error| error.to_string())?;
    for &load in loads {
        let mut found = [const { Vec::new() }; WIRES.len()];
        for _ in 0..turns {
            let mut nbd = None;
            for ((name, wire), found) in WIRES.into_iter().zip(&mut found) {
                let cpu_us = cost(at, wire, load, requests).map_err(|error| format!("{name}: {error}"))?;
                found.push((cpu_us, cpu_us / *nbd.get_or_insert(cpu_us)));
            }
        }
        let (rw, depth, connections) = load;
        for ((name, _), found) in WIRES.into_iter().zip(&found) {
            let cpu_us = median(found.iter().map(|one| one.0));
            let times = median(found.iter().map(|one| one.1));
            let _ = writeln!(
                text,
                "{name:<24} {rw:<9} depth {depth:>2} x {connections}: {cpu_us:>6.2} us {times:>5.2}"
            );
        }
    }
    Ok(text)
}

fn median(values: impl Iterator<Item = f64>) -> f64 {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values[values.len() / 2]
}

/// Microseconds of the server's thread for each of `requests` requests.
fn cost(at: &ServedAt<'_>, wire: Wire, (rw, depth, connections): NbdLoad, requests: u64) -> io::Result<f64> {
    let mut admin = None;
    let clients =
        (0..connections).map(|number| BenchClient::open(at, wire, rw == "randread", number, &mut admin));
    let clients = clients.collect::<io::Result<Vec<_>>>()?;
    let before = server_ns()?;
    let (depth, own) = (u64::from(depth / connections), requests / u64::from(connections));
    let loads: Vec<_> =
        clients.into_iter().map(|client| thread::spawn(move || client.load(depth, own))).collect();
    for load in loads {
        load.join().map_err(|_| io::Error::other("a client has failed"))??;
    }
    let spent = server_ns()? - before;
    Ok(spent as f64 * 1e-3 / (own * u64::from(connections)) as f64)
}

/// Nanoseconds of processor time of the threads of this process that serve.
fn server_ns() -> io::Result<u64> {
    let mut sum = 0;
    for task in fs::read_dir("/proc/self/task")? {
        let path = task?.path();
        if fs::read_to_string(path.join("comm"))?.trim() == "serve" {
            let text = fs::read_to_string(path.join("schedstat"))?;
            sum += text.split_whitespace().next().and_then(|word| word.parse::<u64>().ok()).unwrap_or(0);
        }
    }
    Ok(sum)
}

impl BenchClient {
    fn open(
        at: &ServedAt<'_>,
        wire: Wire,
        is_read: bool,
        number: u32,
        admin: &mut Option<(TcpStream, u16)>,
    ) -> io::Result<Self> {
        let socket = match wire {
            Wire::Nbd => nbd(at.nbd)?,
            Wire::Nvme { digests } => {
                // The first queue brings its controller along.
                if admin.is_none() {
                    *admin = Some(nvme(at.nvme, digests, 0, 0xFFFF)?);
                }
                let controller = admin.as_ref().map_or(0, |&(_, controller)| controller);
                nvme(at.nvme, digests, number as u16 + 1, controller)?.0
            }
        };
        let data = if is_read { BLOCK as usize } else { 0 };
        let answer = match wire {
            Wire::Nbd => 16 + data,
            Wire::Nvme { digests } => {
                let digest = if digests { 4 } else { 0 };
                24 + digest + if is_read { 24 + digest + data + digest } else { 0 }
            }
        };
        let rng = SplitMix::new(number.into(), "bench-wires");
        Ok(Self { socket, wire, is_read, answer, rng, next_id: 0 })
    }

    /// Keeps `depth` requests under way until `requests` were answered.
    fn load(mut self, depth: u64, requests: u64) -> io::Result<()> {
        let (mut space, mut held) = (vec![0; 1 << 20], 0);
        let mut output = Vec::new();
        let mut under_way = depth.min(requests);
        let mut left = requests - under_way;
        (0..under_way).for_each(|_| self.request(&mut output));
        self.socket.write_all(&output)?;
        while under_way > 0 {
            held += match self.socket.read(&mut space)? {
                0 => return Err(io::ErrorKind::UnexpectedEof.into()),
                count => count,
            };
            let answered = (held / self.answer) as u64;
            held %= self.answer;
            let next = answered.min(left);
            output.clear();
            (0..next).for_each(|_| self.request(&mut output));
            self.socket.write_all(&output)?;
            (under_way, left) = (under_way - answered + next, left - next);
        }
        Ok(())
    }

    /// Appends the next request.
    fn request(&mut self, to: &mut Vec<u8>) {
        let block = self.rng.below(BLOCKS);
        self.next_id = (self.next_id + 1) % 1024;
        match self.wire {
            Wire::Nbd => {
                to.extend(0x2560_9513_u32.to_be_bytes());
                to.extend([0, 0, 0, u8::from(!self.is_read)]);
                to.extend(u64::from(self.next_id).to_be_bytes());
                to.extend((block * BLOCK).to_be_bytes());
                to.extend((BLOCK as u32).to_be_bytes());
                if !self.is_read {
                    to.resize(to.len() + BLOCK as usize, 0x5A);
                }
            }
            Wire::Nvme { digests } => {
                let mut entry = [0; 64];
                (entry[0], entry[1], entry[4]) = (if self.is_read { 2 } else { 1 }, 0x40, 1);
                entry[2..4].copy_from_slice(&self.next_id.to_le_bytes());
                entry[32..36].copy_from_slice(&(BLOCK as u32).to_le_bytes());
                entry[39] = if self.is_read { 0x5A } else { 0x01 };
                entry[40..48].copy_from_slice(&(block * 8).to_le_bytes());
                entry[48] = 7;
                let data = vec![0x5A; if self.is_read { 0 } else { BLOCK as usize }];
                to.extend(capsule(&entry, &data, digests));
            }
        }
    }
}

/// A command as a unit, with its data behind it.
fn capsule(entry: &[u8; 64], data: &[u8], digests: bool) -> Vec<u8> {
    let digest = if digests { 4 } else { 0 };
    let offset = 72 + digest;
    let length = if data.is_empty() { offset } else { offset + data.len() + digest };
    let flags = if digests { 1 | u8::from(!data.is_empty()) << 1 } else { 0 };
    let mut unit = vec![0x04, flags, 72, if data.is_empty() { 0 } else { offset as u8 }];
    unit.extend((length as u32).to_le_bytes());
    unit.extend(entry);
    if digests {
        unit.extend(crc32c::crc32c(&unit).to_le_bytes());
    }
    unit.extend(data);
    if digests && !data.is_empty() {
        unit.extend(crc32c::crc32c(data).to_le_bytes());
    }
    unit
}

fn connected(address: &str) -> io::Result<TcpStream> {
    let socket = TcpStream::connect(address)?;
    socket.set_nodelay(true)?;
    socket.set_read_timeout(Some(Duration::from_secs(20)))?;
    Ok(socket)
}

fn receive(socket: &mut TcpStream, count: usize) -> io::Result<Vec<u8>> {
    let mut bytes = vec![0; count];
    socket.read_exact(&mut bytes)?;
    Ok(bytes)
}

/// Connects by NBD to the default export.
fn nbd(address: &str) -> io::Result<TcpStream> {
    let mut socket = connected(address)?;
    receive(&mut socket, 18)?;
    // Fixed newstyle without zeroes; the option GO without a name and without requests for information.
    socket.write_all(&[0, 0, 0, 3])?;
    let mut option = b"IHAVEOPT".to_vec();
    option.extend([0, 0, 0, 7, 0, 0, 0, 6, 0, 0, 0, 0, 0, 0]);
    socket.write_all(&option)?;
    loop {
        let head = receive(&mut socket, 20)?;
        let word = |at: usize| u32::from_be_bytes([head[at], head[at + 1], head[at + 2], head[at + 3]]);
        receive(&mut socket, word(16) as usize)?;
        match word(12) {
            1 => return Ok(socket),
            kind if kind >> 31 == 1 => return Err(io::Error::other(format!("option GO: {kind:#x}"))),
            _ => {}
        }
    }
}

/// Connects a queue by NVMe/TCP; the socket, and the controller.
fn nvme(uri: &str, digests: bool, queue: u16, controller: u16) -> io::Result<(TcpStream, u16)> {
    let (address, name) = uri.split_once('/').ok_or(io::ErrorKind::InvalidInput)?;
    let mut socket = connected(address)?;
    let mut greeting = [0; 128];
    (greeting[2], greeting[4], greeting[11]) = (128, 128, if digests { 3 } else { 0 });
    socket.write_all(&greeting)?;
    receive(&mut socket, 128)?;
    let mut run = |entry: &[u8; 64], data: &[u8]| {
        socket.write_all(&capsule(entry, data, digests))?;
        let answer = receive(&mut socket, if digests { 28 } else { 24 })?;
        if answer[22] >> 1 | answer[23] << 7 != 0 {
            return Err(io::Error::other(format!("a command has failed: {answer:?}")));
        }
        Ok(u16::from_le_bytes([answer[8], answer[9]]))
    };
    let mut entry = [0; 64];
    (entry[0], entry[1], entry[4], entry[39], entry[44]) = (0x7F, 0x40, 0x01, 0x01, 127);
    entry[33] = 4;
    entry[42..44].copy_from_slice(&queue.to_le_bytes());
    let mut data = vec![0; 1024];
    data[16..18].copy_from_slice(&controller.to_le_bytes());
    data[256..256 + name.len()].copy_from_slice(name.as_bytes());
    data[512] = b'b';
    let controller = run(&entry, &data)?;
    if queue == 0 {
        let mut enable = [0; 64];
        (enable[0], enable[1], enable[39], enable[44], enable[48]) = (0x7F, 0x40, 0x5A, 0x14, 1);
        run(&enable, &[])?;
    }
    Ok((socket, controller))
}
