//! Hosts that break rules or leave at the worst moment, over sockets: does the server stay, does the drive keep its data, and do other hosts notice nothing?

use std::io::{Read, Write};
use std::net::TcpStream;

use serde_json::json;

use super::{HOST, NvmeServer};
use crate::initiator::{HostWire, LinkWishes, WireCommand};
use crate::support::{DRIVE, bytes};

/// A write of eight blocks from `lba` on, as a unit whose data is to be asked for.
fn write_unit(lba: u8) -> Vec<u8> {
    let mut entry = WireCommand::range(0x01, lba.into(), 8, 0).entry;
    (entry[1], entry[2], entry[33], entry[39]) = (0x40, 100, 0x10, 0x5A);
    [vec![0x04, 0, 72, 0, 0, 0, 0, 0], entry.to_vec()].concat()
}

#[test]
fn hosts_that_leave_or_lie_in_the_middle_of_a_write_leave_no_trace_and_disturb_nobody() {
    let served = NvmeServer::new(DRIVE);
    let witness = served.admin("witness", LinkWishes::default());
    let mut quiet = served.io(&witness, "witness", 1, LinkWishes::default());
    quiet.run(WireCommand::write(0, bytes(8, 1), true)).unwrap();
    let admin = served.admin(HOST, LinkWishes::default());
    let half = [
        vec![0x06, 0, 24, 24, 24, 4, 0, 0, 100, 0, 0, 0],
        vec![0; 4],
        vec![0, 4, 0, 0],
        vec![0; 4],
        vec![9; 1024],
    ]
    .concat();
    let term = [vec![0x02, 0, 24, 0, 24, 0, 0, 0, 1, 0], vec![0; 14]].concat();
    let foreign = [
        vec![0x06, 4, 24, 24, 24, 16, 0, 0, 100, 0, 7, 0],
        vec![0; 4],
        vec![0, 16, 0, 0],
        vec![0; 4],
        vec![9; 4096],
    ]
    .concat();
    let greeting = [vec![0, 0, 128, 0, 128, 0, 0, 0], vec![0; 120]].concat();
    for (number, end) in (1..).zip([vec![], term, foreign, greeting, vec![0xFF; 200]]) {
        let mut io = served.io(&admin, HOST, number, LinkWishes::default());
        io.send_unit(write_unit(0), None);
        assert_eq!(io.receive_unit().kind, 0x09, "data is asked for");
        io.wire.send(&half);
        if end.is_empty() {
            drop(io);
        } else {
            io.wire.send(&end);
            // Whether it is told why or not, the connection is closed.
            let mut rest = Vec::new();
            let _ = io.wire.0.read_to_end(&mut rest);
            assert!(
                rest.is_empty() == (number == 2) && rest.first().is_none_or(|&kind| kind == 3),
                "{number}"
            );
        }
        assert!(quiet.run(WireCommand::read(0, 8)).unwrap().1 == bytes(8, 1), "end {number}");
    }
    let mut io = served.io(&admin, HOST, 6, LinkWishes::default());
    io.run(WireCommand::write(8, bytes(8, 2), false)).unwrap();
    assert!(quiet.run(WireCommand::read(0, 16)).unwrap().1 == [bytes(8, 1), bytes(8, 2)].concat());
}

#[test]
fn strangers_that_say_anything_are_parted_with_and_a_drive_under_load_goes_on() {
    let served = NvmeServer::new(DRIVE);
    let admin = served.admin(HOST, LinkWishes::default());
    let mut io = served.io(&admin, HOST, 1, LinkWishes::default());
    for round in 0..40_u8 {
        let ids: Vec<u16> = (0..4)
            .map(|at| io.send(WireCommand::write(u64::from(round) * 64 + at * 16, bytes(8, at), false)))
            .collect();
        let mut stranger = TcpStream::connect(&served.address).unwrap();
        let words: Vec<u8> =
            (0..u32::from(round) * 9 + 9).map(|at| (at * 37 + u32::from(round) * 101) as u8 | 8).collect();
        stranger.write_all(&words).unwrap();
        let mut answer = Vec::new();
        let _ = stranger.read_to_end(&mut answer);
        assert!(answer.first().is_none_or(|&kind| kind == 3), "a termination request or nothing: {answer:?}");
        for id in ids {
            io.wait(id).unwrap();
        }
    }
    for round in 0..40_u64 {
        assert!(io.run(WireCommand::read(round * 64 + 16, 8)).unwrap().1 == bytes(8, 1));
    }
    let state = served.ask(json!({ "do": "state" }));
    assert_eq!(state["exports"][0]["clients"], json!(2), "only the host is left");
}
