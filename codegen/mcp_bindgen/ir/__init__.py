"""The intermediate representation (IR): the meaning of a schema, as structs, unions and methods."""
