"""The parity tracker, suites/parity-tracker.md: which public APIs are proven to convert."""
