"""The rule engine: expressions over facts, their bound patterns, and the packs that carry both."""
