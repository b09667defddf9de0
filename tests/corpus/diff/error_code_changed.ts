// for ERROR_CODE_CHANGED
// old
export const MISMATCH = -32020;
export interface MismatchError { jsonrpc: "2.0"; id?: RequestId; error: { code: typeof MISMATCH; message: string } }
// new
export const MISMATCH = -32030;
export interface MismatchError { jsonrpc: "2.0"; id?: RequestId; error: { code: typeof MISMATCH; message: string } }
// expect TYPE_REPLACED MismatchError.error.code client=holds server=holds bindings=breaks
// expect ERROR_CODE_CHANGED MISMATCH client=used server=used bindings=used
// python
// | from typing import Literal
// |
// | code: Literal[-32020] = MISMATCH
