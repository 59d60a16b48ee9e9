/** The module of `shelfish/analysis` as `cargo xtask npm` writes it. */
declare const text: string;
export default text;
