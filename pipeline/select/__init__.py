"""From candidates to evidence: one module a stage, each a pure function from records to records and fates."""
