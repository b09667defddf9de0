"""The intermediate representation (IR): what a schema means, as structs, unions and methods."""
