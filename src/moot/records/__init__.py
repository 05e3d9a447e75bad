"""Decision records: what a completed debate leaves behind, as a document, as JSON, as the draft of an issue."""
