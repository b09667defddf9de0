"""Works out the types of TypeScript: generics, `Omit`, `keyof`, intersections and the like."""
