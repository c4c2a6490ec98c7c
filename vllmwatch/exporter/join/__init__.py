"""The join: which GPU carries which engine of which server, and who else holds its memory."""
