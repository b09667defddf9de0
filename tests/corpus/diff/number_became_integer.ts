// for NUMBER_BECAME_INTEGER
// old
export interface Asked { a: number }
// new
export interface Asked {
  /** @TJS-type integer */
  a: number;
}
// expect NUMBER_BECAME_INTEGER Asked.a client=used server=holds bindings=holds
// python
// | Asked(a=0.5)
