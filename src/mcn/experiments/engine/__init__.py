"""The engine: units of work, the ledger of their results, and what runs them."""
