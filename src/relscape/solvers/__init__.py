"""How it is minimised or decomposed; knows arrays, not relations."""
