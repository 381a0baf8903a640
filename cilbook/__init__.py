"""Class-incremental learning with generative classifiers: the library behind the book."""

__version__ = "0.1.0"
