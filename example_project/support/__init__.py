"""A small support assistant: the application under test."""
