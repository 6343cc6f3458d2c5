//! Who writes down what a machine in service is given.

use crate::input::Input;
use crate::machine::Machine;
use outlast_units::Nanos;
use std::io;

/// Keeps inputs, so that there can be the same machine again after its process has been killed.
///
/// **Order.** Of one turn of a loop: `record` each input and give it to the machine; at the end of the turn `commit` once, and before any
/// reply leaves, `acknowledge`. Only replies are seen from outside, so a machine that ends before the commit has promised nothing.
pub trait Recorder {
    /// Notes an input that the machine will be given at `at`.
    fn record(&mut self, at: Nanos, input: &Input<'_>);

    /// Writes what has been noted.
    ///
    /// # Errors
    /// It cannot be written; nothing that followed from the inputs may be told.
    fn commit(&mut self) -> io::Result<()>;

    /// Notes that time has come to `now`: replies that leave after this call are never taken back. `durable` says that one of them ends a
    /// flush or a write with forced unit access.
    ///
    /// # Errors
    /// It cannot be written; the replies must not leave.
    fn acknowledge(&mut self, now: Nanos, durable: bool) -> io::Result<()>;

    /// Keeps what has been written within bounds: now and then, the state of `machine`, which has been given all that was recorded, takes the
    /// place of it. To be called at the end of a turn.
    ///
    /// # Errors
    /// That could not be done; nothing is lost, and it will be tried again.
    fn tend(&mut self, _machine: &Machine) -> io::Result<()> {
        Ok(())
    }
}

/// Keeps nothing: the machine ends with its process.
#[derive(Clone, Copy, Debug, Default)]
pub struct Forgetful;

impl Recorder for Forgetful {
    fn record(&mut self, _at: Nanos, _input: &Input<'_>) {}

    fn commit(&mut self) -> io::Result<()> {
        Ok(())
    }

    fn acknowledge(&mut self, _now: Nanos, _durable: bool) -> io::Result<()> {
        Ok(())
    }
}
