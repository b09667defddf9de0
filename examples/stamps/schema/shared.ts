/** Who has stamped, and when. */
export interface Mark {
  /** The name on the stamp. */
  office: string;
  /** Days since the office opened. */
  day: number;
}
