"""Documents that are made from the code, and documents whose commands run."""
