// for BOUNDS_CHANGED
// old
export interface Asked {
  /** @minimum 0 */
  a: number;
}
// new
export interface Asked {
  /** @maximum 9 */
  a: number;
}
// expect BOUNDS_CHANGED Asked.a client=used server=used bindings=holds
// python
// | Asked(a=1)
