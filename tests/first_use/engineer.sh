# An engineer has the data sheet of a drive, and asks what limits the drive and whether suspension helps.
outlast fit sheet.toml -o drive.toml --points points
outlast run drive.toml --out out/drive --quiet
outlast explain out/drive
suspend='{ erase = true, program = true, overhead = "40us", limit = 8 }'
outlast run drive.toml --set "device.timing.suspend=$suspend" --out out/suspend --quiet
outlast compare out/drive out/suspend
