//! NBD as a [`WireProtocol`]. Only this folder uses `outlast_nbd`.

mod session;
mod status;
mod uri;

use std::net::SocketAddr;
use std::sync::Arc;

use outlast_nbd::{
    BlockSizes, ConnectionLimits, ExportFeatures, MetaContext, MetaContexts, NbdConnection, NbdExport,
    NbdServer, TlsMode,
};

use crate::net::ListenAddress;
use crate::protocol::{ExportAbilities, ExportFacts, ExportOffer, OfferError, WireProtocol, WireSession};
use crate::tls::TlsPolicy;
use session::NbdSession;

/// The protocol, with the exports it offers.
#[derive(Debug)]
pub(crate) struct NbdProtocol {
    tls: TlsMode,
    server: Arc<NbdServer>,
}

impl NbdProtocol {
    /// The protocol, with TLS if there is a `policy`.
    pub(crate) fn new(policy: Option<TlsPolicy>) -> Self {
        let tls = match policy {
            None => TlsMode::Off,
            Some(TlsPolicy::Offer) => TlsMode::Allowed,
            Some(TlsPolicy::Require) => TlsMode::Required,
        };
        let nothing = NbdServer::new(Vec::new(), tls, ConnectionLimits::default());
        Self { tls, server: Arc::new(nothing.expect("no export breaks no rule of exports")) }
    }
}

impl WireProtocol for NbdProtocol {
    fn offer(&mut self, offer: &ExportOffer) -> Result<(), OfferError> {
        let exports = offer.exports().iter().map(export).collect();
        let server = NbdServer::new(exports, self.tls, ConnectionLimits::default())
            .map_err(|error| OfferError::Protocol(error.to_string()))?;
        self.server = Arc::new(server);
        Ok(())
    }

    fn begin(&mut self, _at: Option<SocketAddr>) -> Box<dyn WireSession> {
        Box::new(NbdSession::new(NbdConnection::new(self.server.clone())))
    }

    fn uri(&self, address: &ListenAddress, export: &str) -> String {
        uri::build(address, self.tls == TlsMode::Required, export)
    }
}

/// An export in NBD's terms.
fn export(facts: &ExportFacts) -> NbdExport {
    // NBD has no zones, and so no way to know where the next write may go: it reads them.
    let writes = ExportAbilities::WRITE | ExportAbilities::TRIM | ExportAbilities::ZEROES;
    let abilities = if facts.zones.is_some() { facts.abilities.without(writes) } else { facts.abilities };
    let can = |ability: ExportAbilities, feature: ExportFeatures| {
        if abilities.has(ability) { feature } else { ExportFeatures::NONE }
    };
    let is_writable = abilities.has(ExportAbilities::WRITE);
    let has_status = facts.abilities.has(ExportAbilities::STATUS);
    NbdExport {
        name: facts.name.clone(),
        description: facts.description.clone(),
        size: facts.size,
        blocks: BlockSizes {
            minimum: facts.sizes.block,
            preferred: facts.sizes.preferred,
            maximum: facts.sizes.longest,
            required: false,
        },
        features: ExportFeatures::MULTI_CONN
            | if is_writable {
                ExportFeatures::FLUSH | ExportFeatures::FUA
            } else {
                ExportFeatures::READ_ONLY
            }
            | can(ExportAbilities::TRIM, ExportFeatures::TRIM)
            | can(ExportAbilities::ZEROES, ExportFeatures::WRITE_ZEROES | ExportFeatures::FAST_ZERO)
            | can(ExportAbilities::PREFETCH, ExportFeatures::CACHE),
        contexts: if has_status { MetaContext::ALL.into_iter().collect() } else { MetaContexts::NONE },
        tls_only: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::ExportSizes;
    use outlast_units::Bytes;

    fn facts(name: &str, abilities: ExportAbilities) -> ExportFacts {
        let (name, description) = (name.to_owned(), String::new());
        ExportFacts {
            name,
            description,
            size: Bytes::mib(1),
            sizes: ExportSizes::default(),
            abilities,
            namespaces: Vec::new(),
            placement: None,
            reclaim_unit: Bytes(0),
            zones: None,
        }
    }

    #[test]
    fn an_export_has_the_features_of_its_abilities() {
        let all = ExportAbilities::WRITE
            | ExportAbilities::TRIM
            | ExportAbilities::ZEROES
            | ExportAbilities::PREFETCH
            | ExportAbilities::STATUS;
        let writing =
            ExportFeatures::FLUSH | ExportFeatures::FUA | ExportFeatures::TRIM | ExportFeatures::WRITE_ZEROES;
        for (abilities, features, contexts) in [
            (ExportAbilities::NONE, ExportFeatures::READ_ONLY, 0),
            (ExportAbilities::STATUS, ExportFeatures::READ_ONLY, 2),
            (ExportAbilities::PREFETCH, ExportFeatures::READ_ONLY | ExportFeatures::CACHE, 0),
            (all, writing | ExportFeatures::FAST_ZERO | ExportFeatures::CACHE, 2),
        ] {
            let export = export(&facts("e", abilities));
            assert_eq!(export.features, features | ExportFeatures::MULTI_CONN, "{abilities:?}");
            assert_eq!(export.contexts.count(), contexts, "{abilities:?}");
        }
    }

    #[test]
    fn an_offer_that_nbd_cannot_express_is_refused_and_the_previous_one_remains() {
        let mut nbd = NbdProtocol::new(None);
        nbd.offer(&ExportOffer::new(vec![facts("good", ExportAbilities::NONE)]).unwrap()).unwrap();
        let long = "n".repeat(4097);
        let refused =
            nbd.offer(&ExportOffer::new(vec![facts(&long, ExportAbilities::NONE)]).unwrap()).unwrap_err();
        assert!(refused.to_string().contains("at most 4096 bytes"), "{refused}");
        assert_eq!(nbd.server.exports()[0].name, "good");
    }
}
