// for DECLARATION_REBASED
// old
export interface Base {}
export interface Other {}
export interface Asked extends Base { what: string }
// new
export interface Base {}
export interface Other {}
export interface Asked extends Other { what: string }
// expect DECLARATION_REBASED Asked client=holds server=holds bindings=holds
// python
// | Asked(what="a")
