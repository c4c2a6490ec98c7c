"""The vocabulary: frozen dataclasses that refuse nonsense, made of the standard library alone."""
