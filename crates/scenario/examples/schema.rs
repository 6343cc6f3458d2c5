//! Prints the JSON Schema of scenario files, or with `names` the names of all settings, as `make schema` keeps them.

use std::io::{Result, Write, stdout};

fn main() -> Result<()> {
    if std::env::args().nth(1).as_deref() == Some("names") {
        return writeln!(stdout(), "{}", outlast_scenario::setting_names().join("\n"));
    }
    writeln!(stdout(), "{:#}", outlast_scenario::json_schema())
}
