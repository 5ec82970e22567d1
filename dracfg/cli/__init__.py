"""The command line: thin commands over the pipeline. The only package that prints."""
