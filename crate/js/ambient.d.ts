// What an import of the module is where it is compiled by the import, as in Cloudflare's Workers.
declare module "*.wasm" {
  const module: WebAssembly.Module;
  export default module;
}
