// for MEMBER_REMOVED_CONST
// old
export interface Asked { a: string; kind: "x" }
// new
export interface Asked { a: string }
// expect MEMBER_REMOVED_CONST Asked.kind client=holds server=breaks bindings=breaks
// python
// | print(Asked(a="a").kind)
