"""What a person or another program reads of a run: the summary, a failed row, files."""
