"""The input language, one module a kind. Knows one document at a time, never a second one."""
