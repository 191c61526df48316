"""Break LLM-driven robots on purpose, and say where they broke."""

__version__ = '0.1.0'
