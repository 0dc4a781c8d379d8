"""batchlp solves many linear programs at once and proves every answer."""

__version__ = "0.1.0"
