"""`python -m cilbook` is the command `cilbook`."""

from cilbook.cli import main

if __name__ == "__main__":
    main()
