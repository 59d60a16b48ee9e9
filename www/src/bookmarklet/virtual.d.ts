declare module "virtual:bookmarklet" {
  /** The bookmarklet, minified: an expression whose value is the function of main.ts. */
  const code: string;
  export default code;
}
