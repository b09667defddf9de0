// for MEMBER_ADDED_CONST
// old
export interface Asked { a: string }
// new
export interface Asked { a: string; kind: "x" }
// expect MEMBER_ADDED_CONST Asked.kind client=breaks server=holds bindings=holds
// python
// | Asked(a="a")
