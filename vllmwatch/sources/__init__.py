"""What is read from the outside: frozen snapshots in base units, in which absent is None."""
