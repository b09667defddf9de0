"""Python types and JSON Schema: from one to the other, values checked against both."""
