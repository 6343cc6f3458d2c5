//! Does a second protocol need anything but its own sessions? The `LineProtocol` is served beside NBD, from the same device by the same loop.

#![allow(clippy::unwrap_used, reason = "a test fails by panicking")]
#![allow(clippy::disallowed_methods, reason = "real clients need a real server: sockets, threads and time")]

mod client;
mod lines;

use std::collections::BTreeMap;
use std::io::{ErrorKind, Read, Write};
use std::os::unix::net::UnixStream;
use std::path::Path;
use std::process::Command;
use std::sync::Arc;

use outlast_units::SECTOR_BYTES;
use outlast_units::rng::SplitMix;
use rustls::pki_types::pem::PemObject;
use rustls::pki_types::{CertificateDer, ServerName};
use rustls::{ClientConfig, ClientConnection, RootCertStore, StreamOwned};
use serde_json::json;

use crate::{ServerStatus, TlsConfig, TlsPolicy};
use client::{OpenedClient, TwoProtocolServer};

const SECTOR: usize = SECTOR_BYTES as usize;

fn random_bytes(rng: &mut SplitMix, length: usize) -> Vec<u8> {
    (0..length).map(|_| rng.next_u64() as u8).collect()
}

#[test]
fn what_lines_write_they_read_back_with_thirty_two_requests_in_flight() {
    let served = TwoProtocolServer::new("map");
    let mut client = served.open();
    let mut plain = vec![0; client.size as usize];
    // Each request of a round has a part of the drive of its own, since requests in flight may pass each other.
    let part = plain.len() / SECTOR / 32;
    client.send(format!("Z 1 0 {}\n", plain.len() / SECTOR).as_bytes());
    assert_eq!(client.line(), "DONE 1");
    let mut rng = SplitMix::new(3, "lines");
    for round in 0..30 {
        let (mut batch, mut expected) = (Vec::new(), BTreeMap::new());
        for tag in 0..32_usize {
            let lba = tag * part + (rng.next_u64() % 32) as usize;
            let sectors = 1 + (rng.next_u64() % (part as u64 - 32)) as usize;
            let bytes = lba * SECTOR..(lba + sectors) * SECTOR;
            let verb = ["R", "W", "W!", "T", "Z", "F"][(rng.next_u64() % 6) as usize];
            match verb {
                "F" => writeln!(batch, "F {tag}").unwrap(),
                _ => writeln!(batch, "{verb} {tag} {lba} {sectors}").unwrap(),
            }
            match verb {
                "W" | "W!" => {
                    plain[bytes.clone()].copy_from_slice(&random_bytes(&mut rng, bytes.len()));
                    batch.extend(&plain[bytes]);
                }
                // Of units that a trim covers in part, the rest is kept, and may be zeroed.
                "T" | "Z" => {
                    writeln!(batch, "Z {} {lba} {sectors}", tag + 32).unwrap();
                    expected.insert((tag + 32).to_string(), None);
                    plain[bytes].fill(0);
                }
                "R" => {
                    expected.insert(tag.to_string(), Some(plain[bytes].to_vec()));
                    continue;
                }
                _ => {}
            }
            expected.insert(tag.to_string(), None);
        }
        client.send(&batch);
        while !expected.is_empty() {
            let (line, data) = client.answer();
            let words: Vec<&str> = line.split(' ').collect();
            match expected.remove(words[1]).expect("each request is answered once") {
                None => assert_eq!(words[0], "DONE", "{line}"),
                Some(bytes) => assert!(words[0] == "DATA" && data == bytes, "round {round}: {line}"),
            }
        }
    }
    let (line, data) = client.asked(&format!("R 7 0 {}", plain.len() / SECTOR));
    assert!(line == format!("DATA 7 {}", plain.len()) && data == plain);
}

