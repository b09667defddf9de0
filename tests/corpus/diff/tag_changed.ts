// for TAG_CHANGED
// old
export interface Asked { what: string }
// new
export interface Asked {
  /** @format uri */
  what: string;
}
// expect TAG_CHANGED Asked.what client=holds server=holds bindings=holds
// python
// | Asked(what="a")
