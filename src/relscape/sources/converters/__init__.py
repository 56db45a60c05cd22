"""Readers of the publishers' original files, one format a file; each gives the tables of a data set."""
