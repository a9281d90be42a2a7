"""The base of every process: settings, folders, locks, findings of checks, crash points."""
