"""Access to the lake's files in any store. All code that opens, lists, writes or deletes one uses this package."""
