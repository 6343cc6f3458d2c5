//! `NVMe/TCP` as a [`WireProtocol`]: every export is a subsystem of one namespace. Only this folder uses `outlast_nvme` and `outlast_nvme_tcp`.

mod names;
mod session;

use std::net::SocketAddr;
use std::sync::Arc;

use outlast_nvme::{FIRMWARE, HostQueue, NamespaceFacts, NvmeTarget, PortFacts, SubsystemFacts, TargetOffer};
use outlast_nvme_tcp::TcpConnection;

use crate::net::ListenAddress;
use crate::protocol::{ExportAbilities, ExportFacts, ExportOffer, OfferError, WireProtocol, WireSession};
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
    let block = facts.sizes.block.0;
    let identity = names::identity(&facts.name);
    Ok(SubsystemFacts {
        nqn: names::nqn(&facts.name)?,
        serial: names::serial(identity),
        model: facts
            .description
            .chars()
            .map(|char| if char.is_ascii_graphic() { char } else { ' ' })
            .collect(),
        firmware: FIRMWARE.to_owned(),
        namespace: NamespaceFacts {
            blocks: facts.size.0 / block,
            block_bytes: block as u32,
            preferred_blocks: u16::try_from(facts.sizes.preferred.0 / block).unwrap_or(1),
            is_writable: facts.abilities.has(ExportAbilities::WRITE),
            guid: identity,
        },
    })
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
        }
    }

    #[test]
    fn an_export_is_a_subsystem_of_its_blocks() {
        let of = |name: &str, abilities| subsystem(&facts(name, abilities)).unwrap();
        let (drive, member) = (of("d", ExportAbilities::WRITE), of("member-0", ExportAbilities::NONE));
        assert_eq!((drive.namespace.blocks, drive.namespace.block_bytes), (2048, 512));
        assert_eq!((drive.namespace.preferred_blocks, drive.model.as_str()), (8, "drive   1"));
        assert!(drive.namespace.is_writable && !member.namespace.is_writable);
        assert_ne!((drive.namespace.guid, &drive.serial), (member.namespace.guid, &member.serial));
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
