/** The module of `shelfish/book` as `cargo xtask npm` writes it. */
declare const text: string;
export default text;
