//! Prints the JSON Schema of scenario files, as `make schema` keeps it in the Python package.

use std::io::{Result, Write, stdout};

fn main() -> Result<()> {
    writeln!(stdout(), "{:#}", outlast_scenario::json_schema())
}
