"""Reports on results: tables, charts and pages."""
