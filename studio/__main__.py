"""`python -m studio` is `deployment-studio`."""

from studio.cli.main import main

if __name__ == "__main__":
    raise SystemExit(main())
