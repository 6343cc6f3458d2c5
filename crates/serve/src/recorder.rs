//! Recording of inputs.

use crate::device::ServedDevice;
use crate::input::DeviceInput;
use outlast_units::Nanos;
use std::io;

/// Recorder of inputs, from which the same device can be built again after its process was killed.
///
/// **Order.** In each turn of the loop: `record` each input, then give it to the device; at the end of the turn `commit` once; before any reply
/// leaves, `acknowledge`. Only replies are visible from outside, so a process that ends before the commit has promised nothing.
pub trait InputRecorder {
    /// Adds an input that the device will be given at `at`.
    fn record(&mut self, at: Nanos, input: &DeviceInput<'_>);

    /// Writes the inputs added so far.
    ///
    /// # Errors
    /// Inputs cannot be written; no reply that depends on them may leave.
    fn commit(&mut self) -> io::Result<()>;

    /// Notes that time has reached `now`. Replies that leave after this call are final. `durable` is set if one of them ends a flush or a write with
    /// forced unit access.
    ///
    /// # Errors
    /// The time cannot be written; the replies must not leave.
    fn acknowledge(&mut self, now: Nanos, durable: bool) -> io::Result<()>;

    /// Bounds the size of the recording: if it has grown enough, a checkpoint of `device` replaces it. Called at the end of a turn, when `device`
    /// has been given all recorded inputs.
    ///
    /// # Errors
    /// The checkpoint could not be written; nothing is lost, and the next call tries again.
    fn checkpoint_if_due(&mut self, _device: &ServedDevice) -> io::Result<()> {
        Ok(())
    }
}

/// Records nothing: the device ends with its process.
#[derive(Clone, Copy, Debug, Default)]
pub struct NoRecorder;

impl InputRecorder for NoRecorder {
    fn record(&mut self, _at: Nanos, _input: &DeviceInput<'_>) {}

    fn commit(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn acknowledge(&mut self, _now: Nanos, _durable: bool) -> io::Result<()> {
        Ok(())
    }
}
