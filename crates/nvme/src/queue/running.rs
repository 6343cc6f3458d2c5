//! Commands under way at the device, by tag.

use super::RunningCommand;

/// Stands for the identifier of a command where there is none.
const NO_COMMAND: u32 = u32::MAX;

/// Commands under way. Identifiers lie apart from the commands, so that one is found in a few words of memory, however many are under way.
#[derive(Debug, Default)]
pub(super) struct RunningCommands {
    places: Vec<Option<RunningCommand>>,
    /// Identifier of the command at each place.
    ids: Vec<u32>,
    free: Vec<u32>,
}

impl RunningCommands {
    pub(super) fn len(&self) -> usize {
        self.places.len() - self.free.len()
    }

    /// True if a command of this identifier is under way.
    pub(super) fn has(&self, id: u16) -> bool {
        self.ids.contains(&id.into())
    }

    /// Adds a command; returns its tag.
    pub(super) fn insert(&mut self, running: RunningCommand) -> u32 {
        let id = running.entry.command_id().into();
        if let Some(tag) = self.free.pop() {
            let place = tag as usize;
            (self.places[place], self.ids[place]) = (Some(running), id);
            return tag;
        }
        self.places.push(Some(running));
        self.ids.push(id);
        self.places.len() as u32 - 1
    }

    pub(super) fn get_mut(&mut self, tag: u32) -> Option<&mut RunningCommand> {
        self.places.get_mut(tag as usize)?.as_mut()
    }

    /// Removes a command, whose tag is then free.
    pub(super) fn take(&mut self, tag: u32) -> Option<RunningCommand> {
        let running = self.places.get_mut(tag as usize)?.take()?;
        self.ids[tag as usize] = NO_COMMAND;
        self.free.push(tag);
        Some(running)
    }
}
