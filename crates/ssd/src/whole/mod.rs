//! What concerns the whole drive at once. Only here, and in what assembles a drive, may code take all of it.

mod check;
