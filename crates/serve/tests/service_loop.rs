//! Does the loop do no more than it has to?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::disallowed_methods, reason = "real clients need a real server: sockets, threads and time")]

use crate::support;

use std::io::Write;
use std::time::{Duration, Instant};

use outlast_device::{Op, Tag};
use outlast_serve::{ClockMode, DeviceInput, ListenAddress, ServedDevice, serve_without_device};
use outlast_units::{Bytes, Nanos};
use support::raw::{FLUSH, READ, RawClient, StartedServer, WRITE, request, socket};
use support::{DRIVE, command, scenario};

const WALL: ClockMode = ClockMode::Wall { speed: 1.0 };

/// So many requests fit into one packet of a Unix socket, so that they come together.
const AT_ONCE: u64 = 32;

#[test]
fn replies_of_one_instant_leave_in_one_write() {
    for (name, clock) in [("virtual", ClockMode::Virtual), ("wall", WALL)] {
        let served = StartedServer::new(&format!("instant-{name}"), DRIVE, clock, false);
        let mut client = RawClient::open(&served.socket);
        let together = |client: &mut RawClient| {
            let requests: Vec<u8> = (0..AT_ONCE).flat_map(|cookie| request(FLUSH, cookie, 0, 0)).collect();
            client.0.write_all(&requests).unwrap();
            let mut cookies: Vec<u64> = (0..AT_ONCE).map(|_| client.reply(0).0).collect();
            cookies.sort_unstable();
            assert!(cookies.iter().copied().eq(0..AT_ONCE), "{cookies:?}");
        };
        // The drive has been filled: the first may have something to do.
        together(&mut client);
        let before = (served.done("writes"), served.done("reads"));
        for _ in 0..20 {
            together(&mut client);
        }
        let after = (served.done("writes"), served.done("reads"));
        assert_eq!((after.0 - before.0, after.1 - before.1), (20, 20), "{name}: writes and reads");
    }
}

#[test]
fn a_virtual_turn_has_as_few_calls_as_there_can_be() {
    let served = StartedServer::new("calls", DRIVE, ClockMode::Virtual, false);
    let mut client = RawClient::open(&served.socket);
    let before = ["reads", "writes", "turns"].map(|figure| served.done(figure));
    for cookie in 0..500 {
        client.0.write_all(&request(READ, cookie, 4096 * (cookie % 100), 4096)).unwrap();
        assert_eq!(client.reply(4096).0, cookie);
    }
    let after = ["reads", "writes", "turns"].map(|figure| served.done(figure));
    let taken: Vec<u64> = after.iter().zip(before).map(|(after, before)| after - before).collect();
    assert_eq!(taken[..2], [500, 500]);
    // Three are those of the questions.
    assert!((500..=510).contains(&taken[2]), "a request takes one turn: {}", taken[2]);
}

/// Answers of so many reads that came together, in how many turns, if one part in four of what is under way is answered together: by the times at which a
/// twin of the drive completes them.
fn turns_to_answer(reads: u64) -> u64 {
    let mut twin = ServedDevice::new(&scenario(DRIVE)).unwrap();
    for cookie in 0..reads {
        let read = command(Op::Read, 8 * place(cookie), 8);
        twin.apply(Nanos::ZERO, &DeviceInput::Command { tag: Tag(cookie as u32), command: read, data: &[] })
            .unwrap();
    }
    let (mut done, mut turns) = (Vec::new(), 0);
    while done.len() < reads as usize {
        let enough = done.len() + (reads as usize - done.len()).div_euclid(4).max(1);
        while done.len() < enough {
            twin.advance(twin.next_deadline().unwrap(), &mut done);
        }
        turns += 1;
    }
    turns
}

/// Unit that read number `cookie` goes to.
fn place(cookie: u64) -> u64 {
    cookie * 37 % 400
}

