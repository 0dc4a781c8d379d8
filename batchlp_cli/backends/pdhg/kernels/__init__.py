"""The steps of the lanes, compiled or on a device; what is decided from their numbers lies outside."""
