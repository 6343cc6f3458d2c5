//! Padding of program units that relocation has begun, and that no further data fills.

use crate::core::{CoreContext, FlashCore};
use crate::op::InternalTask;
use outlast_units::{Nanos, Stream};

impl FlashCore {
    /// There is no victim: what earlier ones have begun or left between its passes comes to flash, where a write waits for that.
    #[cold]
    pub(super) fn pad_for_room(&mut self, now: Nanos, context: &mut CoreContext) {
        self.pad_for_formers(now, context);
        self.end_passes_for_room(now, context);
    }

    /// No victim follows those whose data has been moved: where a write waits for the room that they will leave, the program units that they have begun are
    /// padded, as nothing else would fill them, and the victims would never be erased. A program under way may still bring a victim that fills them, except for
    /// the SLC cache, of which data on flash is no victim until it is pressed.
    #[cold]
    fn pad_for_formers(&mut self, now: Nanos, context: &mut CoreContext) {
        if self.buffer.first_waiting().is_none_or(|write| self.ftl.can_append(write.stream)) {
            return;
        }
        for task in InternalTask::ALL {
            if let Some(stream) = self.tasks.begun_for_former(task, &self.ftl)
                && (self.ftl.space().has_slc_cache() || context.programs_in_flight(self.id).next().is_none())
            {
                self.pad_relocated(now, context, task, stream);
            }
        }
    }

    /// Programs what `task` has begun in `stream`, padded.
    pub(super) fn pad_relocated(
        &mut self,
        now: Nanos,
        context: &mut CoreContext,
        task: InternalTask,
        stream: Stream,
    ) {
        let units = self.ftl.stream(stream).begun_units();
        if let Some(pu) = self.ftl.pad(stream) {
            self.program_relocated(now, context, task, pu, units);
            self.program_parity(now, context, stream);
        }
        self.end_passes_of_former(now, context, task);
    }
}
