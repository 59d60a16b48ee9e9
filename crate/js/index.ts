// The main entry: `shelfish`.

export * from "./database/open.js";
