"""Formats of single values: parsers, printers and checks of text. They know no field."""
