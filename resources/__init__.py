"""What the assets of this project run with."""