#[test]
fn a_virtual_turn_answers_one_part_in_four_of_what_is_under_way() {
    let mut turns = Vec::new();
    for reads in [1, 3, 7, AT_ONCE] {
        let served = StartedServer::new(&format!("fourth-{reads}"), DRIVE, ClockMode::Virtual, false);
        let mut client = RawClient::open(&served.socket);
        let before = served.done("writes");
        let requests = (0..reads).flat_map(|cookie| request(READ, cookie, 4096 * place(cookie), 4096));
        client.0.write_all(&requests.collect::<Vec<u8>>()).unwrap();
        let mut cookies: Vec<u64> = (0..reads).map(|_| client.reply(4096).0).collect();
        cookies.sort_unstable();
        assert!(cookies.iter().copied().eq(0..reads), "{cookies:?}");
        let writes = served.done("writes") - before;
        assert_eq!(writes, turns_to_answer(reads), "{reads} reads");
        turns.push(writes);
    }
    assert!(turns[0] == 1 && turns[2] > 2 && turns[3] < AT_ONCE / 2, "{turns:?}");
}

#[test]
fn a_write_of_many_pieces_is_stored_as_it_came() {
    let served = StartedServer::new("pieces", DRIVE, WALL, false);
    let mut client = RawClient::open(&served.socket);
    let data: Vec<u8> = (0..1_u32 << 20).map(|at| (at.wrapping_mul(2_654_435_761) >> 24) as u8).collect();
    let message = [request(WRITE, 1, 0, 1 << 20), data.clone()].concat();
    for piece in message.chunks(100_003) {
        client.0.write_all(piece).unwrap();
        std::thread::sleep(Duration::from_millis(1));
    }
    assert_eq!(client.reply(0).0, 1);
    client.0.write_all(&request(READ, 2, 0, 1 << 20)).unwrap();
    assert!(client.reply(1 << 20) == (2, data));
}

/// Reads one after another: turns of the loop for each, and the shortest time that one took. Ends when so many reads as
/// `enough` says took more turns than it says.
///
/// A busy device may wake the loop after the deadline, so that nothing is left to stay awake for: a single read says
/// what the loop does, their sum says what the device did. So there may be a hundred times as many reads as a quiet device needs.
fn turns_of_reads(spin: bool, reads: u64, enough: Option<(usize, u64)>) -> (Vec<u64>, Duration) {
    let served = StartedServer::new(if spin { "spins" } else { "sleeps" }, DRIVE, WALL, spin);
    let mut client = RawClient::open(&served.socket);
    let (mut turns, mut shortest) = (Vec::new(), Duration::MAX);
    let mut before = served.done("turns");
    for cookie in 0..reads {
        let begun = Instant::now();
        client.0.write_all(&request(READ, cookie, 4096 * (cookie % 500), 4096)).unwrap();
        client.reply(4096);
        shortest = shortest.min(begun.elapsed());
        let now = served.done("turns");
        turns.push(now - before);
        before = now;
        if enough.is_some_and(|(many, than)| turns.iter().filter(|&&taken| taken > than).count() >= many) {
            break;
        }
    }
    (turns, shortest)
}

#[test]
fn spinning_stays_awake_before_a_deadline_and_answers_nothing_early() {
    let (mut asleep, shortest_asleep) = turns_of_reads(false, 200, None);
    // A read of flash: 60 us and its transfer.
    assert!(shortest_asleep >= Duration::from_micros(60), "{shortest_asleep:?}");
    asleep.sort_unstable();
    // Two, one for the question, and one more where something else is due.
    let median = asleep[asleep.len() / 2];
    assert!(median <= 4, "a read takes two turns and its question one: {median}");
    let (awake, shortest_awake) = turns_of_reads(true, 200_000, Some((20, 3 * median)));
    assert!(shortest_awake >= Duration::from_micros(60), "{shortest_awake:?}");
    let awoken = awake.iter().filter(|&&taken| taken > 3 * median).count();
    assert!(awoken >= 20, "{awoken} of {} reads were waited for awake", awake.len());
}

#[test]
fn a_loop_without_a_device_answers_at_once() {
    let socket = socket("nothing");
    let handle = serve_without_device(&ListenAddress::Unix(socket.clone()), Bytes::mib(64)).unwrap();
    let served = StartedServer::of(handle, socket);
    let mut client = RawClient::open(&served.socket);
    client.0.write_all(&request(READ, 7, 8192, 4096)).unwrap();
    assert_eq!(client.reply(4096), (7, vec![0; 4096]));
    let write = [request(WRITE, 8, 0, 512), vec![1; 512], request(FLUSH, 9, 0, 0)].concat();
    client.0.write_all(&write).unwrap();
    assert_eq!([client.reply(0).0, client.reply(0).0], [8, 9]);
    assert!(served.done("turns") >= 3);
}
