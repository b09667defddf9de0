// for BOUNDS_LOOSENED
// old
export interface Asked {
  /** @maximum 1 */
  a: number;
}
// new
export interface Asked {
  /** @maximum 10 */
  a: number;
}
// expect BOUNDS_LOOSENED Asked.a client=holds server=used bindings=holds
// python
// | Asked(a=1)
