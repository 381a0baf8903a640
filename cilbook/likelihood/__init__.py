"""log p(x|y) for every class of a bank."""