/// A request of NBD, and the data of its reply.
fn by_nbd(stream: &mut UnixStream, command: u8, offset: u64, length: u32, data: &[u8]) -> Vec<u8> {
    let head =
        [&b"\x25\x60\x95\x13\0\0\0"[..], &[command], &[0; 8], &offset.to_be_bytes(), &length.to_be_bytes()];
    stream.write_all(&[&head.concat(), data].concat()).unwrap();
    let mut reply = vec![0; if command == 0 { 16 + length as usize } else { 16 }];
    stream.read_exact(&mut reply).unwrap();
    assert_eq!(reply[..8], *b"\x67\x44\x66\x98\0\0\0\0");
    reply.split_off(16)
}

#[test]
fn one_device_is_served_in_two_protocols_at_once() {
    let served = TwoProtocolServer::new("both");
    let (mut lines, mut nbd) = (served.open(), served.open_by_nbd("e").unwrap());
    lines.send(b"W 1 8 16\n");
    lines.send(&[3; 8192]);
    assert_eq!(lines.line(), "DONE 1");
    assert_eq!(by_nbd(&mut nbd, 0, 4096, 8192, &[]), vec![3; 8192]);
    by_nbd(&mut nbd, 1, 8192, 4096, &[4; 4096]);
    assert_eq!(lines.asked("R 2 8 16").1, [[3; 4096], [4; 4096]].concat());
    let state = served.ask(json!({ "do": "state" }));
    assert_eq!((&state["clients"], &state["exports"][0]["clients"]), (&json!(2), &json!(2)));
    assert_eq!(served.handle.uri(), format!("lines:{}/e", served.folder.join("lines").display()));
    let ServerStatus::Serving(facts) = served.handle.status() else { panic!("it serves") };
    let nbd_uri = format!("nbd+unix:///e?socket={}", served.folder.join("nbd").display());
    assert_eq!(facts.uris, [served.handle.uri(), &nbd_uri]);
    // What one protocol has no place for, the other does not offer either.
    let refused = served.handle.request(json!({ "do": "fork", "export": "two words" }));
    assert_eq!(refused["error"], "export \"two words\" is no word");
    assert!(served.open_by_nbd("two words").is_none());
    served.ask(json!({ "do": "fork", "export": "copy" }));
    let mut copy = served.open_by_nbd("copy").unwrap();
    assert_eq!(by_nbd(&mut copy, 0, 8192, 4096, &[]), vec![4; 4096]);
    served.ask(json!({ "do": "power", "action": "cut" }));
    assert_eq!((lines.line(), nbd.read(&mut [0; 8]).unwrap()), (String::new(), 0));
}

#[test]
fn a_client_that_says_goodbye_is_answered_and_one_that_is_gone_holds_nobody_up() {
    let served = TwoProtocolServer::new("gone");
    let (mut good, mut gone) = (served.open(), served.open());
    let requests = (0..64).map(|tag| format!("R {tag} {} 8\n", tag * 8)).collect::<Vec<_>>().concat();
    gone.send(requests.as_bytes());
    drop(gone);
    good.send(format!("{requests}BYE\n").as_bytes());
    let mut tags: Vec<u32> = (0..64)
        .map(|_| {
            let (line, data) = good.answer();
            assert_eq!(data.len(), 4096, "{line}");
            line.split(' ').nth(1).unwrap().parse().unwrap()
        })
        .collect();
    tags.sort_unstable();
    assert!(tags.into_iter().eq(0..64));
    assert_eq!(good.line(), "", "the server hangs up when all is answered");
    served.wait_for_clients(0);
    assert_eq!(served.open().asked("F 1").0, "DONE 1");
}

