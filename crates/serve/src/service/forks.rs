//! Forks of the main device, and the offer of exports that follows from the devices.

use std::sync::Arc;

use super::DeviceService;
use crate::exports::offer_of;
use crate::protocol::{ExportOffer, OfferError};

impl DeviceService {
    /// Exports a copy of the main device as it is now, if `accept` can offer it to clients.
    ///
    /// # Errors
    /// The name is taken, or a protocol cannot express it.
    pub(crate) fn fork(
        &mut self,
        name: &str,
        cut: bool,
        accept: impl FnOnce(&Arc<ExportOffer>) -> Result<(), OfferError>,
    ) -> Result<(), String> {
        let now = self.now;
        let fork =
            self.main_device().fork(name.to_owned(), now, cut).map_err(|refused| refused.to_string())?;
        // The offer is computed from the list, so the fork is added first, and removed if the offer is refused.
        self.devices.push(fork);
        match offer_of(&self.devices).and_then(|offer| accept(&offer).map(|()| offer)) {
            Ok(offer) => self.offer = offer,
            Err(error) => {
                self.devices.pop();
                return Err(error.to_string());
            }
        }
        Ok(())
    }

    /// Recomputes the offer after devices have gained or lost power.
    pub(super) fn refresh_offer(&mut self) {
        if let Ok(offer) = offer_of(&self.devices) {
            self.offer = offer;
        }
    }
}
