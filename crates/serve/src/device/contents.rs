//! Storage of the bytes that a device holds.

use super::ServedDevice;
use crate::store::FileStore;
use outlast_media::ByteStore;
use std::io;
use std::sync::Arc;

impl ServedDevice {
    /// Keeps the device's bytes in `store` from now on; later forks share it.
    pub fn keep_contents_in(&mut self, store: Arc<FileStore>) {
        self.service.keep_contents_in(&(store.clone() as Arc<dyn ByteStore>));
        self.store = Some(store);
    }

    /// Checks that all bytes could be kept and read. Callers check this before they trust data that the device returned.
    ///
    /// # Errors
    /// The disk of the store has failed or is full; one line.
    #[inline]
    pub fn check_contents(&self) -> io::Result<()> {
        self.store.as_ref().map_or(Ok(()), |store| store.check())
    }
}
