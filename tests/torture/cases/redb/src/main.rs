//! Carries out what standard input says on a redb file: `put KEY HEX`, `delete KEY`, `commit` (answered by `ok`), `dump` (all rows, then `ok`).

use std::error::Error;
use std::io::{BufRead, Write, stdin, stdout};

use redb::{Database, ReadableDatabase, ReadableTable, TableDefinition};

const ROWS: TableDefinition<&str, &str> = TableDefinition::new("rows");

fn main() -> Result<(), Box<dyn Error>> {
    let path = std::env::args().nth(1).ok_or("redb-rows FILE")?;
    let database = Database::create(path)?;
    let mut changes: Vec<(String, Option<String>)> = Vec::new();
    let mut out = stdout().lock();
    for line in stdin().lock().lines() {
        let line = line?;
        match line.split(' ').collect::<Vec<_>>()[..] {
            ["put", key, value] => changes.push((key.to_owned(), Some(value.to_owned()))),
            ["delete", key] => changes.push((key.to_owned(), None)),
            ["commit"] => commit(&database, &std::mem::take(&mut changes))?,
            ["dump"] => dump(&database, &mut out)?,
            _ => return Err(format!("not understood: {line}").into()),
        }
        if matches!(line.as_str(), "commit" | "dump") {
            writeln!(out, "ok")?;
            out.flush()?;
        }
    }
    Ok(())
}

/// One transaction with redb's default durability, which is `Immediate`.
fn commit(database: &Database, changes: &[(String, Option<String>)]) -> Result<(), Box<dyn Error>> {
    let transaction = database.begin_write()?;
    {
        let mut rows = transaction.open_table(ROWS)?;
        for (key, value) in changes {
            match value {
                Some(value) => drop(rows.insert(key.as_str(), value.as_str())?),
                None => drop(rows.remove(key.as_str())?),
            }
        }
    }
    transaction.commit()?;
    Ok(())
}

fn dump(database: &Database, out: &mut impl Write) -> Result<(), Box<dyn Error>> {
    let rows = database.begin_read()?.open_table(ROWS)?;
    for row in rows.iter()? {
        let (key, value) = row?;
        writeln!(out, "{} {}", key.value(), value.value())?;
    }
    Ok(())
}
