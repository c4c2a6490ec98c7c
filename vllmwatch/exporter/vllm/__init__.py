"""vLLM's pages, made one: canonical names, labels that tell servers apart, each family once."""
