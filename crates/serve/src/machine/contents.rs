//! Where the bytes of a machine are.

use super::Machine;
use crate::store::FileStore;
use outlast_media::Store;
use std::io;
use std::sync::Arc;

impl Machine {
    /// Has `store` keep its bytes from now on; forks that are made later share it.
    pub fn keep_contents_in(&mut self, store: Arc<FileStore>) {
        self.service.keep_contents_in(&(store.clone() as Arc<dyn Store>));
        self.store = Some(store);
    }

    /// Whether its bytes are where they should be. To be asked before anything is believed that they tell.
    ///
    /// # Errors
    /// The disk that is to keep them has failed or is full: one line.
    #[inline]
    pub fn check_contents(&self) -> io::Result<()> {
        self.store.as_ref().map_or(Ok(()), |store| store.check())
    }
}
