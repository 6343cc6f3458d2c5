//! Queues of several hosts, and what ends with a controller.

use crate::initiator::{HostLink, LinkWishes, WireCommand};
use crate::memory::{HOST, MemoryTarget, MemoryWire, NQN, facts};

#[test]
fn two_hosts_with_queues_of_their_own_share_a_namespace() {
    let target = MemoryTarget::new();
    let wishes = LinkWishes { in_capsule: 4096, ..LinkWishes::default() };
    let admin = target.admin(wishes);
    let mut queues: Vec<_> = (1..=16).map(|queue| target.io(&admin, queue, wishes)).collect();
    let mut other = target.link(wishes);
    other.connect(NQN, "another-host", 0, 0xFFFF).unwrap();
    other.enable();
    assert_ne!(other.controller, admin.controller);
    let mut foreign = target.link(wishes);
    assert_eq!(foreign.connect(NQN, "another-host", 1, admin.controller).unwrap_err(), 0x182, "not its own");
    foreign.connect(NQN, "another-host", 1, other.controller).unwrap();
    for (number, queue) in queues.iter_mut().enumerate() {
        queue.run(WireCommand::write(number as u64 * 8, vec![number as u8 + 1; 4096], false)).unwrap();
    }
    for number in 0..16 {
        let read = foreign.run(WireCommand::read(number * 8, 8)).unwrap().1;
        assert_eq!(read, vec![number as u8 + 1; 4096]);
    }
    assert_eq!(target.target.controllers(), 2);
    let mut seventeenth = target.link(wishes);
    assert_eq!(seventeenth.connect(NQN, HOST, 17, admin.controller).unwrap_err(), 0x182, "there are sixteen");
    let mut twice = target.link(wishes);
    assert_eq!(twice.connect(NQN, HOST, 16, admin.controller).unwrap_err(), 0x00C, "it is connected");
}

#[test]
fn a_controller_goes_with_its_admin_queue_and_its_io_queues_with_it() {
    let target = MemoryTarget::new();
    let admin = target.admin(LinkWishes::default());
    let mut io = target.io(&admin, 1, LinkWishes::default());
    assert!(!io.wire.connection.is_abandoned());
    io.run(WireCommand::flush()).unwrap();
    drop(admin);
    assert!(io.wire.connection.is_abandoned());
    assert_eq!(target.target.controllers(), 0);
    // An I/O queue that goes leaves its number.
    let admin = target.admin(LinkWishes::default());
    drop(target.io(&admin, 1, LinkWishes::default()));
    target.io(&admin, 1, LinkWishes::default()).run(WireCommand::flush()).unwrap();
}

#[test]
fn a_reset_ends_io_queues_and_the_controller_can_be_enabled_again() {
    let target = MemoryTarget::new();
    let mut admin = target.admin(LinkWishes::default());
    let io = target.io(&admin, 1, LinkWishes::default());
    admin.run(WireCommand::set_property(0x14, 0x0046_0000)).unwrap();
    assert!(io.wire.connection.is_abandoned());
    assert_eq!(admin.run(WireCommand::get_property(0x1C, false)).unwrap().0, 0);
    assert_eq!(admin.run(WireCommand::identify(1, 0)).unwrap_err(), 0x00C);
    admin.enable();
    target.io(&admin, 1, LinkWishes::default()).run(WireCommand::flush()).unwrap();
}

/// Configurations of a controller that is enabled: shutting down normally, and at once.
const NORMAL_SHUTDOWN: u64 = 0x0046_4001;
const ABRUPT_SHUTDOWN: u64 = 0x0046_8001;

fn status(admin: &mut HostLink<MemoryWire>) -> u64 {
    admin.run(WireCommand::get_property(0x1C, false)).unwrap().0
}

#[test]
fn a_shutdown_is_complete_once_the_buffer_is_on_flash_and_over_once_the_host_takes_it_back() {
    let mut target = MemoryTarget::new();
    let mut admin = target.admin(LinkWishes::default());
    admin.wire.delayed = Some(Vec::new());
    let shutdown = admin.send(WireCommand::set_property(0x14, NORMAL_SHUTDOWN));
    assert_eq!((status(&mut admin), target.device.borrow().flushes), (0b0101, 1), "it occurs");
    admin.wire.release();
    admin.wait(shutdown).unwrap();
    assert_eq!(status(&mut admin), 0b1001, "it is complete");
    admin.run(WireCommand::set_property(0x14, NORMAL_SHUTDOWN)).unwrap();
    assert_eq!((status(&mut admin), target.device.borrow().flushes), (0b1001, 1), "there is one");
    admin.run(WireCommand::set_property(0x14, 0x0046_0001)).unwrap();
    assert_eq!(status(&mut admin), 1);
    admin.run(WireCommand::set_property(0x14, ABRUPT_SHUTDOWN)).unwrap();
    assert_eq!((status(&mut admin), target.device.borrow().flushes), (0b1001, 1), "nothing is flushed");
    admin.run(WireCommand::set_property(0x14, 0)).unwrap();
    assert_eq!(status(&mut admin), 0);
    // Nothing has to be flushed of what takes no writes, nor of the discovery service.
    target.offer.subsystems = vec![facts(false)].into();
    let mut admin = target.admin(LinkWishes::default());
    admin.run(WireCommand::set_property(0x14, NORMAL_SHUTDOWN)).unwrap();
    assert_eq!((status(&mut admin), target.device.borrow().flushes), (0b1001, 1));
}

