"""The facts: instances of the vocabulary, and nothing that runs."""
