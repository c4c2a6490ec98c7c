"""Pure functions from the catalogue to the text of a generated file."""
