"""One vLLM server's metrics page: fetched, and read line by line."""
