// for DEPRECATED
// old
export interface Asked { what: string }
// new
export interface Asked {
  /** @deprecated */
  what: string;
}
// expect DEPRECATED Asked.what client=holds server=holds bindings=holds
// python
// | Asked(what="a")
