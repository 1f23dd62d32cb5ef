"""Checks of the tables: questions in SQL that must find nothing."""
