"""What every process stands on: settings, folders, locks, findings of checks, crash points."""
