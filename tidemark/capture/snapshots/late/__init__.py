"""Changes that arrive after the snapshot of their time was tagged: counted, and if declared so, added to it (B2)."""
