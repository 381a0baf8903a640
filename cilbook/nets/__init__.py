"""Torch modules, and nothing but torch modules."""
