// for SHAPE_NAMED
// old
export interface Asked { more: { a: string } }
// new
export interface Asked { more: AskedMore }
export interface AskedMore { a: string }
// expect SHAPE_NAMED AskedMore client=holds server=holds bindings=holds
// python
// | Asked(more=AskedMore(a="a"))
