"""One scenario with every macro in every place, for two servers to be compared."""