#[test]
fn what_the_export_does_not_take_is_refused_and_what_is_no_request_ends_the_session() {
    let served = TwoProtocolServer::new("refused");
    let mut client = served.open();
    let sectors = client.size / SECTOR_BYTES;
    for request in [format!("R 1 {sectors} 1"), format!("R 1 0 {}", sectors + 1), "R 1 0 0".to_owned()] {
        assert_eq!(client.asked(&request).0, "REFUSED 1", "{request}");
    }
    assert_eq!(client.asked(&format!("R 1 {} 1", sectors - 1)).0, "DATA 1 512");
    for rubbish in ["HELLO", "R one 2 3", "OPEN e", &"x".repeat(1000)] {
        let mut broken = served.open();
        assert_eq!(broken.asked(rubbish).0, "", "{rubbish}");
    }
    let mut nobody = served.connect();
    nobody.write_all(b"OPEN nothing\n").unwrap();
    assert_eq!(nobody.read(&mut [0; 8]).unwrap(), 0);
    assert_eq!(client.asked("F 1").0, "DONE 1", "others go on");
}

#[test]
fn lost_data_fails_at_its_place_and_is_lost_on_the_map() {
    let served = TwoProtocolServer::new("lost");
    let mut client = served.open();
    let sectors = client.size / SECTOR_BYTES;
    assert_eq!(client.asked("F 1").0, "DONE 1");
    served.ask(json!({ "do": "fault", "fault": { "kind": "die", "die": 3 } }));
    let (map, _) = client.asked(&format!("S 2 0 {sectors}"));
    let runs = map.strip_prefix("MAP 2 ").unwrap().split(' ').map(|run| {
        let (sectors, state) = run.split_once(':').unwrap();
        (sectors.parse::<u64>().unwrap(), state)
    });
    let mut at = 0;
    let mut first_lost = None;
    for (run, state) in runs {
        if state == "lost" && first_lost.is_none() {
            first_lost = Some(at);
        }
        at += run;
    }
    assert_eq!(at, sectors, "{map}");
    let lost = first_lost.expect("the drive has no parity");
    let (line, _) = client.asked(&format!("R 3 0 {sectors}"));
    assert_eq!(line, format!("FAIL 3 Unreadable {lost}"));
    assert_eq!(client.asked(&format!("R 4 {lost} 1")).0, format!("FAIL 4 Unreadable {lost}"));
    client.send(format!("W! 5 {lost} 8\n").as_bytes());
    client.send(&[7; 4096]);
    assert_eq!(client.line(), "DONE 5");
    assert_eq!(client.asked(&format!("R 6 {lost} 8")).1, vec![7; 4096]);
}

#[test]
fn a_fork_is_opened_by_its_name_and_a_name_is_given_once() {
    let served = TwoProtocolServer::new("fork");
    let mut client = served.open();
    client.send(b"W 1 0 1\n");
    client.send(&[1; SECTOR]);
    assert_eq!(client.line(), "DONE 1");
    served.ask(json!({ "do": "fork", "export": "copy" }));
    let twice = served.handle.request(json!({ "do": "fork", "export": "copy" }));
    assert_eq!(twice["error"], "export \"copy\" is there twice");
    client.send(b"W 1 0 1\n");
    client.send(&[2; SECTOR]);
    assert_eq!(client.line(), "DONE 1");
    let mut copy = served.connect();
    copy.write_all(b"OPEN copy\nR 1 0 1\nBYE\n").unwrap();
    let mut said = Vec::new();
    copy.read_to_end(&mut said).unwrap();
    let expected = [format!("OPEN {}\nDATA 1 512\n", client.size).as_bytes(), &[1; SECTOR]].concat();
    assert!(said == expected, "{}", String::from_utf8_lossy(&said));
    // The power goes, and with it the clients.
    served.ask(json!({ "do": "power", "action": "cut" }));
    assert_eq!(client.line(), "");
    assert_eq!(served.open().size, client.size);
}

