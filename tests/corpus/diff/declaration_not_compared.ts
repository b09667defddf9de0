// for DECLARATION_NOT_COMPARED
// old
export interface Asked { what: string; many?: string[] }
// new
export interface Asked {
  what: string;
  /** @minimum 0 */
  many?: string[];
}
// expect TYPE_RESPELLED Asked.many client=holds server=holds bindings=holds
// expect DECLARATION_NOT_COMPARED Asked client=used server=used bindings=holds
// python
// | Asked(what="a")
