"""Python types as JSON Schemas, and values checked against types and schemas."""
