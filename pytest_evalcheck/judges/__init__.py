"""LLM judges: what is asked, how the reply is read, when a judge may gate."""
