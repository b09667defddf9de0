"""What a schema means: structs, unions, methods; from syntax nodes, by rule and by decisions."""
