"""Positions on the sky. Knows no catalogs and no Spark."""
