// for INTEGER_BECAME_NUMBER
// old
export interface Asked {
  /** @TJS-type integer */
  a: number;
}
// new
export interface Asked { a: number }
// expect INTEGER_BECAME_NUMBER Asked.a client=holds server=used bindings=holds
// python
// | Asked(a=1)
