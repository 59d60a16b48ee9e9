/** The module of `shelfish/engine` as `cargo xtask npm` writes it. */
declare const text: string;
export default text;
