//! Does the controller tell what Linux wants to hear, and carry out exactly what it tells?

use crate::initiator::{LinkWishes, WireCommand};
use crate::memory::{BLOCKS, MemoryTarget, NQN};
use outlast_nvme::DISCOVERY_NQN;

fn word(page: &[u8], at: usize) -> u16 {
    u16::from_le_bytes([page[at], page[at + 1]])
}

fn long(page: &[u8], at: usize) -> u64 {
    u64::from_le_bytes(page[at..at + 8].try_into().unwrap())
}

#[test]
fn a_controller_has_all_that_linux_refuses_to_do_without() {
    let target = MemoryTarget::new();
    let mut admin = target.admin(LinkWishes::default());
    let page = admin.run(WireCommand::identify(1, 0)).unwrap().1;
    assert_eq!(word(&page, 78), admin.controller, "CNTLID is that of Connect");
    assert!(word(&page, 320) > 0, "KAS");
    assert!(long(&page, 1792) & 0xFFFF_FFFF >= 4 && long(&page, 1796) & 0xFFFF_FFFF >= 1, "IOCCSZ, IORCSZ");
    assert_eq!((word(&page, 1800), page[111]), (0, 1), "ICDOFF, CNTRLTYPE");
    assert_eq!(page[536] & 3, 1, "SGLS");
    assert_eq!((word(&page, 514), page[512], page[513]), (128, 0x66, 0x44), "MAXCMD, SQES, CQES");
    assert_eq!(&page[768..768 + NQN.len()], NQN.as_bytes());
    assert_eq!(&page[4..24], b"SERIAL              ");
    let page = admin.run(WireCommand::identify(0, 1)).unwrap().1;
    assert_eq!((long(&page, 0), long(&page, 8), page[130]), (BLOCKS, BLOCKS, 9));
    assert_eq!((word(&page, 64), page[33], page[99]), (7, 9, 0), "NPWG, DLFEAT, not write-protected");
    assert_eq!(admin.run(WireCommand::identify(2, 0)).unwrap().1[..8], [1, 0, 0, 0, 0, 0, 0, 0]);
    assert_eq!(admin.run(WireCommand::identify(2, 1)).unwrap().1[..4], [0; 4], "none after the first");
    let page = admin.run(WireCommand::identify(3, 1)).unwrap().1;
    assert_eq!((&page[..4], &page[4..20]), (&[2, 16, 0, 0][..], &[7; 16][..]));
    assert_eq!(admin.run(WireCommand::identify(0, 2)).unwrap_err(), 0x00B);
    assert_eq!(admin.run(WireCommand::identify(0x1C, 0)).unwrap_err(), 0x002);
    // Properties: entries less one, contiguous queues, the NVM command set.
    let capabilities = admin.run(WireCommand::get_property(0, true)).unwrap().0;
    assert_eq!((capabilities & 0xFFFF, capabilities >> 16 & 1, capabilities >> 37 & 0xFF), (127, 1, 1));
    assert_eq!(admin.run(WireCommand::get_property(0, false)).unwrap_err(), 0x002, "CAP has 8 bytes");
    let page = admin.run(WireCommand::identify(1, 0)).unwrap().1;
    let version = admin.run(WireCommand::get_property(8, false)).unwrap().0;
    assert_eq!((version, long(&page, 80) & 0xFFFF_FFFF), (0x0001_0400, version), "VS is VER");
    assert_eq!(admin.run(WireCommand::set_property(0x1C, 1)).unwrap_err(), 0x002, "CSTS is read");
}

#[test]
fn exactly_the_commands_of_the_effects_log_are_known() {
    let target = MemoryTarget::new();
    let mut admin = target.admin(LinkWishes::default());
    let effects = admin.run(WireCommand::log_page(5, 4096, 0)).unwrap().1;
    let mut io = target.io(&admin, 1, LinkWishes::default());
    for opcode in (0..=255_u8).filter(|&opcode| opcode != 0x7F) {
        let is_listed = |base: usize| effects[base + usize::from(opcode) * 4] & 1 != 0;
        // An event request would wait; what is known may fail, but not for its opcode.
        let command = || WireCommand::new(opcode, 1, [0; 6]);
        if opcode != 0x0C {
            assert_eq!(admin.run(command()) != Err(0x001), is_listed(0), "admin {opcode:#x}");
        }
        assert_eq!(io.run(command()) != Err(0x001), is_listed(1024), "I/O {opcode:#x}");
    }
}

