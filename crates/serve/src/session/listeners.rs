//! Listeners with their protocols, and the exports that they offer.

use std::io;
use std::net::SocketAddr;
use std::sync::Arc;

use crate::net::{ClientLink, ClientListener, SocketInterest, SocketPoller, WakeSource};
use crate::protocol::{ExportOffer, OfferError, WireProtocol, WireSession};

/// A listening socket and the protocol that its clients speak.
#[derive(Debug)]
pub(crate) struct ProtocolListener {
    pub(crate) socket: ClientListener,
    pub(crate) protocol: Box<dyn WireProtocol>,
}

impl ProtocolListener {
    /// The URI of an export at this listener.
    pub(crate) fn uri(&self, export: &str) -> String {
        self.protocol.uri(self.socket.address(), export)
    }
}

/// The listeners of a server, which all offer the same exports.
#[derive(Debug)]
pub(super) struct ProtocolListeners {
    listeners: Vec<ProtocolListener>,
    offer: Arc<ExportOffer>,
}

impl ProtocolListeners {
    /// Waits for clients at `listeners`, which offer no export yet.
    pub(super) fn new(listeners: Vec<ProtocolListener>, poller: &SocketPoller) -> io::Result<Self> {
        for (number, listener) in (0..).zip(&listeners) {
            poller.add(
                &listener.socket,
                WakeSource::Listener(number),
                SocketInterest { input: true, output: false },
            )?;
        }
        Ok(Self { listeners, offer: Arc::default() })
    }

    /// Waits for clients at all listeners if `input` is set, else at none.
    pub(super) fn wait_for_clients(&self, input: bool, poller: &SocketPoller) -> io::Result<()> {
        for (number, listener) in (0..).zip(&self.listeners) {
            poller.modify(
                &listener.socket,
                WakeSource::Listener(number),
                SocketInterest { input, output: false },
            )?;
        }
        Ok(())
    }

    /// Accepts the next client at a listener, if one waits.
    pub(super) fn accept(&self, listener: u32) -> io::Result<Option<ClientLink>> {
        self.listeners[listener as usize].socket.accept()
    }

    /// Begins the session of a client of a listener; returns it with the exports offered to it.
    pub(super) fn begin(
        &mut self,
        listener: u32,
        at: Option<SocketAddr>,
    ) -> (Box<dyn WireSession>, Arc<ExportOffer>) {
        (self.listeners[listener as usize].protocol.begin(at), self.offer.clone())
    }

    /// Offers these exports to clients that connect from now on, in every protocol.
    ///
    /// # Errors
    /// A protocol cannot express the offer; all listeners keep the previous one.
    pub(super) fn offer(&mut self, offer: &Arc<ExportOffer>) -> Result<(), OfferError> {
        // The same offer is made for every client that connects, and rarely changes.
        if Arc::ptr_eq(offer, &self.offer) {
            return Ok(());
        }
        let refused = self.listeners.iter_mut().find_map(|listener| listener.protocol.offer(offer).err());
        // Protocols that have accepted the new offer return to the previous one.
        if let Some(error) = refused {
            for listener in &mut self.listeners {
                listener.protocol.offer(&self.offer).expect("what was offered can be offered again");
            }
            return Err(error);
        }
        self.offer = offer.clone();
        Ok(())
    }

    /// The URI of an export at the first listener.
    pub(super) fn uri(&self, export: &str) -> String {
        self.listeners[0].uri(export)
    }
}
