"""`python -m agent` is `isthmus`."""

from agent.cli import main

if __name__ == "__main__":
    main()
