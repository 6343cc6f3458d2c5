//! Listeners with their protocols, and the offer to those who connect.

use std::io;
use std::sync::Arc;

use crate::net::{Interest, Link, Listener, Poller, Source};
use crate::protocol::{Offer, OfferError, WireProtocol, WireSession};

/// A place where clients come in, and the protocol that they speak there.
#[derive(Debug)]
pub(crate) struct Door {
    pub(crate) listener: Listener,
    pub(crate) protocol: Box<dyn WireProtocol>,
}

impl Door {
    /// The URI of an export of this door.
    pub(crate) fn uri(&self, export: &str) -> String {
        self.protocol.uri(self.listener.place(), export)
    }
}

/// The doors of a server, which all offer the same.
#[derive(Debug)]
pub(super) struct Doors {
    doors: Vec<Door>,
    offer: Arc<Offer>,
}

impl Doors {
    /// Doors at which clients are waited for, and nothing is offered yet.
    pub(super) fn new(doors: Vec<Door>, poller: &Poller) -> io::Result<Self> {
        for (number, door) in (0..).zip(&doors) {
            poller.add(&door.listener, Source::Listener(number), Interest { input: true, output: false })?;
        }
        Ok(Self { doors, offer: Arc::default() })
    }

    /// Waits for clients at all doors, or at none.
    pub(super) fn wait_for_clients(&self, input: bool, poller: &Poller) -> io::Result<()> {
        for (number, door) in (0..).zip(&self.doors) {
            poller.modify(&door.listener, Source::Listener(number), Interest { input, output: false })?;
        }
        Ok(())
    }

    /// The next client that waits at a door.
    pub(super) fn accept(&self, door: u32) -> io::Result<Option<Link>> {
        self.doors[door as usize].listener.accept()
    }

    /// The session of a client of that door, and what it is offered.
    pub(super) fn begin(&mut self, door: u32) -> (Box<dyn WireSession>, Arc<Offer>) {
        (self.doors[door as usize].protocol.begin(), self.offer.clone())
    }

    /// Clients that connect from now on are offered this, whatever they speak.
    ///
    /// # Errors
    /// A protocol has no place for it; all doors offer what they offered before.
    pub(super) fn offer(&mut self, offer: &Arc<Offer>) -> Result<(), OfferError> {
        if Arc::ptr_eq(offer, &self.offer) {
            return Ok(());
        }
        let refused = self.doors.iter_mut().find_map(|door| door.protocol.offer(offer).err());
        if let Some(error) = refused {
            for door in &mut self.doors {
                door.protocol.offer(&self.offer).expect("what was offered can be offered again");
            }
            return Err(error);
        }
        self.offer = offer.clone();
        Ok(())
    }

    /// The URI of an export at the first door.
    pub(super) fn uri(&self, export: &str) -> String {
        self.doors[0].uri(export)
    }
}
