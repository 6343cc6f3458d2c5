//! NBD in the language of the service. The protocol itself is `outlast_nbd`, which only this folder knows.

mod session;
mod status;
mod uri;

use std::sync::Arc;

use outlast_nbd::{BlockSizes, Connection, Context, Contexts, Export, Features, Limits, Server, Tls};

use crate::net::Listen;
use crate::protocol::{Abilities, ExportFacts, Offer, OfferError, WireProtocol, WireSession};
use crate::tls::TlsPolicy;
use session::NbdSession;

/// The protocol, and what it offers.
#[derive(Debug)]
pub(crate) struct Nbd {
    tls: Tls,
    server: Arc<Server>,
}

impl Nbd {
    /// The protocol with TLS as `policy` has it, or without.
    pub(crate) fn new(policy: Option<TlsPolicy>) -> Self {
        let tls = match policy {
            None => Tls::Off,
            Some(TlsPolicy::Offer) => Tls::Allowed,
            Some(TlsPolicy::Require) => Tls::Required,
        };
        let nothing = Server::new(Vec::new(), tls, Limits::default());
        Self { tls, server: Arc::new(nothing.expect("no export breaks no rule of exports")) }
    }
}

impl WireProtocol for Nbd {
    fn offer(&mut self, offer: &Offer) -> Result<(), OfferError> {
        let exports = offer.exports().iter().map(export).collect();
        let server = Server::new(exports, self.tls, Limits::default())
            .map_err(|error| OfferError::Protocol(error.to_string()))?;
        self.server = Arc::new(server);
        Ok(())
    }

    fn begin(&mut self) -> Box<dyn WireSession> {
        Box::new(NbdSession::new(Connection::new(self.server.clone())))
    }

    fn uri(&self, place: &Listen, export: &str) -> String {
        uri::of(place, self.tls == Tls::Required, export)
    }
}

/// An export as NBD describes it.
fn export(facts: &ExportFacts) -> Export {
    let can = |ability: Abilities, feature: Features| {
        if facts.abilities.has(ability) { feature } else { Features::NONE }
    };
    let is_writable = facts.abilities.has(Abilities::WRITE);
    let has_status = facts.abilities.has(Abilities::STATUS);
    Export {
        name: facts.name.clone(),
        description: facts.description.clone(),
        size: facts.size,
        blocks: BlockSizes {
            minimum: facts.sizes.block,
            preferred: facts.sizes.preferred,
            maximum: facts.sizes.longest,
            required: false,
        },
        features: Features::MULTI_CONN
            | if is_writable { Features::FLUSH | Features::FUA } else { Features::READ_ONLY }
            | can(Abilities::TRIM, Features::TRIM)
            | can(Abilities::ZEROES, Features::WRITE_ZEROES | Features::FAST_ZERO)
            | can(Abilities::PREFETCH, Features::CACHE),
        contexts: if has_status { Context::ALL.into_iter().collect() } else { Contexts::NONE },
        tls_only: false,
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::protocol::ExportSizes;
    use outlast_units::Bytes;

    fn facts(name: &str, abilities: Abilities) -> ExportFacts {
        let (name, description) = (name.to_owned(), String::new());
        ExportFacts { name, description, size: Bytes::mib(1), sizes: ExportSizes::default(), abilities }
    }

    #[test]
    fn an_export_has_the_features_of_its_abilities() {
        let all =
            Abilities::WRITE | Abilities::TRIM | Abilities::ZEROES | Abilities::PREFETCH | Abilities::STATUS;
        let writing = Features::FLUSH | Features::FUA | Features::TRIM | Features::WRITE_ZEROES;
        for (abilities, features, contexts) in [
            (Abilities::NONE, Features::READ_ONLY, 0),
            (Abilities::STATUS, Features::READ_ONLY, 2),
            (Abilities::PREFETCH, Features::READ_ONLY | Features::CACHE, 0),
            (all, writing | Features::FAST_ZERO | Features::CACHE, 2),
        ] {
            let export = export(&facts("e", abilities));
            assert_eq!(export.features, features | Features::MULTI_CONN, "{abilities:?}");
            assert_eq!(export.contexts.count(), contexts, "{abilities:?}");
        }
    }

    #[test]
    fn what_nbd_has_no_place_for_is_refused_and_the_offer_before_it_remains() {
        let mut nbd = Nbd::new(None);
        nbd.offer(&Offer::new(vec![facts("good", Abilities::NONE)]).unwrap()).unwrap();
        let long = "n".repeat(4097);
        let refused = nbd.offer(&Offer::new(vec![facts(&long, Abilities::NONE)]).unwrap()).unwrap_err();
        assert!(refused.to_string().contains("at most 4096 bytes"), "{refused}");
        assert_eq!(nbd.server.exports()[0].name, "good");
    }
}
