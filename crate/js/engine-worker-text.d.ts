/** The script of the engine's Worker, as `cargo xtask npm` writes it. */
declare const script: string;
export default script;