#[test]
fn a_reset_before_the_end_of_a_shutdown_leaves_a_controller_that_can_be_enabled() {
    let target = MemoryTarget::new();
    let mut admin = target.admin(LinkWishes::default());
    admin.wire.delayed = Some(Vec::new());
    let shutdown = admin.send(WireCommand::set_property(0x14, NORMAL_SHUTDOWN));
    admin.run(WireCommand::set_property(0x14, 0)).unwrap();
    admin.enable();
    admin.wire.release();
    admin.wait(shutdown).unwrap();
    assert_eq!(status(&mut admin), 1, "it is not shut down");
}

#[test]
fn a_configuration_that_is_not_offered_is_a_fatal_status_until_a_reset() {
    let target = MemoryTarget::new();
    let mut admin = target.link(LinkWishes::default());
    admin.connect(NQN, HOST, 0, 0xFFFF).unwrap();
    // Pages of 8 KiB, weighted arbitration, command sets that are reserved, none at all.
    for wrong in [1 << 7, 1 << 11, 1 << 4, 7 << 4] {
        admin.run(WireCommand::set_property(0x14, 0x0046_0001 | wrong)).unwrap();
        assert_eq!(status(&mut admin), 0b10, "{wrong:#x}");
        assert_eq!(admin.run(WireCommand::identify(1, 0)).unwrap_err(), 0x00C);
        admin.run(WireCommand::set_property(0x14, 0)).unwrap();
        assert_eq!(status(&mut admin), 0);
        admin.enable();
        admin.run(WireCommand::identify(1, 0)).unwrap();
        admin.run(WireCommand::set_property(0x14, 0)).unwrap();
    }
}

#[test]
fn nothing_works_before_connect_or_for_an_unknown_subsystem() {
    let target = MemoryTarget::new();
    let mut link = target.link(LinkWishes::default());
    assert_eq!(link.run(WireCommand::identify(1, 0)).unwrap_err(), 0x00C);
    assert_eq!(link.run(WireCommand::get_property(0, true)).unwrap_err(), 0x00C);
    assert_eq!(link.connect("nqn.2014-08.org.other:x", HOST, 0, 0xFFFF).unwrap_err(), 0x182);
    assert_eq!(link.connect(NQN, HOST, 0, 7).unwrap_err(), 0x182, "controllers are not chosen");
    link.connect(NQN, HOST, 0, 0xFFFF).unwrap();
    assert_eq!(link.connect(NQN, HOST, 0, 0xFFFF).unwrap_err(), 0x00C, "once");
    let mut io = target.link(LinkWishes::default());
    assert_eq!(io.connect(NQN, HOST, 1, link.controller).unwrap_err(), 0x00C, "not enabled");
}

#[test]
fn completions_come_in_the_order_of_the_device_and_identifiers_are_taken_once() {
    let target = MemoryTarget::new();
    let admin = target.admin(LinkWishes::default());
    let mut io = target.io(&admin, 1, LinkWishes::default());
    io.wire.delayed = Some(Vec::new());
    let ids: Vec<u16> = (0..100).map(|at| io.send(WireCommand::read(at, 1))).collect();
    assert_eq!(io.wire.connection.in_flight(), 100);
    assert!(!io.has_ended(ids[0]));
    io.wire.release();
    for id in ids {
        assert_eq!(io.wait(id).unwrap().1.len(), 512);
    }
    assert_eq!((io.wire.connection.in_flight(), io.wire.connection.held()), (0, 0));
}

#[test]
fn a_descriptor_may_name_more_than_its_command_moves() {
    // Linux describes the whole page in which its ranges lie with each Dataset Management.
    for in_capsule in [0, 8192] {
        let wishes = LinkWishes { data_digest: true, in_capsule, ..LinkWishes::default() };
        let target = MemoryTarget::new();
        let admin = target.admin(wishes);
        let mut io = target.io(&admin, 1, wishes);
        io.run(WireCommand::write(0, vec![1; 16 * 512], false)).unwrap();
        let mut trim = WireCommand::deallocate(&[(8, 4)]);
        trim.data.resize(4096, 0xFF);
        io.run(trim).unwrap();
        let read = io.run(WireCommand::read(0, 16).returning(16 << 10)).unwrap().1;
        assert_eq!(read, [[1; 8 * 512].as_slice(), &[0; 4 * 512], &[1; 4 * 512]].concat(), "{in_capsule}");
        // One that names less is refused.
        assert_eq!(io.run(WireCommand::read(0, 16).returning(4096)).unwrap_err(), 0x00F);
        let short = WireCommand::deallocate(&[(8, 4), (0, 1)]);
        assert_eq!(io.run(short.with_data(vec![0; 16])).unwrap_err(), 0x00F);
    }
}