#[test]
fn features_and_logs_are_had_and_the_rest_is_refused() {
    let target = MemoryTarget::new();
    let mut admin = target.admin(LinkWishes { header_digest: true, ..LinkWishes::default() });
    assert_eq!(admin.run(WireCommand::set_feature(7, 0x0003_0003)).unwrap().0, 0x000F_000F, "sixteen queues");
    assert_eq!(admin.run(WireCommand::feature(0x0F)).unwrap().0, 5000, "the keep-alive time of Connect");
    assert_eq!(admin.run(WireCommand::feature(0x1D)).unwrap_err(), 0x002);
    assert_eq!(admin.run(WireCommand::feature(0x0100 | 0x0F)).unwrap_err(), 0x002, "no selected values");
    assert_eq!(admin.run(WireCommand::new(0x18, 0, [0; 6])).unwrap().0, 0, "Keep Alive");
    target.device.borrow_mut().health[5] = 42;
    let health = admin.run(WireCommand::log_page(2, 512, 0)).unwrap().1;
    assert_eq!((health[5], health.len()), (42, 512));
    assert_eq!(admin.run(WireCommand::log_page(2, 8, 4)).unwrap().1[1], 42, "an offset into the page");
    assert_eq!(
        admin.run(WireCommand::log_page(0xC0, 512, 0)).unwrap().1,
        [0xC0; 512],
        "the device's other log"
    );
    assert_eq!(admin.run(WireCommand::log_page(3, 512, 0)).unwrap().1[0], 1);
    assert_eq!(admin.run(WireCommand::log_page(0x70, 1024, 0)).unwrap_err(), 0x109);
    // The error log has the failures so far, the latest first.
    let errors = admin.run(WireCommand::log_page(1, 1024, 0)).unwrap().1;
    assert_eq!((long(&errors, 0), word(&errors, 12) >> 1 & 0x7FF), (3, 0x109));
    assert_eq!((long(&errors, 64), long(&errors, 192)), (2, 0));
    let refused = WireCommand::log_page(5, 4096, 0).returning(512);
    assert_eq!(admin.run(refused).unwrap_err(), 0x00F, "the descriptor has another length");
}

#[test]
fn the_nvm_command_set_has_its_structures_and_namespaces_never_change() {
    let target = MemoryTarget::new();
    let mut admin = target.admin(LinkWishes::default());
    let of_set = |structure, namespace, set: u32| {
        WireCommand::identify(structure, namespace).with_dword(11, set << 24)
    };
    for structure in [5, 6] {
        let page = admin.run(of_set(structure, 1, 0)).unwrap().1;
        assert!(page.len() == 4096 && page.iter().all(|&byte| byte == 0), "no limits beside the others");
    }
    let list = admin.run(of_set(7, 0, 0)).unwrap().1;
    assert_eq!((&list[..4], long(&list, 4)), (&[1, 0, 0, 0][..], 0));
    for structure in [5, 6, 7] {
        assert_eq!(admin.run(of_set(structure, 1, 2)).unwrap_err(), 0x002, "there are no zones");
    }
    let changed = admin.run(WireCommand::log_page(4, 4096, 0)).unwrap().1;
    assert!(changed.len() == 4096 && changed.iter().all(|&byte| byte == 0));
}

#[test]
fn a_warning_of_the_device_ends_an_event_request() {
    let target = MemoryTarget::new();
    let mut admin = target.admin(LinkWishes::default());
    admin.run(WireCommand::set_feature(0x0B, 0x04)).unwrap();
    let requests: Vec<u16> = (0..4).map(|_| admin.send(WireCommand::event_request())).collect();
    assert_eq!(admin.run(WireCommand::event_request()).unwrap_err(), 0x105, "four wait");
    assert!(!admin.has_ended(requests[0]));
    admin.wire.connection.report_warning(0x04);
    assert_eq!(admin.wait(requests[0]).unwrap().0, 0x02_0001, "reliability: read the health log");
    admin.wire.connection.report_warning(0x04);
    assert!(!admin.has_ended(requests[1]), "told once");
    target.device.borrow_mut().health[0] = 0;
    admin.run(WireCommand::log_page(2, 512, 0)).unwrap();
    admin.wire.connection.report_warning(0x04);
    assert_eq!(admin.wait(requests[1]).unwrap().0, 0x02_0001, "again, since it had gone");
}

