"""The lake's files: what opens, lists, writes or deletes one goes through here, wherever the lake is."""
