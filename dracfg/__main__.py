"""`python -m dracfg` is `dracfg`."""

from dracfg.cli.main import run

if __name__ == "__main__":
    run()
