//! `NVMe/TCP` as a [`WireProtocol`]: every export is a subsystem. Only this folder uses `outlast_nvme` and `outlast_nvme_tcp`.

#[cfg(test)]
mod keep_alive;
mod names;
mod session;
mod zones;

use std::net::SocketAddr;
use std::slice;
use std::sync::Arc;

use outlast_device::share_of;
use outlast_nvme::{
    ConfigurationFacts, FIRMWARE, HandleKind, HostQueue, NamespaceFacts, NvmeTarget, PlacementFacts,
    PortFacts, RandomAreaFacts, SubsystemFacts, TargetOffer, ZoneFacts,
};
use outlast_nvme_tcp::TcpConnection;
use outlast_settings::placement::{HandleIsolation, PlacementConfig};
use outlast_units::{Nanos, SECTOR_BYTES};

use crate::net::ListenAddress;
use crate::protocol::{
    ExportAbilities, ExportFacts, ExportNamespace, ExportOffer, ExportZones, OfferError, WireProtocol,
    WireSession,
};
use session::NvmeSession;

/// Transport type and address families of the discovery log.
const TCP: u8 = 3;
const IPV4: u8 = 1;
const IPV6: u8 = 2;

/// The protocol: the controllers of all hosts, and the subsystems that are offered.
#[derive(Debug, Default)]
pub(crate) struct NvmeProtocol {
    target: NvmeTarget,
    offer: TargetOffer,
}

impl WireProtocol for NvmeProtocol {
    fn offer(&mut self, offer: &ExportOffer) -> Result<(), OfferError> {
        let subsystems = offer.exports().iter().map(subsystem).collect::<Result<Vec<_>, _>>()?;
        self.offer.subsystems = Arc::new(subsystems);
        self.offer.generation += 1;
        Ok(())
    }

    fn begin(&mut self, at: Option<SocketAddr>) -> Box<dyn WireSession> {
        let offer = TargetOffer { port: at.map_or_else(PortFacts::default, port), ..self.offer.clone() };
        Box::new(NvmeSession::new(TcpConnection::new(HostQueue::new(self.target.clone(), offer))))
    }

    fn can_encrypt(&self) -> bool {
        false
    }

    fn uri(&self, address: &ListenAddress, export: &str) -> String {
        names::uri(address, export)
    }
}

fn port(address: SocketAddr) -> PortFacts {
    let ip = address.ip().to_canonical();
    PortFacts {
        transport: (TCP, if ip.is_ipv4() { IPV4 } else { IPV6 }),
        address: ip.to_string(),
        service: address.port().to_string(),
    }
}

/// An export in `NVMe`'s terms.
fn subsystem(facts: &ExportFacts) -> Result<SubsystemFacts, OfferError> {
    let identity = names::identity(&facts.name);
    let whole = ExportNamespace {
        offset: 0,
        size: facts.size,
        block: facts.zones.map_or(facts.sizes.block, |zones| zones.block),
        is_read_only: false,
        identifiers: facts.placement.as_ref().map_or_else(Vec::new, identifiers),
    };
    let namespaces =
        if facts.namespaces.is_empty() { slice::from_ref(&whole) } else { &facts.namespaces[..] };
    Ok(SubsystemFacts {
        nqn: names::nqn(&facts.name)?,
        serial: names::serial(identity),
        model: facts
            .description
            .chars()
            .map(|char| if char.is_ascii_graphic() { char } else { ' ' })
            .collect(),
        firmware: FIRMWARE.to_owned(),
        capacity: facts.size.0,
        namespaces: (1..).zip(namespaces).map(|(number, own)| namespace(facts, own, number)).collect(),
        placement: facts.placement.as_ref().map(|placement| placement_facts(facts, placement)),
    })
}

/// Namespace `number` of an export. The first has the identifier that the export would have without several.
fn namespace(facts: &ExportFacts, own: &ExportNamespace, number: u32) -> NamespaceFacts {
    let block = own.block.0;
    let name = if number == 1 { facts.name.clone() } else { format!("{}/{number}", facts.name) };
    NamespaceFacts {
        offset: own.offset,
        blocks: own.size.0 / block,
        block_bytes: block as u32,
        preferred_blocks: u16::try_from(facts.sizes.preferred.0 / block).unwrap_or(1),
        is_writable: facts.abilities.has(ExportAbilities::WRITE) && !own.is_read_only,
        guid: names::identity(&name),
        identifiers: own.identifiers.clone(),
        reclaim_groups: facts.placement.as_ref().map_or(1, PlacementConfig::reclaim_groups),
        zones: facts.zones.map(|zones| zone_facts(zones, block, facts.namespaces.len())),
    }
}

