"""Follows a signal from the GPU to the pager."""