#[test]
fn replies_that_are_not_read_stay_within_the_memory_of_all_clients() {
    let served = TwoProtocolServer::new("deaf");
    let (mut deaf, mut good) = (served.open(), served.open());
    // More than there is: the last requests wait.
    let sectors = deaf.size / SECTOR_BYTES;
    let requests = (600 << 20) / deaf.size;
    let asked: Vec<String> = (0..requests).map(|tag| format!("R {tag} 0 {sectors}\n")).collect();
    deaf.send(asked.concat().as_bytes());
    let memory = || served.ask(json!({ "do": "metrics" }))["clients_memory"].clone();
    while memory()["held"].as_u64().unwrap() < 500 << 20 {
        std::thread::sleep(std::time::Duration::from_millis(2));
    }
    assert_eq!(good.asked("R 1 0 8").0, "DATA 1 4096", "small requests are never held up");
    assert!(memory()["most"].as_u64().unwrap() <= memory()["limit"].as_u64().unwrap());
    // As replies are read, the rest is let in.
    for _ in 0..requests {
        assert_eq!(deaf.answer().1.len() as u64, deaf.size);
    }
    assert!(memory()["most"].as_u64().unwrap() <= memory()["limit"].as_u64().unwrap());
}

#[test]
fn a_server_that_ends_answers_what_is_in_flight_and_takes_its_leave() {
    let served = TwoProtocolServer::new("end");
    let mut client = served.open();
    client.send(b"W! 1 0 8\n");
    client.send(&[5; 4096]);
    assert_eq!(client.line(), "DONE 1");
    served.handle.stop();
    assert_eq!(client.line(), "");
    while !matches!(served.handle.status(), ServerStatus::Ended(_)) {
        std::thread::yield_now();
    }
    assert_eq!(served.handle.status(), ServerStatus::Ended(None));
}

/// A certificate of this server alone, and its key; `None` without openssl.
fn certificate(folder: &Path) -> Option<TlsConfig> {
    let words = "req -x509 -newkey ec -pkeyopt ec_paramgen_curve:prime256v1 -nodes -days 2 -subj /CN=localhost \
                 -addext subjectAltName=DNS:localhost -addext basicConstraints=critical,CA:FALSE -keyout key.pem -out cert.pem";
    let made = Command::new("openssl").args(words.split_whitespace()).current_dir(folder).output().ok()?;
    assert!(made.status.success(), "{}", String::from_utf8_lossy(&made.stderr));
    let (cert, key) = (folder.join("cert.pem"), folder.join("key.pem"));
    Some(TlsConfig { cert, key, ca: None, policy: TlsPolicy::Require })
}

#[test]
fn lines_go_through_tls_and_a_server_that_requires_it_opens_nothing_in_plain_text() {
    if Command::new("openssl").arg("version").output().is_err() {
        eprintln!("skipped: no openssl here");
        return;
    }
    let served = TwoProtocolServer::with("tls", |folder| certificate(folder));
    let mut plain = served.connect();
    plain.write_all(b"OPEN e\nR 1 0 1\n").unwrap();
    let told = plain.read(&mut [0; 64]);
    assert!(matches!(told, Ok(0)) || told.is_err_and(|error| error.kind() == ErrorKind::ConnectionReset));
    let mut stream = served.connect();
    stream.write_all(b"TLS\n").unwrap();
    let mut ready = [0; 4];
    stream.read_exact(&mut ready).unwrap();
    assert_eq!(ready, *b"TLS\n");
    let mut roots = RootCertStore::empty();
    roots.add(CertificateDer::from_pem_file(served.folder.join("cert.pem")).unwrap()).unwrap();
    let config = ClientConfig::builder_with_provider(Arc::new(rustls::crypto::ring::default_provider()))
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_root_certificates(roots)
        .with_no_client_auth();
    let name = ServerName::try_from("localhost").unwrap();
    let connection = ClientConnection::new(Arc::new(config), name).unwrap();
    let mut client = OpenedClient::new(StreamOwned::new(connection, stream));
    client.send(b"W 1 8 200\n");
    client.send(&vec![9; 200 * SECTOR]);
    assert_eq!(client.line(), "DONE 1");
    assert_eq!(client.asked("R 2 8 200").1, vec![9; 200 * SECTOR]);
    client.send(b"BYE\n");
}
