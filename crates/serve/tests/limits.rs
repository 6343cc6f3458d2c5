//! Can a client take more than its share?

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::disallowed_methods, reason = "real clients need a real server: sockets, threads and time")]

use crate::support;

use std::io::{ErrorKind, Write};
use std::time::Duration;

use outlast_serve::ClockMode;
use serde_json::json;
use support::DRIVE;
use support::patience::PATIENCE;
use support::raw::{READ, RawClient, StartedServer, request};

/// Clients at a time.
const CLIENTS: usize = 64;

/// Bytes of memory that this process, and so the server in it, has.
fn resident() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse::<u64>().unwrap() << 10
}

fn reads(client: &mut RawClient, times: u64) {
    for cookie in 0..times {
        client.0.write_all(&request(READ, cookie, 4096, 4096)).unwrap();
        assert_eq!(client.reply(4096).0, cookie);
    }
}

#[test]
fn one_client_more_than_there_may_be_waits_until_another_goes() {
    let served = StartedServer::new("clients", DRIVE, ClockMode::Virtual, false);
    let mut clients: Vec<RawClient> = (0..CLIENTS).map(|_| RawClient::open(&served.socket)).collect();
    let mut late = RawClient::connect(&served.socket);
    assert!(!late.is_greeted(Duration::from_millis(300)), "{CLIENTS} is the limit");
    assert_eq!(served.ask("metrics")["clients"], CLIENTS);
    reads(&mut clients[0], 10);
    clients.pop();
    assert!(late.is_greeted(PATIENCE), "a place is free");
}

/// The client that has negotiated longest gives up its place to one that waits; clients that have opened an export keep theirs.
#[test]
fn who_negotiates_for_ever_makes_room_for_others_and_holds_nobody_up() {
    let served = StartedServer::new("slow", DRIVE, ClockMode::Virtual, false);
    let mut good = RawClient::open(&served.socket);
    let mut silent: Vec<RawClient> = (1..CLIENTS).map(|_| RawClient::connect(&served.socket)).collect();
    assert!(silent.iter_mut().all(|client| client.is_greeted(PATIENCE)));
    assert_eq!(served.ask("metrics")["turned_away"], 0);
    // A hundred others that say nothing come in one after the other, and an honest one behind them.
    let crowd: Vec<RawClient> = (0..100).map(|_| RawClient::connect(&served.socket)).collect();
    let mut late = RawClient::open(&served.socket);
    reads(&mut late, 10);
    reads(&mut good, 10);
    assert!(silent[0].is_hung_up(), "it was the first to come");
    let figures = served.ask("metrics");
    assert!(figures["turned_away"].as_u64().unwrap() >= 37, "{figures}");
    assert!(figures["clients"].as_u64().unwrap() <= CLIENTS as u64);
    drop((silent, crowd));
    reads(&mut good, 10);
}

#[test]
fn all_clients_together_take_no_more_memory_than_was_said() {
    /// The whole drive, nearly.
    const LENGTH: u32 = 4 << 20;
    let served = StartedServer::new("together", DRIVE, ClockMode::Virtual, false);
    let mut good = RawClient::open(&served.socket);
    let mut deaf: Vec<RawClient> = (1..CLIENTS).map(|_| RawClient::open(&served.socket)).collect();
    // Each asks for as much as one may, 4 GiB together, and reads nothing.
    for client in &mut deaf {
        let requests: Vec<u8> = (0..16).flat_map(|cookie| request(READ, cookie, 0, LENGTH)).collect();
        client.0.write_all(&requests).unwrap();
    }
    let held = || served.ask("metrics")["clients_memory"].clone();
    let limit = held()["limit"].as_u64().unwrap();
    assert_eq!(limit, 576 << 20, "what the guide says");
    while held()["held"].as_u64().unwrap() < 500 << 20 {
        std::thread::sleep(Duration::from_millis(2));
    }
    reads(&mut good, 100);
    let most = held()["most"].as_u64().unwrap();
    assert!(most <= limit, "{} MiB", most >> 20);
    // What waits for memory is answered when others give it back.
    good.0.write_all(&request(READ, 7, 0, LENGTH)).unwrap();
    drop(deaf);
    assert_eq!(good.reply(LENGTH as usize).0, 7);
    assert!(held()["most"].as_u64().unwrap() <= limit);
}

#[test]
fn a_client_that_never_reads_its_replies_is_not_read_from_either() {
    const LENGTH: u32 = 1 << 20;
    let served = StartedServer::new("deaf", DRIVE, ClockMode::Virtual, false);
    let (mut deaf, mut good) = (RawClient::open(&served.socket), RawClient::open(&served.socket));
    reads(&mut good, 10);
    let before = resident();
    let requests: Vec<u8> = (0..1000).flat_map(|cookie| request(READ, cookie, 0, LENGTH)).collect();
    deaf.0.set_write_timeout(Some(Duration::from_secs(1))).unwrap();
    let mut sent = 0;
    loop {
        match deaf.0.write(&requests[sent % requests.len()..]) {
            Ok(count) => sent += count,
            Err(error) => {
                assert!(matches!(error.kind(), ErrorKind::WouldBlock | ErrorKind::TimedOut), "{error}");
                break;
            }
        }
        assert!(sent < 8 << 20, "it is read from without end");
    }
    // What it has asked for is many times what may be held for it.
    assert!(sent as u64 / 28 * u64::from(LENGTH) > 4 << 30, "{sent} bytes");
    let held = resident().saturating_sub(before);
    assert!(held < 256 << 20, "{} MiB for a client that reads nothing", held >> 20);
    reads(&mut good, 100);
    assert_eq!(served.ask("metrics")["clients"], 2);
}

#[test]
fn a_question_for_sectors_beyond_the_drive_is_refused_like_any_other_that_has_no_answer() {
    let served = StartedServer::new("beyond", DRIVE, ClockMode::Virtual, false);
    let capacity = served.ask("state")["exports"][0]["size"].as_u64().unwrap();
    let at = |offset: u64| served.handle.request(json!({ "do": "lba_status", "offset": offset }));
    assert_eq!(at(capacity), json!({ "ok": [] }), "up to the end");
    let refused = format!("offset = {}: must be at most {capacity}, the bytes there are", capacity + 512);
    assert_eq!(at(capacity + 512), json!({ "error": refused }));
}