/// Zones of a namespace of blocks of `block` bytes. The zones that may be open or active at once are shared equally by the namespaces, of which there are
/// `namespaces`: the drive counts those of each by itself, so that no host finds that others have taken what it was promised.
fn zone_facts(zones: ExportZones, block: u64, namespaces: usize) -> ZoneFacts {
    let share = |limit: u32| share_of(limit, namespaces as u32).max(1);
    ZoneFacts {
        size: zones.size.0 / block,
        capacity: zones.capacity.0 / block,
        most_active: share(zones.limits.active),
        most_open: share(zones.limits.open),
        random: zones.random.map(|areas| {
            let blocks = |sectors: u64| u16::try_from(sectors * SECTOR_BYTES / block).unwrap_or(u16::MAX);
            RandomAreaFacts {
                size: blocks(areas.size),
                granularity: blocks(areas.granularity),
                zones: share(areas.zones),
            }
        }),
    }
}

/// Placement identifiers of a drive: the numbers of the places in its list of handles in all reclaim groups.
fn identifiers(placement: &PlacementConfig) -> Vec<u16> {
    (0..placement.identifiers().len() as u16).collect()
}

/// Seconds, rounded up: 0 stands for no limit.
pub(super) fn whole_seconds(time: Nanos) -> u32 {
    u32::try_from(time.0.div_ceil(1_000_000_000)).unwrap_or(u32::MAX)
}

fn placement_facts(facts: &ExportFacts, placement: &PlacementConfig) -> PlacementFacts {
    let kind = |isolation: &HandleIsolation| match isolation {
        HandleIsolation::InitiallyIsolated => HandleKind::InitiallyIsolated,
        HandleIsolation::PersistentlyIsolated => HandleKind::PersistentlyIsolated,
    };
    PlacementFacts {
        configurations: placement
            .configurations
            .iter()
            .map(|own| ConfigurationFacts {
                handles: own.handles.iter().map(kind).collect(),
                reclaim_groups: own.reclaim_groups,
                reclaim_unit_bytes: facts.reclaim_unit.0 / u64::from(own.reclaim_groups)
                    * u64::from(own.superblocks),
                time_limit_s: own.time_limit.map_or(0, whole_seconds),
            })
            .collect(),
        enabled: placement.configuration,
        handles: placement.identifiers(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::ExportSizes;
    use outlast_units::Bytes;

    fn facts(name: &str, abilities: ExportAbilities) -> ExportFacts {
        let sizes = ExportSizes::default();
        ExportFacts {
            name: name.to_owned(),
            description: "drive ü 1".to_owned(),
            size: Bytes::mib(1),
            sizes,
            abilities,
            namespaces: Vec::new(),
            placement: None,
            reclaim_unit: Bytes(0),
            zones: None,
        }
    }

    #[test]
    fn an_export_is_a_subsystem_of_its_blocks() {
        let of = |name: &str, abilities| subsystem(&facts(name, abilities)).unwrap();
        let (drive, member) = (of("d", ExportAbilities::WRITE), of("member-0", ExportAbilities::NONE));
        assert_eq!((drive.namespaces[0].blocks, drive.namespaces[0].block_bytes), (2048, 512));
        assert_eq!((drive.namespaces[0].preferred_blocks, drive.model.as_str()), (8, "drive   1"));
        assert!(drive.namespaces[0].is_writable && !member.namespaces[0].is_writable);
        assert_ne!((drive.namespaces[0].guid, &drive.serial), (member.namespaces[0].guid, &member.serial));
    }

    #[test]
    fn a_name_that_is_too_long_is_refused_and_the_previous_offer_remains() {
        let mut nvme = NvmeProtocol::default();
        nvme.offer(&ExportOffer::new(vec![facts("good", ExportAbilities::NONE)]).unwrap()).unwrap();
        let long = ExportOffer::new(vec![facts(&"n".repeat(223), ExportAbilities::NONE)]).unwrap();
        assert!(nvme.offer(&long).unwrap_err().to_string().contains("223"));
        assert_eq!(nvme.offer.subsystems[0].nqn, "nqn.2026-11.org.outlast:good");
    }

    #[test]
    fn the_discovery_log_names_the_address_at_which_a_host_has_connected() {
        let port = |text: &str| port(text.parse().unwrap());
        assert_eq!(
            (port("127.0.0.1:4420").transport, port("127.0.0.1:4420").service.as_str()),
            ((3, 1), "4420")
        );
        assert_eq!((port("[::1]:1").transport, port("[::1]:1").address.as_str()), ((3, 2), "::1"));
        assert_eq!(port("[::ffff:127.0.0.1]:1").address, "127.0.0.1");
    }
}
