"""When the slices of this project are computed."""
