/** Made by build/openings.ts. */
declare module "virtual:openings" {
  /** Most half-moves of a named position. */
  export const plies: number;
  /** ECO code and name of each, line by line. */
  export const names: string;
  /** Keys of `openings-key.ts`, without separators, in the order of the names. */
  export const keys: string;
}
