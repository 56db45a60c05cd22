"""Front door to the data sets."""
