"""The few places that write to the outside, each asked for by the user."""
