declare module "virtual:bookmarklet" {
  /** The minified bookmarklet: an expression whose value is the function of main.ts. */
  const code: string;
  export default code;
}
