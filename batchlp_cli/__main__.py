"""The entry point of the command line; everything heavy is imported later, by the command that needs it."""

from batchlp_cli.commands import main

if __name__ == "__main__":
    main()
