"""Thin estimators: check, matrix, objective and solver, map."""
