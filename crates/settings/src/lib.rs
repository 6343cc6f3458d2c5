//! Settings of drives and arrays: their types, defaults, ranges, relations and schema. Knows no machine.
//!
//! Settings are data that scenario files give. What can be checked without building a machine is checked here, by `validate` of each section; the
//! rest (whether a layout has room, whether streams suffice) is checked by the constructor of the machine. Lists of built-in policies are here, too, each
//! a macro that hands the list to another macro: settings make the names of it, machines the calls.

pub mod array;
pub mod drive;
pub mod ftl;
pub mod namespace;
pub mod placement;
pub mod zones;
