// for SHAPE_INLINED
// old
export interface Asked { more: AskedMore }
export interface AskedMore { a: string }
// new
export interface Asked { more: { a: string } }
// expect SHAPE_INLINED Asked.more client=holds server=holds bindings=holds
// python
// | Asked(more=AskedMore(a="a"))