#[test]
fn the_discovery_service_lists_the_subsystem() {
    let target = MemoryTarget::new();
    let mut link = target.link(LinkWishes::default());
    link.connect(DISCOVERY_NQN, "host", 0, 0xFFFF).unwrap();
    assert_eq!(link.run(WireCommand::identify(1, 0)).unwrap_err(), 0x00C, "not enabled");
    link.enable();
    let page = link.run(WireCommand::identify(1, 0)).unwrap().1;
    assert_eq!((page[111], word(&page, 78)), (2, link.controller));
    let log = link.run(WireCommand::log_page(0x70, 2048, 0)).unwrap().1;
    assert_eq!((long(&log, 0), long(&log, 8)), (1, 1));
    assert_eq!(log[1024..1028], [3, 1, 2, 6], "over TCP, no secure channel, flow control as the host likes");
    assert!(log[1024 + 32..].starts_with(b"4420 ") && log[1024 + 512..].starts_with(b"127.0.0.1 "));
    assert!(log[1024 + 256..].starts_with(NQN.as_bytes()));
    assert_eq!(link.run(WireCommand::identify(0, 1)).unwrap_err(), 0x002);
    assert_eq!(link.run(WireCommand::log_page(2, 512, 0)).unwrap_err(), 0x109);
    let mut io = target.link(LinkWishes::default());
    assert_eq!(io.connect(DISCOVERY_NQN, "host", 1, link.controller).unwrap_err(), 0x182, "no I/O queues");
}

#[test]
fn the_log_of_lba_status_names_what_is_lost_and_counts_its_changes() {
    let target = MemoryTarget::new();
    let mut admin = target.admin(LinkWishes::default());
    let log = |admin: &mut crate::initiator::HostLink<crate::memory::MemoryWire>| {
        admin.run(WireCommand::log_page(0x0E, 256, 0)).unwrap().1
    };
    let page = log(&mut admin);
    assert_eq!((long(&page, 0), long(&page, 8)), (16, 0), "a head, nothing lost, generation 0");
    for block in [3, 4, 1000] {
        target.device.borrow_mut().lost[block] = true;
    }
    for _ in 0..2 {
        let page = log(&mut admin);
        let number = |at: usize| long(&page, at) as u32;
        assert_eq!([number(0), number(4), number(8)], [16 + 16 + 32, 1, 3], "length, namespaces, blocks");
        assert_eq!((word(&page, 14), number(16), number(20), page[24]), (1, 1, 2, 0x11));
        assert_eq!((long(&page, 32), number(40), long(&page, 48), number(56)), (3, 2, 1000, 1));
    }
    target.device.borrow_mut().lost.fill(false);
    assert_eq!(word(&log(&mut admin), 14), 2, "another change");
    assert_eq!(admin.run(WireCommand::feature(0x15)).unwrap().0, 1 << 16);
    assert_eq!(admin.run(WireCommand::set_feature(0x15, 9)).unwrap().0, 0);
    assert_eq!(admin.run(WireCommand::feature(0x15)).unwrap().0, 1 << 16 | 9);
}

#[test]
fn lba_status_lists_exactly_what_is_lost() {
    let target = MemoryTarget::new();
    let mut admin = target.admin(LinkWishes::default());
    for block in [3, 4, 1000, 4095] {
        target.device.borrow_mut().lost[block] = true;
    }
    let listed = |page: &[u8]| -> Vec<u64> {
        (0..long(page, 0) as u32 as usize).map(|at| long(page, 8 + at * 16)).collect()
    };
    let all = admin.run(WireCommand::lba_status(0, 0, 4096)).unwrap().1;
    assert_eq!((listed(&all), all[4]), (vec![3, 1000, 4095], 2), "complete, runs joined");
    let part = admin.run(WireCommand::lba_status(4, 996, 4096)).unwrap().1;
    assert_eq!(listed(&part), [4], "up to block 999");
    let short = admin.run(WireCommand::lba_status(0, 0, 40)).unwrap().1;
    assert_eq!((listed(&short), short[4]), (vec![3, 1000], 1), "no room for more");
    assert_eq!(admin.run(WireCommand::lba_status(BLOCKS, 0, 40)).unwrap_err(), 0x080);
    assert_eq!(admin.run(WireCommand::lba_status(BLOCKS - 1, 2, 40)).unwrap_err(), 0x080);
}
