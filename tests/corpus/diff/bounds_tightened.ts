// for BOUNDS_TIGHTENED
// old
export interface Asked {
  /** @maximum 10 */
  a: number;
}
// new
export interface Asked {
  /** @maximum 1 */
  a: number;
}
// expect BOUNDS_TIGHTENED Asked.a client=used server=holds bindings=holds
// python
// | Asked(a=1)
