// for UNDEPRECATED
// old
export interface Asked {
  /** @deprecated */
  what: string;
}
// new
export interface Asked { what: string }
// expect UNDEPRECATED Asked.what client=holds server=holds bindings=holds
// python
// | Asked(what="a")
