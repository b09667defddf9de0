// for SHAPE_CLASS_RENAMED
// old
export interface Asked { more: { a: string } }
// new
export interface Asked { more: More }
export interface More { a: string }
// expect SHAPE_NAMED More client=holds server=holds bindings=holds
// expect SHAPE_CLASS_RENAMED More client=holds server=holds bindings=breaks
// python
// | Asked(more=AskedMore(a="a"))
