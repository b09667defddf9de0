import type { ContentBlock } from "core";

/** A place in a queue. */
export interface Position {
  ahead: number;
}

/** Something that a person can read. */
export interface Note {
  block: ContentBlock;
  at?: Position;
}
